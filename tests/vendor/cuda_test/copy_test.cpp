#include "support.hpp"

#include <atomic>
#include <numeric>

namespace {

using namespace simulated;
using namespace std::chrono_literals;

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Releases execution a little later, so that a call which waits shows by returning after it.
struct Later {
    Later() {
        sim::hold();
        thread = std::thread([this] {
            std::this_thread::sleep_for(20ms);
            released = true;
            sim::release();
        });
    }
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;
    ~Later() { thread.join(); }

    std::atomic<bool> released = false;
    std::thread thread;
};

TEST_CASE("every kind of synchronous copy copies") {
    const Driver driver;
    std::array<int, 4> from{1, 2, 3, 4}, to{};
    const CUdeviceptr a = driver.ints(4), b = driver.ints(4);
    OK(cuMemcpyHtoD(a, from.data(), 16));
    OK(cuMemcpyDtoD(b, a, 16));
    OK(cuMemcpyDtoH(to.data(), b, 16));
    CHECK(to == from);
    to = {};
    OK(cuMemcpy(address_of(to.data()), a, 12));
    CHECK(to == std::array{1, 2, 3, 0});
    OK(cuMemcpyPeer(b, driver.context, a, driver.context, 16));
    OK(cuCtxSynchronize());
    CHECK(sim::violations().empty());
}

TEST_CASE("synchronous copies wait only for what the manual says") {
    const Driver driver;
    std::array<int, 4> host{1, 2, 3, 4};
    const CUdeviceptr a = driver.ints(4), b = driver.ints(4);
    SUBCASE("device to host: until it is there") {
        Later later;
        OK(cuMemcpyDtoH(host.data(), a, 16));
        CHECK(later.released);
    }
    SUBCASE("pageable host to device: until it was read") {
        Later later;
        OK(cuMemcpyHtoD(a, host.data(), 16));
        CHECK(later.released);
        host = {};
        CHECK(Driver::value(a) == 1);
    }
    SUBCASE("host to host: until it is done") {
        std::array<int, 4> other{};
        Later later;
        OK(cuMemcpy(address_of(other.data()), address_of(host.data()), 16));
        CHECK(later.released);
        CHECK(other == host);
    }
    SUBCASE("device to device, and sets: not at all") {
        sim::hold();
        OK(cuMemcpyDtoD(b, a, 16));
        OK(cuMemsetD32(a, 9, 4));
        CHECK(sim::in_flight() == 2);
        sim::release();
    }
    SUBCASE("a set of pinned memory: until it is done") {
        void* pinned = nullptr;
        OK(cuMemAllocHost(&pinned, 16));
        Later later;
        OK(cuMemsetD32(address_of(pinned), 9, 4));
        CHECK(later.released);
    }
}

TEST_CASE("asynchronous copies return at once, but from host to host") {
    const Driver driver;
    std::array<int, 4> host{1, 2, 3, 4}, other{};
    const CUdeviceptr a = driver.ints(4);
    const CUstream stream = Driver::stream();
    sim::hold();
    OK(cuMemcpyHtoDAsync(a, host.data(), 16, stream));
    OK(cuMemcpyDtoHAsync(other.data(), a, 16, stream));
    OK(cuMemsetD8Async(a, 0, 16, stream));
    OK(cuMemsetD16Async(a, 7, 8, stream));
    CHECK(sim::in_flight() == 4);
    sim::release();
    OK(cuStreamSynchronize(stream));
    CHECK(other == host);
    CHECK(Driver::value(a) == 0x00070007);
    Later later;
    OK(cuMemcpyAsync(address_of(other.data()), address_of(host.data()), 16, stream));
    CHECK(later.released);
}

TEST_CASE("operands are checked when a copy or set is asked for") {
    const Driver driver;
    std::array<int, 4> host{};
    const CUdeviceptr a = driver.ints(4), b = driver.ints(4);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host.data(), 17));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a + 4, host.data(), 16));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address_of(host.data()), host.data(), 16));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, reinterpret_cast<const void*>(b), 16));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(nullptr, a, 16));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 0, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(a + 1, 0, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a, 0, 5));
    IS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyDtoDAsync(b, a, 16, reinterpret_cast<CUstream>(std::uintptr_t{0x123450})));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyPeer(b, driver.context, address_of(host.data()), driver.context, 4));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(b, nullptr, a, driver.context, 4));
    OK(cuMemcpyDtoD(b, a, 0));
    OK(cuMemsetD8(a, 0, 0));
    CHECK(sim::violations().empty());
}

TEST_CASE("a copy between devices needs no peer access, a set does") {
    const Driver driver({.devices = 2});
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    CUdeviceptr theirs = 0;
    OK(cuMemAlloc(&theirs, 4));
    OK(cuCtxSetCurrent(driver.context));
    const CUdeviceptr ours = driver.ints(1, 42);
    OK(cuMemcpyDtoD(theirs, ours, 4));
    CHECK(Driver::value(theirs) == 42);
    OK(cuMemcpyPeerAsync(theirs, other, ours, driver.context, 4, nullptr));
    OK(cuCtxSynchronize());
    CHECK(sim::violations().empty());
    OK(cuMemsetD32(theirs, 0, 1));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    REQUIRE(sim::violations().size() == 1);
    CHECK(sim::violations()[0].kind == sim::Violation::no_peer_access);
}

TEST_CASE("asked for, copies need peer access too") {
    const Driver driver({.devices = 2, .copies_need_peer_access = true});
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    CUdeviceptr theirs = 0;
    OK(cuMemAlloc(&theirs, 4));
    OK(cuCtxSetCurrent(driver.context));
    OK(cuMemcpyDtoD(theirs, driver.ints(), 4));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST_CASE("a block of a volume") {
    const Driver driver;
    std::vector<int> volume(4 * 5 * 6), part(2 * 3 * 2);
    std::iota(volume.begin(), volume.end(), 0);
    const CUdeviceptr device = driver.ints(volume.size());
    OK(cuMemcpyHtoD(device, volume.data(), volume.size() * sizeof(int)));
    CUDA_MEMCPY3D what{};
    what.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    what.srcDevice = device;
    what.srcPitch = 4 * sizeof(int);
    what.srcHeight = 5;
    what.srcXInBytes = sizeof(int);
    what.srcY = 1;
    what.srcZ = 3;
    what.dstMemoryType = CU_MEMORYTYPE_HOST;
    what.dstHost = part.data();
    what.dstPitch = 2 * sizeof(int);
    what.dstHeight = 3;
    what.WidthInBytes = 2 * sizeof(int);
    what.Height = 3;
    what.Depth = 2;
    OK(cuMemcpy3D(&what));
    CHECK(part[0] == 3 * 20 + 4 + 1);
    CHECK(part[11] == 4 * 20 + 3 * 4 + 2);
    what.dstPitch = 1;
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&what));
    what.dstPitch = 2 * sizeof(int);
    what.srcZ = 5;  // the second slice would be behind the end
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&what));
    what.srcZ = 3;
    what.srcLOD = 1;
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&what));
}

}  // namespace
