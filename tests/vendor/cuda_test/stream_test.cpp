#include "support.hpp"

#include <atomic>

namespace {

using namespace simulated;
using namespace std::chrono_literals;

TEST_CASE("a stream keeps its order") {
    const Driver driver({.slow = true});
    const CUdeviceptr p = driver.ints();
    const CUstream stream = Driver::stream();
    int expected = 0;
    for (int i = 0; i < 30; ++i) {
        OK(driver.step_in(stream, p, 3, i));
        expected = expected * 3 + i;
        if (i % 5 == 4) {
            OK(cuMemsetD32Async(p, 1, 1, stream));
            expected = 1;
        }
    }
    OK(cuStreamSynchronize(stream));
    CHECK(Driver::value(p) == expected);
}

TEST_CASE("streams have no order between them: held work runs in some other order with some seed") {
    bool forward = false, backward = false;
    for (std::uint64_t seed = 1; seed < 40 && !(forward && backward); ++seed) {
        const Driver driver({.workers = 1, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUstream a = Driver::stream(), b = Driver::stream();
        sim::hold();
        OK(driver.step_in(a, p, 10, 1));
        OK(driver.step_in(b, p, 10, 2));
        sim::release();
        OK(cuCtxSynchronize());
        const int result = Driver::value(p);
        forward |= result == 12;
        backward |= result == 21;
    }
    CHECK(forward);
    CHECK(backward);
}

TEST_CASE("the legacy stream is in order with blocking streams, not with others") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        const Driver driver({.workers = 2, .seed = seed});
        const CUdeviceptr p = driver.ints(), q = driver.ints();
        const CUstream blocking = Driver::stream(CU_STREAM_DEFAULT);
        sim::hold();
        OK(driver.step_in(blocking, p, 10, 1));
        OK(driver.step_in(nullptr, p, 10, 2));
        OK(driver.step_in(blocking, p, 10, 3));
        OK(driver.step_in(CU_STREAM_PER_THREAD, q, 10, 1));
        OK(driver.step_in(CU_STREAM_LEGACY, q, 10, 2));
        OK(driver.step_in(CU_STREAM_LEGACY, p, 10, 4));
        OK(driver.step_in(CU_STREAM_PER_THREAD, q, 10, 3));
        sim::release();
        OK(cuCtxSynchronize());
        CHECK(Driver::value(p) == 1234);
        CHECK(Driver::value(q) == 123);
    }
    bool other_order = false;
    for (std::uint64_t seed = 1; seed < 40 && !other_order; ++seed) {
        const Driver driver({.workers = 1, .seed = seed});
        const CUdeviceptr p = driver.ints();
        sim::hold();
        OK(driver.step_in(Driver::stream(CU_STREAM_NON_BLOCKING), p, 10, 1));
        OK(driver.step_in(nullptr, p, 10, 2));
        sim::release();
        OK(cuCtxSynchronize());
        other_order = Driver::value(p) == 21;
    }
    CHECK(other_order);
}

TEST_CASE("a blocking stream that is destroyed still comes before the legacy stream") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        const Driver driver({.workers = 1, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUstream blocking = Driver::stream(CU_STREAM_DEFAULT);
        sim::hold();
        OK(driver.step_in(blocking, p, 10, 1));
        OK(cuStreamDestroy(blocking));
        OK(driver.step_in(nullptr, p, 10, 2));
        sim::release();
        OK(cuCtxSynchronize());
        CHECK(Driver::value(p) == 12);
    }
}

TEST_CASE("query and synchronize, destruction, and stale handles") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream stream = Driver::stream();
    OK(cuStreamQuery(stream));
    sim::hold();
    OK(driver.step_in(stream, p, 0, 8));
    IS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    OK(cuStreamDestroy(stream));  // does not wait
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
    sim::release();
    OK(cuCtxSynchronize());
    CHECK(Driver::value(p) == 8);
}

TEST_CASE("flags, priorities and contexts of streams") {
    const Driver driver;
    CUstream stream = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 4));
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
    int priority = 0, least = 1, greatest = 0;
    unsigned flags = 0;
    OK(cuStreamGetPriority(stream, &priority));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(priority == greatest);
    OK(cuStreamGetFlags(stream, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    CUcontext context = nullptr, other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    OK(cuStreamGetCtx(stream, &context));
    CHECK(context == driver.context);
    OK(cuStreamGetCtx(nullptr, &context));
    CHECK(context == other);
}

TEST_CASE("host functions: in order, on another thread, and without calls of the driver") {
    const Driver driver;
    struct Seen {
        std::thread::id thread;
        CUresult result = CUDA_SUCCESS;
    } seen;
    const auto look = [](void* data) {
        int count = 0;
        static_cast<Seen*>(data)->thread = std::this_thread::get_id();
        static_cast<Seen*>(data)->result = cuDeviceGetCount(&count);
    };
    const CUstream stream = Driver::stream();
    OK(cuLaunchHostFunc(stream, look, &seen));
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, nullptr, &seen));
    OK(cuStreamSynchronize(stream));
    CHECK(seen.thread != std::this_thread::get_id());
    CHECK(seen.result == CUDA_ERROR_NOT_PERMITTED);
}

TEST_CASE("synchronizing a context waits for all of its streams, not for those of others") {
    const Driver driver({.slow = true});
    std::atomic<int> count = 0;
    const auto add = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
    for (int i = 0; i < 10; ++i) OK(cuLaunchHostFunc(Driver::stream(), add, &count));
    OK(cuCtxSynchronize());
    CHECK(count == 10);
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    sim::hold();
    OK(cuCtxSetCurrent(driver.context));
    OK(cuLaunchHostFunc(nullptr, add, &count));
    OK(cuCtxSetCurrent(other));
    OK(cuCtxSynchronize());
    CHECK(count == 10);
    sim::release();
}

// --- events ----------------------------------------------------------------------------------------------------------

TEST_CASE("an event orders two streams") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        const Driver driver({.workers = 2, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUstream a = Driver::stream(), b = Driver::stream();
        const CUevent event = Driver::event();
        sim::hold();
        OK(driver.step_in(a, p, 10, 1));
        OK(cuEventRecord(event, a));
        OK(cuStreamWaitEvent(b, event, 0));
        OK(cuEventRecord(event, b));  // the wait above is for what was recorded before
        OK(driver.step_in(b, p, 10, 2));
        OK(cuEventDestroy(event));
        sim::release();
        OK(cuCtxSynchronize());
        CHECK(Driver::value(p) == 12);
    }
}

TEST_CASE("an event is ready before it is recorded, and when all before it is done") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream stream = Driver::stream();
    const CUevent event = Driver::event();
    OK(cuEventQuery(event));
    OK(cuEventSynchronize(event));
    sim::hold();
    OK(driver.step_in(stream, p, 0, 1));
    OK(cuEventRecord(event, stream));
    IS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    sim::release();
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    OK(cuEventDestroy(event));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    IS(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(stream, event, 0));
}

TEST_CASE("elapsed time: both timed, recorded and done") {
    const Driver driver;
    const CUstream stream = Driver::stream();
    const CUevent start = Driver::event(CU_EVENT_DEFAULT), end = Driver::event(CU_EVENT_DEFAULT);
    const CUevent untimed = Driver::event(CU_EVENT_DISABLE_TIMING);
    float ms = -1;
    OK(cuEventRecord(start, stream));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    OK(cuEventSynchronize(start));
    sim::hold();
    OK(cuLaunchHostFunc(stream, [](void*) { std::this_thread::sleep_for(2ms); }, nullptr));
    OK(cuEventRecord(end, stream));
    OK(cuEventRecord(untimed, stream));
    IS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, start, end));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, untimed));
    sim::release();
    OK(cuStreamSynchronize(stream));
    OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 2.0F);
}

TEST_CASE("an event and its stream are of one context; waiting needs no such thing") {
    const Driver driver;
    const CUevent event = Driver::event();
    const CUstream ours = Driver::stream();
    OK(cuEventRecord(event, ours));
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    const CUstream theirs = Driver::stream();
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, theirs));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, nullptr));
    OK(cuStreamWaitEvent(theirs, event, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(theirs, event, CU_EVENT_WAIT_EXTERNAL));
    CUevent made = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&made, 0x80));
    IS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&made, CU_EVENT_INTERPROCESS));
    OK(cuCtxSynchronize());
}

}  // namespace
