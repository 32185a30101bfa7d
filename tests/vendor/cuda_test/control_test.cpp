#include "support.hpp"

#include <string>

namespace {

using namespace simulated;

TEST_CASE("calls are counted by name and in all") {
    const Driver driver;
    const std::size_t before = sim::calls();
    const CUdeviceptr p = driver.ints();
    CHECK(sim::calls("cuMemAlloc") == 1);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 1));
    OK(cuMemFree(p));
    CHECK(sim::calls("cuMemFree") == 2);
    CHECK(sim::calls("cuGraphLaunch") == 0);
    CHECK(sim::calls() == before + 5);
}

TEST_CASE("any call can be made to fail, once, and then it does nothing") {
    const Driver driver;
    CUdeviceptr p = 0;
    sim::fail_call(2, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
    OK(cuMemAlloc(&p, 4));
    OK(cuMemFree(p));
    IS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 4));
    OK(cuMemAlloc(&p, 4));
    sim::fail_call(1, CUDA_ERROR_UNKNOWN);
    IS(CUDA_ERROR_UNKNOWN, cuMemFree(p));
    CHECK(sim::live().device_allocations == 1);
    OK(cuMemFree(p));
    sim::fail_call(1, CUDA_ERROR_UNKNOWN, "cuMemFree");
    sim::fail_no_call();
    OK(cuMemAlloc(&p, 4));
    OK(cuMemFree(p));
}

TEST_CASE("the ledger counts what is alive") {
    const Driver driver;
    const sim::Ledger before = sim::live();
    CUdeviceptr p = 0;
    void* host = nullptr;
    int registered = 0;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemAllocHost(&host, 4));
    OK(cuMemHostRegister(&registered, sizeof registered, 0));
    const CUstream stream = Driver::stream();
    const CUevent event = Driver::event();
    const CUgraph g = graph();
    const CUgraphExec exec = instantiate(g);
    sim::Ledger now = sim::live();
    CHECK(now.device_allocations == 1);
    CHECK(now.host_allocations == 1);
    CHECK(now.registrations == 1);
    CHECK(now.streams == 1);
    CHECK(now.events == 1);
    CHECK(now.graphs == 1);
    CHECK(now.execs == 1);
    CHECK(now.modules == 1);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    OK(cuMemHostUnregister(&registered));
    OK(cuMemFreeHost(host));
    OK(cuMemFree(p));
    now = sim::live();
    CHECK(now == before);
}

TEST_CASE("held work is in flight and does not start") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    sim::hold();
    OK(driver.step_in(nullptr, p, 0, 1));
    OK(driver.step_in(nullptr, p, 0, 2));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(sim::in_flight() == 2);
    sim::release();
    OK(cuCtxSynchronize());
    CHECK(sim::in_flight() == 0);
    CHECK(Driver::value(p) == 2);
}

TEST_CASE("a reset drops what is queued and forgets handles, of all threads") {
    const Driver driver;
    const CUstream stream = Driver::stream();
    bool ran = false;
    sim::hold();
    OK(cuLaunchHostFunc(stream, [](void* data) { *static_cast<bool*>(data) = true; }, &ran));
    sim::reset();
    CHECK_FALSE(ran);
    CHECK(sim::in_flight() == 0);
    CHECK(sim::live() == sim::Ledger{});
    CHECK(sim::calls() == 0);
    OK(cuInit(0));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuStreamQuery(stream));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(driver.context));
}

TEST_CASE("one worker and one seed give one order, another seed another") {
    const auto order = [](std::uint64_t seed) {
        const Driver driver({.workers = 1, .seed = seed});
        std::string seen;
        struct Mark {
            std::string* seen;
            char name;
        };
        std::vector<Mark> marks;
        for (char c = 'a'; c < 'k'; ++c) marks.push_back({&seen, c});
        const CUgraph g = graph();
        for (Mark& mark : marks) {
            const CUDA_HOST_NODE_PARAMS call{[](void* data) {
                                                 auto& it = *static_cast<Mark*>(data);
                                                 it.seen->push_back(it.name);
                                             },
                                             &mark};
            CUgraphNode node = nullptr;
            OK(cuGraphAddHostNode(&node, g, nullptr, 0, &call));
        }
        const CUgraphExec exec = instantiate(g);
        sim::set_seed(seed);
        sim::hold();
        OK(cuGraphLaunch(exec, nullptr));
        sim::release();
        OK(cuCtxSynchronize());
        return seen;
    };
    CHECK(order(1) == order(1));
    CHECK(order(1) != order(2));
}

TEST_CASE("many threads at once") {
    const Driver driver;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&driver] {
            CHECK(cuCtxSetCurrent(driver.context) == CUDA_SUCCESS);
            CUdeviceptr p = 0;
            CUgraph g = nullptr;
            CUgraphExec exec = nullptr;
            CUgraphNode node = nullptr;
            CUstream stream = nullptr;
            CHECK(cuMemAlloc(&p, 4) == CUDA_SUCCESS);
            CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
            CHECK(cuMemsetD32Async(p, 0, 1, stream) == CUDA_SUCCESS);
            CHECK(cuGraphCreate(&g, 0) == CUDA_SUCCESS);
            const Step step(driver.step_kernel, p, 1, 1);
            CHECK(cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params) == CUDA_SUCCESS);
            CHECK(cuGraphInstantiate(&exec, g, 0) == CUDA_SUCCESS);
            for (int i = 0; i < 50; ++i) CHECK(cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
            int value = 0;
            CHECK(cuMemcpyDtoHAsync(&value, p, 4, stream) == CUDA_SUCCESS);
            CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
            CHECK(value == 50);
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(sim::violations().empty());
}

}  // namespace
