// Executable graphs: instantiation and launch. exec_update.cpp changes them.
#include "graph.hpp"

using namespace test::cuda;

namespace test::cuda {

namespace {

struct Ends {
    CommandPtr first, last;
};

struct Flattened {
    ContextPtr owner;
    std::vector<CommandPtr> commands;
    std::vector<std::pair<EventPtr, CommandPtr>> records;
};

CommandPtr make(Flattened& all, std::function<void()> work = {}) {
    all.commands.push_back(make_command(all.owner, std::move(work)));
    return all.commands.back();
}

/// One command for each node, between two that only order. The parameters are copied: a later update reaches none of
/// it.
Ends flatten(const Graph& plan, Flattened& all) {
    const Ends whole{make(all), make(all)};
    std::map<const Node*, Ends> ends;
    for (const NodePtr& node : plan.nodes) {
        Ends& own = ends[node.get()];
        if (const auto* child = std::get_if<ChildParams>(&node->params)) {
            own = flatten(*child->graph, all);
            continue;
        }
        own.first = own.last = make(all, node->enabled ? work_of(node->params) : std::function<void()>{});
        if (const auto* event = std::get_if<EventParams>(&node->params)) {
            if (event->waits) {
                add_dependency(own.first, event->event->recorded);
            } else {
                all.records.emplace_back(event->event, own.last);
            }
        }
    }
    for (const NodePtr& node : plan.nodes) {
        const Ends& own = ends[node.get()];
        add_dependency(own.first, whole.first);
        for (const Node* dependency : node->dependencies) add_dependency(own.first, ends[dependency].last);
        add_dependency(whole.last, own.last);
    }
    add_dependency(whole.last, whole.first);
    return whole;
}

void remember(const Graph& plan, std::map<const Node*, Params>& original) {
    for (const NodePtr& node : plan.nodes) {
        original.emplace(node.get(), node->params);
        if (const auto* child = std::get_if<ChildParams>(&node->params)) remember(*child->graph, original);
    }
}

/// The first node that cannot be executed, or that is on a cycle.
bool is_bad(const Graph& graph, CUgraphNode& bad) {
    if (has_cycle(graph, bad)) return true;
    for (const NodePtr& node : graph.nodes) {
        const auto* child = std::get_if<ChildParams>(&node->params);
        if (child != nullptr && is_bad(*child->graph, bad)) return true;
        const auto* kernel = std::get_if<KernelParams>(&node->params);
        if (kernel == nullptr || !kernel->function->unloaded) continue;
        bad = node->handle;
        return true;
    }
    return false;
}

CUresult instantiate(CUgraphExec* result, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
    State& s = state();
    params.hErrNode_out = nullptr;
    params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    const GraphPtr graph = s.graphs.find(hGraph);
    if (result == nullptr || !graph || graph->capture) return CUDA_ERROR_INVALID_VALUE;
    if (is_bad(*graph, params.hErrNode_out)) {
        params.result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto exec = std::make_shared<Exec>();
    exec->handle = s.new_handle<CUgraphExec>();
    exec->plan = copy_graph(*graph, false);
    for (std::size_t i = 0; i < graph->nodes.size(); ++i)
        exec->by_source[graph->nodes[i]->handle] = exec->plan->nodes[i].get();
    remember(*exec->plan, exec->original);
    s.execs.all.emplace(exec->handle, exec);
    *result = exec->handle;
    params.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

constexpr cuuint64_t auto_free = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
constexpr cuuint64_t upload = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
constexpr cuuint64_t device_launch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
constexpr cuuint64_t node_priority = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult check_flags(cuuint64_t flags, cuuint64_t known) {
    if ((flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & auto_free) != 0 && (flags & device_launch) != 0) return CUDA_ERROR_INVALID_VALUE;
    return (flags & device_launch) != 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult upload_in(Exec& exec, const StreamPtr& stream) {
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (stream->capture) {
        invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const CommandPtr marker = append(stream);
    add_dependency(marker, exec.last);
    add_dependency(marker, exec.last_upload);
    exec.last_upload = marker;
    submit(marker);
    return CUDA_SUCCESS;
}

bool is_special(CUstream handle) {
    return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

}  // namespace

CUresult launch(Exec& exec, const StreamPtr& stream) {
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (stream->capture) {
        const GraphPtr copy = copy_graph(*exec.plan, true);
        copy->is_child = true;
        return enqueue(stream, ChildParams{copy});
    }
    Flattened all{stream->context.lock(), {}, {}};
    const Ends whole = flatten(*exec.plan, all);
    const CommandPtr begin = append(stream);
    add_dependency(begin, exec.last);
    add_dependency(whole.first, begin);
    exec.last = stream->tail = whole.last;
    for (const auto& [event, command] : all.records) {
        event->recorded = command;
        event->capture.reset();
        event->captured.clear();
    }
    submit(begin);
    for (const CommandPtr& command : all.commands) submit(command);
    return CUDA_SUCCESS;
}

}  // namespace test::cuda

CUDA_CALL cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
    const Call call("cuGraphInstantiate", Needs::work);
    if (call.refused()) return call.error;
    const CUresult error = check_flags(flags, auto_free | device_launch | node_priority);
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    return error == CUDA_SUCCESS ? instantiate(phGraphExec, hGraph, params) : error;
}

CUDA_CALL cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                       CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    const Call call("cuGraphInstantiateWithParams", Needs::work);
    if (call.refused()) return call.error;
    if (instantiateParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
    instantiateParams->hErrNode_out = nullptr;
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    const cuuint64_t flags = instantiateParams->flags;
    const CUresult bad = check_flags(flags, auto_free | upload | device_launch | node_priority);
    if (bad != CUDA_SUCCESS) return bad;
    StreamPtr stream;
    if ((flags & upload) != 0) {
        stream = find_stream(instantiateParams->hUploadStream);
        if (!stream || stream->capture) return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult error = instantiate(phGraphExec, hGraph, *instantiateParams);
    if (error != CUDA_SUCCESS || !stream) return error;
    return upload_in(*state().execs.find(*phGraphExec), stream);
}

CUDA_CALL cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    const Call call("cuGraphUpload", is_special(hStream) ? Needs::context : Needs::work);
    if (call.refused()) return call.error;
    const auto exec = state().execs.find(hGraphExec);
    const StreamPtr stream = find_stream(hStream);
    return exec && stream ? upload_in(*exec, stream) : CUDA_ERROR_INVALID_VALUE;
}

CUDA_CALL cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    const Call call("cuGraphLaunch", is_special(hStream) ? Needs::context : Needs::work);
    if (call.refused()) return call.error;
    const auto exec = state().execs.find(hGraphExec);
    const StreamPtr stream = find_stream(hStream);
    return exec && stream ? launch(*exec, stream) : CUDA_ERROR_INVALID_VALUE;
}

// What is in flight holds its own parameters and goes on.
CUDA_CALL cuGraphExecDestroy(CUgraphExec hGraphExec) {
    const Call call("cuGraphExecDestroy", Needs::work, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (state().execs.all.erase(hGraphExec) == 0) return CUDA_ERROR_INVALID_VALUE;
    return call.done();
}
