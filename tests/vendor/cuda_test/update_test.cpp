// Changes of executable graphs: which are taken, which are refused, and when they count.
#include "support.hpp"

namespace {

using namespace simulated;

TEST_CASE("kernel nodes: new arguments, extents and functions for the launches to come") {
    const Driver driver;
    const CUdeviceptr p = driver.ints(4);
    const CUgraph g = graph();
    const CUgraphNode node = add_step(g, {}, driver, p, 0, 1);
    const CUgraphExec exec = instantiate(g);
    Step step(driver.step_kernel, p, 0, 2);
    sim::hold();
    OK(cuGraphLaunch(exec, nullptr));
    OK(cuGraphExecKernelNodeSetParams(exec, node, &step.params));
    step.add = 50;  // was copied
    sim::release();
    CHECK(Driver::value(p) == 1);
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 2);
    // Another function of the same context.
    CUdeviceptr where = p;
    int count = 4, value = 8;
    void* arguments[] = {&where, &count, &value};
    step.params.func = driver.fill_kernel;
    step.params.kernelParams = arguments;
    OK(cuGraphExecKernelNodeSetParams(exec, node, &step.params));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p + 12) == 8);
    // The node itself was not changed.
    CUDA_KERNEL_NODE_PARAMS params{};
    OK(cuGraphKernelNodeGetParams(node, &params));
    CHECK(params.func == driver.step_kernel);
}

TEST_CASE("kernel nodes: what is refused") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode node = add_step(g, {}, driver, p, 0, 1);
    CUgraphNode empty = nullptr;
    OK(cuGraphAddEmptyNode(&empty, g, nullptr, 0));
    const CUgraphExec exec = instantiate(g);
    const CUgraphNode later = add_step(g, {}, driver, p, 0, 1);
    const CUgraph other_graph = graph();
    const CUgraphNode strange = add_step(other_graph, {}, driver, p, 0, 1);
    Step step(driver.step_kernel, p, 0, 2);
    const auto set = [&](CUgraphNode which) { return cuGraphExecKernelNodeSetParams(exec, which, &step.params); };
    IS(CUDA_ERROR_INVALID_VALUE, set(empty));
    IS(CUDA_ERROR_INVALID_VALUE, set(later));
    IS(CUDA_ERROR_INVALID_VALUE, set(strange));
    IS(CUDA_ERROR_INVALID_VALUE, set(nullptr));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(nullptr, node, &step.params));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(exec, node, nullptr));
    step.params.gridDimY = 65536;
    IS(CUDA_ERROR_INVALID_VALUE, set(node));
    step.params.gridDimY = 1;
    step.params.sharedMemBytes = 48 * 1024 + 1;
    IS(CUDA_ERROR_INVALID_VALUE, set(node));
    step.params.sharedMemBytes = 0;
    // "The owning context of the function cannot change."
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    CUmodule module = nullptr;
    OK(cuModuleLoadData(&module, sim::image_of({"step"}).c_str()));
    OK(cuModuleGetFunction(&step.params.func, module, "step"));
    IS(CUDA_ERROR_INVALID_VALUE, set(node));
    OK(cuCtxSetCurrent(driver.context));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 1);
}

TEST_CASE("nodes must remain in the graph that was instantiated") {
    for (const bool outlive : {false, true}) {
        CAPTURE(outlive);
        const Driver driver({.nodes_outlive_graph = outlive});
        const CUdeviceptr p = driver.ints();
        const CUgraph g = graph();
        const CUgraphNode node = add_step(g, {}, driver, p, 0, 1);
        const CUgraphExec exec = instantiate(g);
        OK(cuGraphDestroy(g));
        const Step step(driver.step_kernel, p, 0, 2);
        IS(outlive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(exec, node, &step.params));
    }
}

TEST_CASE("memcpy nodes: other addresses of the same memory kinds and contexts, flat and not empty") {
    const Driver driver({.devices = 2});
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 1));
    CUdeviceptr theirs = 0;
    OK(cuMemAlloc(&theirs, 16));
    OK(cuCtxSetCurrent(driver.context));
    std::array<int, 4> host{}, host2{};
    void* pinned = nullptr;
    OK(cuMemAllocHost(&pinned, 16));
    const CUdeviceptr a = driver.ints(4, 1), b = driver.ints(8, 2);
    const auto at = [](void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    constexpr auto H = CU_MEMORYTYPE_HOST, D = CU_MEMORYTYPE_DEVICE, U = CU_MEMORYTYPE_UNIFIED;
    const CUgraph g = graph();
    CUgraphNode node = nullptr;
    const auto original = copy_1d(H, at(host.data()), D, a, 16);
    OK(cuGraphAddMemcpyNode(&node, g, nullptr, 0, &original, driver.context));
    const CUgraphExec exec = instantiate(g);
    const auto set = [&](const CUDA_MEMCPY3D& what) {
        return cuGraphExecMemcpyNodeSetParams(exec, node, &what, driver.context);
    };
    OK(cuMemFree(a));  // what the original pointed to need not be there any more
    OK(set(copy_1d(H, at(host2.data()), D, b + 16, 8)));
    OK(set(copy_1d(U, at(host2.data()), U, b, 16)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(H, at(host.data()), D, b, 0)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(H, at(host.data()), D, theirs, 16)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(H, at(pinned), D, b, 16)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(D, b, D, b + 16, 16)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(H, at(host.data()), H, at(host2.data()), 16)));
    IS(CUDA_ERROR_INVALID_VALUE, set(copy_1d(H, at(host.data()), D, b, 33)));
    auto deep = copy_1d(H, at(host.data()), D, b, 4);
    deep.Height = 2;
    deep.srcPitch = deep.dstPitch = 4;
    IS(CUDA_ERROR_INVALID_VALUE, set(deep));
    const auto good = copy_1d(H, at(host2.data()), D, b, 16);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, node, &good, nullptr));
    OK(cuGraphLaunch(exec, nullptr));
    OK(cuCtxSynchronize());
    CHECK(host2 == std::array{2, 2, 2, 2});
    CHECK(host == std::array<int, 4>{});
}

TEST_CASE("memset nodes: value and address; a flat one may get shorter, a deep one keeps its shape") {
    const Driver driver;
    const CUdeviceptr a = driver.ints(8), b = driver.ints(8);
    void* pinned = nullptr;
    OK(cuMemAllocHost(&pinned, 64));
    const CUgraph g = graph();
    CUgraphNode flat = nullptr, deep = nullptr;
    const auto flat_set = set_1d(a, 1, 4);
    auto deep_set = set_1d(a, 1, 1);
    deep_set.height = 2;
    deep_set.pitch = 16;
    OK(cuGraphAddMemsetNode(&flat, g, nullptr, 0, &flat_set, driver.context));
    OK(cuGraphAddMemsetNode(&deep, g, &flat, 1, &deep_set, driver.context));
    const CUgraphExec exec = instantiate(g);
    const auto set = [&](CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS& what) {
        return cuGraphExecMemsetNodeSetParams(exec, node, &what, driver.context);
    };
    OK(set(flat, set_1d(b, 5, 4)));
    OK(set(flat, set_1d(b, 6, 3)));
    IS(CUDA_ERROR_INVALID_VALUE, set(flat, set_1d(b, 6, 5)));
    IS(CUDA_ERROR_INVALID_VALUE, set(flat, set_1d(b, 6, 0)));
    IS(CUDA_ERROR_INVALID_VALUE, set(flat, set_1d(b, 6, 4, 2)));
    IS(CUDA_ERROR_INVALID_VALUE, set(flat, deep_set));
    IS(CUDA_ERROR_INVALID_VALUE, set(flat, set_1d(reinterpret_cast<std::uintptr_t>(pinned), 6, 4)));
    deep_set.dst = b + 12;
    deep_set.value = 7;
    OK(set(deep, deep_set));
    deep_set.pitch = 12;
    IS(CUDA_ERROR_INVALID_VALUE, set(deep, deep_set));
    OK(cuGraphLaunch(exec, nullptr));
    std::array<int, 8> result{};
    OK(cuMemcpyDtoH(result.data(), b, 32));
    CHECK(result == std::array{6, 6, 6, 7, 0, 0, 0, 7});
}

TEST_CASE("host nodes and child graphs") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    int seen = 0, other = 0;
    const auto mark = [](void* data) { ++*static_cast<int*>(data); };
    const CUDA_HOST_NODE_PARAMS first{mark, &seen}, second{mark, &other};
    const CUgraph g = graph(), inner = graph(), next = graph(), wider = graph();
    CUgraphNode host = nullptr, child = nullptr;
    add_step(inner, {}, driver, p, 0, 1);
    add_step(next, {}, driver, p, 0, 2);
    add_step(wider, {}, driver, p, 0, 2);
    add_step(wider, {}, driver, p, 0, 2);
    OK(cuGraphAddHostNode(&host, g, nullptr, 0, &first));
    OK(cuGraphAddChildGraphNode(&child, g, nullptr, 0, inner));
    const CUgraphExec exec = instantiate(g);
    OK(cuGraphExecHostNodeSetParams(exec, host, &second));
    OK(cuGraphExecChildGraphNodeSetParams(exec, child, next));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, child, wider));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, host, next));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(exec, child, &second));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 2);
    OK(cuCtxSynchronize());
    CHECK(seen == 0);
    CHECK(other == 1);
}

TEST_CASE("a disabled node only orders") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode a = add_step(g, {}, driver, p, 10, 1), b = add_step(g, {a}, driver, p, 10, 2);
    add_step(g, {b}, driver, p, 10, 3);
    CUgraphNode empty = nullptr;
    OK(cuGraphAddEmptyNode(&empty, g, nullptr, 0));
    const CUgraphExec exec = instantiate(g);
    unsigned enabled = 0;
    OK(cuGraphNodeGetEnabled(exec, b, &enabled));
    CHECK(enabled == 1);
    OK(cuGraphNodeSetEnabled(exec, b, 0));
    OK(cuGraphNodeGetEnabled(exec, b, &enabled));
    CHECK(enabled == 0);
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 13);
    // Its parameters are still there, and may change meanwhile.
    const Step step(driver.step_kernel, p, 10, 7);
    OK(cuGraphExecKernelNodeSetParams(exec, b, &step.params));
    OK(cuGraphNodeSetEnabled(exec, b, 1));
    OK(cuMemsetD32(p, 0, 1));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 173);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, empty, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(exec, empty, &enabled));
}

TEST_CASE("cuGraphExecUpdate: the same shape, else it says what differs") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode a = add_step(g, {}, driver, p, 10, 1);
    add_step(g, {a}, driver, p, 10, 2);
    const CUgraphExec exec = instantiate(g);
    CUgraphExecUpdateResultInfo info{};
    const auto update = [&](CUgraph next) { return cuGraphExecUpdate(exec, next, &info); };

    const CUgraph same = graph();
    const CUgraphNode c = add_step(same, {}, driver, p, 10, 3);
    add_step(same, {c}, driver, p, 10, 4);
    OK(update(same));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 34);

    const CUgraph longer = graph();
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update(longer));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CHECK(info.errorNode == nullptr);

    const CUgraph loose = graph();
    add_step(loose, {}, driver, p, 10, 5);
    const CUgraphNode unlinked = add_step(loose, {}, driver, p, 10, 6);
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update(loose));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CHECK(info.errorNode == unlinked);

    const CUgraph typed = graph();
    const CUgraphNode d = add_step(typed, {}, driver, p, 10, 5);
    CUgraphNode empty = nullptr;
    OK(cuGraphAddEmptyNode(&empty, typed, &d, 1));
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update(typed));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    CHECK(info.errorNode == empty);

    IS(CUDA_ERROR_INVALID_VALUE, update(nullptr));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR);
    OK(cuMemsetD32(p, 0, 1));
    OK(cuGraphLaunch(exec, nullptr));
    CHECK(Driver::value(p) == 34);
}

TEST_CASE("cuGraphExecUpdate: functions and operands keep their contexts") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    CUmodule module = nullptr;
    CUfunction step_there = nullptr;
    CUdeviceptr theirs = 0;
    OK(cuModuleLoadData(&module, sim::image_of({"step"}).c_str()));
    OK(cuModuleGetFunction(&step_there, module, "step"));
    OK(cuMemAlloc(&theirs, 4));
    OK(cuCtxSetCurrent(driver.context));
    const auto make = [&](CUfunction function, CUdeviceptr target) {
        const CUgraph made = graph();
        const Step step(function, p, 0, 1);
        CUgraphNode node = nullptr;
        OK(cuGraphAddKernelNode(&node, made, nullptr, 0, &step.params));
        const auto set = set_1d(target, 0, 1);
        OK(cuGraphAddMemsetNode(&node, made, nullptr, 0, &set, driver.context));
        return made;
    };
    const CUgraphExec exec = instantiate(make(driver.step_kernel, p));
    CUgraphExecUpdateResultInfo info{};
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, make(step_there, p), &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, make(driver.step_kernel, theirs), &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    OK(cuGraphExecUpdate(exec, make(driver.step_kernel, driver.ints()), &info));
}

}  // namespace
