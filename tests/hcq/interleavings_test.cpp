// Graphs on a machine whose queues are stepped in every order, or in random ones: no order gives other values, none
// gets stuck, and no counter goes back.
#include "support/kernels.hpp"
#include "support/random_ops.hpp"
#include "support/stepped_device.hpp"

#include <array>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;

/// Runs `scenario(choose)` again and again, until every sequence of choices was made, or `most` of them.
template <class Scenario>
unsigned every_order(unsigned most, Scenario scenario) {
    struct Choice {
        std::size_t made = 0, of = 0;
    };
    std::vector<Choice> choices;
    unsigned runs = 0;
    do {
        std::size_t next = 0;
        scenario([&](std::size_t count) {
            if (next == choices.size()) choices.push_back({0, count});
            return choices[next++].made;
        });
        ++runs;
        while (!choices.empty() && choices.back().made + 1 == choices.back().of) choices.pop_back();
        if (!choices.empty()) ++choices.back().made;
    } while (!choices.empty() && runs < most);
    return runs;
}

template <class Device>
[[nodiscard]] auto graph_of(const gj::OpList& list, const Device& device, unsigned in_flight = 2) {
    return gj::instantiate(for_backend<gj::HcqBackend<Device>>(list, {device, {.in_flight = in_flight}})).value();
}

/// Replays in every order; `reset` sets memory, `right` says what it must be after two replays.
template <gj::QueueOrder Order, class Reset, class Right>
void in_every_order(const gj::OpList& list, unsigned devices, Reset reset, Right right) {
    unsigned wrong = 0, stuck = 0;
    const unsigned runs = every_order(20'000, [&](auto choose) {
        reset();
        const Stepped<Order> device(devices);
        device.machine().choose = choose;
        auto graph = graph_of(list, device);
        stuck += graph.replay().ok() && graph.replay().ok() && graph.wait().ok() ? 0u : 1u;
        stuck += device.machine().is_idle() ? 0u : 1u;
        wrong += right() && device.machine().faults.empty() ? 0u : 1u;
    });
    CHECK(runs > 1);
    CHECK(wrong == 0);
    CHECK(stuck == 0);
}
template <class Reset, class Right>
void in_every_order(const gj::OpList& list, unsigned devices, Reset reset, Right right) {
    in_every_order<gj::QueueOrder::kept>(list, devices, reset, right);
    in_every_order<gj::QueueOrder::chains_two>(list, devices, reset, right);
    in_every_order<gj::QueueOrder::not_kept>(list, devices, reset, right);
}

TEST_CASE("every order: a chain over two devices and a copy queue, two replays in flight") {
    Four a{}, b{}, c{};
    CpuRecorder rec;
    const auto A = rec.buffer("a", a);
    const auto B = rec.buffer("b", b, gj::DeviceId{1});
    const auto C = rec.buffer("c", c);
    rec.launch(inc<>, A);
    rec.copy(B, A);
    rec.on(gj::DeviceId{1});
    rec.launch(mix<>, C, B, 1);
    const CpuList list = std::move(rec).finish().value();
    in_every_order(list, 2, [&] { a = b = c = {}; }, [&] { return a[0] == 2 && b[3] == 2 && c[1] == 7; });
}

TEST_CASE("every order: a kernel that writes the memory of another device is over before that device goes on") {
    Four y{}, z{};
    CpuRecorder rec;
    const auto Y = rec.buffer("y", y, gj::DeviceId{1});
    rec.launch(inc<>, Y);
    const CpuList writer = std::move(rec).finish().value();
    CpuRecorder other;
    other.on(gj::DeviceId{1});
    const auto Y2 = other.buffer("y", y, gj::DeviceId{1});
    const auto Z = other.buffer("z", z, gj::DeviceId{1});
    other.launch(mix<>, Z, Y2, 0);
    const CpuList reader = std::move(other).finish().value();
    unsigned wrong = 0;
    const unsigned runs = every_order(20'000, [&](auto choose) {
        y = {6, 6, 6, 6};
        const Stepped<> device(2);
        device.machine().choose = choose;
        auto first = graph_of(writer, device);
        auto second = graph_of(reader, device);
        wrong += first.replay().ok() && second.replay().ok() && second.wait().ok() && z[2] == 21 ? 0u : 1u;
    });
    CHECK(runs > 1);
    CHECK(wrong == 0);
}

TEST_CASE("every order: the device whose memory a kernel of another device reads is waited for, in each replay") {
    Four y{}, c{};
    CpuRecorder rec;
    const auto Y = rec.buffer("y", y, gj::DeviceId{1});
    const auto C = rec.buffer("c", c);
    rec.launch(mix<>, C, Y, 0);
    const CpuList reader = std::move(rec).finish().value();
    CpuRecorder other;
    other.on(gj::DeviceId{1});
    const auto Y2 = other.buffer("y", y, gj::DeviceId{1});
    other.launch(inc<>, Y2);
    const CpuList writer = std::move(other).finish().value();
    unsigned wrong = 0;
    (void)every_order(20'000, [&](auto choose) {
        y = {};
        const Stepped<> device(2);
        device.machine().choose = choose;
        auto ext = graph_of(writer, device);
        auto graph = graph_of(reader, device);
        for (int k = 1; k <= 2; ++k) {
            wrong += ext.replay().ok() && graph.replay().ok() && graph.wait().ok() && c[0] == 3 * k ? 0u : 1u;
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("every order: work of a device that is no graph's comes before a graph and after it") {
    Four x{}, y{};
    CpuRecorder rec;
    rec.launch(mix<>, rec.buffer("y", y), rec.buffer("x", x), 0);
    const CpuList reader = std::move(rec).finish().value();
    CpuRecorder other;
    other.launch(inc<>, other.buffer("x", x));
    const CpuList writer = std::move(other).finish().value();
    unsigned wrong = 0;
    const unsigned runs = every_order(20'000, [&](auto choose) {
        x = {};
        Stepped<> device(1);
        device.machine().choose = choose;
        auto graph = graph_of(reader, device);
        for (int k = 1; k <= 2; ++k) {
            device.submit_other({}, writer);
            wrong += graph.replay().ok() ? 0u : 1u;
            device.submit_other({}, writer);
            wrong += graph.wait().ok() && y[1] == 6 * k - 3 ? 0u : 1u;
        }
    });
    CHECK(runs > 1);
    CHECK(wrong == 0);
}

TEST_CASE("a missing wait is found: the same machine with waits that always pass gives wrong values") {
    // The test of the tests above: the machine is good at finding what they look for.
    Four a{}, b{};
    CpuRecorder rec;
    const auto A = rec.buffer("a", a);
    const auto B = rec.buffer("b", b, gj::DeviceId{1});
    rec.launch(inc<>, A);
    rec.copy(B, A);
    const CpuList list = std::move(rec).finish().value();
    unsigned wrong = 0;
    (void)every_order(1000, [&](auto choose) {
        a = b = {};
        const Stepped<> device(2);
        device.machine().choose = choose;
        auto graph = graph_of(list, device);
        REQUIRE(graph.replay().ok());
        for (auto& queue : device.machine().queues) {
            for (auto& command : queue.commands) {
                if (command.kind == SteppedMachine::Command::wait) command.value = 0;
            }
        }
        device.machine().drain();
        wrong += b[0] == 1 ? 0u : 1u;
    });
    CHECK(wrong > 0);
}

/// Random programs in random orders, several replays in flight with other values each.
template <gj::QueueOrder Order>
void random_orders(unsigned count) {
    for (unsigned seed = 1; seed <= count; ++seed) {
        INFO("seed ", seed);
        const unsigned devices = 1 + seed % 6;
        const RandomProgram program({.seed = seed, .most_ops = 60, .devices = devices});
        World world = program.world();
        const RandomProgram::Recorded recorded = program.record(world);
        Random random(seed);
        const Stepped<Order> device(6);
        device.machine().choose = [&](std::size_t steps) { return random.below(static_cast<unsigned>(steps)); };
        device.machine().no_copy_queue = static_cast<std::uint32_t>(seed);
        device.machine().ring = seed % 3 == 0 ? 1 : 1000;
        {
            auto graph = graph_of(recorded.list, device, 1 + seed % 4);
            World expected = program.world();
            RandomProgram::Values values;
            for (int replay = 0; replay < 5; ++replay) {
                values = program.values(random, replay == 0 ? nullptr : &values);
                program.run(expected, values);
                program.set(graph, recorded, values, world);
                REQUIRE(replay_error(graph) == "");
            }
            REQUIRE(graph.wait().ok());
            if (!(world == expected)) FAIL_CHECK("other values than one after another");
            CHECK(device.machine().faults.empty());
        }
        CHECK(device.machine().alive == 0);
    }
}

TEST_CASE("random programs in random orders: queues that keep order") { random_orders<gj::QueueOrder::kept>(150); }
TEST_CASE("random programs in random orders: queues that chain two") { random_orders<gj::QueueOrder::chains_two>(150); }
TEST_CASE("random programs in random orders: queues that keep none") { random_orders<gj::QueueOrder::not_kept>(150); }

}  // namespace
