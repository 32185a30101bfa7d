#include "support.hpp"

#include <cstring>
#include <dlfcn.h>
#include <string>

namespace {

using namespace simulated;

TEST_CASE("before cuInit every call but a few is refused") {
    sim::reset();
    int number = 0;
    IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&number));
    CUcontext context = nullptr;
    IS(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
    CUgraph made = nullptr;
    IS(CUDA_ERROR_NOT_INITIALIZED, cuGraphCreate(&made, 0));
    IS(CUDA_SUCCESS, cuDriverGetVersion(&number));
    CHECK(number == CUDA_VERSION);
    IS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    IS(CUDA_ERROR_INVALID_VALUE, cuDriverGetVersion(nullptr));
}

TEST_CASE("errors have names and texts; a number that is none has not") {
    const char* text = nullptr;
    IS(CUDA_SUCCESS, cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, &text));
    CHECK(std::string(text) == "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
    IS(CUDA_SUCCESS, cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    CHECK(std::strlen(text) > 0);
    IS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(777), &text));
    CHECK(text == nullptr);
}

TEST_CASE("devices: as many as asked for, with the limits of a device of today") {
    sim::reset({.devices = 3});
    OK(cuInit(0));
    int count = 0;
    OK(cuDeviceGetCount(&count));
    CHECK(count == 3);
    CUdevice device = -1;
    OK(cuDeviceGet(&device, 2));
    IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 3));
    char name[5];
    OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK(std::string(name) == "Simu");
    const auto attribute = [](CUdevice_attribute which) {
        int value = -1;
        OK(cuDeviceGetAttribute(&value, which, 0));
        return value;
    };
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) == 2147483647);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) == 65535);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) == 64);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 227 * 1024);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9);
    IS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MAX, 0));
}

TEST_CASE("no device, no driver") {
    sim::reset({.devices = 0});
    IS(CUDA_ERROR_NO_DEVICE, cuInit(0));
    sim::reset();
}

TEST_CASE("cuGetProcAddress: by the manual's name and the version that has the signature") {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    OK(cuGetProcAddress("cuMemAlloc", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    CHECK(function == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    OK(cuGetProcAddress("cuCtxCreate", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(function == nullptr);
    CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress("cuMemAlloc_v2", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(function == nullptr);
    // A name whose signature changed without a macro in cuda.h.
    OK(cuGetProcAddress("cuCtxGetDevice", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    CHECK(function == dlsym(RTLD_DEFAULT, "cuCtxGetDevice"));
    OK(cuGetProcAddress("cuCtxGetDevice", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    CHECK(function == dlsym(RTLD_DEFAULT, "cuCtxGetDevice_v2"));
    IS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &function, 99000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
}

}  // namespace
