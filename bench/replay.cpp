// cpu.replay and cpu.latency: what a replay costs beside a loop over the same calls.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

namespace bench {
namespace {

/// A graph and a bare loop on the same memory.
struct Pair {
    explicit Pair(const Graph& graph)
        : memory(graph.buffers), calls(bare_calls(graph, memory)),
          runner(gj::instantiate(record<gj::CpuBackend>(graph, memory)).value()) {
        const std::vector<Word> right = expected(graph, 3);
        for (int i = 0; i < 3; ++i) replay();
        require(memory.words() == right, "a replay does not compute what its ops do");
        memory.reset();
        for (int i = 0; i < 3; ++i) run_bare(calls);
        require(memory.words() == right, "the bare loop does not compute what its ops do");
    }

    void replay() { require(runner.replay().ok(), "a replay was refused"); }

    Memory memory;
    std::vector<Call> calls;
    gj::MultiGraphRunner<gj::CpuBackend> runner;
};

/// Of several draws the mean: nanoseconds per op, of replays and of the bare loop.
std::array<double, 2> replay_and_bare(Graph (*make)(std::uint32_t), std::uint32_t n) {
    const std::uint32_t draws = counted_contestant < 0 ? 3 : 1;
    const std::uint32_t process = seed;
    std::array<double, 2> mean = {};
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        seed = process * draws + draw;
        Pair pair(make(n));
        const std::array<double, 2> times = alternate(
            usual_rounds / 2, usual_sample, [&] { pair.replay(); }, [&] { run_bare(pair.calls); });
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += times[i] / draws / n;
    }
    seed = process;
    return mean;
}

void replay_graphs(const Report& report) {
    struct Kind {
        const char* name;
        Graph (*make)(std::uint32_t);
    };
    for (const Kind& kind : {Kind{"chain", chain}, {"fan", fan}, {"stencil", stencil}, {"random", random_graph}}) {
        for (const std::uint32_t n : {10u, 100u, 1000u, 10'000u}) {
            const std::string name = std::string("cpu.replay.") + kind.name + "." + std::to_string(n);
            if (!report.wants(name)) continue;
            const auto [graph, bare] = replay_and_bare(kind.make, n);
            report.add(name, graph, "ns/op", bare);
        }
    }
}

/// What a replay costs whatever its ops do.
void fixed_cost(const Report& report) {
    if (!report.wants("cpu.replay.fixed")) return;
    gj::Recorder<gj::CpuBackend> recorder;
    struct IdleCall {
        Idle fn;
        Word v;
    };
    std::vector<IdleCall> calls;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (recorder.launch(gj::kernel<idle<I>>, Word{I}), ...);
        (calls.push_back({idles[I], Word{I}}), ...);
    }(std::make_index_sequence<10>{});
    auto runner = gj::instantiate(std::move(recorder)).value();
    const auto [graph, bare] = alternate(
        usual_rounds, usual_sample, [&] { require(runner.replay().ok(), "a replay was refused"); },
        [&] {
            for (const IdleCall& call : calls) call.fn(call.v);
        });
    report.add("cpu.replay.fixed", graph - bare, "ns", bare);
}

void latency(const Report& report) {
    const std::string name = "cpu.latency.random.100";
    if (!report.wants_any(name)) return;
    Pair pair(random_graph(100));
    constexpr std::size_t count = 200'000;
    std::vector<double> graph;
    std::vector<double> bare;
    std::vector<double> clock;
    for (std::vector<double>* samples : {&graph, &bare, &clock}) samples->reserve(count);
    const auto once = [](auto body) {
        const Clock::time_point start = Clock::now();
        body();
        keep();
        return nanoseconds(Clock::now() - start);
    };
    for (std::size_t i = 0; i < count; ++i) {
        graph.push_back(once([&] { pair.replay(); }));
        bare.push_back(once([&] { run_bare(pair.calls); }));
        clock.push_back(once([] {}));
    }
    const double reading = median(clock);  // in every sample
    const auto add = [&](const char* what, double part) {
        report.add(name + "." + what, quantile(graph, part) - reading, "ns", quantile(bare, part) - reading);
    };
    add("p50", 0.5);
    add("p99", 0.99);
    add("p99.9", 0.999);
}

}  // namespace

void replay_benchmarks(const Report& report) {
    replay_graphs(report);
    fixed_cost(report);
    latency(report);
}

}  // namespace bench
