#include "support.hpp"

#include <atomic>

namespace {

using namespace simulated;

TEST_CASE("an executable graph is a snapshot") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode node = add_step(g, {}, driver, p, 0, 1);
    const CUgraphExec exec = instantiate(g);
    const Step other(driver.step_kernel, p, 0, 2);
    OK(cuGraphKernelNodeSetParams(node, &other.params));
    add_step(g, {node}, driver, p, 0, 3);
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 1);
    OK(cuGraphDestroy(g));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 1);
}

TEST_CASE("flags of instantiation") {
    const Driver driver;
    const CUgraph g = graph();
    CUgraphExec exec = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, g, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, g, 0x100));
    IS(CUDA_ERROR_INVALID_VALUE,
       cuGraphInstantiate(&exec, g,
                          CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&exec, g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cuGraphInstantiate(&exec, g, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = Driver::stream();
    OK(cuGraphInstantiateWithParams(&exec, g, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, nullptr, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR);
    OK(cuGraphUpload(exec, Driver::stream()));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphUpload(nullptr, nullptr));
}

TEST_CASE("launches of one exec follow each other, in whatever streams") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        const Driver driver({.workers = 2, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUgraph g = graph();
        const CUgraphNode node = add_step(g, {}, driver, p, 10, 1);
        const CUgraphExec exec = instantiate(g);
        sim::hold();
        for (int i = 1; i < 5; ++i) {
            const Step step(driver.step_kernel, p, 10, i);
            // Launches that are under way keep their arguments.
            OK(cuGraphExecKernelNodeSetParams(exec, node, &step.params));
            OK(cuGraphLaunch(exec, Driver::stream()));
        }
        sim::release();
        OK(cuCtxSynchronize());
        CHECK(Driver::value(p) == 1234);
    }
}

TEST_CASE("a launch is in the order of its stream") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        const Driver driver({.workers = 2, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUgraph g = graph();
        add_step(g, {}, driver, p, 10, 2);
        const CUgraphExec exec = instantiate(g);
        const CUstream stream = Driver::stream();
        sim::hold();
        OK(driver.step_in(stream, p, 10, 1));
        OK(cuGraphLaunch(exec, stream));
        OK(driver.step_in(stream, p, 10, 3));
        OK(cuGraphExecDestroy(exec));  // goes on
        OK(cuGraphDestroy(g));
        sim::release();
        OK(cuStreamSynchronize(stream));
        CHECK(Driver::value(p) == 123);
        IS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
        IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
    }
}

TEST_CASE("different execs run at the same time") {
    const Driver driver;
    // Each host function waits for the other one.
    struct Meeting {
        std::atomic<int> here = 0;
    } meeting;
    const CUDA_HOST_NODE_PARAMS meet{[](void* data) {
                                         auto& here = static_cast<Meeting*>(data)->here;
                                         ++here;
                                         while (here < 2) std::this_thread::yield();
                                     },
                                     &meeting};
    for (int i = 0; i < 2; ++i) {
        const CUgraph g = graph();
        CUgraphNode node = nullptr;
        OK(cuGraphAddHostNode(&node, g, nullptr, 0, &meet));
        OK(cuGraphLaunch(instantiate(g), Driver::stream()));
    }
    OK(cuCtxSynchronize());
    CHECK(meeting.here == 2);
}

TEST_CASE("the null stream needs a context, other streams do not") {
    const Driver driver;
    const CUgraph g = graph();
    const CUgraphExec exec = instantiate(g);
    const CUstream stream = Driver::stream();
    std::thread([&] {
        CHECK(cuGraphLaunch(exec, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
        CHECK(cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
        CHECK(cuGraphLaunch(nullptr, stream) == CUDA_ERROR_INVALID_VALUE);
    }).join();
    OK(cuStreamSynchronize(stream));
}

TEST_CASE("a graph over two devices: each node runs in its own context") {
    const Driver driver({.devices = 2});
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    CUmodule module = nullptr;
    CUfunction step = nullptr;
    OK(cuModuleLoadData(&module, sim::image_of({"step"}).c_str()));
    OK(cuModuleGetFunction(&step, module, "step"));
    CUdeviceptr theirs = 0;
    OK(cuMemAlloc(&theirs, 4));
    OK(cuCtxSetCurrent(driver.context));
    const CUdeviceptr ours = driver.ints(1, 4);
    const CUgraph g = graph();
    const CUgraphNode first = add_step(g, {}, driver, ours, 10, 1);
    CUgraphNode copied = nullptr, last = nullptr;
    const auto copy = copy_1d(CU_MEMORYTYPE_DEVICE, theirs, CU_MEMORYTYPE_DEVICE, ours, 4);
    OK(cuGraphAddMemcpyNode(&copied, g, &first, 1, &copy, other));
    const Step there(step, theirs, 10, 2);
    OK(cuGraphAddKernelNode(&last, g, &copied, 1, &there.params));
    OK(cuGraphLaunch(instantiate(g), nullptr));
    CHECK(Driver::value(theirs) == 412);
    CHECK(sim::violations().empty());
}

}  // namespace
