// The nodes of graphs and their parameters, which are copied when they are given.
#include "graph.hpp"
#include "transfer.hpp"

#include <algorithm>

using namespace test::cuda;

namespace test::cuda {

CUresult read_node(const CUDA_KERNEL_NODE_PARAMS* given, CUresult bad_handle, KernelParams& out) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const FunctionPtr function = state().functions.find(given->func);
    if (!function) return bad_handle;
    const CUresult error = read_launch(function,
                                       {{given->gridDimX, given->gridDimY, given->gridDimZ},
                                        {given->blockDimX, given->blockDimY, given->blockDimZ},
                                        given->sharedMemBytes,
                                        given->kernelParams,
                                        given->extra},
                                       out);
    return error == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult read_node(const CUDA_MEMCPY3D* given, CUcontext context, CopyParams& out) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    out = {*given, state().contexts.find(context), *given};
    return out.context ? resolve(out.what) : CUDA_ERROR_INVALID_VALUE;
}

CUresult read_node(const CUDA_MEMSET_NODE_PARAMS* given, CUcontext context, SetParams& out) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    out = {*given, state().contexts.find(context)};
    return out.context ? check_set(out.what) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult read_node(const CUDA_HOST_NODE_PARAMS* given, HostParams& out) {
    if (given == nullptr || given->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    out = {given->fn, given->userData};
    return CUDA_SUCCESS;
}

}  // namespace test::cuda

namespace {

/// Where a node goes: "dependencies may not have any duplicate entries", and all are of the graph.
struct Place {
    Place(CUgraphNode* result, CUgraph hGraph, const CUgraphNode* given, std::size_t count)
        : node(result), graph(state().graphs.find(hGraph)) {
        if (node == nullptr || !graph || (count > 0 && given == nullptr)) return;
        for (std::size_t i = 0; i < count; ++i) {
            const NodePtr dependency = state().nodes.find(given[i]);
            if (!dependency || dependency->graph != graph.get()) return;
            if (std::find(dependencies.begin(), dependencies.end(), dependency.get()) != dependencies.end()) return;
            dependencies.push_back(dependency.get());
        }
        good = true;
    }

    CUresult add(Params params) {
        *node = add_node(*graph, with_mappings(std::move(params)), std::move(dependencies))->handle;
        return CUDA_SUCCESS;
    }

    CUgraphNode* node;
    GraphPtr graph;
    std::vector<Node*> dependencies;
    bool good = false;
};

template <class P>
P* params_of(CUgraphNode handle) {
    const NodePtr node = state().nodes.find(handle);
    return node ? std::get_if<P>(&node->params) : nullptr;
}

CUresult add_event_node(const Call& call, Place place, CUevent hEvent, bool waits) {
    if (call.refused()) return call.error;
    const EventPtr event = state().events.find(hEvent);
    return place.good && event ? place.add(EventParams{event, waits}) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUDA_CALL cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               std::size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphAddKernelNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    if (!place.good) return CUDA_ERROR_INVALID_VALUE;
    KernelParams params;
    const CUresult error = read_node(nodeParams, CUDA_ERROR_INVALID_VALUE, params);
    return error == CUDA_SUCCESS ? place.add(params) : error;
}

CUDA_CALL cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               std::size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
    const Call call("cuGraphAddMemcpyNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    if (!place.good) return CUDA_ERROR_INVALID_VALUE;
    CopyParams params;
    const CUresult error = read_node(copyParams, ctx, params);
    return error == CUDA_SUCCESS ? place.add(params) : error;
}

CUDA_CALL cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               std::size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                               CUcontext ctx) {
    const Call call("cuGraphAddMemsetNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    if (!place.good) return CUDA_ERROR_INVALID_VALUE;
    SetParams params;
    const CUresult error = read_node(memsetParams, ctx, params);
    return error == CUDA_SUCCESS ? place.add(params) : error;
}

CUDA_CALL cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             std::size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphAddHostNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    if (!place.good) return CUDA_ERROR_INVALID_VALUE;
    HostParams params;
    const CUresult error = read_node(nodeParams, params);
    return error == CUDA_SUCCESS ? place.add(params) : error;
}

CUDA_CALL cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              std::size_t numDependencies) {
    const Call call("cuGraphAddEmptyNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    return place.good ? place.add(EmptyParams{}) : CUDA_ERROR_INVALID_VALUE;
}

CUDA_CALL cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   std::size_t numDependencies, CUgraph childGraph) {
    const Call call("cuGraphAddChildGraphNode", Needs::work);
    if (call.refused()) return call.error;
    Place place(phGraphNode, hGraph, dependencies, numDependencies);
    const GraphPtr child = state().graphs.find(childGraph);
    if (!place.good || !child || child->capture) return CUDA_ERROR_INVALID_VALUE;
    const GraphPtr copy = copy_graph(*child, true);
    copy->is_child = true;
    return place.add(ChildParams{copy});
}

CUDA_CALL cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                    std::size_t numDependencies, CUevent event) {
    const Call call("cuGraphAddEventRecordNode", Needs::work);
    return add_event_node(call, {phGraphNode, hGraph, dependencies, numDependencies}, event, false);
}

CUDA_CALL cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  std::size_t numDependencies, CUevent event) {
    const Call call("cuGraphAddEventWaitNode", Needs::work);
    return add_event_node(call, {phGraphNode, hGraph, dependencies, numDependencies}, event, true);
}

CUDA_CALL cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
    const Call call("cuGraphChildGraphNodeGetGraph", Needs::work);
    if (call.refused()) return call.error;
    const auto* child = params_of<ChildParams>(hNode);
    if (child == nullptr || phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = child->graph->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphKernelNodeGetParams", Needs::work);
    if (call.refused()) return call.error;
    auto* kernel = params_of<KernelParams>(hNode);
    if (kernel == nullptr || nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Node& node = *state().nodes.find(hNode);
    node.pointers.clear();
    if (kernel->as_extra) {
        node.argument_bytes = kernel->arguments.size();
        node.pointers = {CU_LAUNCH_PARAM_BUFFER_POINTER, kernel->arguments.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                         &node.argument_bytes, CU_LAUNCH_PARAM_END};
    } else {
        for (const Parameter& p : kernel->function->kernel->parameters)
            node.pointers.push_back(kernel->arguments.data() + p.offset);
    }
    *nodeParams = {};
    nodeParams->func = kernel->function->handle;
    nodeParams->gridDimX = kernel->grid.x;
    nodeParams->gridDimY = kernel->grid.y;
    nodeParams->gridDimZ = kernel->grid.z;
    nodeParams->blockDimX = kernel->block.x;
    nodeParams->blockDimY = kernel->block.y;
    nodeParams->blockDimZ = kernel->block.z;
    nodeParams->sharedMemBytes = kernel->shared;
    (kernel->as_extra ? nodeParams->extra : nodeParams->kernelParams) = node.pointers.empty() ? nullptr
                                                                                              : node.pointers.data();
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphKernelNodeSetParams", Needs::work);
    if (call.refused()) return call.error;
    if (!state().nodes.find(hNode)) return CUDA_ERROR_INVALID_HANDLE;
    auto* kernel = params_of<KernelParams>(hNode);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelParams params;
    const CUresult error = read_node(nodeParams, CUDA_ERROR_INVALID_HANDLE, params);
    if (error == CUDA_SUCCESS) *kernel = std::move(params);
    return error;
}

CUDA_CALL cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
    const Call call("cuGraphMemcpyNodeGetParams", Needs::work);
    if (call.refused()) return call.error;
    const auto* copy = params_of<CopyParams>(hNode);
    if (copy == nullptr || nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *nodeParams = copy->given;
    return CUDA_SUCCESS;
}

CUDA_CALL cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
    const Call call("cuGraphMemcpyNodeSetParams", Needs::work);
    if (call.refused()) return call.error;
    const auto* copy = params_of<CopyParams>(hNode);
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyParams params;
    const CUresult error = read_node(nodeParams, copy->context->handle, params);
    if (error == CUDA_SUCCESS) state().nodes.find(hNode)->params = with_mappings(params);
    return error;
}

CUDA_CALL cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphMemsetNodeSetParams", Needs::work);
    if (call.refused()) return call.error;
    const auto* set = params_of<SetParams>(hNode);
    if (set == nullptr) return CUDA_ERROR_INVALID_VALUE;
    SetParams params;
    const CUresult error = read_node(nodeParams, set->context->handle, params);
    if (error == CUDA_SUCCESS) state().nodes.find(hNode)->params = with_mappings(params);
    return error;
}

CUDA_CALL cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
    const Call call("cuGraphHostNodeSetParams", Needs::work);
    if (call.refused()) return call.error;
    if (params_of<HostParams>(hNode) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    HostParams params;
    const CUresult error = read_node(nodeParams, params);
    if (error == CUDA_SUCCESS) state().nodes.find(hNode)->params = params;
    return error;
}
