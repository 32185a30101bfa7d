// The calls of the CUDA driver that the backend makes, linked or loaded at run time.
// Source: CUDA Driver API reference, 12.4 and later.
#pragma once

#include <graphjit/base/error.hpp>

#include <cuda.h>
#include <dlfcn.h>

#if CUDA_VERSION < 12040
#error "graphjit: the CUDA backend needs the headers of CUDA 12.4 or later"
#endif

// Each name goes through the macros of <cuda.h>, which say which version of a call it is.
#define GRAPHJIT_CUDA_CALLS(CALL)                                                                                      \
    CALL(cuInit)                                                                                                       \
    CALL(cuGetErrorName)                                                                                               \
    CALL(cuDeviceGet)                                                                                                  \
    CALL(cuDeviceGetCount)                                                                                             \
    CALL(cuDeviceGetAttribute)                                                                                         \
    CALL(cuDeviceCanAccessPeer)                                                                                        \
    CALL(cuDevicePrimaryCtxRetain)                                                                                     \
    CALL(cuDevicePrimaryCtxRelease)                                                                                    \
    CALL(cuCtxGetCurrent)                                                                                              \
    CALL(cuCtxGetDevice)                                                                                               \
    CALL(cuCtxPushCurrent)                                                                                             \
    CALL(cuCtxPopCurrent)                                                                                              \
    CALL(cuCtxEnablePeerAccess)                                                                                        \
    CALL(cuModuleLoadData)                                                                                             \
    CALL(cuModuleUnload)                                                                                               \
    CALL(cuModuleGetFunction)                                                                                          \
    CALL(cuFuncGetParamInfo)                                                                                           \
    CALL(cuFuncGetAttribute)                                                                                           \
    CALL(cuFuncSetAttribute)                                                                                           \
    CALL(cuMemAlloc)                                                                                                   \
    CALL(cuMemFree)                                                                                                    \
    CALL(cuMemHostAlloc)                                                                                               \
    CALL(cuMemFreeHost)                                                                                                \
    CALL(cuMemcpyAsync)                                                                                                \
    CALL(cuMemcpyHtoDAsync)                                                                                            \
    CALL(cuMemsetD8Async)                                                                                              \
    CALL(cuMemsetD16Async)                                                                                             \
    CALL(cuMemsetD32Async)                                                                                             \
    CALL(cuPointerGetAttribute)                                                                                        \
    CALL(cuStreamCreate)                                                                                               \
    CALL(cuStreamDestroy)                                                                                              \
    CALL(cuStreamQuery)                                                                                                \
    CALL(cuStreamSynchronize)                                                                                          \
    CALL(cuStreamWaitEvent)                                                                                            \
    CALL(cuStreamBeginCapture)                                                                                         \
    CALL(cuStreamEndCapture)                                                                                           \
    CALL(cuEventCreate)                                                                                                \
    CALL(cuEventDestroy)                                                                                               \
    CALL(cuEventElapsedTime)                                                                                           \
    CALL(cuEventRecord)                                                                                                \
    CALL(cuEventSynchronize)                                                                                           \
    CALL(cuLaunchKernel)                                                                                               \
    CALL(cuGraphCreate)                                                                                                \
    CALL(cuGraphDestroy)                                                                                               \
    CALL(cuGraphAddKernelNode)                                                                                         \
    CALL(cuGraphAddMemcpyNode)                                                                                         \
    CALL(cuGraphAddMemsetNode)                                                                                         \
    CALL(cuGraphAddHostNode)                                                                                           \
    CALL(cuGraphAddEmptyNode)                                                                                          \
    CALL(cuGraphAddChildGraphNode)                                                                                     \
    CALL(cuGraphAddEventRecordNode)                                                                                    \
    CALL(cuGraphKernelNodeSetParams)                                                                                   \
    CALL(cuGraphMemcpyNodeSetParams)                                                                                   \
    CALL(cuGraphMemsetNodeSetParams)                                                                                   \
    CALL(cuGraphHostNodeSetParams)                                                                                     \
    CALL(cuGraphExecKernelNodeSetParams)                                                                               \
    CALL(cuGraphExecMemcpyNodeSetParams)                                                                               \
    CALL(cuGraphExecMemsetNodeSetParams)                                                                               \
    CALL(cuGraphExecHostNodeSetParams)                                                                                 \
    CALL(cuGraphNodeSetEnabled)                                                                                        \
    CALL(cuGraphInstantiate)                                                                                           \
    CALL(cuGraphExecDestroy)                                                                                           \
    CALL(cuGraphLaunch)

namespace graphjit::inline v0 {

/// The program is linked with the driver (`-lcuda`).
struct LinkedCuda {
#define GRAPHJIT_CUDA_CALL(name) static constexpr auto name = &::name;
    GRAPHJIT_CUDA_CALLS(GRAPHJIT_CUDA_CALL)
#undef GRAPHJIT_CUDA_CALL
    [[nodiscard]] static bool load() noexcept { return true; }
};

/// The driver is looked for when devices are first asked for: for programs that must start without one.
struct LoadedCuda {
#define GRAPHJIT_CUDA_CALL(name) static inline decltype(&::name) name = nullptr;
    GRAPHJIT_CUDA_CALLS(GRAPHJIT_CUDA_CALL)
#undef GRAPHJIT_CUDA_CALL
    /// Errors: false where there is no driver, or one that lacks a call.
    [[nodiscard]] static bool load() noexcept {
        static const bool is_loaded = find_all();
        return is_loaded;
    }

private:
    [[nodiscard]] static bool find_all() noexcept {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (driver == nullptr) return false;
        bool found = true;
#define GRAPHJIT_CUDA_TEXT(name) #name
#define GRAPHJIT_CUDA_CALL(name)                                                                                       \
    name = reinterpret_cast<decltype(name)>(dlsym(driver, GRAPHJIT_CUDA_TEXT(name)));                                  \
    found = found && name != nullptr;
        GRAPHJIT_CUDA_CALLS(GRAPHJIT_CUDA_CALL)
#undef GRAPHJIT_CUDA_CALL
#undef GRAPHJIT_CUDA_TEXT
        return found;
    }
};

namespace detail {

/// The driver's answer as an Error: `sentence` says what was tried.
template <class Api>
[[nodiscard]] GRAPHJIT_COLD Error cuda_error(CUresult result, const char* sentence) noexcept {
    Error error;
    error.code = result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::backend_failure;
    error.text = sentence;
    error.native = static_cast<std::int64_t>(result);
    if (Api::cuGetErrorName(result, &error.native_name) != CUDA_SUCCESS) error.native_name = "CUDA error";
    return error;
}

}  // namespace detail
}  // namespace graphjit::inline v0
