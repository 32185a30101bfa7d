#include "call.hpp"

#include "engine.hpp"
#include "memory.hpp"

#include <algorithm>

namespace test::cuda {

namespace {

CUresult asked_for(std::string_view name) {
    std::vector<Failure>& failures = state().failures;
    std::optional<CUresult> result;
    for (auto failure = failures.begin(); failure != failures.end();) {
        const bool counts = failure->name.empty() || failure->name == name;
        if (counts && --failure->after == 0) {
            result = failure->result;
            failure = failures.erase(failure);
        } else {
            ++failure;
        }
    }
    return result.value_or(CUDA_SUCCESS);
}

}  // namespace

Call::Call(const char* name, Needs needs, AfterFault after_fault) : lock(state().mutex) {
    State& s = state();
    ++s.calls[name];
    ++s.all_calls;
    error = asked_for(name);
    if (refused() || needs == Needs::nothing) return;
    // "The host function must not make any CUDA API calls" (cuLaunchHostFunc).
    if (this_thread().executing) {
        error = CUDA_ERROR_NOT_PERMITTED;
    } else if (!s.initialized) {
        error = CUDA_ERROR_NOT_INITIALIZED;
    } else if (needs == Needs::context) {
        context = current_context();
        if (!context) error = CUDA_ERROR_INVALID_CONTEXT;
        if (context && context->destroyed) error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (refused() || needs == Needs::driver || after_fault == AfterFault::go_on) return;
    error = done();
}

void Call::wait_for(const CommandPtr& command) {
    if (command) state().changed.wait(lock, [&] { return command->done; });
}

ContextPtr current_context() {
    const auto& stack = this_thread().stack;
    return stack.empty() ? nullptr : stack.back();
}

StreamPtr make_stream(const ContextPtr& context, CUstream handle, unsigned flags) {
    auto stream = std::make_shared<Stream>();
    stream->handle = handle;
    stream->context = context;
    stream->flags = flags;
    context->streams.push_back(stream);
    return stream;
}

StreamPtr find_stream(CUstream handle) {
    if (handle != nullptr && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD)
        return state().streams.find(handle);
    const ContextPtr context = current_context();
    if (!context || context->destroyed) return nullptr;
    if (handle != CU_STREAM_PER_THREAD) return context->legacy;
    StreamPtr& mine = this_thread().streams[context->handle];
    if (!mine) mine = make_stream(context, CU_STREAM_PER_THREAD, CU_STREAM_DEFAULT);
    return mine;
}

void invalidate(const CapturePtr& capture) {
    if (capture) capture->invalidated = true;
}

CUresult check_unsafe_in_capture() {
    const CUstreamCaptureMode mode = this_thread().mode;
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    for (const CapturePtr& capture : state().captures) {
        const bool own = capture->thread == std::this_thread::get_id();
        const bool forbids = own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                 : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                       mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!forbids) continue;
        invalidate(capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

void destroy_context(Call& call, const ContextPtr& context) {
    State& s = state();
    // What is under way still uses the context's memory.
    s.changed.wait(call.lock, [&] { return context->in_flight.empty(); });
    context->destroyed = true;
    std::erase_if(s.streams.all, [&](const auto& entry) { return entry.second->context.lock() == context; });
    std::erase_if(s.events.all, [&](const auto& entry) { return entry.second->context == context; });
    std::erase_if(s.modules.all, [&](const auto& entry) { return entry.second->context == context; });
    std::erase_if(s.functions.all, [&](const auto& entry) {
        if (entry.second->context != context) return false;
        entry.second->unloaded = true;
        return true;
    });
    free_all_of(context.get());
    for (const auto& [handle, other] : s.contexts.all) other->peers.erase(context->handle);
    s.contexts.all.erase(context->handle);
}

}  // namespace test::cuda
