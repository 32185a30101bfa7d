// cpu.replay.random.N.vs_tbb: the same graph and the same functions as a oneTBB flow graph, on one thread.
#include "flow_graph.hpp"
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

namespace bench {
namespace {

void run_against_tbb(const Report& report, std::uint32_t n) {
    const std::string name = "cpu.replay.random." + std::to_string(n) + ".vs_tbb";
    if (!report.wants(name)) return;
    const Graph graph = random_graph(n);
    Memory memory(graph.buffers);
    const std::vector<Call> calls = bare_calls(graph, memory);
    auto runner = gj::instantiate(record<gj::CpuBackend>(graph, memory)).value();
    FlowGraph queued(calls, runner.dag());
    LightFlowGraph light(calls, runner.dag());

    const std::vector<Word> right = expected(graph, 3);
    const auto check = [&](auto run) {
        memory.reset();
        for (int i = 0; i < 3; ++i) run();
        require(memory.words() == right, "a graph does not compute what its ops do");
    };
    const auto replay = [&] { require(runner.replay().ok(), "a replay was refused"); };
    const auto run_queued = [&] { queued.run(); };
    const auto run_light = [&] { light.run(); };
    check(replay);
    check(run_queued);
    check(run_light);
    const auto [ours, queued_time, light_time] = alternate(usual_rounds, usual_sample, replay, run_queued, run_light);
    report.add(name, ours / n, "ns/op", queued_time / n);
    report.add(name + "_lightweight", ours / n, "ns/op", light_time / n);
}

}  // namespace

void tbb_benchmarks(const Report& report) {
    if (!report.wants_any("cpu.replay.random")) return;
    FlowGraph::with_threads(1, [&] {
        for (const std::uint32_t n : {10u, 100u, 1000u, 10'000u}) run_against_tbb(report, n);
    });
}

}  // namespace bench
