// oneTBB's flow graph over a graph of ours, where there is a oneTBB.
#pragma once

#include "kernels.hpp"

#if defined(GRAPHJIT_BENCH_TBB)
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include <deque>
#include <vector>

namespace bench {

#if defined(GRAPHJIT_BENCH_TBB)

/// One node per op and graphjit's own reduced edges. With the policy `lightweight` a node's body runs inside its
/// predecessor's task where it can.
template <class Policy>
class BasicFlowGraph {
    using Message = oneapi::tbb::flow::continue_msg;
    using Node = oneapi::tbb::flow::continue_node<Message, Policy>;

public:
    static constexpr bool exists = true;

    template <class Call>
    BasicFlowGraph(const std::vector<Call>& calls, const gj::Dag& dag) {
        for (const Call& call : calls) {
            nodes_.emplace_back(graph_, [call](const Message&) {
                call();
                return Message();
            });
        }
        for (std::uint32_t i = 0; i < dag.size(); ++i) {
            const auto before = dag.dependencies(static_cast<gj::OpIndex>(i));
            for (const gj::OpIndex op : before) oneapi::tbb::flow::make_edge(nodes_[to_integer(op)], nodes_[i]);
            if (before.size() == 0) roots_.push_back(&nodes_[i]);
        }
    }
    void run() {
        for (Node* root : roots_) root->try_put(Message());
        graph_.wait_for_all();
    }

    /// Calls `body`, in which graphs must be made and run.
    template <class Body>
    static void with_threads(int threads, Body body) {
        const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                                static_cast<std::size_t>(threads));
        oneapi::tbb::task_arena arena(threads);
        arena.execute(body);
    }

private:
    oneapi::tbb::flow::graph graph_;
    std::deque<Node> nodes_;
    std::vector<Node*> roots_;
};
using FlowGraph = BasicFlowGraph<oneapi::tbb::flow::queueing>;
using LightFlowGraph = BasicFlowGraph<oneapi::tbb::flow::lightweight>;

#else

struct FlowGraph {
    static constexpr bool exists = false;
    template <class Call>
    FlowGraph(const std::vector<Call>&, const gj::Dag&) {}
    void run() {}
    template <class Body>
    static void with_threads(int, Body body) {
        body();
    }
};

#endif

}  // namespace bench
