#include "support.hpp"

namespace {

using namespace simulated;

constexpr auto global = CU_STREAM_CAPTURE_MODE_GLOBAL, local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
               relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status{};
    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

/// Ends a capture that must be broken.
void check_broken(CUstream stream, CUresult result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
    CUgraph captured = reinterpret_cast<CUgraph>(std::uintptr_t{1});
    IS(result, cuStreamEndCapture(stream, &captured));
    CHECK(captured == nullptr);
    CHECK(status_of(stream) == CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK(sim::live().graphs == 0);
}

TEST_CASE("what goes into a captured stream becomes nodes, and runs only when the graph does") {
    const Driver driver;
    const CUdeviceptr p = driver.ints(), q = driver.ints();
    const CUstream stream = Driver::stream();
    int seen = 0;
    OK(cuStreamBeginCapture(stream, global));
    CHECK(status_of(stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(driver.step_in(stream, p, 10, 1));
    OK(driver.step_in(stream, p, 10, 2));
    OK(cuMemcpyAsync(q, p, 4, stream));
    OK(cuMemsetD32Async(p, 0, 1, stream));
    OK(cuLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &seen));
    CUgraph captured = nullptr;
    OK(cuStreamEndCapture(stream, &captured));
    std::size_t nodes = 0, edges = 0;
    OK(cuGraphGetNodes(captured, nullptr, &nodes));
    OK(cuGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges));
    CHECK(nodes == 5);
    CHECK(edges == 4);
    CHECK(Driver::value(q) == 0);
    const CUgraphExec exec = instantiate(captured);
    for (int i = 1; i < 3; ++i) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        CHECK(Driver::value(q) == 12);
        CHECK(seen == i);
    }
}

TEST_CASE("events fork and join") {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const Driver driver({.seed = seed});
        const CUdeviceptr a = driver.ints(1, 1), b = driver.ints(1, 1), c = driver.ints();
        const CUstream main = Driver::stream(), side = Driver::stream();
        const CUevent fork = Driver::event(), join = Driver::event();
        OK(cuStreamBeginCapture(main, global));
        OK(driver.step_in(main, a, 2, 1));  // a = 3
        OK(cuEventRecord(fork, main));
        OK(cuStreamWaitEvent(side, fork, 0));
        CHECK(status_of(side) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
        OK(cuMemcpyAsync(b, a, 4, side));   // b = 3
        OK(driver.step_in(side, b, 2, 1));  // b = 7
        OK(cuEventRecord(join, side));
        OK(cuStreamWaitEvent(main, join, 0));
        CUdeviceptr pa = a, pb = b, pc = c;
        void* arguments[] = {&pa, &pb, &pc};
        OK(cuLaunchKernel(driver.sum_kernel, 1, 1, 1, 1, 1, 1, 0, main, arguments, nullptr));
        CUgraph captured = nullptr;
        OK(cuStreamEndCapture(main, &captured));
        CHECK(status_of(side) == CU_STREAM_CAPTURE_STATUS_NONE);
        OK(cuGraphLaunch(instantiate(captured), nullptr));
        CHECK(Driver::value(c) == 10);
    }
}

TEST_CASE("a fork that is not joined") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream main = Driver::stream(), side = Driver::stream();
    const CUevent fork = Driver::event();
    OK(cuStreamBeginCapture(main, global));
    OK(driver.step_in(main, p, 1, 1));
    OK(cuEventRecord(fork, main));
    OK(cuStreamWaitEvent(side, fork, 0));
    OK(driver.step_in(side, p, 1, 1));
    check_broken(main, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK(status_of(side) == CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_CASE("where a capture may begin and end") {
    const Driver driver;
    const CUstream stream = Driver::stream(), side = Driver::stream();
    const CUevent fork = Driver::event();
    CUgraph captured = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(nullptr, global));
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(CU_STREAM_LEGACY, global));
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamEndCapture(stream, &captured));
    SUBCASE("not twice") {
        OK(cuStreamBeginCapture(stream, relaxed));
        IS(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(stream, relaxed));
        check_broken(stream);
    }
    SUBCASE("in the stream where it began") {
        OK(cuStreamBeginCapture(stream, global));
        OK(cuEventRecord(fork, stream));
        OK(cuStreamWaitEvent(side, fork, 0));
        IS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(side, &captured));
        check_broken(stream);
    }
    SUBCASE("in the thread where it began") {
        OK(cuStreamBeginCapture(stream, local));
        std::thread([&] {
            CHECK(cuCtxSetCurrent(driver.context) == CUDA_SUCCESS);
            CHECK(cuStreamEndCapture(stream, &captured) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        }).join();
        check_broken(stream);
    }
    SUBCASE("but a relaxed one in any thread") {
        OK(cuStreamBeginCapture(stream, relaxed));
        std::thread([&] {
            CHECK(cuCtxSetCurrent(driver.context) == CUDA_SUCCESS);
            CHECK(cuStreamEndCapture(stream, &captured) == CUDA_SUCCESS);
        }).join();
        CHECK(captured != nullptr);
    }
    SUBCASE("and in the per-thread default stream") {
        OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, global));
        OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &captured));
    }
}

TEST_CASE("what a captured stream or event must not be asked") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream stream = Driver::stream(), other = Driver::stream();
    const CUevent event = Driver::event(), plain = Driver::event();
    OK(cuEventRecord(plain, other));
    OK(cuStreamBeginCapture(stream, relaxed));
    OK(cuEventRecord(event, stream));
    SUBCASE("its state") { IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream)); }
    SUBCASE("to synchronize") { IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream)); }
    SUBCASE("its context to synchronize") { IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize()); }
    SUBCASE("the event's state") { IS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event)); }
    SUBCASE("to wait for the event") { IS(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event)); }
    SUBCASE("to wait for what is not captured") {
        IS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream, plain, 0));
    }
    SUBCASE("to upload a graph") {
        const CUgraph g = graph();
        IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphUpload(instantiate(g), stream));
        OK(cuGraphDestroy(g));
    }
    CHECK(status_of(stream) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver.step_in(stream, p, 1, 1));
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamWaitEvent(other, event, 0));
    check_broken(stream);
    IS(CUDA_ERROR_CAPTURED_EVENT, cuStreamWaitEvent(other, event, 0));
    OK(driver.step_in(stream, p, 1, 1));
    OK(cuStreamSynchronize(stream));
}

TEST_CASE("two captures do not merge") {
    const Driver driver;
    const CUstream a = Driver::stream(), b = Driver::stream();
    const CUevent event = Driver::event();
    OK(cuStreamBeginCapture(a, relaxed));
    OK(cuStreamBeginCapture(b, relaxed));
    OK(cuEventRecord(event, a));
    IS(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(b, event, 0));
    CUgraph captured = nullptr;
    IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(a, &captured));
    check_broken(b);
}

TEST_CASE("the legacy stream while a blocking stream is captured") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream blocking = Driver::stream(CU_STREAM_DEFAULT), free = Driver::stream(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureStatus status{};
    CUgraph captured = nullptr;
    OK(cuStreamBeginCapture(free, relaxed));
    OK(driver.step_in(nullptr, p, 1, 1));
    OK(cuStreamEndCapture(free, &captured));
    OK(cuGraphDestroy(captured));

    OK(cuStreamBeginCapture(blocking, relaxed));
    IS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(nullptr, &status));
    CHECK(status_of(blocking) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    SUBCASE("used by a launch") { IS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, driver.step_in(nullptr, p, 1, 1)); }
    SUBCASE("used by a synchronous copy") {
        int value = 0;
        IS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoH(&value, p, 4));
    }
    check_broken(blocking);
}

TEST_CASE("potentially unsafe calls: by the modes of the capture and of the thread") {
    const Driver driver;
    CUdeviceptr memory = 0;
    const CUstream stream = Driver::stream();
    // From the thread of the capture, then from another one.
    const auto allowed = [&](CUstreamCaptureMode capture, CUstreamCaptureMode thread, bool same_thread) {
        OK(cuStreamBeginCapture(stream, capture));
        CUresult result = CUDA_SUCCESS;
        const auto call = [&] {
            CUstreamCaptureMode mode = thread;
            CHECK(cuCtxSetCurrent(driver.context) == CUDA_SUCCESS);
            CHECK(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS);
            result = cuMemAlloc(&memory, 4);
            CHECK(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS);
            CHECK(mode == thread);
        };
        if (same_thread) {
            call();
        } else {
            std::thread(call).join();
        }
        CUgraph captured = nullptr;
        const CUresult end = cuStreamEndCapture(stream, &captured);
        CHECK((end == CUDA_SUCCESS) == (result == CUDA_SUCCESS));
        CHECK((result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
        return result == CUDA_SUCCESS;
    };
    CHECK_FALSE(allowed(global, global, true));
    CHECK_FALSE(allowed(global, local, true));
    CHECK(allowed(global, relaxed, true));
    CHECK_FALSE(allowed(local, global, true));
    CHECK(allowed(relaxed, global, true));
    CHECK_FALSE(allowed(global, global, false));
    CHECK(allowed(global, local, false));
    CHECK(allowed(local, global, false));
    CHECK(allowed(relaxed, global, false));
}

TEST_CASE("capture into a graph that is there, and what is known while it lasts") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode first = add_step(g, {}, driver, p, 10, 1);
    const CUstream stream = Driver::stream();
    OK(cuStreamBeginCaptureToGraph(stream, g, &first, nullptr, 1, global));
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph target = nullptr;
    const CUgraphNode* tail = nullptr;
    std::size_t count = 0;
    OK(cuStreamGetCaptureInfo(stream, &status, &id, &target, &tail, nullptr, &count));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(id != 0);
    CHECK(target == g);
    REQUIRE(count == 1);
    CHECK(tail[0] == first);
    CUgraphExec exec = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, g, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(g));
    OK(driver.step_in(stream, p, 10, 2));
    OK(cuStreamEndCapture(stream, &target));
    CHECK(target == g);
    OK(cuGraphLaunch(instantiate(g), nullptr));
    CHECK(Driver::value(p) == 12);
}

TEST_CASE("external events and launches of graphs in a captured stream") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph inner = graph();
    add_step(inner, {}, driver, p, 10, 1);
    const CUgraphExec exec = instantiate(inner);
    const CUstream stream = Driver::stream();
    const CUevent event = Driver::event();
    OK(cuStreamBeginCapture(stream, global));
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    CUgraph captured = nullptr;
    OK(cuStreamEndCapture(stream, &captured));
    CUgraphNode nodes[3];
    std::size_t count = 3;
    OK(cuGraphGetNodes(captured, nodes, &count));
    CUgraphNodeType types[3];
    for (int i = 0; i < 3; ++i) OK(cuGraphNodeGetType(nodes[i], &types[i]));
    CHECK(types[0] == CU_GRAPH_NODE_TYPE_GRAPH);
    CHECK(types[1] == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    CHECK(types[2] == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    OK(cuGraphLaunch(instantiate(captured), nullptr));
    CHECK(Driver::value(p) == 1);
    IS(CUDA_ERROR_INVALID_VALUE, cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
}

}  // namespace
