// The CUDA kernels of tests, typed: 32-bit integers, so that every result is exact. Their code is in kernels.cu, and
// for the simulated driver in simulated_kernels.cpp.
#pragma once

#include <graphjit/backend/cuda.hpp>

#include <cstdint>

namespace test {

namespace gj = graphjit;

using Int = std::int32_t;

struct Echo {  // what the kernel `echo` was given, as it understood it
    std::int64_t a, b, c, d, e;
    double f;
};

/// All kernels of the module.
template <class Api>
struct BasicCudaKernels {
    gj::CudaKernel<gj::Out<Int>, Int, Int> fill;  // o, v, n
    gj::CudaKernel<gj::Out<Int>, Int, Int> slow_fill;
    gj::CudaKernel<gj::Out<Int>, gj::In<Int>, Int, Int> mix;          // o = 3a + k; o, a, k, n
    gj::CudaKernel<gj::Out<Int>, gj::In<Int>, gj::In<Int>, Int> add;  // o, a, b, n
    gj::CudaKernel<gj::InOut<Int>, Int> inc;                          // x, n
    gj::CudaKernel<gj::Out<Int>> iota;                                // every thread writes its number, from 1 on
    gj::CudaKernel<gj::InOut<Int>> reverse;                           // each block of threads, through shared memory
    gj::CudaKernel<gj::Out<Echo>, gj::In<Int>, Int, gj::In<Int>, std::int8_t, std::int64_t, Int, double> echo;
    gj::CudaKernel<gj::Out<Int>, Int, Int, gj::via_block> fill_via;
    gj::CudaKernel<gj::Out<Int>, gj::In<Int>, Int, Int, gj::via_block> mix_via;

    [[nodiscard]] static BasicCudaKernels of(const gj::BasicCudaModule<Api>& module) {
        BasicCudaKernels kernels;
        const auto get = [&]<class... P>(gj::CudaKernel<P...>& kernel, const char* name) {
            kernel = module.template kernel<P...>(name).value();
        };
        get(kernels.fill, "fill");
        get(kernels.slow_fill, "slow_fill");
        get(kernels.mix, "mix");
        get(kernels.add, "add");
        get(kernels.inc, "inc");
        get(kernels.iota, "iota");
        get(kernels.reverse, "reverse");
        get(kernels.echo, "echo");
        get(kernels.fill_via, "fill_via");
        get(kernels.mix_via, "mix_via");
        return kernels;
    }
};
using CudaKernels = BasicCudaKernels<gj::LinkedCuda>;

inline constexpr const char* cuda_kernel_names[] = {"fill", "slow_fill", "mix",  "add",      "inc",
                                                    "iota", "reverse",   "echo", "fill_via", "mix_via"};

}  // namespace test
