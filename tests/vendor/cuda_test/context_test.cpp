#include "support.hpp"

namespace {

using namespace simulated;

TEST_CASE("a created context is current and stacked over the one before") {
    const Driver driver;
    CUcontext second = nullptr, current = nullptr, popped = nullptr;
    OK(cuCtxCreate(&second, nullptr, 0, 0));
    OK(cuCtxGetCurrent(&current));
    CHECK(current == second);
    OK(cuCtxPopCurrent(&popped));
    CHECK(popped == second);
    OK(cuCtxGetCurrent(&current));
    CHECK(current == driver.context);
    OK(cuCtxPushCurrent(second));
    OK(cuCtxSetCurrent(driver.context));  // replaces the top
    OK(cuCtxPopCurrent(&popped));
    CHECK(popped == driver.context);
    OK(cuCtxGetCurrent(&current));
    CHECK(current == driver.context);
    OK(cuCtxSetCurrent(nullptr));  // pops
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
}

TEST_CASE("contexts are current for each thread of its own") {
    const Driver driver;
    std::thread([] {
        CUdeviceptr memory = 0;
        CHECK(cuMemAlloc(&memory, 4) == CUDA_ERROR_INVALID_CONTEXT);
        CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    }).join();
    std::thread([&] {
        CUdeviceptr memory = 0;
        CHECK(cuCtxSetCurrent(driver.context) == CUDA_SUCCESS);
        CHECK(cuMemAlloc(&memory, 4) == CUDA_SUCCESS);
    }).join();
}

TEST_CASE("a destroyed context: popped here, an error elsewhere, and its resources are gone") {
    const Driver driver;
    CUcontext doomed = nullptr, current = nullptr;
    OK(cuCtxCreate(&doomed, nullptr, 0, 0));
    CUdeviceptr memory = 0;
    OK(cuMemAlloc(&memory, 64));
    const CUstream stream = Driver::stream();
    std::thread other([&] {
        CHECK(cuCtxSetCurrent(doomed) == CUDA_SUCCESS);
        CHECK(cuCtxDestroy(doomed) == CUDA_SUCCESS);
    });
    other.join();
    IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 4));
    OK(cuCtxPopCurrent(nullptr));
    OK(cuCtxGetCurrent(&current));
    CHECK(current == driver.context);
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(doomed));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(doomed));
    CHECK(sim::live().contexts == 1);
    CHECK(sim::live().device_allocations == 0);
    CHECK(sim::live().streams == 0);
}

TEST_CASE("a primary context lives as long as it is retained") {
    const Driver driver;
    CUcontext first = nullptr, second = nullptr;
    unsigned flags = 1;
    int active = 1;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    IS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    CHECK(first == second);
    CHECK(sim::live().contexts == 2);
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
    OK(cuCtxSetCurrent(first));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease(0));
    IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());  // released, and not popped
    CHECK(sim::live().contexts == 1);
}

TEST_CASE("peer access: from one context to another, once, and not back") {
    const Driver driver({.devices = 2});
    CUcontext other = nullptr, same_device = nullptr;
    OK(cuCtxCreate(&same_device, nullptr, 0, 0));
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    int can = 0;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    IS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(driver.context));
    IS(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(driver.context, 1));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(other, 0));
    OK(cuCtxEnablePeerAccess(driver.context, 0));
    IS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(driver.context, 0));
    OK(cuCtxSetCurrent(driver.context));
    IS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other));
    IS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(same_device, 0));
    OK(cuCtxSetCurrent(other));
    OK(cuCtxDisablePeerAccess(driver.context));
}

TEST_CASE("peers that cannot reach each other") {
    const Driver driver({.devices = 2, .peers = false});
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    int can = 1;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 0);
    IS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(driver.context, 0));
}

}  // namespace
