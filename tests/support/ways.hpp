// One scenario, run in every way a recording can be run: as a graph, eagerly, on threads, and in random orders that the
// plan allows. With GRAPHJIT_TEST_ON_CUDA, in one way: as a CUDA graph.
#pragma once

#include <graphjit/backend/threads.hpp>
#include <graphjit/graph.hpp>
#include <graphjit/plan/verify.hpp>
#include <graphjit/run/adversarial_runner.hpp>

#if defined(GRAPHJIT_TEST_ON_CUDA)
#include <graphjit/backend/cuda.hpp>
#endif

#include <doctest/doctest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace test {

namespace gj = graphjit;

using CpuList = gj::OpListOf<gj::CpuBackend>;
using CpuRecorder = gj::Recorder<gj::CpuBackend>;

[[nodiscard]] inline gj::OpIndex op(unsigned index) noexcept { return static_cast<gj::OpIndex>(index); }

using ThreadList = gj::OpListOf<gj::ThreadBackend>;
using ThreadGraph = gj::MultiGraphRunner<gj::ThreadBackend>;

/// Devices of one thread for kernels and one for copies each, for all tests that do not care.
[[nodiscard]] gj::ThreadDevices& shared_devices();

/// The same recording for another backend of host kernels.
template <class Backend>
[[nodiscard]] gj::OpListOf<Backend> for_backend(const gj::OpList& list, const Backend& backend) {
    gj::OpList copy;
    REQUIRE(copy.copy_from(list));
    return {std::move(copy), backend};
}

/// One of the runners of host kernels. One type for all, and out of line as far as can be: the replay of three runners
/// in every test file would be most of what the tests cost to compile.
class CpuRunner {
public:
    using Graph = gj::MultiGraphRunner<gj::CpuBackend>;
    using Eager = gj::EagerRunner<gj::CpuBackend>;
    using Adversary = gj::AdversarialRunner<gj::CpuBackend>;

    CpuRunner(Graph&& runner, std::string way);
    CpuRunner(Eager&& runner, std::string way);
    CpuRunner(Adversary&& runner, std::string way);
    CpuRunner(ThreadGraph&& runner, std::string way);
#if defined(GRAPHJIT_TEST_ON_CUDA)
    using CudaGraph = gj::MultiGraphRunner<gj::CudaBackend>;
    CpuRunner(CudaGraph&& runner, std::string way);
#endif
    CpuRunner(CpuRunner&&) noexcept;
    CpuRunner& operator=(CpuRunner&&) noexcept;
    ~CpuRunner();

    template <class Handle, class... Values>
    CpuRunner& set(const Handle& handle, Values&&... values) {
        if (graph_) graph_->set(handle, values...);
        if (eager_) eager_->set(handle, values...);
        if (adversary_) adversary_->set(handle, values...);
        if (threads_) threads_->set(handle, values...);
#if defined(GRAPHJIT_TEST_ON_CUDA)
        if (cuda_) cuda_->set(handle, values...);
#endif
        return *this;
    }
    [[nodiscard]] gj::Status replay();
    [[nodiscard]] const gj::ReplayCounters& counters() const;
    [[nodiscard]] const gj::Dag& dag() const;
    [[nodiscard]] const std::string& way() const { return way_; }

private:
    std::unique_ptr<Graph> graph_;
    std::unique_ptr<Eager> eager_;
    std::unique_ptr<Adversary> adversary_;
    std::unique_ptr<ThreadGraph> threads_;
#if defined(GRAPHJIT_TEST_ON_CUDA)
    std::unique_ptr<CudaGraph> cuda_;
#endif
    std::string way_;
};

[[nodiscard]] CpuRunner as_graph(const CpuList& list);
[[nodiscard]] CpuRunner eagerly(const CpuList& list);
[[nodiscard]] CpuRunner on_threads(const CpuList& list);
[[nodiscard]] CpuRunner in_random_order(const CpuList& list, std::uint64_t seed, unsigned threads);

/// Adversarial runs get more than one seed, since each is one order only; some use threads, for what no order shows.
[[nodiscard]] std::vector<CpuRunner> all_ways(const CpuList& list);

/// `scenario(runner)` sets, replays and checks; it must put memory back to where it wants it by itself.
template <class Scenario>
void in_all_ways(const CpuList& list, Scenario scenario) {
    for (CpuRunner& runner : all_ways(list)) {
        INFO(runner.way());
        scenario(runner);
    }
}

template <class Runner>
[[nodiscard]] std::string replay_error(Runner& runner) {
    const gj::Status status = runner.replay();
    return status.ok() ? "" : status.message().c_str();
}

/// Empty where the message has that part, else all of it: for a comparison whose failure shows the text.
[[nodiscard]] inline std::string lacks(const gj::Status& status, const std::string& part) {
    const std::string message = status.message().c_str();
    return message.find(part) != std::string::npos ? "" : message + " lacks " + part;
}

[[nodiscard]] gj::Dag plan_of(const gj::OpList& list);

/// All edges, as "0>2 1>2".
[[nodiscard]] std::string edges(const gj::Dag& dag);
[[nodiscard]] std::string edges(const gj::OpList& list);

[[nodiscard]] bool has_path(const gj::Dag& dag, unsigned from, unsigned to);

/// "right", or what the oracle objects to.
[[nodiscard]] std::string verdict(const gj::Verdict& given);
[[nodiscard]] std::string verdict(const gj::OpList& list);

/// Elements as "1 2 3".
template <class Range>
[[nodiscard]] std::string text(const Range& range) {
    std::string line;
    for (const auto& value : range) {
        if (!line.empty()) line += ' ';
        line += std::to_string(value);
    }
    return line;
}

template <class Range, class T>
[[nodiscard]] bool all_equal(const Range& range, const T& value) {
    for (const auto& element : range) {
        if (element != value) return false;
    }
    return true;
}

template <class Range, class T>
void set_all(Range& range, const T& value) {
    for (auto& element : range) element = value;
}

/// Poisons several arrays.
template <class... Ranges>
void poison_all(Ranges&... ranges) {
    (set_all(ranges, -7), ...);
}

}  // namespace test
