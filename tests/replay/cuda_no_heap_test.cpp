// What a replay of a CUDA graph may cost the host: nothing from the heap, and no lock.
#include "support/alloc_guard.hpp"
#include "support/yes_cuda.hpp"

#include <graphjit/run/multi_graph_runner.hpp>

#include <doctest/doctest.h>

#include <array>

namespace {

using namespace test;
using Int = std::int32_t;
using Backend = gj::BasicCudaBackend<YesCuda>;

template <class... P>
[[nodiscard]] gj::CudaKernel<P...> kernel(const gj::BasicCudaModule<YesCuda>& module) {
    static constexpr gj::ArgumentInfo pointer[] = {{0, sizeof(void*), gj::ArgumentRole::value}};
    static constexpr gj::KernelInfo by_pointer{"", 0, 8, 8, gj::KernelInfo::no_dims, 1, pointer};
    YesCuda::asked = gj::CudaKernel<P...>::is_via_block ? &by_pointer : &gj::CudaKernel<P...>::info;
    return module.kernel<P...>("kernel").value();
}

TEST_CASE("CUDA: a replay takes nothing from the heap and no lock, whatever changes") {
    const auto devices = gj::BasicCudaDevices<YesCuda>::primary(2).value();
    const auto module = gj::BasicCudaModule<YesCuda>::load(devices, "").value();
    const auto by_node = kernel<gj::Out<Int>, gj::In<Int>, Int>(module);
    const auto by_block = kernel<gj::Out<Int>, gj::In<Int>, Int, gj::via_block>(module);
    std::array<Int, 16> own{}, first{}, second{};
    gj::Recorder<Backend> rec(devices);
    const auto in = rec.input<const Int>("in", 16);
    const auto k = rec.slot<Int>("k", 1);
    const auto groups = rec.variable("groups", {.min = 0, .max = 3}, 1);
    const auto size = rec.variable("size", {.min = 0, .max = 4}, 1);
    const auto memory = rec.buffer("own", own);
    const gj::LaunchExprs dims{.groups = {groups}, .group_size = {32}};
    rec.launch(by_node, dims, memory.slice(0, 4), in.slice(0, 4), k);
    rec.on(gj::DeviceId{1});
    rec.launch(by_block, dims, memory.slice(4, 4), in.slice(0, 4), k);
    rec.copy(memory.slice(8, size), in.slice(4, size));
    rec.fill(memory.slice(12, 4), k);
    rec.host_call(gj::kernel<[](Int) {}>, k);
    auto graph = gj::instantiate(std::move(rec)).value();
    const AllocGuard guard;
    for (int i = 0; i < 200; ++i) {
        if (i % 3 != 2) graph.set(in, i % 2 == 0 ? first : second).set(k, i).set(groups, i % 4).set(size, i % 5);
        const bool done = graph.replay().ok() && (i % 7 != 0 || (graph.wait().ok() && graph.poll()));
        if (!done) FAIL_CHECK("a replay was refused");
    }
    CHECK(guard.allocations() == 0);
    CHECK(guard.locks() == 0);
    CHECK(graph.counters().native_updates > 500);
}

}  // namespace
