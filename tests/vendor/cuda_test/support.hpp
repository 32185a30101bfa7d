// What the tests of the simulated driver share: a fresh driver with a context, and a few kernels.
#pragma once

#include "vendor/cuda/control.hpp"

#include <array>
#include <chrono>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

namespace sim = test::cuda;

namespace simulated {

#define OK(call) REQUIRE((call) == CUDA_SUCCESS)
#define IS(result, call) CHECK((call) == (result))

inline void step(const sim::Launch&, int* p, int factor, int add) { p[0] = p[0] * factor + add; }
inline void fill(const sim::Launch&, int* p, int count, int value) {
    for (int i = 0; i < count; ++i) p[i] = value;
}
inline void sum(const sim::Launch&, const int* a, const int* b, int* out) { *out = *a + *b; }

/// A process that has just begun, with a context of device 0.
struct Driver {
    explicit Driver(const sim::Options& options = {}) {
        sim::register_kernel("step", step);
        sim::register_kernel("fill", fill);
        sim::register_kernel("sum", sum);
        sim::reset(options);
        OK(cuInit(0));
        OK(cuCtxCreate(&context, nullptr, 0, 0));
        OK(cuModuleLoadData(&module, sim::image_of({"step", "fill", "sum"}).c_str()));
        step_kernel = function("step");
        fill_kernel = function("fill");
        sum_kernel = function("sum");
    }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() { sim::reset(); }

    [[nodiscard]] CUfunction function(const char* name) const {
        CUfunction found = nullptr;
        OK(cuModuleGetFunction(&found, module, name));
        return found;
    }
    [[nodiscard]] CUdeviceptr ints(std::size_t count = 1, int value = 0) const {
        CUdeviceptr made = 0;
        OK(cuMemAlloc(&made, count * sizeof(int)));
        OK(cuMemsetD32(made, static_cast<unsigned>(value), count));
        OK(cuCtxSynchronize());
        return made;
    }
    [[nodiscard]] static int value(CUdeviceptr at) {
        int result = 0;
        OK(cuMemcpyDtoH(&result, at, sizeof result));
        return result;
    }
    [[nodiscard]] static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
        CUstream made = nullptr;
        OK(cuStreamCreate(&made, flags));
        return made;
    }
    [[nodiscard]] static CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
        CUevent made = nullptr;
        OK(cuEventCreate(&made, flags));
        return made;
    }
    /// p = p * factor + add: the order of two such steps shows.
    CUresult step_in(CUstream stream, CUdeviceptr p, int factor, int add) const {
        void* arguments[] = {&p, &factor, &add};
        return cuLaunchKernel(step_kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
    }

    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction step_kernel = nullptr, fill_kernel = nullptr, sum_kernel = nullptr;
};

/// The parameters of a step, and what they point to.
struct Step {
    Step(CUfunction function, CUdeviceptr where, int by, int plus) : p(where), factor(by), add(plus) {
        params.func = function;
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments.data();
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

    CUdeviceptr p;
    int factor, add;
    std::array<void*, 3> arguments{&p, &factor, &add};
    CUDA_KERNEL_NODE_PARAMS params{};
};

[[nodiscard]] inline CUgraph graph() {
    CUgraph made = nullptr;
    OK(cuGraphCreate(&made, 0));
    return made;
}

inline CUgraphNode add_step(CUgraph graph, const std::vector<CUgraphNode>& after, const Driver& driver, CUdeviceptr p,
                            int factor, int add) {
    const Step step(driver.step_kernel, p, factor, add);
    CUgraphNode node = nullptr;
    OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &step.params));
    return node;
}

[[nodiscard]] inline CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec made = nullptr;
    OK(cuGraphInstantiate(&made, graph, 0));
    return made;
}

[[nodiscard]] inline CUDA_MEMCPY3D copy_1d(CUmemorytype to, std::uintptr_t dst, CUmemorytype from, std::uintptr_t src,
                                           std::size_t bytes) {
    CUDA_MEMCPY3D what{};
    what.dstMemoryType = to;
    what.dstDevice = dst;
    what.dstHost = reinterpret_cast<void*>(dst);
    what.srcMemoryType = from;
    what.srcDevice = src;
    what.srcHost = reinterpret_cast<const void*>(src);
    what.WidthInBytes = bytes;
    what.Height = what.Depth = 1;
    return what;
}

[[nodiscard]] inline CUDA_MEMSET_NODE_PARAMS set_1d(CUdeviceptr dst, unsigned value, std::size_t count,
                                                    unsigned size = 4) {
    CUDA_MEMSET_NODE_PARAMS what{};
    what.dst = dst;
    what.value = value;
    what.elementSize = size;
    what.width = count;
    what.height = 1;
    return what;
}

}  // namespace simulated
