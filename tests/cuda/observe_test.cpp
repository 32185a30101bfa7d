// Profiles and traces of CUDA graphs, and the driver that is looked for at run time.
#include "cuda/machine.hpp"

#include <graphjit/observe/trace.hpp>

#include <string>

namespace {

using namespace test;

constexpr Int n = 4;

TEST_CASE("CUDA: a profile has each op once, after what it waits for") {
    CudaMachine machine;
    DeviceInts a(machine, n), b(machine, n), c(machine, n);
    gj::Recorder<gj::ProfiledCudaBackend> rec(machine.devices);
    const auto A = rec.buffer("a", a), B = rec.buffer("b", b), C = rec.buffer("c", c);
    const auto groups = rec.variable("groups", {.min = 0, .max = 1}, 1);
    rec.launch(machine.kernels.slow_fill, one_block, A, 5, n);
    rec.copy(B, A);
    rec.launch(machine.kernels.mix, {.groups = {groups}, .group_size = {32}}, C, A, 0, n);
    rec.launch(machine.kernels.add, one_block, A, B, C, n);
    auto graph = gj::instantiate(std::move(rec)).value();
    CHECK(gj::collect_profile(graph).code() == gj::ErrorCode::invalid_argument);  // never replayed
    for (const std::uint64_t replay : {1u, 2u, 3u}) {
        const std::int64_t size = replay == 2 ? 0 : 1;
        REQUIRE(graph.set(groups, size).replay().ok());
        REQUIRE(graph.wait().ok());
        const gj::Profile profile = gj::collect_profile(graph).value();
        CHECK(profile.replay() == replay);
        REQUIRE(profile.ops().size() == 4);
        std::int64_t ends[4] = {};
        for (unsigned i = 0; i < 4; ++i) {
            const gj::OpTime& op = profile.ops()[i];
            CHECK(to_integer(op.op) == i);
            CHECK(op.is_timed);
            CHECK(op.is_skipped == (i == 2 && size == 0));
            CHECK(op.start_ns <= op.end_ns);
            CHECK(op.bytes == (i == 1 ? n * sizeof(Int) : 0));
            ends[i] = op.end_ns;
            for (const gj::OpIndex before : graph.dag().dependencies(op.op)) {
                CHECK(ends[to_integer(before)] <= op.start_ns);
            }
        }
        std::string trace;
        gj::write_trace(graph, profile, [&](const char* text, std::size_t bytes) { trace.append(text, bytes); });
        CHECK(trace.find("slow_fill") != std::string::npos);
    }
    CHECK(a.are(20));
}

TEST_CASE("CUDA: a driver that is loaded at run time is the same driver") {
    CudaMachine machine;  // starts it
    auto devices = gj::BasicCudaDevices<gj::LoadedCuda>::primary().value();
    DeviceInts x(machine, n, 3);
    gj::Recorder<gj::BasicCudaBackend<gj::LoadedCuda>> rec(devices);
    const auto v = rec.slot<Int>("v");
    rec.fill(rec.buffer("x", x), v);
    auto graph = gj::instantiate(std::move(rec)).value();
    for (const Int value : {4, 5}) {
        REQUIRE(graph.set(v, value).replay().ok());
        REQUIRE(graph.wait().ok());
        CHECK(x.are(value));
    }
}

}  // namespace
