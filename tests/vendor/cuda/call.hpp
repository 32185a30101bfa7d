// What every call begins with: the lock, the count, the failure a test asked for, and the checks all calls share.
#pragma once

#include "state.hpp"

#define CUDA_CALL extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

namespace test::cuda {

enum class Needs {
    nothing,
    driver,   ///< cuInit
    work,     ///< and no fault so far
    context,  ///< and a context that is current and alive
};

/// A call that gives something back does so after a fault as well, and then returns the fault.
enum class AfterFault { refuse, go_on };

class Call {
public:
    explicit Call(const char* name, Needs needs = Needs::context, AfterFault after_fault = AfterFault::refuse);

    [[nodiscard]] bool refused() const { return error != CUDA_SUCCESS; }
    /// Success, or the fault that an earlier command met.
    [[nodiscard]] CUresult done() const { return state().fault.value_or(CUDA_SUCCESS); }

    void wait_for(const CommandPtr& command);

    CUresult error = CUDA_SUCCESS;
    std::unique_lock<std::mutex> lock;
    ContextPtr context;
};

/// The context on top of this thread's stack, or null.
[[nodiscard]] ContextPtr current_context();

/// Null and the two special handles stand for streams of the context that is current. Null if there is no such stream.
[[nodiscard]] StreamPtr find_stream(CUstream handle);

[[nodiscard]] StreamPtr make_stream(const ContextPtr& context, CUstream handle, unsigned flags);

/// Frees what belongs to a context and lets its handle go.
void destroy_context(Call& call, const ContextPtr& context);

/// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED while a capture forbids potentially unsafe calls to this thread.
[[nodiscard]] CUresult check_unsafe_in_capture();

void invalidate(const CapturePtr& capture);

}  // namespace test::cuda
