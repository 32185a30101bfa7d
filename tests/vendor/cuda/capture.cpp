// Stream capture. Until it ends, what goes into a captured stream becomes nodes of a graph.
#include "graph.hpp"

#include <algorithm>

using namespace test::cuda;

namespace test::cuda {

CUresult check_usable(const StreamPtr& stream) {
    if (stream->capture) return stream->capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    const ContextPtr context = stream->context.lock();
    if (!context || stream != context->legacy) return CUDA_SUCCESS;
    // The legacy stream would depend on every blocking stream, and those that are captured have nothing to depend on.
    CUresult result = CUDA_SUCCESS;
    for (const auto& weak : context->streams) {
        const StreamPtr other = weak.lock();
        if (!other || !other->capture || !other->blocking()) continue;
        invalidate(other->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

CUresult enqueue(const StreamPtr& stream, const Params& params, CommandPtr* command) {
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (stream->capture) {
        std::vector<Node*> dependencies;
        for (CUgraphNode handle : stream->capture_tail)
            if (const NodePtr node = state().nodes.find(handle)) dependencies.push_back(node.get());
        const NodePtr node = add_node(*stream->capture->graph, with_mappings(params), std::move(dependencies));
        stream->capture_tail = {node->handle};
        return CUDA_SUCCESS;
    }
    const CommandPtr made = append(stream, work_of(params));
    submit(made);
    if (command != nullptr) *command = made;
    return CUDA_SUCCESS;
}

}  // namespace test::cuda

namespace {

bool is_mode(CUstreamCaptureMode mode) {
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
           mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUresult check_can_begin(const StreamPtr& stream, CUstreamCaptureMode mode) {
    if (!stream || stream->handle == CU_STREAM_LEGACY || !is_mode(mode)) return CUDA_ERROR_INVALID_VALUE;
    if (!stream->capture) return CUDA_SUCCESS;
    invalidate(stream->capture);
    return CUDA_ERROR_INVALID_VALUE;
}

CapturePtr begin(const StreamPtr& stream, const GraphPtr& graph, CUstreamCaptureMode mode) {
    auto capture = std::make_shared<Capture>();
    capture->id = state().new_id();
    capture->graph = graph;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream;
    capture->streams.push_back(stream);
    graph->capture = capture;
    stream->capture = capture;
    stream->capture_tail.clear();
    state().captures.push_back(capture);
    return capture;
}

/// Every node that a stream of the capture ends with must come before the end of the stream that began it.
bool is_joined(const Capture& capture) {
    const StreamPtr origin = capture.origin.lock();
    std::set<const Node*> before;
    std::vector<const Node*> todo;
    const auto reach = [&](const Node* node) {
        if (before.insert(node).second) todo.push_back(node);
    };
    for (CUgraphNode handle : origin->capture_tail)
        if (const NodePtr node = state().nodes.find(handle)) reach(node.get());
    while (!todo.empty()) {
        const Node* node = todo.back();
        todo.pop_back();
        for (const Node* dependency : node->dependencies) reach(dependency);
    }
    for (const auto& weak : capture.streams) {
        const StreamPtr stream = weak.lock();
        if (!stream || stream == origin) continue;
        for (CUgraphNode handle : stream->capture_tail) {
            const NodePtr node = state().nodes.find(handle);
            if (node && !before.contains(node.get())) return false;
        }
    }
    return true;
}

void end(const CapturePtr& capture) {
    capture->ended = true;
    capture->graph->capture.reset();
    for (const auto& weak : capture->streams) {
        const StreamPtr stream = weak.lock();
        if (!stream || stream->capture != capture) continue;
        stream->capture.reset();
        stream->capture_tail.clear();
    }
    std::erase(state().captures, capture);
}

/// "If this is called on the null stream while a blocking stream in the same context is capturing": told, not
/// invalidated.
bool is_implicitly_captured(const StreamPtr& stream) {
    const ContextPtr context = stream->context.lock();
    if (!context || stream != context->legacy) return false;
    return std::any_of(context->streams.begin(), context->streams.end(), [](const auto& weak) {
        const StreamPtr other = weak.lock();
        return other && other->capture && other->blocking();
    });
}

CUstreamCaptureStatus status_of(const Stream& stream) {
    if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

CUDA_CALL cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode) {
    const Call call("cuStreamBeginCapture");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (const CUresult error = check_can_begin(stream, mode); error != CUDA_SUCCESS) return error;
    begin(stream, make_graph(), mode);
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                      const CUgraphEdgeData* dependencyData, std::size_t numDependencies,
                                      CUstreamCaptureMode mode) {
    const Call call("cuStreamBeginCaptureToGraph");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    const GraphPtr graph = state().graphs.find(hGraph);
    if (!graph || graph->capture || (numDependencies > 0 && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (dependencyData != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    for (std::size_t i = 0; i < numDependencies; ++i) {
        const NodePtr node = state().nodes.find(dependencies[i]);
        if (!node || node->graph != graph.get()) return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult error = check_can_begin(stream, mode); error != CUDA_SUCCESS) return error;
    begin(stream, graph, mode)->into_given_graph = true;
    stream->capture_tail.assign(dependencies, dependencies + numDependencies);
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
    const Call call("cuStreamEndCapture");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream || phGraph == nullptr || !stream->capture) return CUDA_ERROR_INVALID_VALUE;
    const CapturePtr capture = stream->capture;
    if (capture->origin.lock() != stream) {
        invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
        invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    const bool joined = is_joined(*capture);
    end(capture);
    if (!capture->invalidated && joined) {
        *phGraph = capture->graph->handle;
        return CUDA_SUCCESS;
    }
    *phGraph = nullptr;
    if (!capture->into_given_graph) forget_graph(capture->graph);
    return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUDA_CALL cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
    const Call call("cuStreamIsCapturing");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream || captureStatus == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_implicitly_captured(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *captureStatus = status_of(*stream);
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                 CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                 const CUgraphEdgeData** edgeData_out, std::size_t* numDependencies_out) {
    const Call call("cuStreamGetCaptureInfo");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream || captureStatus_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (edgeData_out != nullptr && dependencies_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_implicitly_captured(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *captureStatus_out = status_of(*stream);
    if (*captureStatus_out != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id_out != nullptr) *id_out = stream->capture->id;
    if (graph_out != nullptr) *graph_out = stream->capture->graph->handle;
    if (dependencies_out != nullptr) *dependencies_out = stream->capture_tail.data();
    if (numDependencies_out != nullptr) *numDependencies_out = stream->capture_tail.size();
    // All edges have the default data, so as many zeros as there are tails.
    static const std::vector<CUgraphEdgeData> zeros(4096);
    if (edgeData_out != nullptr) *edgeData_out = zeros.data();
    return CUDA_SUCCESS;
}

CUDA_CALL cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    const Call call("cuThreadExchangeStreamCaptureMode", Needs::driver);
    if (call.refused()) return call.error;
    if (mode == nullptr || !is_mode(*mode)) return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, this_thread().mode);
    return CUDA_SUCCESS;
}
