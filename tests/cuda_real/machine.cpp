// The machine of the CUDA tests where there is a GPU; scripts/device_cuda.sh builds it.
#include "cuda/machine.hpp"

#include <fstream>
#include <iterator>

namespace test {
namespace {

std::vector<char> module_image() {
    std::ifstream file(GRAPHJIT_TEST_CUDA_MODULE, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

CudaMachine::CudaMachine(unsigned count)
    : devices(gj::CudaDevices::primary(count).value()),
      module(gj::CudaModule::load(devices, module_image().data()).value()), kernels(CudaKernels::of(module)) {}

unsigned device_count() {
    int count = 0;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS ? static_cast<unsigned>(count) : 0;
}

}  // namespace test
