// Context and primary context management, and peer access between contexts.
#include "call.hpp"

using namespace test::cuda;

namespace {

bool is_device(CUdevice device) { return device >= 0 && device < state().options.devices; }

bool are_context_flags(unsigned flags) {
    const unsigned scheduling = flags & CU_CTX_SCHED_MASK;
    return (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0 && (scheduling & (scheduling - 1)) == 0;
}

ContextPtr make_context(CUdevice device, unsigned flags) {
    State& s = state();
    auto context = std::make_shared<Context>();
    context->handle = s.new_handle<CUcontext>();
    context->device = device;
    context->flags = flags;
    context->legacy = std::make_shared<Stream>();
    context->legacy->handle = CU_STREAM_LEGACY;
    context->legacy->context = context;
    s.contexts.all.emplace(context->handle, context);
    return context;
}

}  // namespace

CUDA_CALL cuCtxCreate(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags, CUdevice dev) {
    const Call call("cuCtxCreate", Needs::work);
    if (call.refused()) return call.error;
    if (pctx == nullptr || !are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    if (ctxCreateParams != nullptr &&
        (ctxCreateParams->cigParams != nullptr || ctxCreateParams->execAffinityParams != nullptr))
        return CUDA_ERROR_NOT_SUPPORTED;
    const ContextPtr context = make_context(dev, flags);
    this_thread().stack.push_back(context);
    *pctx = context->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxDestroy(CUcontext ctx) {
    Call call("cuCtxDestroy", Needs::work, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (ctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextPtr context = state().contexts.find(ctx);
    if (!context || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    destroy_context(call, context);
    auto& stack = this_thread().stack;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return call.done();
}

CUDA_CALL cuCtxGetCurrent(CUcontext* pctx) {
    const Call call("cuCtxGetCurrent", Needs::driver);
    if (call.refused()) return call.error;
    if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextPtr context = current_context();
    *pctx = context ? context->handle : nullptr;
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxSetCurrent(CUcontext ctx) {
    const Call call("cuCtxSetCurrent", Needs::driver);
    if (call.refused()) return call.error;
    auto& stack = this_thread().stack;
    ContextPtr context;
    if (ctx != nullptr) {
        context = state().contexts.find(ctx);
        if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxPushCurrent(CUcontext ctx) {
    const Call call("cuCtxPushCurrent", Needs::driver);
    if (call.refused()) return call.error;
    if (ctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextPtr context = state().contexts.find(ctx);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    this_thread().stack.push_back(context);
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxPopCurrent(CUcontext* pctx) {
    const Call call("cuCtxPopCurrent", Needs::driver);
    if (call.refused()) return call.error;
    auto& stack = this_thread().stack;
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != nullptr) *pctx = stack.back()->handle;
    stack.pop_back();
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxGetDevice(CUdevice* device) {
    const Call call("cuCtxGetDevice", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = call.context->device;
    return CUDA_SUCCESS;
}

CUDA_CALL cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
    const Call call("cuCtxGetDevice", ctx == nullptr ? Needs::context : Needs::driver, AfterFault::go_on);
    if (call.refused()) return call.error;
    const ContextPtr context = ctx == nullptr ? call.context : state().contexts.find(ctx);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context->device;
    return CUDA_SUCCESS;
}

namespace {

CUresult synchronize(Call& call, const ContextPtr& context) {
    State& s = state();
    // A context must not be asked while one of its streams is captured.
    bool captured = false;
    for (const auto& weak : context->streams) {
        const StreamPtr stream = weak.lock();
        if (!stream || !stream->capture) continue;
        invalidate(stream->capture);
        captured = true;
    }
    if (captured) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    // What is submitted from here on is not waited for.
    const std::uint64_t now = s.new_id();
    const auto& in_flight = context->in_flight;
    s.changed.wait(call.lock, [&] { return in_flight.empty() || *in_flight.begin() > now; });
    return call.done();
}

}  // namespace

CUDA_CALL cuCtxSynchronize() {
    Call call("cuCtxSynchronize");
    return call.refused() ? call.error : synchronize(call, call.context);
}

CUDA_CALL cuCtxSynchronize_v2(CUcontext ctx) {
    Call call("cuCtxSynchronize", ctx == nullptr ? Needs::context : Needs::work);
    if (call.refused()) return call.error;
    const ContextPtr context = ctx == nullptr ? call.context : state().contexts.find(ctx);
    return context ? synchronize(call, context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUDA_CALL cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    const Call call("cuCtxGetStreamPriorityRange");
    if (call.refused()) return call.error;
    if (leastPriority != nullptr) *leastPriority = 0;
    if (greatestPriority != nullptr) *greatestPriority = -5;
    return CUDA_SUCCESS;
}

// --- primary contexts ------------------------------------------------------------------------------------------------

CUDA_CALL cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
    const Call call("cuDevicePrimaryCtxRetain", Needs::work);
    if (call.refused()) return call.error;
    if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    auto& [context, retained] = state().primaries[dev];
    if (!context) {
        context = make_context(dev, CU_CTX_SCHED_AUTO);
        context->primary = true;
    }
    ++retained;
    *pctx = context->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDevicePrimaryCtxRelease(CUdevice dev) {
    Call call("cuDevicePrimaryCtxRelease", Needs::work, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    const auto found = state().primaries.find(dev);
    if (found == state().primaries.end()) return CUDA_ERROR_INVALID_CONTEXT;
    if (--found->second.second == 0) {
        const ContextPtr context = found->second.first;
        state().primaries.erase(found);
        destroy_context(call, context);
    }
    return call.done();
}

CUDA_CALL cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
    const Call call("cuDevicePrimaryCtxGetState", Needs::driver);
    if (call.refused()) return call.error;
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = CU_CTX_SCHED_AUTO;
    *active = state().primaries.contains(dev) ? 1 : 0;
    return CUDA_SUCCESS;
}

// --- peers -----------------------------------------------------------------------------------------------------------

CUDA_CALL cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    const Call call("cuCtxEnablePeerAccess");
    if (call.refused()) return call.error;
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const ContextPtr peer = state().contexts.find(peerContext);
    if (!peer || peer == call.context) return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == call.context->device || !state().options.peers) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    const bool is_new = call.context->peers.insert(peerContext).second;
    return is_new ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUDA_CALL cuCtxDisablePeerAccess(CUcontext peerContext) {
    const Call call("cuCtxDisablePeerAccess");
    if (call.refused()) return call.error;
    if (!state().contexts.find(peerContext)) return CUDA_ERROR_INVALID_CONTEXT;
    const bool was_enabled = call.context->peers.erase(peerContext) != 0;
    return was_enabled ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
