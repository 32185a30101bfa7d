// threads.replay and threads.latency: one graph on two threads, beside a loop written by hand for two threads, oneTBB's
// flow graph on two, and one thread.
//
// What a cache line costs from one core to another moves between 45 and 360 ns on such machines and decides these
// numbers, so it is measured beside each of them.
#include "flow_graph.hpp"
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <graphjit/backend/threads.hpp>
#include <graphjit/plan/balanced.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace bench {
namespace {

using Runner = gj::MultiGraphRunner<gj::ThreadBackend>;

/// `k` multiplications that wait for each other.
template <std::size_t I>
void work(const Word* a, const Word* b, gj::Out<Word> o, Word v, Word k) {
    Word x = *a + *b + v;
    for (Word i = 0; i < k; ++i) x *= x | 1;
    *o = x;
}
using Work = void (*)(const Word*, const Word*, gj::Out<Word>, Word, Word);
constexpr std::array works = for_each_kernel([]<std::size_t I>() -> Work { return &work<I>; });

struct WorkCall {
    Work fn;
    const Word* a;
    const Word* b;
    gj::Out<Word> o;
    Word v;
    Word k;
    void operator()() const { fn(a, b, o, v, k); }
};

std::vector<WorkCall> calls_of(const Graph& graph, const Memory& memory, Word k) {
    std::vector<WorkCall> calls;
    for (const Op& op : graph.ops) {
        calls.push_back({works[op.kernel], memory.buffer(op.a), memory.buffer(op.b), {memory.buffer(op.o)}, op.v, k});
    }
    return calls;
}

using LaunchWork = void (*)(gj::Recorder<gj::ThreadBackend>&, const gj::Buffer<Word>&, const gj::Buffer<Word>&,
                            const gj::Buffer<Word>&, const gj::Buffer<Word>&, Word, Word);
constexpr std::array work_launches = for_each_kernel([]<std::size_t I>() -> LaunchWork {
    return [](gj::Recorder<gj::ThreadBackend>& recorder, const gj::Buffer<Word>& a, const gj::Buffer<Word>& b,
              const gj::Buffer<Word>& o, const gj::Buffer<Word>& all, Word v,
              Word k) { recorder.launch(gj::kernel<work<I>>, a, b, o, v, k, gj::reads(all)); };
});

gj::OpListOf<gj::ThreadBackend> record_work(const Graph& graph, const Memory& memory, Word k,
                                            const gj::ThreadBackend& backend) {
    gj::Recorder<gj::ThreadBackend> recorder(backend);
    const std::vector<gj::Buffer<Word>> buffers = register_buffers(recorder, graph, memory);
    for (const Op& op : graph.ops) {
        gj::Buffer<Word> all = buffers[op.a];
        if (op.joins) all = recorder.buffer("all", memory.buffer(1), std::int64_t{op.o - 1} * words_per_buffer);
        work_launches[op.kernel](recorder, buffers[op.a], buffers[op.b], buffers[op.o], all, op.v, k);
    }
    return std::move(recorder).finish().value();
}

/// Looks until `reached()`, and leaves the core to others where that takes unusually long.
template <class Reached>
void spin_until(Reached reached) {
    for (int turns = 0; !reached(); ++turns) {
        gj::detail::relax();
        if (turns % 65536 == 65535) std::this_thread::yield();
    }
}

// The loop that one would write by hand, once one knew the schedule: graphjit's own.

class ByHand {
public:
    ByHand(const std::vector<WorkCall>& calls, const gj::QueuePlan& queues, const gj::SignalPlan& plan) {
        for (const gj::OpIndex op : queues.order()) {
            const std::uint32_t queue = to_integer(queues.queue_of(op));
            std::uint64_t after = 0;
            for (const gj::Wait& wait : plan.waits(op)) after = wait.count;
            sides_[queue].items.push_back({calls[to_integer(op)], after, plan.signals(op)});
        }
    }
    ByHand(const ByHand&) = delete;
    ByHand& operator=(const ByHand&) = delete;
    ~ByHand() { stop(); }

    /// The second thread only lives while its loop is measured: it would take a core from the others.
    void start() {
        if (sides_[1].items.empty()) return;
        stops_ = false;
        other_ = std::thread([this, first = round_ + 1] {
            for (std::uint64_t round = first;; ++round) {
                spin_until([&] { return go_.load(std::memory_order_acquire) >= round || stops_.load(); });
                if (go_.load(std::memory_order_acquire) < round) return;
                run_side(1, round);
            }
        });
    }
    void stop() {
        stops_ = true;
        if (other_.joinable()) other_.join();
    }
    void run() {
        ++round_;
        go_.store(round_, std::memory_order_release);
        run_side(0, round_);
        if (!sides_[1].items.empty()) await(1, round_ * sides_[1].items.size());
    }

private:
    struct Item {
        WorkCall call;
        std::uint64_t after;  // so many items of the other side
        bool signals;
    };
    struct alignas(64) Side {
        std::vector<Item> items;
        alignas(64) std::atomic<std::uint64_t> done{0};
    };

    void await(std::size_t side, std::uint64_t count) {
        spin_until([&] { return sides_[side].done.load(std::memory_order_acquire) >= count; });
    }
    void run_side(std::size_t which, std::uint64_t round) {
        Side& side = sides_[which];
        const std::uint64_t other_before = (round - 1) * sides_[1 - which].items.size();
        std::uint64_t done = (round - 1) * side.items.size();
        for (const Item& item : side.items) {
            if (item.after != 0) await(1 - which, other_before + item.after);
            item.call();
            ++done;
            if (item.signals) side.done.store(done, std::memory_order_release);
        }
        side.done.store(done, std::memory_order_release);
    }

    Side sides_[2];
    alignas(64) std::atomic<std::uint64_t> go_{0};
    std::uint64_t round_ = 0;
    std::atomic<bool> stops_{false};
    std::thread other_;
};

/// Nanoseconds from a store on one thread to its sight on another.
double measure_hop() {
    struct alignas(64) Ball {
        std::atomic<std::uint32_t> value{0};
    };
    static Ball there, back;
    constexpr std::uint32_t count = 2000;
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
        there.value = back.value = 0;
        std::thread other([&] {
            for (std::uint32_t n = 1; n <= count; ++n) {
                spin_until([&] { return there.value.load(std::memory_order_acquire) == n; });
                back.value.store(n, std::memory_order_release);
            }
        });
        there.value = 1;
        spin_until([&] { return back.value.load(std::memory_order_acquire) == 1; });
        const Clock::time_point start = Clock::now();
        for (std::uint32_t n = 2; n <= count; ++n) {
            there.value.store(n, std::memory_order_release);
            spin_until([&] { return back.value.load(std::memory_order_acquire) == n; });
        }
        samples.push_back(nanoseconds(Clock::now() - start) / (count - 1) / 2);
        other.join();
    }
    // The system may first have put both threads on one core.
    return *std::min_element(samples.begin(), samples.end());
}

/// A graph in all its shapes, each checked against one thread.
struct Contest {
    Contest(const Graph& graph, Word k, double hop)
        : n(static_cast<double>(graph.ops.size())), memory(graph.buffers), calls(calls_of(graph, memory, k)),
          devices({.compute_queues = 2, .hop_ns = static_cast<float>(hop)}) {
        run_one();  // warms up
        const Clock::time_point start = Clock::now();
        for (int i = 0; i < 3; ++i) run_one();
        const double op_ns = nanoseconds(Clock::now() - start) / 3 / n;
        gj::ThreadBackend backend(devices, {.other_op_ns = static_cast<float>(op_ns)});
        runner = std::make_unique<Runner>(gj::instantiate(record_work(graph, memory, k, backend)).value());
        by_hand = std::make_unique<ByHand>(calls, runner->native().queues(), runner->native().signals());
        const auto words = [&](auto run) {
            memory.reset();
            for (int i = 0; i < 3; ++i) run();
            return memory.words();
        };
        const std::vector<Word> right = words([&] { run_one(); });
        require(words([&] { replay(); }) == right, "a replay on threads does not compute what its ops do");
        by_hand->start();
        require(words([&] { by_hand->run(); }) == right, "the loop by hand does not compute what its ops do");
        by_hand->stop();
    }

    void run_one() {
        for (const WorkCall& call : calls) call();
    }
    void replay() { require(runner->replay_and_wait().ok(), "a replay was refused"); }

    double n;
    Memory memory;
    std::vector<WorkCall> calls;
    gj::ThreadDevices devices;
    std::unique_ptr<Runner> runner;
    std::unique_ptr<ByHand> by_hand;
};

/// A contestant for `alternate_timed`: nanoseconds per call of `run`, of as many as last about `sample_ns`.
template <class Run>
double sampled(double sample_ns, Run run) {
    run();  // threads that slept are awake
    const Clock::time_point start = Clock::now();
    run();
    const double once = nanoseconds(Clock::now() - start);
    const int times = once > sample_ns ? 1 : 1 + static_cast<int>(sample_ns / (once + 1));
    return timed([&] {
               for (int i = 0; i < times; ++i) run();
           }) /
           times;
}

void replay_metrics(const Report& report, const char* kind, Graph (*make)(std::uint32_t), Word k) {
    const std::string name = std::string("threads.replay.") + kind + ".1000.work" + std::to_string(k);
    if (!report.wants_any(name) || counted_contestant >= 0) return;
    const double hop = measure_hop();
    const Graph graph = make(1000);
    Contest contest(graph, k, hop);
    FlowGraph flow(contest.calls, contest.runner->dag());
    constexpr double sample = 1'000'000;
    const int rounds = k > 2000 ? 21 : 51;
    const auto [ours, by_hand, tbb, one] = alternate_timed(
        rounds, [&] { return sampled(sample, [&] { contest.replay(); }); },
        [&] {
            contest.by_hand->start();
            const double time = sampled(sample, [&] { contest.by_hand->run(); });
            contest.by_hand->stop();
            return time;
        },
        [&] { return sampled(sample, [&] { flow.run(); }); },
        [&] { return sampled(sample, [&] { contest.run_one(); }); });
    report.add(name, ours / contest.n, "ns/op", by_hand / contest.n);
    if (FlowGraph::exists) report.add(name + ".vs_tbb", ours / contest.n, "ns/op", tbb / contest.n);
    report.add(name + ".vs_one", ours / contest.n, "ns/op", one / contest.n);
    report.add(name + ".hop", hop, "ns");
}

void latency_metrics(const Report& report, const std::string& name, Word k) {
    if (!report.wants_any(name) || counted_contestant >= 0) return;
    const double hop = measure_hop();
    const Graph graph = random_graph(100);
    Contest contest(graph, k, hop);
    FlowGraph flow(contest.calls, contest.runner->dag());
    std::vector<double> ours;
    std::vector<double> tbb;
    const auto once = [](auto run) {
        const Clock::time_point start = Clock::now();
        run();
        return nanoseconds(Clock::now() - start);
    };
    for (int round = 0; round < 40; ++round) {  // in turns of some length, for threads sleep when it is not theirs
        for (int i = 0; i < 200; ++i) ours.push_back(once([&] { contest.replay(); }));
        for (int i = 0; i < 200; ++i) tbb.push_back(once([&] { flow.run(); }));
    }
    const auto add = [&](const char* what, double part) {
        if (FlowGraph::exists) {
            report.add(name + "." + what, quantile(ours, part), "ns", quantile(tbb, part));
        } else {
            report.add(name + "." + what, quantile(ours, part), "ns");
        }
    };
    add("p50", 0.5);
    add("p99", 0.99);
    report.add(name + ".hop", hop, "ns");
}

}  // namespace

void thread_benchmarks(const Report& report) {
    if (!report.wants_any("threads.")) return;
    FlowGraph::with_threads(2, [&] {
        for (const Word k : {Word{0}, Word{256}, Word{1280}, Word{12'800}}) {
            replay_metrics(report, "fan", fan, k);
            replay_metrics(report, "stencil", stencil, k);
            replay_metrics(report, "random", random_graph, k);
        }
        latency_metrics(report, "threads.latency.random.100", 0);
        latency_metrics(report, "threads.latency.random.100.work256", 256);
    });
}

}  // namespace bench
