// Event management, and waiting for events in streams.
#include "graph.hpp"

#include <algorithm>

using namespace test::cuda;

namespace {

bool is_done(const Event& event) { return !event.recorded || event.recorded->done; }

/// Waits of a stream that is captured, or that this makes part of a capture.
CUresult wait_captured(const StreamPtr& stream, const EventPtr& event) {
    const CapturePtr mine = stream->capture, other = event->capture;
    const bool other_is_open = other && !other->ended;
    if (other_is_open && other->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (mine && !other_is_open) {
        invalidate(mine);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (mine && mine != other) {
        invalidate(mine);
        invalidate(other);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!mine) {
        if (stream->handle == CU_STREAM_LEGACY) {
            invalidate(other);
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        stream->capture = other;
        stream->capture_tail.clear();
        other->streams.push_back(stream);
    }
    for (CUgraphNode node : event->captured) {
        auto& tail = stream->capture_tail;
        if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
    }
    return CUDA_SUCCESS;
}

CUresult record(const Call&, CUevent hEvent, CUstream hStream, unsigned flags) {
    const EventPtr event = state().events.find(hEvent);
    const StreamPtr stream = find_stream(hStream);
    if (!event || !stream || event->context != stream->context.lock()) return CUDA_ERROR_INVALID_HANDLE;
    if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (flags == CU_EVENT_RECORD_EXTERNAL)
        return stream->capture ? enqueue(stream, EventParams{event, false}) : CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) {
        event->capture = stream->capture;
        event->captured = stream->capture_tail;
        event->recorded.reset();
        return CUDA_SUCCESS;
    }
    event->capture.reset();
    event->captured.clear();
    event->recorded = append(stream);
    submit(event->recorded);
    return CUDA_SUCCESS;
}

/// Query and synchronize are not permitted on an event that was last recorded while its stream was captured.
CUresult check_not_captured(const EventPtr& event) {
    if (!event->capture) return CUDA_SUCCESS;
    if (!event->capture->ended) invalidate(event->capture);
    return CUDA_ERROR_CAPTURED_EVENT;
}

}  // namespace

CUDA_CALL cuEventCreate(CUevent* phEvent, unsigned int Flags) {
    const Call call("cuEventCreate");
    if (call.refused()) return call.error;
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (phEvent == nullptr || (Flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((Flags & CU_EVENT_INTERPROCESS) != 0 && (Flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>();
    event->handle = state().new_handle<CUevent>();
    event->context = call.context;
    event->flags = Flags;
    state().events.all.emplace(event->handle, event);
    *phEvent = event->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuEventDestroy(CUevent hEvent) {
    const Call call("cuEventDestroy", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (state().events.all.erase(hEvent) == 0) return CUDA_ERROR_INVALID_HANDLE;
    return call.done();
}

CUDA_CALL cuEventRecord(CUevent hEvent, CUstream hStream) {
    const Call call("cuEventRecord");
    return call.refused() ? call.error : record(call, hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUDA_CALL cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    const Call call("cuEventRecordWithFlags");
    return call.refused() ? call.error : record(call, hEvent, hStream, flags);
}

CUDA_CALL cuEventQuery(CUevent hEvent) {
    const Call call("cuEventQuery", Needs::work);
    if (call.refused()) return call.error;
    const EventPtr event = state().events.find(hEvent);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult error = check_not_captured(event); error != CUDA_SUCCESS) return error;
    return is_done(*event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUDA_CALL cuEventSynchronize(CUevent hEvent) {
    Call call("cuEventSynchronize");
    if (call.refused()) return call.error;
    const EventPtr event = state().events.find(hEvent);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult error = check_not_captured(event); error != CUDA_SUCCESS) return error;
    const CommandPtr recorded = event->recorded;  // what is captured now; it may be recorded anew meanwhile
    call.wait_for(recorded);
    return call.done();
}

CUDA_CALL cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
    const Call call("cuEventElapsedTime");
    if (call.refused()) return call.error;
    const EventPtr start = state().events.find(hStart), end = state().events.find(hEnd);
    if (!start || !end || start->context != end->context) return CUDA_ERROR_INVALID_HANDLE;
    if (pMilliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if (!is_done(*start) || !is_done(*end)) return CUDA_ERROR_NOT_READY;
    using Milliseconds = std::chrono::duration<float, std::milli>;
    *pMilliseconds = Milliseconds(end->recorded->finished - start->recorded->finished).count();
    return CUDA_SUCCESS;
}

CUDA_CALL cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    const Call call("cuStreamWaitEvent");
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    const EventPtr event = state().events.find(hEvent);
    if (!stream || !event) return CUDA_ERROR_INVALID_HANDLE;
    if (Flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
    if (Flags == CU_EVENT_WAIT_EXTERNAL)
        return stream->capture ? enqueue(stream, EventParams{event, true}) : CUDA_ERROR_INVALID_VALUE;
    if (stream->capture || (event->capture && !event->capture->ended)) return wait_captured(stream, event);
    if (event->capture) return CUDA_ERROR_CAPTURED_EVENT;
    if (is_done(*event)) return CUDA_SUCCESS;
    const CommandPtr marker = append(stream);
    add_dependency(marker, event->recorded);
    submit(marker);
    return CUDA_SUCCESS;
}
