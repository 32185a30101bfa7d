#include "support/ways.hpp"

namespace test {

CpuRunner::CpuRunner(Graph&& runner, std::string way) : graph_(new Graph(std::move(runner))), way_(std::move(way)) {}
CpuRunner::CpuRunner(Eager&& runner, std::string way) : eager_(new Eager(std::move(runner))), way_(std::move(way)) {}
CpuRunner::CpuRunner(Adversary&& runner, std::string way)
    : adversary_(new Adversary(std::move(runner))), way_(std::move(way)) {}
CpuRunner::CpuRunner(ThreadGraph&& runner, std::string way)
    : threads_(new ThreadGraph(std::move(runner))), way_(std::move(way)) {}
#if defined(GRAPHJIT_TEST_ON_CUDA)
CpuRunner::CpuRunner(CudaGraph&& runner, std::string way)
    : cuda_(new CudaGraph(std::move(runner))), way_(std::move(way)) {}
#endif
CpuRunner::CpuRunner(CpuRunner&&) noexcept = default;
CpuRunner& CpuRunner::operator=(CpuRunner&&) noexcept = default;
CpuRunner::~CpuRunner() = default;

gj::Status CpuRunner::replay() {
#if defined(GRAPHJIT_TEST_ON_CUDA)
    if (cuda_) {
        const gj::Status replayed = cuda_->replay();
        return replayed.ok() ? cuda_->wait() : replayed;
    }
#endif
    if (graph_) return graph_->replay();
    if (eager_) return eager_->replay();
    if (adversary_) return adversary_->replay();
    if (threads_->counters().replays % 2 == 1) return threads_->replay_and_wait();
    const gj::Status status = threads_->replay();
    return status.ok() ? threads_->wait() : status;
}
const gj::ReplayCounters& CpuRunner::counters() const {
#if defined(GRAPHJIT_TEST_ON_CUDA)
    if (cuda_) return cuda_->counters();
#endif
    return graph_     ? graph_->counters()
           : eager_   ? eager_->counters()
           : threads_ ? threads_->counters()
                      : adversary_->counters();
}
const gj::Dag& CpuRunner::dag() const {
#if defined(GRAPHJIT_TEST_ON_CUDA)
    if (cuda_) return cuda_->dag();
#endif
    return graph_ ? graph_->dag() : eager_ ? eager_->dag() : threads_ ? threads_->dag() : adversary_->dag();
}

gj::ThreadDevices& shared_devices() {
    static gj::ThreadDevices devices({.devices = 8});
    return devices;
}
CpuRunner as_graph(const CpuList& list) { return {gj::instantiate(list).value(), "as a graph"}; }
CpuRunner eagerly(const CpuList& list) { return {CpuRunner::Eager::create(list).value(), "eagerly"}; }
CpuRunner on_threads(const CpuList& list) {
    return {gj::instantiate(for_backend<gj::ThreadBackend>(list, shared_devices())).value(), "on threads"};
}
CpuRunner in_random_order(const CpuList& list, std::uint64_t seed, unsigned threads) {
    return {CpuRunner::Adversary::create(list, {.seed = seed, .threads = threads}).value(),
            "in a random order, seed " + std::to_string(seed) + ", threads " + std::to_string(threads)};
}

#if defined(GRAPHJIT_TEST_ON_CUDA)
namespace {
/// Host kernels as host calls, with all memory where it is: the host's.
CpuRunner on_cuda(const CpuList& list) {
    // Never ended: by then the thread would have no stack of contexts.
    static const gj::CudaDevices& devices = *new gj::CudaDevices(gj::CudaDevices::primary(8).value());
    auto copy = for_backend<gj::CudaBackend>(list, devices);
    for (const gj::MemoryRecord& memory : copy.memories()) const_cast<gj::MemoryRecord&>(memory).device = gj::cuda_host;
    for (const gj::OpRecord& op : copy.ops()) {
        auto& record = const_cast<gj::OpRecord&>(op);
        if (op.kind == gj::OpKind::kernel) record.kind = gj::OpKind::host_call;
        if (to_integer(op.device) >= devices.count()) record.device = gj::DeviceId{};
    }
    return {gj::instantiate(std::move(copy)).value(), "as a CUDA graph"};
}
}  // namespace
#endif

std::vector<CpuRunner> all_ways(const CpuList& list) {
    std::vector<CpuRunner> ways;
#if defined(GRAPHJIT_TEST_ON_CUDA)
    ways.push_back(on_cuda(list));
#else
    ways.push_back(as_graph(list));
    ways.push_back(eagerly(list));
    ways.push_back(on_threads(list));
    for (std::uint64_t seed = 1; seed <= 6; ++seed) ways.push_back(in_random_order(list, seed, seed % 3 == 0 ? 3 : 1));
#endif
    return ways;
}

gj::Dag plan_of(const gj::OpList& list) {
    gj::Planner planner;
    return planner.plan(list).value();
}

std::string edges(const gj::Dag& dag) {
    std::string text;
    for (unsigned i = 0; i < dag.size(); ++i) {
        for (const gj::OpIndex before : dag.dependencies(op(i))) {
            if (!text.empty()) text += ' ';
            text += std::to_string(to_integer(before)) + ">" + std::to_string(i);
        }
    }
    return text;
}
std::string edges(const gj::OpList& list) { return edges(plan_of(list)); }

bool has_path(const gj::Dag& dag, unsigned from, unsigned to) {
    for (const gj::OpIndex before : dag.dependencies(op(to))) {
        const unsigned step = to_integer(before);
        if (step == from || (step > from && has_path(dag, from, step))) return true;
    }
    return false;
}

std::string verdict(const gj::Verdict& given) {
    const char* kinds[] = {"right", "not ordered", "needless edge", "bad edge", "out of memory"};
    std::string text = kinds[static_cast<unsigned>(given.kind)];
    if (given.a != gj::OpIndex::none) {
        text += ": " + std::to_string(to_integer(given.a)) + " " + std::to_string(to_integer(given.b));
    }
    return text;
}
std::string verdict(const gj::OpList& list) { return verdict(gj::verify(list, plan_of(list))); }

}  // namespace test
