// Case 85 and its neighbours: counters near what queues can wait for, and timelines that start again while graphs live.
#include "support/kernels.hpp"
#include "support/stepped_device.hpp"
#include "support/ways.hpp"

#include <array>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;

/// Three ops on three queues of two devices.
struct Chain {
    Four a{}, b{}, c{};
    CpuList list;

    Chain() {
        CpuRecorder rec;
        const auto A = rec.buffer("a", a);
        const auto B = rec.buffer("b", b, gj::DeviceId{1});
        const auto C = rec.buffer("c", c, gj::DeviceId{1});
        rec.launch(inc<>, A);
        rec.copy(B, A);
        rec.on(gj::DeviceId{1});
        rec.launch(mix<>, C, B, 1);
        list = std::move(rec).finish().value();
    }
};

template <class Device>
void replay_from(std::uint64_t first_value) {
    CAPTURE(first_value);
    Chain chain;
    const Device device(2, first_value);
    std::size_t turn = 0;
    device.machine().choose = [&](std::size_t steps) { return turn++ % steps; };
    gj::HcqBackend<Device> backend(device);
    auto graph = gj::instantiate(for_backend(chain.list, backend)).value();
    auto other = gj::instantiate(for_backend(chain.list, backend)).value();
    int count = 0;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(replay_error(graph) == "");
        REQUIRE(replay_error(other) == "");
        count += 2;
        if (i % 3 != 0) continue;
        REQUIRE(graph.wait().ok());
        REQUIRE(other.wait().ok());
        CHECK(chain.c[0] == 3 * count + 1);
    }
    REQUIRE(other.wait().ok());
    CHECK(graph.poll());
    CHECK(chain.a[1] == 20);
    CHECK(chain.c[2] == 61);
    CHECK(device.machine().is_idle());
    CHECK(device.machine().faults.empty());
}

TEST_CASE("case 85: counters, kickoffs and timelines near the end of 32 and 64 bits") {
    for (const std::uint64_t edge : {std::uint64_t{1} << 31, std::uint64_t{1} << 32}) {
        for (std::uint64_t before = 0; before < 12; ++before) {
            if (edge - before - 1 > most32) continue;
            replay_from<Stepped32>(edge - before - 1);
            replay_from<Stepped<>>(edge - before - 1);
        }
    }
    for (std::uint64_t before = 0; before < 12; ++before) replay_from<Stepped<>>(most64 - before);
}

TEST_CASE("case 85: a queue that can wait for 16 bits only") {
    replay_from<SteppedDevice<gj::QueueOrder::kept, std::uint32_t, 0xffff>>(0xfff9);
    replay_from<SteppedDevice<gj::QueueOrder::not_kept, std::uint32_t, 8>>(0);
}

TEST_CASE("a graph with more ops on a queue than its counter can count is refused") {
    Four a{}, b{};
    CpuRecorder rec;
    const auto A = rec.buffer("a", a);
    for (int i = 0; i < 9; ++i) rec.launch(inc<>, A);
    rec.copy(rec.buffer("b", b), A);
    using Device = SteppedDevice<gj::QueueOrder::kept, std::uint8_t, 8>;
    const Device device(1);
    const gj::HcqBackend<Device> backend(device);
    CHECK(gj::instantiate(for_backend(std::move(rec).finish().value(), backend)).code() == gj::ErrorCode::unsupported);
    CHECK(device.machine().alive == 0);
}

/// Forgot that a place is handed back.
struct Placeless : Stepped<> {
    using Stepped<>::Stepped;
    [[nodiscard]] gj::Status wait(Stream&, const Signal&, Value*) const { return {}; }
};

TEST_CASE("a device that gives no place for the value of a wait is refused") {
    Chain chain;
    const Placeless device(2);
    const gj::HcqBackend<Placeless> backend(device);
    CHECK(lacks(gj::instantiate(for_backend(chain.list, backend)).status(), "no place for a value") == "");
}

TEST_CASE("case 85: threads whose signals start near the end of 32 bits") {
    for (std::uint32_t before = 0; before < 12; ++before) {
        CAPTURE(before);
        Chain chain;
        gj::ThreadDevices devices({.devices = 2, .first_value = most32 - before});
        const gj::ThreadBackend backend(devices);
        auto graph = gj::instantiate(for_backend(chain.list, backend)).value();
        auto other = gj::instantiate(for_backend(chain.list, backend)).value();
        for (int i = 0; i < 10; ++i) {
            REQUIRE(replay_error(graph) == "");
            REQUIRE(replay_error(other) == "");
            if (i % 4 == 3) REQUIRE(graph.wait().ok());
        }
        REQUIRE(other.wait().ok());
        CHECK(chain.a[3] == 20);
        CHECK(chain.c[0] == 61);
    }
}

TEST_CASE("a graph that waits for a timeline that has started again since does not wait for ever") {
    Chain chain;
    using Device = SteppedDevice<gj::QueueOrder::kept, std::uint32_t, 20>;
    const Device device(2, 15);
    gj::HcqBackend<Device> backend(device);
    auto idle = gj::instantiate(for_backend(chain.list, backend)).value();
    auto busy = gj::instantiate(for_backend(chain.list, backend)).value();
    REQUIRE(idle.replay().ok());
    for (int i = 0; i < 7; ++i) REQUIRE(busy.replay_and_wait().ok());
    CHECK(idle.poll());
    CHECK(idle.wait().ok());
    CHECK(chain.a[0] == 8);
}

}  // namespace
