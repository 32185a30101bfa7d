// Stream management but capture, and host functions in streams.
#include "graph.hpp"

#include <algorithm>

using namespace test::cuda;

namespace {

constexpr int greatest_priority = -5, least_priority = 0;

CUresult create(CUstream* phStream, unsigned flags, int priority, const Call& call) {
    if (phStream == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    State& s = state();
    const StreamPtr stream = make_stream(call.context, s.new_handle<CUstream>(), flags);
    stream->priority = std::clamp(priority, greatest_priority, least_priority);
    s.streams.all.emplace(stream->handle, stream);
    *phStream = stream->handle;
    return CUDA_SUCCESS;
}

/// "It is invalid to synchronize or query the execution status of a stream which is being captured."
CUresult check_not_captured(const StreamPtr& stream) {
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (!stream->capture) return CUDA_SUCCESS;
    invalidate(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/// The special streams need a context, others bring their own.
CUresult missing(CUstream handle) {
    const bool special = handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    return special ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CUDA_CALL cuStreamCreate(CUstream* phStream, unsigned int Flags) {
    const Call call("cuStreamCreate");
    if (call.refused()) return call.error;
    return create(phStream, Flags, 0, call);
}

CUDA_CALL cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
    const Call call("cuStreamCreateWithPriority");
    if (call.refused()) return call.error;
    return create(phStream, flags, priority, call);
}

CUDA_CALL cuStreamGetPriority(CUstream hStream, int* priority) {
    const Call call("cuStreamGetPriority");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
    const Call call("cuStreamGetFlags");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
    const Call call("cuStreamGetCtx", Needs::work);
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextPtr context = stream->context.lock();
    *pctx = context ? context->handle : nullptr;
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
    const CUresult result = cuStreamGetCtx(hStream, pCtx);
    if (result == CUDA_SUCCESS && pGreenCtx != nullptr) *pGreenCtx = nullptr;
    return result;
}

// What is in the stream still runs: the commands hold what they need.
CUDA_CALL cuStreamDestroy(CUstream hStream) {
    const Call call("cuStreamDestroy", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    const StreamPtr stream = state().streams.find(hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    invalidate(stream->capture);
    const ContextPtr context = stream->context.lock();
    if (context && stream->blocking() && stream->tail && !stream->tail->done) {
        // The legacy stream is still behind it.
        const CommandPtr marker = make_command(context);
        add_dependency(marker, context->legacy->tail);
        add_dependency(marker, stream->tail);
        context->legacy->tail = marker;
        submit(marker);
    }
    state().streams.all.erase(hStream);
    return call.done();
}

CUDA_CALL cuStreamSynchronize(CUstream hStream) {
    Call call("cuStreamSynchronize");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (const CUresult error = check_not_captured(stream); error != CUDA_SUCCESS) return error;
    call.wait_for(stream->tail);
    return call.done();
}

CUDA_CALL cuStreamQuery(CUstream hStream) {
    const Call call("cuStreamQuery");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (const CUresult error = check_not_captured(stream); error != CUDA_SUCCESS) return error;
    return !stream->tail || stream->tail->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUDA_CALL cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
    const Call call("cuLaunchHostFunc");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return missing(hStream);
    if (fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(stream, HostParams{fn, userData});
}
