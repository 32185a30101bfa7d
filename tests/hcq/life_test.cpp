// The life of a graph on queues: what is in flight, what fails half-way, what is left behind.
#include "support/kernels.hpp"
#include "support/stepped_device.hpp"
#include "support/ways.hpp"

#include <array>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;
using Backend = gj::HcqBackend<Stepped<>>;

/// `mix(out, in; k)` on a device, then a copy of it to another one.
struct Program {
    std::array<std::int32_t, 8> out{}, far{};
    Four in{1, 1, 1, 1}, other{5, 5, 5, 5};
    gj::Input<const std::int32_t> source;
    gj::Slot<std::int32_t> k;
    gj::Variable at;
    CpuList list;

    Program() {
        CpuRecorder rec;
        source = rec.input<const std::int32_t>("source", 4, gj::DeviceId{1});
        k = rec.slot<std::int32_t>("k", 0);
        at = rec.variable("at", {.min = 0, .max = 1}, 0);
        const auto result = rec.buffer("out", out);
        const auto copied = rec.buffer("far", far, gj::DeviceId{1});
        rec.launch("mixed", mix<>, result.slice(at * 4, 4), source, k);
        rec.copy("moved", copied.slice(at * 4, 4), result.slice(at * 4, 4));
        list = std::move(rec).finish().value();
    }
    template <class Device>
    [[nodiscard]] auto graph(const Device& device, unsigned in_flight = 2) const {
        return gj::instantiate(for_backend<gj::HcqBackend<Device>>(list, {device, {.in_flight = in_flight}}));
    }
};

TEST_CASE("case 50: each replay in flight has the arguments it was given") {
    for (unsigned in_flight = 1; in_flight <= 8; ++in_flight) {
        CAPTURE(in_flight);
        Four x[12] = {};
        CpuRecorder rec;
        const auto in0 = rec.input<std::int32_t>("in0", 4);
        const auto v0 = rec.slot<std::int32_t>("v0");
        rec.launch(fill<>, in0, v0);
        const CpuList list = std::move(rec).finish().value();
        const Stepped<> device(1);
        auto graph = gj::instantiate(for_backend<Backend>(list, {device, {.in_flight = in_flight}})).value();
        for (int i = 0; i < 12; ++i) REQUIRE(replay_error(graph.set(in0, x[i]).set(v0, i + 1)) == "");
        // Nothing was stepped but where the host had to wait for room.
        unsigned over = 0;
        for (const Four& one : x) over += one[0] != 0 ? 1u : 0u;
        CHECK(over == 12 - in_flight);
        REQUIRE(graph.wait().ok());
        for (int i = 0; i < 12; ++i) CHECK(x[i] == Four{i + 1, i + 1, i + 1, i + 1});
    }
}

TEST_CASE("a change reaches every image, whichever replay it was made for") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device, 3).value();
    graph.set(p.source, p.in);
    // Changes are rarer than images, so each image must catch up with what was changed for others.
    std::int32_t k = 0;
    for (int i = 0; i < 40; ++i) {
        CAPTURE(i);
        if (i % 5 == 0) graph.set(p.k, k = i);
        if (i % 7 == 0) graph.set(p.source, i % 2 == 0 ? p.in : p.other);
        if (i % 4 == 0) graph.set(p.at, i / 4 % 2);
        const std::int32_t source = i / 7 % 2 == 0 ? 1 : 5;
        const std::size_t place = i / 4 % 2 == 0 ? 0 : 4;
        poison_all(p.out, p.far);
        REQUIRE(replay_error(graph) == "");
        REQUIRE(graph.wait().ok());
        CHECK(p.out[place] == 3 * source + k);
        CHECK(p.far[place + 3] == 3 * source + k);
        CHECK(p.out[4 - place] == poison);
        CHECK(p.far[7 - place] == poison);
    }
}

TEST_CASE("a replay without changes patches nothing once all images are alike") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device, 2).value();
    graph.set(p.source, p.in).set(p.k, 3);
    REQUIRE(graph.replay().ok());
    REQUIRE(graph.replay().ok());
    const gj::ReplayCounters before = graph.counters();
    for (int i = 0; i < 5; ++i) REQUIRE(graph.replay().ok());
    CHECK(graph.counters().patches == before.patches);
    CHECK(graph.counters().native_updates == before.native_updates);
    graph.set(p.k, 4);
    for (int i = 0; i < 5; ++i) REQUIRE(graph.replay().ok());
    CHECK(graph.counters().patches == before.patches + 2);            // once an image
    CHECK(graph.counters().native_updates == before.native_updates);  // the device reads it from memory
    graph.set(p.at, 1);
    for (int i = 0; i < 5; ++i) REQUIRE(graph.replay().ok());
    CHECK(graph.counters().patches == before.patches + 2 + 6);
    CHECK(graph.counters().native_updates == before.native_updates + 2);  // of the copy, once an image
}

TEST_CASE("a replay that is refused changes nothing, and submits nothing") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device).value();
    graph.set(p.source, p.in).set(p.k, 1);
    REQUIRE(graph.replay().ok());
    const std::uint64_t submitted = device.machine().submitted;
    graph.set(p.at, 2).set(p.k, 2);
    CHECK(lacks(graph.replay(), "op 0 'mixed', slot 'at'") == "");
    CHECK(device.machine().submitted == submitted);
    graph.set(p.at, 0);
    REQUIRE(graph.replay().ok());
    REQUIRE(graph.wait().ok());
    CHECK(p.far[0] == 5);
}

TEST_CASE("case 58: any call that fails while building leaves nothing behind, and the next build works") {
    Program p;
    unsigned fail_at = 0;
    for (bool failed = true; failed;) {
        ++fail_at;
        CAPTURE(fail_at);
        const Stepped<> device(2);
        device.machine().fail_at = fail_at;
        {
            auto graph = p.graph(device);
            failed = !graph.ok();
            if (failed) {
                CHECK(graph.code() == gj::ErrorCode::backend_failure);
                CHECK(graph.error().native == 719);
            }
        }
        CHECK(device.machine().alive == 0);
        device.machine().fail_at = 0;
        auto good = p.graph(device).value();
        REQUIRE(replay_error(good.set(p.source, p.in).set(p.k, 2)) == "");
        REQUIRE(good.wait().ok());
        CHECK(p.far[1] == 5);
    }
    CHECK(fail_at > 30);
}

TEST_CASE("any call that fails in a replay is an error before anything is submitted, and the next replay works") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device).value();
    graph.set(p.source, p.in);
    REQUIRE(graph.replay_and_wait().ok());
    unsigned failures = 0;
    for (unsigned k = 1; k <= 12; ++k) {
        for (const bool waits : {false, true}) {
            CAPTURE(k);
            const std::uint64_t submitted = device.machine().submitted;
            device.machine().fail_at = device.machine().calls + k;
            graph.set(p.source, k % 2 == 0 ? p.in : p.other).set(p.k, static_cast<std::int32_t>(k));
            const gj::Status status = waits ? graph.replay_and_wait() : graph.replay();
            if (!status.ok()) {
                ++failures;
                CHECK(status.code() == gj::ErrorCode::backend_failure);
                const std::uint64_t more = device.machine().submitted - submitted;
                const bool all_or_nothing = more == 0 || (waits && more == 3);
                CHECK(all_or_nothing);
            }
            device.machine().fail_at = 0;
            REQUIRE(replay_error(graph) == "");
            REQUIRE(graph.wait().ok());
            CHECK(p.far[0] == 3 * (k % 2 == 0 ? 1 : 5) + static_cast<std::int32_t>(k));
            CHECK(device.machine().is_idle());
        }
    }
    CHECK(failures >= 6);
}

TEST_CASE("a device that stops is an error of wait and of replay, not a hang") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device).value();
    graph.set(p.source, p.in);
    REQUIRE(graph.replay().ok());
    device.machine().is_dead = true;
    CHECK(graph.wait().code() == gj::ErrorCode::backend_failure);
    CHECK(!graph.poll());
    (void)graph.replay();
    CHECK(graph.wait().code() == gj::ErrorCode::backend_failure);
}

TEST_CASE("case 56: destroying a graph waits for what it submitted a moment ago") {
    Program p;
    const Stepped<> device(2);
    {
        auto graph = p.graph(device).value();
        REQUIRE(graph.set(p.source, p.in).set(p.k, 4).replay().ok());
        REQUIRE(graph.set(p.k, 5).replay().ok());
        CHECK(p.far[0] == 0);
    }
    CHECK(p.far[0] == 8);
    CHECK(device.machine().is_idle());
    CHECK(device.machine().alive == 0);
}

TEST_CASE("a graph that is moved while it runs waits where it is now") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device).value();
    REQUIRE(graph.set(p.source, p.in).set(p.k, 4).replay().ok());
    auto moved = std::move(graph);
    REQUIRE(moved.set(p.k, 5).replay().ok());
    {
        auto other = p.graph(device).value();
        REQUIRE(other.set(p.source, p.other).replay().ok());
        moved = std::move(other);  // waits for its own two replays
        CHECK(p.far[0] == 8);
    }
    REQUIRE(moved.wait().ok());
    CHECK(p.far[0] == 15);
    CHECK(device.machine().is_idle());
}

TEST_CASE("an empty graph, and one of ops that touch nothing, replay and are over") {
    CpuRecorder nothing;
    const CpuList empty = std::move(nothing).finish().value();
    const Stepped<> device(1);
    auto graph = gj::instantiate(for_backend<Backend>(empty, device)).value();
    CHECK(graph.poll());
    CHECK(graph.replay_and_wait().ok());
    CHECK(graph.poll());
    CHECK(device.machine().submitted == 0);
}

TEST_CASE("the number of replays in flight is 1 to 8") {
    Program p;
    const Stepped<> device(2);
    for (const unsigned in_flight : {0u, 9u}) {
        CHECK(p.graph(device, in_flight).code() == gj::ErrorCode::invalid_argument);
    }
    CHECK(device.machine().alive == 0);
}

TEST_CASE("case 33: memory of another device is mapped before it is used, each time it is new") {
    Program p;
    const Stepped<> device(3);
    auto graph = p.graph(device).value();
    // The copy of device 0 writes to device 1; the input is read by device 0.
    CHECK(device.machine().maps == std::vector<std::string>{"device 0 maps 32 of 1"});
    graph.set(p.source, p.in.data(), 4, gj::DeviceId{1});
    REQUIRE(graph.replay().ok());
    CHECK(device.machine().maps.size() == 2);
    CHECK(device.machine().maps.back() == "device 0 maps 16 of 1");
    REQUIRE(graph.replay().ok());
    CHECK(device.machine().maps.size() == 2);
    graph.set(p.source, p.other.data(), 4, gj::DeviceId{1});
    REQUIRE(graph.replay().ok());
    CHECK(device.machine().maps.size() == 3);
    // On another device than it was recorded for: the waits of the graph would not be the right ones.
    graph.set(p.source, p.in.data(), 4, gj::DeviceId{2});
    const std::uint64_t submitted = device.machine().submitted;
    CHECK(graph.replay().code() == gj::ErrorCode::wrong_device);
    // A mapping that fails names the slot, and nothing was submitted.
    graph.set(p.source, p.in.data(), 4, gj::DeviceId{1});
    device.machine().fail_at = device.machine().calls + 1;
    const gj::Status status = graph.replay();
    CHECK(lacks(status, "slot 'source'") == "");
    CHECK(lacks(status, "map (719)") == "");
    CHECK(device.machine().submitted == submitted);
    REQUIRE(graph.replay_and_wait().ok());
    CHECK(p.far[0] == 3);
}

TEST_CASE("with profiling off no stamp is encoded, with it on there are two an op") {
    Program p;
    const auto stamps = [&](auto backend) {
        auto graph = gj::instantiate(for_backend(p.list, backend)).value();
        REQUIRE(graph.set(p.source, p.in).replay().ok());
        unsigned count = 0;
        for (const auto& queue : backend.device().machine().queues) {
            for (const auto& command : queue.commands) {
                count += command.kind == SteppedMachine::Command::stamp ? 1u : 0u;
            }
        }
        return count;
    };
    CHECK(stamps(Backend(Stepped<>(2))) == 0);
    CHECK(stamps(gj::HcqBackend<Stepped<>, gj::Profiling::on>(Stepped<>(2))) == 4);
}

TEST_CASE("case 77: work given to a device directly does not change where a graph runs") {
    Program p;
    const Stepped<> device(2);
    auto graph = p.graph(device).value();
    auto eager = gj::EagerRunner<Backend>::create(for_backend<Backend>(p.list, device)).value();
    REQUIRE(graph.set(p.source, p.in).set(p.k, 1).replay().ok());
    REQUIRE(eager.set(p.source, p.other).set(p.k, 2).replay().ok());  // after the graph
    CHECK(p.far[0] == 17);
    REQUIRE(graph.replay_and_wait().ok());
    CHECK(p.far[0] == 4);
}

}  // namespace
