// Initialization, version and device management.
#include "call.hpp"
#include "engine.hpp"
#include "memory.hpp"

#include <algorithm>

using namespace test::cuda;

namespace {

bool is_device(CUdevice device) { return device >= 0 && device < state().options.devices; }

/// One number for each attribute, as of a device of compute capability 9.0.
std::optional<int> value_of(CUdevice_attribute attribute, CUdevice device) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 * 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 227 * 1024;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 228 * 1024;
        case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
        case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
        case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 2147483647;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2619000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 << 20;
        case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
        case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT: return 512;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return 32;
        case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return 0;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return device + 1;
        case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
        case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: return 1;
        // What is not modelled is not there.
        default: return attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX ? std::optional(0) : std::nullopt;
    }
}

}  // namespace

CUDA_CALL cuInit(unsigned int Flags) {
    const Call call("cuInit", Needs::nothing);
    if (call.refused()) return call.error;
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (state().options.devices == 0) return CUDA_ERROR_NO_DEVICE;
    state().initialized = true;
    start_workers();
    return CUDA_SUCCESS;
}

CUDA_CALL cuDriverGetVersion(int* driverVersion) {
    const Call call("cuDriverGetVersion", Needs::nothing);
    if (call.refused()) return call.error;
    if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceGetCount(int* count) {
    const Call call("cuDeviceGetCount", Needs::driver);
    if (call.refused()) return call.error;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = state().options.devices;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceGet(CUdevice* device, int ordinal) {
    const Call call("cuDeviceGet", Needs::driver);
    if (call.refused()) return call.error;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceGetName(char* name, int len, CUdevice dev) {
    const Call call("cuDeviceGetName", Needs::driver);
    if (call.refused()) return call.error;
    if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    const std::string full = "Simulated device " + std::to_string(dev);
    const std::size_t shown = std::min(full.size(), static_cast<std::size_t>(len - 1));
    std::copy_n(full.data(), shown, name);
    name[shown] = '\0';
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceTotalMem(std::size_t* bytes, CUdevice dev) {
    const Call call("cuDeviceTotalMem", Needs::driver);
    if (call.refused()) return call.error;
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = state().options.memory;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
    const Call call("cuDeviceGetAttribute", Needs::driver);
    if (call.refused()) return call.error;
    if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    const std::optional<int> value = value_of(attrib, dev);
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *pi = *value;
    return CUDA_SUCCESS;
}

CUDA_CALL cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
    const Call call("cuDeviceCanAccessPeer", Needs::driver);
    if (call.refused()) return call.error;
    if (canAccessPeer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(dev) || !is_device(peerDev)) return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = dev != peerDev && state().options.peers ? 1 : 0;
    return CUDA_SUCCESS;
}
