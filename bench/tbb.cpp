// cpu.replay.random.N.vs_tbb: the same graph and the same functions as a oneTBB flow graph, on one thread.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

namespace bench {
namespace {

namespace flow = oneapi::tbb::flow;

/// One node per op and graphjit's own reduced edges. With the policy `lightweight` a node's body runs inside its
/// predecessor's task where it can.
template <class Policy>
class FlowGraph {
    using Node = flow::continue_node<flow::continue_msg, Policy>;

public:
    FlowGraph(const std::vector<Call>& calls, const gj::Dag& dag) {
        for (const Call& call : calls) {
            nodes_.emplace_back(graph_, [call](const flow::continue_msg&) {
                call.fn(call.a, call.b, call.o, call.v);
                return flow::continue_msg();
            });
        }
        for (std::uint32_t i = 0; i < dag.size(); ++i) {
            const auto before = dag.dependencies(static_cast<gj::OpIndex>(i));
            for (const gj::OpIndex op : before) flow::make_edge(nodes_[to_integer(op)], nodes_[i]);
            if (before.size() == 0) roots_.push_back(&nodes_[i]);
        }
    }
    void run() {
        for (Node* root : roots_) root->try_put(flow::continue_msg());
        graph_.wait_for_all();
    }

private:
    flow::graph graph_;
    std::deque<Node> nodes_;
    std::vector<Node*> roots_;
};

void run_against_tbb(const Report& report, std::uint32_t n) {
    const std::string name = "cpu.replay.random." + std::to_string(n) + ".vs_tbb";
    if (!report.wants(name)) return;
    const Graph graph = random_graph(n);
    Memory memory(graph.buffers);
    const std::vector<Call> calls = bare_calls(graph, memory);
    auto runner = gj::instantiate(record<gj::CpuBackend>(graph, memory)).value();
    FlowGraph<flow::queueing> queued(calls, runner.dag());
    FlowGraph<flow::lightweight> light(calls, runner.dag());

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
    const oneapi::tbb::global_control one_thread(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    oneapi::tbb::task_arena arena(1);
    // The flow graphs are made inside, since they run where they were made.
    arena.execute([&] {
        for (const std::uint32_t n : {10u, 100u, 1000u, 10'000u}) run_against_tbb(report, n);
    });
}

}  // namespace bench
