// Executable graph update: single nodes, and whole graphs.
#include "graph.hpp"

using namespace test::cuda;

namespace test::cuda {

namespace {

bool is_flat(const CUDA_MEMCPY3D& what) { return what.Height == 1 && what.Depth == 1; }

bool can_become(const CopyParams& original, const CopyParams& next, Update update) {
    if (original.from != next.from || original.to != next.to) return false;
    if (original.what.srcMemoryType != next.what.srcMemoryType ||
        original.what.dstMemoryType != next.what.dstMemoryType)
        return false;
    return update == Update::graph || (is_flat(original.what) && is_flat(next.what) && next.what.WidthInBytes > 0);
}

/// The manual leaves it open which other changes of a flat set fit "the work resources already allocated": here it is
/// those that set no more bytes.
bool can_become(const SetParams& original, const SetParams& next, Update update) {
    const CUDA_MEMSET_NODE_PARAMS &was = original.what, &will = next.what;
    if (original.to != next.to || was.height != will.height || was.elementSize != will.elementSize) return false;
    if (update == Update::node && (will.width == 0 || will.height == 0)) return false;
    return was.height > 1 ? was.width == will.width && was.pitch == will.pitch : will.width <= was.width;
}

}  // namespace

bool can_become(const Params& original, const Params& next, Update update) {
    if (type_of(original) != type_of(next)) return false;
    if (const auto* kernel = std::get_if<KernelParams>(&original))
        return kernel->function->context == std::get<KernelParams>(next).function->context;
    if (const auto* copy = std::get_if<CopyParams>(&original))
        return can_become(*copy, std::get<CopyParams>(next), update);
    if (const auto* set = std::get_if<SetParams>(&original)) return can_become(*set, std::get<SetParams>(next), update);
    return true;
}

Mismatch compare(const Exec& exec, const Graph& plan, const Graph& next) {
    if (plan.nodes.size() != next.nodes.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    std::map<const Node*, std::size_t> in_plan, in_next;
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        in_plan[plan.nodes[i].get()] = i;
        in_next[next.nodes[i].get()] = i;
    }
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        const Node &old_node = *plan.nodes[i], &new_node = *next.nodes[i];
        const auto &old_edges = old_node.dependencies, &new_edges = new_node.dependencies;
        if (old_edges.size() != new_edges.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new_node.handle};
        for (std::size_t k = 0; k < old_edges.size(); ++k)
            if (in_plan[old_edges[k]] != in_next[new_edges[k]])
                return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new_node.handle, new_edges[k]->handle};
        if (type_of(old_node.params) != type_of(new_node.params))
            return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, new_node.handle};
        if (const auto* child = std::get_if<ChildParams>(&old_node.params)) {
            const Mismatch inner = compare(exec, *child->graph, *std::get<ChildParams>(new_node.params).graph);
            if (inner.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
        }
        if (!can_become(exec.original.at(&old_node), new_node.params, Update::graph)) {
            const bool is_kernel = std::holds_alternative<KernelParams>(old_node.params);
            return {is_kernel ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
                              : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
                    new_node.handle};
        }
    }
    return {};
}

void become(Graph& plan, const Graph& next) {
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        Params& params = plan.nodes[i]->params;
        if (const auto* child = std::get_if<ChildParams>(&params)) {
            become(*child->graph, *std::get<ChildParams>(next.nodes[i]->params).graph);
        } else {
            params = next.nodes[i]->params;
        }
    }
}

}  // namespace test::cuda

namespace {

struct Target {
    std::shared_ptr<Exec> exec;
    Node* node = nullptr;
};

/// "hNode must remain in the graph which was used to instantiate hGraphExec."
Target find_target(CUgraphExec hGraphExec, CUgraphNode hNode) {
    State& s = state();
    const auto exec = s.execs.find(hGraphExec);
    if (!exec || (!s.nodes.find(hNode) && !s.options.nodes_outlive_graph)) return {};
    const auto found = exec->by_source.find(hNode);
    return found == exec->by_source.end() ? Target{} : Target{exec, found->second};
}

CUresult set(const Target& target, Params params) {
    params = with_mappings(std::move(params));
    if (!can_become(target.exec->original.at(target.node), params, Update::node)) return CUDA_ERROR_INVALID_VALUE;
    target.node->params = std::move(params);
    return CUDA_SUCCESS;
}

template <class P, class... Given>
CUresult set_node(const char* name, CUgraphExec hGraphExec, CUgraphNode hNode, const Given&... given) {
    const Call call(name, Needs::work);
    if (call.refused()) return call.error;
    const Target target = find_target(hGraphExec, hNode);
    if (target.node == nullptr || !std::holds_alternative<P>(target.node->params)) return CUDA_ERROR_INVALID_VALUE;
    P params;
    const CUresult error = read_node(given..., params);
    return error == CUDA_SUCCESS ? set(target, std::move(params)) : CUDA_ERROR_INVALID_VALUE;
}

/// "Currently only kernel, memset and memcpy nodes are supported."
bool can_be_disabled(const Node& node) {
    const CUgraphNodeType type = type_of(node.params);
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY;
}

}  // namespace

CUDA_CALL cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                         const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return set_node<KernelParams>("cuGraphExecKernelNodeSetParams", hGraphExec, hNode, nodeParams,
                                  CUDA_ERROR_INVALID_VALUE);
}

CUDA_CALL cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D* copyParams,
                                         CUcontext ctx) {
    return set_node<CopyParams>("cuGraphExecMemcpyNodeSetParams", hGraphExec, hNode, copyParams, ctx);
}

CUDA_CALL cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                         const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
    return set_node<SetParams>("cuGraphExecMemsetNodeSetParams", hGraphExec, hNode, memsetParams, ctx);
}

CUDA_CALL cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                       const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return set_node<HostParams>("cuGraphExecHostNodeSetParams", hGraphExec, hNode, nodeParams);
}

CUDA_CALL cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
    const Call call("cuGraphExecChildGraphNodeSetParams", Needs::work);
    if (call.refused()) return call.error;
    const Target target = find_target(hGraphExec, hNode);
    const GraphPtr graph = state().graphs.find(childGraph);
    if (target.node == nullptr || !graph || graph->capture) return CUDA_ERROR_INVALID_VALUE;
    const auto* child = std::get_if<ChildParams>(&target.node->params);
    if (child == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (compare(*target.exec, *child->graph, *graph).result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    become(*child->graph, *graph);
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
    const Call call("cuGraphNodeSetEnabled", Needs::work);
    if (call.refused()) return call.error;
    const Target target = find_target(hGraphExec, hNode);
    if (target.node == nullptr || !can_be_disabled(*target.node)) return CUDA_ERROR_INVALID_VALUE;
    target.node->enabled = isEnabled != 0;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
    const Call call("cuGraphNodeGetEnabled", Needs::work);
    if (call.refused()) return call.error;
    const Target target = find_target(hGraphExec, hNode);
    if (target.node == nullptr || isEnabled == nullptr || !can_be_disabled(*target.node))
        return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = target.node->enabled ? 1 : 0;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo) {
    const Call call("cuGraphExecUpdate", Needs::work);
    if (call.refused()) return call.error;
    if (resultInfo == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    const auto exec = state().execs.find(hGraphExec);
    const GraphPtr graph = state().graphs.find(hGraph);
    if (!exec || !graph || graph->capture) return CUDA_ERROR_INVALID_VALUE;
    const Mismatch mismatch = compare(*exec, *exec->plan, *graph);
    *resultInfo = {mismatch.result, mismatch.node, mismatch.from};
    if (mismatch.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    become(*exec->plan, *graph);
    return CUDA_SUCCESS;
}
