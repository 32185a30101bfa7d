// Graphs: making, copying, linking and asking. graph_nodes.cpp adds the nodes.
#include "graph.hpp"
#include "memory.hpp"
#include "transfer.hpp"

#include <algorithm>

using namespace test::cuda;

namespace test::cuda {

namespace {

Mapping mapping_of(std::uintptr_t address) {
    const Allocation* found = find_live(address);
    return found == nullptr ? Mapping{} : Mapping{found->kind, found->context->handle};
}

}  // namespace

GraphPtr make_graph() {
    auto graph = std::make_shared<Graph>();
    graph->handle = state().new_handle<CUgraph>();
    state().graphs.all.emplace(graph->handle, graph);
    return graph;
}

Params with_mappings(Params params) {
    if (auto* copy = std::get_if<CopyParams>(&params)) {
        copy->from = mapping_of(source(copy->what).address);
        copy->to = mapping_of(destination(copy->what).address);
    } else if (auto* set = std::get_if<SetParams>(&params)) {
        set->to = mapping_of(set->what.dst);
    }
    return params;
}

NodePtr add_node(Graph& graph, Params params, std::vector<Node*> dependencies) {
    auto node = std::make_shared<Node>();
    node->graph = &graph;
    node->params = std::move(params);
    node->dependencies = std::move(dependencies);
    if (graph.handle != nullptr) {
        node->handle = state().new_handle<CUgraphNode>();
        state().nodes.all.emplace(node->handle, node);
    }
    graph.nodes.push_back(node);
    return node;
}

GraphPtr copy_graph(const Graph& graph, bool with_handles) {
    const GraphPtr copy = with_handles ? make_graph() : std::make_shared<Graph>();
    copy->cloned_from = graph.handle;
    std::map<const Node*, Node*> copies;
    for (const NodePtr& node : graph.nodes) {
        Params params = node->params;
        if (auto* child = std::get_if<ChildParams>(&params)) {
            child->graph = copy_graph(*child->graph, with_handles);
            child->graph->is_child = true;
        }
        const NodePtr made = add_node(*copy, std::move(params), {});
        made->enabled = node->enabled;
        copies[node.get()] = made.get();
        copy->clones[node->handle] = made->handle;
    }
    for (const NodePtr& node : graph.nodes)
        for (const Node* dependency : node->dependencies)
            copies[node.get()]->dependencies.push_back(copies[dependency]);
    return copy;
}

void forget_graph(const GraphPtr& graph) {
    for (const NodePtr& node : graph->nodes) {
        if (const auto* child = std::get_if<ChildParams>(&node->params)) forget_graph(child->graph);
        state().nodes.all.erase(node->handle);
    }
    state().graphs.all.erase(graph->handle);
}

CUgraphNodeType type_of(const Params& params) {
    if (const auto* event = std::get_if<EventParams>(&params))
        return event->waits ? CU_GRAPH_NODE_TYPE_WAIT_EVENT : CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    constexpr CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
                                         CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
                                         CU_GRAPH_NODE_TYPE_GRAPH,  CU_GRAPH_NODE_TYPE_EMPTY};
    return types[params.index()];
}

bool has_cycle(const Graph& graph, CUgraphNode& on_it) {
    std::map<const Node*, std::size_t> missing;
    std::map<const Node*, std::vector<const Node*>> dependents;
    std::vector<const Node*> ready;
    for (const NodePtr& node : graph.nodes) {
        missing[node.get()] = node->dependencies.size();
        for (const Node* dependency : node->dependencies) dependents[dependency].push_back(node.get());
        if (node->dependencies.empty()) ready.push_back(node.get());
    }
    while (!ready.empty()) {
        const Node* node = ready.back();
        ready.pop_back();
        missing.erase(node);
        for (const Node* next : dependents[node])
            if (--missing[next] == 0) ready.push_back(next);
    }
    if (missing.empty()) return false;
    on_it = missing.begin()->first->handle;
    return true;
}

}  // namespace test::cuda

CUDA_CALL cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
    const Call call("cuGraphCreate", Needs::work);
    if (call.refused()) return call.error;
    if (phGraph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = make_graph()->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphDestroy(CUgraph hGraph) {
    const Call call("cuGraphDestroy", Needs::work, AfterFault::go_on);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(hGraph);
    // A child graph belongs to its node, and one that is being captured to its capture.
    if (!graph || graph->is_child || graph->capture) return CUDA_ERROR_INVALID_VALUE;
    forget_graph(graph);
    return call.done();
}

CUDA_CALL cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
    const Call call("cuGraphClone", Needs::work);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(originalGraph);
    if (phGraphClone == nullptr || !graph) return CUDA_ERROR_INVALID_VALUE;
    *phGraphClone = copy_graph(*graph, true)->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
    const Call call("cuGraphNodeFindInClone", Needs::work);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(hClonedGraph);
    if (phNode == nullptr || !graph) return CUDA_ERROR_INVALID_VALUE;
    const auto found = graph->clones.find(hOriginalNode);
    if (found == graph->clones.end() || !state().nodes.find(found->second)) return CUDA_ERROR_INVALID_VALUE;
    *phNode = found->second;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                 const CUgraphEdgeData* edgeData, std::size_t numDependencies) {
    const Call call("cuGraphAddDependencies", Needs::work);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(hGraph);
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    if (numDependencies == 0) return CUDA_SUCCESS;
    if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::pair<Node*, Node*>> edges;
    for (std::size_t i = 0; i < numDependencies; ++i) {
        const NodePtr first = state().nodes.find(from[i]), second = state().nodes.find(to[i]);
        if (!first || !second || first->graph != graph.get() || second->graph != graph.get() || first == second)
            return CUDA_ERROR_INVALID_VALUE;
        const CUgraphEdgeData zero{};
        if (edgeData != nullptr && std::memcmp(&edgeData[i], &zero, sizeof zero) != 0) return CUDA_ERROR_NOT_SUPPORTED;
        const auto& there = second->dependencies;
        const std::pair edge{first.get(), second.get()};
        if (std::find(there.begin(), there.end(), first.get()) != there.end() ||
            std::find(edges.begin(), edges.end(), edge) != edges.end())
            return CUDA_ERROR_INVALID_VALUE;
        edges.push_back(edge);
    }
    for (const auto& [first, second] : edges) second->dependencies.push_back(first);
    return CUDA_SUCCESS;
}

namespace {

/// What all the lists do: only count without room, and fill the rest of too much room with null.
void put(const std::vector<CUgraphNode>& all, CUgraphNode* out, std::size_t room) {
    for (std::size_t i = 0; i < room; ++i) out[i] = i < all.size() ? all[i] : nullptr;
}

}  // namespace

CUDA_CALL cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, std::size_t* numNodes) {
    const Call call("cuGraphGetNodes", Needs::work);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(hGraph);
    if (!graph || numNodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> all;
    for (const NodePtr& node : graph->nodes) all.push_back(node->handle);
    if (nodes != nullptr) put(all, nodes, *numNodes);
    *numNodes = nodes == nullptr ? all.size() : std::min(*numNodes, all.size());
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                          std::size_t* numEdges) {
    const Call call("cuGraphGetEdges", Needs::work);
    if (call.refused()) return call.error;
    const GraphPtr graph = state().graphs.find(hGraph);
    if (!graph || numEdges == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (edgeData != nullptr && from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> firsts, seconds;
    for (const NodePtr& node : graph->nodes) {
        for (const Node* dependency : node->dependencies) {
            firsts.push_back(dependency->handle);
            seconds.push_back(node->handle);
        }
    }
    if (from != nullptr) {
        put(firsts, from, *numEdges);
        put(seconds, to, *numEdges);
        if (edgeData != nullptr) std::fill_n(edgeData, *numEdges, CUgraphEdgeData{});
    }
    *numEdges = from == nullptr ? firsts.size() : std::min(*numEdges, firsts.size());
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                     std::size_t* numDependencies) {
    const Call call("cuGraphNodeGetDependencies", Needs::work);
    if (call.refused()) return call.error;
    const NodePtr node = state().nodes.find(hNode);
    if (!node || numDependencies == nullptr || (edgeData != nullptr && dependencies == nullptr))
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> all;
    for (const Node* dependency : node->dependencies) all.push_back(dependency->handle);
    if (dependencies != nullptr) put(all, dependencies, *numDependencies);
    if (edgeData != nullptr) std::fill_n(edgeData, *numDependencies, CUgraphEdgeData{});
    *numDependencies = dependencies == nullptr ? all.size() : std::min(*numDependencies, all.size());
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
    const Call call("cuGraphNodeGetType", Needs::work);
    if (call.refused()) return call.error;
    const NodePtr node = state().nodes.find(hNode);
    if (!node || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = type_of(node->params);
    return CUDA_SUCCESS;
}
