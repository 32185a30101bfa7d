#include "cuda/machine.hpp"
#include "cuda/simulated_kernels.hpp"

namespace test {
namespace {

gj::CudaDevices start(unsigned count) {
    cuda::reset({.devices = static_cast<int>(count), .slow = false});
    register_simulated_kernels();
    return gj::CudaDevices::primary(count).value();
}
gj::CudaModule load(const gj::CudaDevices& devices) {
    const std::vector<std::string> names(std::begin(cuda_kernel_names), std::end(cuda_kernel_names));
    return gj::CudaModule::load(devices, cuda::image_of(names).c_str()).value();
}

}  // namespace

CudaMachine::CudaMachine(unsigned count)
    : devices(start(count)), module(load(devices)), kernels(CudaKernels::of(module)) {}

unsigned device_count() { return 8; }

}  // namespace test
