// graphjit in a file of nvcc's, with the kernels beside the code that records them. It is compiled, not run.
#include <graphjit/backend/cuda.hpp>
#include <graphjit/graph.hpp>

#include <cuda_runtime.h>

namespace gj = graphjit;

__global__ void scale(float factor, const float* in, float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = factor * in[i];
}

/// `module`: of `CudaModule::empty(devices)`, say.
gj::Result<gj::MultiGraphRunner<gj::CudaBackend>> build(const gj::CudaDevices& devices, const gj::CudaModule& module,
                                                        float* memory, int n) {
    cudaFunction_t function = nullptr;
    if (cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&scale)) != cudaSuccess) function = nullptr;
    const CUfunction functions[] = {function};
    const auto kernel = module.kernel<float, gj::In<float>, gj::Out<float>, int>("scale", functions).value();

    gj::Recorder<gj::CudaBackend> rec(devices);
    const auto in = rec.input<const float>("in", n);
    const auto factor = rec.slot<float>("factor", 1.0f);
    const auto out = rec.buffer("out", memory, n);
    const gj::LaunchExprs dims{.groups = {(n + 255) / 256}, .group_size = {256}};
    rec.launch(kernel, dims, factor, in, out, n);
    rec.host_call(gj::kernel<[](float) {}>, factor);
    return gj::instantiate(std::move(rec));
}
