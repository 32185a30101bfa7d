// Random programs on real threads and 1 to 6 devices, replays in flight with other values each.
//
// GRAPHJIT_RANDOM_GRAPHS sets how many.
#include "support/random_ops.hpp"

#include <cstdlib>

namespace {

using namespace test;

[[nodiscard]] unsigned graph_count() {
    const char* given = std::getenv("GRAPHJIT_RANDOM_GRAPHS");
    return given == nullptr ? 2000 : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

void run_random_graphs(const gj::ThreadBackend& backend, unsigned first_seed, unsigned count) {
    for (unsigned seed = first_seed; seed < first_seed + count; ++seed) {
        INFO("seed ", seed);
        const RandomProgram program({.seed = seed, .most_ops = 500, .devices = 1 + seed % 6});
        World world = program.world();
        const RandomProgram::Recorded recorded = program.record(world);
        ThreadGraph graph = gj::instantiate(for_backend(recorded.list, backend)).value();
        World expected = program.world();
        Random random(seed);
        RandomProgram::Values values;
        for (int replay = 0; replay < 5; ++replay) {
            values = program.values(random, replay == 0 ? nullptr : &values);
            program.run(expected, values);
            program.set(graph, recorded, values, world);
            const gj::Status status = seed % 2 == 0 && replay == 3 ? graph.replay_and_wait() : graph.replay();
            if (!status.ok()) FAIL_CHECK(status.message().c_str());
        }
        REQUIRE(graph.wait().ok());
        if (!(world == expected)) FAIL_CHECK("other values than one after another");
    }
}

TEST_CASE("random graphs on threads: by device, two replays in flight") {
    gj::ThreadDevices devices({.devices = 6});
    run_random_graphs(devices, 1, graph_count() / 2);
}

TEST_CASE("random graphs on threads: without copy queues, four replays in flight") {
    gj::ThreadDevices devices({.devices = 6, .copy_queues = false, .turns = 0});
    run_random_graphs({devices, {.in_flight = 4}}, 10'001, graph_count() / 4);
}

TEST_CASE("random graphs on threads: three queues a device") {
    gj::ThreadDevices devices({.devices = 6, .compute_queues = 3, .hop_ns = 1.0f, .wake_ns = 0.0f});
    run_random_graphs(devices, 20'001, graph_count() / 4);
}

}  // namespace
