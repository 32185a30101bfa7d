#include "support.hpp"

#include <algorithm>

namespace {

using namespace simulated;

TEST_CASE("dependencies of a new node are nodes of its graph, each once") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph(), other = graph();
    const CUgraphNode first = add_step(g, {}, driver, p, 1, 1), strange = add_step(other, {}, driver, p, 1, 1);
    const Step step(driver.step_kernel, p, 1, 1);
    CUgraphNode node = nullptr;
    const auto add = [&](const std::vector<CUgraphNode>& after) {
        return cuGraphAddKernelNode(&node, g, after.data(), after.size(), &step.params);
    };
    IS(CUDA_ERROR_INVALID_VALUE, add({first, first}));
    IS(CUDA_ERROR_INVALID_VALUE, add({strange}));
    IS(CUDA_ERROR_INVALID_VALUE, add({nullptr}));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, nullptr, 1, &step.params));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, nullptr, nullptr, 0));
    OK(cuGraphDestroy(other));
    IS(CUDA_ERROR_INVALID_VALUE, add({strange}));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(other));
    OK(add({first}));
}

TEST_CASE("edges, nodes and types can be asked for") {
    const Driver driver;
    const CUgraph g = graph();
    CUgraphNode a = nullptr, b = nullptr, c = nullptr;
    OK(cuGraphAddEmptyNode(&a, g, nullptr, 0));
    OK(cuGraphAddEmptyNode(&b, g, &a, 1));
    const CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
    OK(cuGraphAddHostNode(&c, g, nullptr, 0, &host));
    OK(cuGraphAddDependencies(g, &a, &c, nullptr, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, &a, &c, nullptr, 1));  // there already
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, &a, &a, nullptr, 1));
    OK(cuGraphAddDependencies(g, nullptr, nullptr, nullptr, 0));

    std::size_t count = 0;
    OK(cuGraphGetNodes(g, nullptr, &count));
    CHECK(count == 3);
    CUgraphNode nodes[5];
    count = 5;
    OK(cuGraphGetNodes(g, nodes, &count));
    CHECK(count == 3);
    CHECK(std::vector(nodes, nodes + 5) == std::vector<CUgraphNode>{a, b, c, nullptr, nullptr});
    CUgraphNode from[2], to[2];
    count = 2;
    OK(cuGraphGetEdges(g, from, to, nullptr, &count));
    CHECK(count == 2);
    CHECK(from[0] == a);
    CHECK(to[0] == b);
    CHECK(to[1] == c);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphGetEdges(g, from, nullptr, nullptr, &count));
    count = 1;
    OK(cuGraphNodeGetDependencies(c, nodes, nullptr, &count));
    CHECK(nodes[0] == a);
    CUgraphNodeType type{};
    OK(cuGraphNodeGetType(c, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_HOST);
    OK(cuGraphDestroy(g));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(c, &type));
}

TEST_CASE("a cycle is found when the graph is instantiated") {
    const Driver driver;
    const CUgraph g = graph();
    CUgraphNode a = nullptr, b = nullptr;
    OK(cuGraphAddEmptyNode(&a, g, nullptr, 0));
    OK(cuGraphAddEmptyNode(&b, g, &a, 1));
    OK(cuGraphAddDependencies(g, &b, &a, nullptr, 1));
    CUgraphExec exec = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, g, 0));
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, g, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK((params.hErrNode_out == a || params.hErrNode_out == b));
    CHECK(sim::live().execs == 0);
}

TEST_CASE("the parameters of a kernel node are copied, and can be read and set") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    CUgraphNode node = nullptr;
    {
        Step step(driver.step_kernel, p, 0, 5);
        OK(cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
        step.add = 77;  // too late
    }
    OK(cuGraphLaunch(instantiate(g), nullptr));
    CHECK(Driver::value(p) == 5);

    CUDA_KERNEL_NODE_PARAMS params{};
    OK(cuGraphKernelNodeGetParams(node, &params));
    CHECK(params.func == driver.step_kernel);
    CHECK(*static_cast<int*>(params.kernelParams[2]) == 5);
    int six = 6;
    void* arguments[] = {params.kernelParams[0], params.kernelParams[1], &six};
    params.kernelParams = arguments;
    OK(cuGraphKernelNodeSetParams(node, &params));
    six = 88;
    OK(cuGraphLaunch(instantiate(g), nullptr));
    CHECK(Driver::value(p) == 6);
    params.func = nullptr;
    IS(CUDA_ERROR_INVALID_HANDLE, cuGraphKernelNodeSetParams(node, &params));
    IS(CUDA_ERROR_INVALID_HANDLE, cuGraphKernelNodeSetParams(nullptr, &params));
}

TEST_CASE("a kernel node whose arguments are packed") {
    const Driver driver;
    CUdeviceptr p = driver.ints();
    struct {
        CUdeviceptr p;
        int factor, add;
    } packed{p, 0, 9};
    std::size_t size = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    Step step(driver.step_kernel, p, 1, 1);
    step.params.extra = extra;
    const CUgraph g = graph();
    CUgraphNode node = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
    step.params.kernelParams = nullptr;
    size = sizeof packed + 8;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
    size = sizeof packed;
    OK(cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
    packed.add = 0;
    CUDA_KERNEL_NODE_PARAMS params{};
    OK(cuGraphKernelNodeGetParams(node, &params));
    CHECK(params.kernelParams == nullptr);
    CHECK(params.extra != nullptr);
    OK(cuGraphLaunch(instantiate(g), nullptr));
    CHECK(Driver::value(p) == 9);
}

TEST_CASE("nodes with parameters that cannot be are refused") {
    const Driver driver;
    std::array<int, 4> host{};
    const auto at_host = reinterpret_cast<std::uintptr_t>(host.data());
    const CUdeviceptr p = driver.ints(4);
    const CUgraph g = graph();
    CUgraphNode node = nullptr;
    Step step(driver.step_kernel, p, 1, 1);
    step.params.blockDimZ = 65;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
    step.params.blockDimZ = 1;
    step.params.func = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, nullptr, 0, &step.params));
    const auto copy = copy_1d(CU_MEMORYTYPE_HOST, at_host, CU_MEMORYTYPE_DEVICE, p, 16);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemcpyNode(&node, g, nullptr, 0, &copy, nullptr));
    const auto long_copy = copy_1d(CU_MEMORYTYPE_HOST, at_host, CU_MEMORYTYPE_DEVICE, p, 17);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemcpyNode(&node, g, nullptr, 0, &long_copy, driver.context));
    const auto set = set_1d(p, 0, 4, 3);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, g, nullptr, 0, &set, driver.context));
    const auto good_set = set_1d(p, 0, 4);
    IS(CUDA_ERROR_INVALID_CONTEXT, cuGraphAddMemsetNode(&node, g, nullptr, 0, &good_set, nullptr));
    const auto host_set = set_1d(at_host, 0, 4);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, g, nullptr, 0, &host_set, driver.context));
    const CUDA_HOST_NODE_PARAMS nothing{};
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&node, g, nullptr, 0, &nothing));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&node, g, nullptr, 0, nullptr));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEventRecordNode(&node, g, nullptr, 0, nullptr));
    std::size_t count = 1;
    OK(cuGraphGetNodes(g, nullptr, &count));
    CHECK(count == 0);
}

TEST_CASE("every kind of node does its work, in the order of the edges") {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const Driver driver({.seed = seed, .slow = seed % 2 == 0});
        std::array<int, 4> host{};
        const CUdeviceptr p = driver.ints(4), q = driver.ints(4);
        const CUgraph g = graph(), inner = graph();
        CUgraphNode node = nullptr, previous = nullptr;
        const auto set = set_1d(p, 3, 4);
        OK(cuGraphAddMemsetNode(&previous, g, nullptr, 0, &set, driver.context));
        previous = add_step(g, {previous}, driver, p, 10, 1);  // 31
        const CUgraphNode first = add_step(inner, {}, driver, p, 10, 2);
        add_step(inner, {first}, driver, p, 10, 3);  // 3123
        OK(cuGraphAddChildGraphNode(&node, g, &previous, 1, inner));
        OK(cuGraphDestroy(inner));  // it was copied
        previous = node;
        const auto copy = copy_1d(CU_MEMORYTYPE_UNIFIED, q, CU_MEMORYTYPE_UNIFIED, p, 16);
        OK(cuGraphAddMemcpyNode(&node, g, &previous, 1, &copy, driver.context));
        previous = node;
        CUDA_MEMCPY3D read_back{};
        OK(cuGraphMemcpyNodeGetParams(node, &read_back));
        CHECK(read_back.srcMemoryType == CU_MEMORYTYPE_UNIFIED);
        const auto to_host = copy_1d(CU_MEMORYTYPE_HOST, reinterpret_cast<std::uintptr_t>(host.data()),
                                     CU_MEMORYTYPE_DEVICE, q, 16);
        OK(cuGraphAddMemcpyNode(&node, g, &previous, 1, &to_host, driver.context));
        previous = node;
        const CUDA_HOST_NODE_PARAMS call{[](void* data) { static_cast<int*>(data)[3] = 7; }, host.data()};
        OK(cuGraphAddHostNode(&node, g, &previous, 1, &call));
        OK(cuGraphLaunch(instantiate(g), nullptr));
        OK(cuCtxSynchronize());
        CHECK(host == std::array{3123, 3, 3, 7});
        CHECK(sim::violations().empty());
    }
}

TEST_CASE("without an edge, two nodes run in either order") {
    bool forward = false, backward = false;
    for (std::uint64_t seed = 1; seed < 40 && !(forward && backward); ++seed) {
        const Driver driver({.workers = 1, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUgraph g = graph();
        add_step(g, {}, driver, p, 10, 1);
        add_step(g, {}, driver, p, 10, 2);
        OK(cuGraphLaunch(instantiate(g), nullptr));
        OK(cuCtxSynchronize());
        const int result = Driver::value(p);
        forward |= result == 12;
        backward |= result == 21;
    }
    CHECK(forward);
    CHECK(backward);
}

TEST_CASE("a clone is its own graph") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUgraph g = graph();
    const CUgraphNode node = add_step(g, {}, driver, p, 0, 1);
    CUgraph clone = nullptr;
    OK(cuGraphClone(&clone, g));
    CUgraphNode same = nullptr;
    OK(cuGraphNodeFindInClone(&same, node, clone));
    CHECK(same != node);
    const Step other(driver.step_kernel, p, 0, 2);
    OK(cuGraphKernelNodeSetParams(node, &other.params));
    OK(cuGraphDestroy(g));
    OK(cuGraphLaunch(instantiate(clone), nullptr));
    CHECK(Driver::value(p) == 1);
    CHECK(sim::live().graphs == 1);
}

TEST_CASE("the graph in a child graph node belongs to the node") {
    const Driver driver;
    const CUgraph g = graph(), inner = graph();
    CUgraphNode child = nullptr, node = nullptr;
    OK(cuGraphAddChildGraphNode(&child, g, nullptr, 0, inner));
    CUgraph embedded = nullptr;
    OK(cuGraphChildGraphNodeGetGraph(child, &embedded));
    CHECK(embedded != inner);
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(embedded));
    OK(cuGraphAddEmptyNode(&node, embedded, nullptr, 0));
    CHECK(sim::live().graphs == 2);
    OK(cuGraphDestroy(g));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, embedded, nullptr, 0));
    CHECK(sim::live().graphs == 1);
}

TEST_CASE("event nodes record and wait across streams") {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const Driver driver({.workers = 2, .seed = seed});
        const CUdeviceptr p = driver.ints();
        const CUevent event = Driver::event();
        const CUgraph first = graph(), second = graph();
        const CUgraphNode step = add_step(first, {}, driver, p, 10, 1);
        CUgraphNode record = nullptr, wait = nullptr;
        OK(cuGraphAddEventRecordNode(&record, first, &step, 1, event));
        OK(cuGraphAddEventWaitNode(&wait, second, nullptr, 0, event));
        add_step(second, {wait}, driver, p, 10, 2);
        const CUgraphExec a = instantiate(first), b = instantiate(second);
        sim::hold();
        OK(cuGraphLaunch(a, Driver::stream()));
        IS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
        OK(cuGraphLaunch(b, Driver::stream()));
        sim::release();
        OK(cuCtxSynchronize());
        CHECK(Driver::value(p) == 12);
        OK(cuEventQuery(event));
    }
}

}  // namespace
