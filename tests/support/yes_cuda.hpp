// A CUDA driver that only says yes: for what graphjit itself does beside the driver's calls.
#pragma once

#include <graphjit/backend/cuda.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace test {

namespace gj = graphjit;

/// Calls that do nothing; those whose answers matter are written out.
struct YesBase {
#define GRAPHJIT_CUDA_CALL(name) static constexpr auto name = [](auto...) noexcept { return CUDA_SUCCESS; };
    GRAPHJIT_CUDA_CALLS(GRAPHJIT_CUDA_CALL)
#undef GRAPHJIT_CUDA_CALL
};
struct YesCuda : YesBase {
    static bool load() noexcept { return true; }
    static CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) noexcept {
        *context = handle<CUcontext>();
        return CUDA_SUCCESS;
    }
    static CUresult cuFuncGetParamInfo(CUfunction, std::size_t index, std::size_t* offset,
                                       std::size_t* bytes) noexcept {
        if (index >= asked->argument_count) return CUDA_ERROR_INVALID_VALUE;
        *offset = asked->arguments[index].offset;
        *bytes = asked->arguments[index].bytes;
        return CUDA_SUCCESS;
    }
    static CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr) noexcept {
        const unsigned answer = attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? unsigned{CU_MEMORYTYPE_DEVICE} : 0;
        std::memcpy(data, &answer, sizeof answer);
        return CUDA_SUCCESS;
    }
    static CUresult cuMemAlloc(CUdeviceptr* memory, std::size_t) noexcept {
        *memory = reinterpret_cast<std::uintptr_t>(handle<void*>());
        return CUDA_SUCCESS;
    }
    static CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) noexcept {
        *memory = std::malloc(bytes);
        return *memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    }
    static CUresult cuMemFreeHost(void* memory) noexcept {
        std::free(memory);
        return CUDA_SUCCESS;
    }
    static CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph, unsigned long long) noexcept {
        *exec = handle<CUgraphExec>();
        return CUDA_SUCCESS;
    }
    /// What benchmarks measure is beside this call, and it must not be optimised away.
    [[gnu::noinline]] static CUresult cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode,
                                                                     const CUDA_KERNEL_NODE_PARAMS* params) noexcept {
        asm volatile("" : : "r"(params) : "memory");
        return CUDA_SUCCESS;
    }

    static inline const gj::KernelInfo* asked = nullptr;

private:
    template <class Handle>
    static Handle handle() noexcept {
        static std::max_align_t something;
        return reinterpret_cast<Handle>(&something);
    }
};

}  // namespace test
