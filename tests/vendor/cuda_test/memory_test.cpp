#include "support.hpp"

#include <cstring>

namespace {

using namespace simulated;

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST_CASE("cuMemAlloc and cuMemFree: sizes, bases, once") {
    const Driver driver({.memory = 1 << 20});
    CUdeviceptr memory = 0;
    IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 4));
    IS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, (1 << 20) + 1));
    OK(cuMemAlloc(&memory, 100));
    CHECK(memory % 256 == 0);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory + 4));
    OK(cuMemFree(memory));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(0));
    std::size_t free_bytes = 0, total = 0;
    OK(cuMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
}

TEST_CASE("memory is not cleared") {
    const Driver driver;
    CUdeviceptr memory = 0;
    OK(cuMemAlloc(&memory, sizeof(int)));
    CHECK(Driver::value(memory) != 0);
}

TEST_CASE("what is known about a pointer") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints(8);
    CUcontext context = nullptr;
    unsigned type = 0;
    CUdeviceptr start = 0;
    std::size_t size = 0;
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory + 8));
    CHECK(context == driver.context);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 8));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory + 8));
    CHECK(start == memory);
    CHECK(size == 32);
    int on_stack = 0;
    IS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(&on_stack)));
    IS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));

    // The call for several attributes tells of strange pointers by defaults.
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void* data[] = {&context, &type};
    OK(cuPointerGetAttributes(2, attributes, data, address_of(&on_stack)));
    CHECK(context == nullptr);
    CHECK(type == 0);
}

TEST_CASE("pinned memory is the same pointer on both sides, write-combined memory is not") {
    const Driver driver;
    void *pinned = nullptr, *combined = nullptr;
    CUdeviceptr device = 0;
    OK(cuMemAllocHost(&pinned, 64));
    OK(cuMemHostGetDevicePointer(&device, pinned, 0));
    CHECK(device == address_of(pinned));
    OK(cuMemHostAlloc(&combined, 64, CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&device, combined, 0));
    CHECK(device != address_of(combined));
    const int three = 3;
    std::memcpy(combined, &three, sizeof three);
    OK(driver.step_in(nullptr, device, 2, 1));
    OK(cuCtxSynchronize());
    int seen = 0;
    std::memcpy(&seen, combined, sizeof seen);
    CHECK(seen == 7);
    CHECK(sim::live().host_allocations == 2);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(address_of(pinned)));
    OK(cuMemFreeHost(pinned));
    OK(cuMemFreeHost(combined));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
    CHECK(sim::live().host_allocations == 0);
    CHECK(sim::violations().empty());
}

TEST_CASE("a device pointer of pinned memory needs the flag it was allocated with") {
    const Driver driver;
    void* pinned = nullptr;
    CUdeviceptr device = 0;
    OK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, pinned, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 64, 0x100));
}

TEST_CASE("registered memory: no overlap, and from its base only") {
    const Driver driver;
    std::vector<int> memory(64);
    OK(cuMemHostRegister(memory.data(), 128, CU_MEMHOSTREGISTER_DEVICEMAP));
    IS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory.data() + 8, 8, 0));
    CUdeviceptr device = 0;
    OK(cuMemHostGetDevicePointer(&device, memory.data(), 0));
    OK(driver.step_in(nullptr, device, 0, 5));
    OK(cuCtxSynchronize());
    CHECK(memory[0] == 5);
    IS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory.data() + 1));
    OK(cuMemHostUnregister(memory.data()));
    CHECK(sim::violations().empty());
}

// --- what executing finds --------------------------------------------------------------------------------------------

void check_fault(sim::Violation::Kind kind) {
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    const auto violations = sim::violations();
    REQUIRE(!violations.empty());
    CHECK(violations[0].kind == kind);
    CHECK(!violations[0].text.empty());
}

TEST_CASE("a kernel that gets freed memory") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints();
    sim::hold();
    OK(driver.step_in(nullptr, memory, 1, 1));
    OK(cuMemFree(memory));  // does not wait for the kernel
    sim::release();
    check_fault(sim::Violation::freed);
}

TEST_CASE("a copy of memory that is freed before it runs") {
    const Driver driver;
    const CUdeviceptr from = driver.ints(4), to = driver.ints(4);
    sim::hold();
    OK(cuMemcpyDtoDAsync(to, from, 16, nullptr));
    OK(cuMemFree(from));
    sim::release();
    check_fault(sim::Violation::freed);
}

TEST_CASE("a kernel that gets memory which no call gave out") {
    const Driver driver;
    int on_stack = 0;
    OK(driver.step_in(nullptr, address_of(&on_stack), 1, 1));
    check_fault(sim::Violation::unknown_memory);
    CHECK(on_stack == 0);
}

TEST_CASE("the end of a buffer may be passed, and null") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints(4);
    for (const CUdeviceptr p : {memory + 16, CUdeviceptr{0}}) {
        int count = 0, value = 0;
        CUdeviceptr argument = p;
        void* arguments[] = {&argument, &count, &value};
        OK(cuLaunchKernel(driver.fill_kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    }
    OK(cuCtxSynchronize());
}

TEST_CASE("a kernel that writes beside its memory") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints(4);
    CUdeviceptr p = memory;
    int count = 5, value = 1;
    void* arguments[] = {&p, &count, &value};
    OK(cuLaunchKernel(driver.fill_kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    check_fault(sim::Violation::out_of_bounds);
}

TEST_CASE("a kernel may ask before it touches") {
    sim::register_kernel(
        "asks", +[](const sim::Launch& launch, int* p) {
            if (launch.check(p, 16)) *p = 1;
            if (launch.check(p, 17)) *p = 2;
        });
    const Driver driver;
    CUmodule module = nullptr;
    CUfunction asks = nullptr;
    OK(cuModuleLoadData(&module, sim::image_of({"asks"}).c_str()));
    OK(cuModuleGetFunction(&asks, module, "asks"));
    CUdeviceptr p = driver.ints(4);
    void* arguments[] = {&p};
    OK(cuLaunchKernel(asks, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    check_fault(sim::Violation::out_of_bounds);
}

TEST_CASE("another device's memory needs peer access when the kernel runs") {
    for (const bool enable : {false, true}) {
        CAPTURE(enable);
        const Driver driver({.devices = 2});
        CUcontext other = nullptr;
        OK(cuCtxCreate(&other, nullptr, 0, 1));
        CUdeviceptr theirs = 0;
        OK(cuMemAlloc(&theirs, 4));
        OK(cuCtxSetCurrent(driver.context));
        sim::hold();
        OK(driver.step_in(nullptr, theirs, 0, 3));
        if (enable) OK(cuCtxEnablePeerAccess(other, 0));
        sim::release();
        if (enable) {
            OK(cuCtxSynchronize());
            CHECK(sim::violations().empty());
        } else {
            check_fault(sim::Violation::no_peer_access);
        }
    }
}

TEST_CASE("a fault stays until a new process") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints(), other = driver.ints();
    OK(cuMemFree(memory));
    OK(driver.step_in(nullptr, memory, 1, 1));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    CUdeviceptr more = 0;
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&more, 4));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, driver.step_in(nullptr, other, 1, 1));
    CUgraph made = nullptr;
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuGraphCreate(&made, 0));
    // What gives back still does, and says so.
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(other));
    CHECK(sim::live().device_allocations == 0);
    sim::reset();
    CHECK(sim::violations().empty());
    OK(cuInit(0));
    IS(CUDA_SUCCESS, cuGraphCreate(&made, 0));
}

TEST_CASE("who writes to freed memory behind the driver's back is found") {
    const Driver driver;
    const CUdeviceptr memory = driver.ints();
    OK(cuMemFree(memory));
    const int value = 1;
    std::memcpy(reinterpret_cast<void*>(memory), &value, sizeof value);
    const auto violations = sim::violations();
    REQUIRE(violations.size() == 1);
    CHECK(violations[0].kind == sim::Violation::freed);
}

}  // namespace
