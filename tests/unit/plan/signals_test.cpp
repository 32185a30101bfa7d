#include <graphjit/plan/signals.hpp>

#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <graphjit/plan/balanced.hpp>
#include <graphjit/plan/verify_signals.hpp>

#include <array>
#include <vector>

namespace {

using namespace test;

/// Kernels and copies over buffers of several devices, some of them overwritten.
CpuList random_list(std::uint64_t seed, unsigned ops, unsigned devices, std::vector<std::int32_t>& memory) {
    test::Random random(seed);
    CpuRecorder rec;
    memory.assign(std::size_t{24} * 4, 0);
    std::vector<gj::Buffer<std::int32_t>> buffers;
    for (unsigned i = 0; i < 24; ++i) {
        buffers.push_back(rec.buffer("b", memory.data() + i * 4, 4, static_cast<gj::DeviceId>(i % devices)));
    }
    for (unsigned i = 0; i < ops; ++i) {
        const unsigned to = random.below(24);
        const unsigned a = random.below(24);
        const unsigned b = random.below(24);
        rec.on(static_cast<gj::DeviceId>(to % devices));
        if (random.chance(30) && a != to) {
            (void)rec.copy(buffers[to], buffers[a]);
        } else {
            (void)rec.launch(add<>, buffers[to], buffers[a], buffers[b]);
        }
    }
    return std::move(rec).finish().value();
}

constexpr gj::QueueOrder orders[] = {gj::QueueOrder::kept, gj::QueueOrder::chains_two, gj::QueueOrder::not_kept};

TEST_CASE("signals: keep every order, and no wait could be left out, whatever a queue keeps by itself") {
    std::vector<std::int32_t> memory;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const CpuList list = random_list(seed, 4 + static_cast<unsigned>(seed % 26),
                                         1 + static_cast<unsigned>(seed % 6), memory);
        const gj::Dag dag = gj::Planner().plan(list).value();
        gj::SignalPlanner planner;
        for (const gj::QueueOrder order : orders) {
            CAPTURE(seed);
            gj::QueuePlan by_device = gj::ByDevice()(list, [](gj::DeviceId) { return true; }).value();
            const gj::SignalPlan plan = planner.plan(list, dag, by_device, order).value();
            CHECK(gj::SignalOracle(list, by_device, plan, order).verify().kind == gj::SignalVerdict::Kind::right);
            gj::QueuePlan balanced = gj::Balanced{.queues = 3, .hop_cost = 0.1f}(list, dag).value();
            const gj::SignalPlan spread = planner.plan(list, dag, balanced, order).value();
            CHECK(gj::SignalOracle(list, balanced, spread, order).verify().kind == gj::SignalVerdict::Kind::right);
        }
    }
}

TEST_CASE("signals: two producers on different queues are both waited for") {
    std::array<std::int32_t, 16> memory = {};
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory.data(), 4);
    const auto b = rec.buffer("b", memory.data() + 4, 4);
    const auto s = rec.buffer("s", memory.data() + 8, 4);
    const auto c = rec.buffer("c", memory.data() + 12, 4, gj::DeviceId{1});
    (void)rec.launch(fill<>, a, 1);
    (void)rec.copy(b, s);
    rec.on(gj::DeviceId{1});
    (void)rec.launch(add<>, c, a, b);
    const CpuList list = std::move(rec).finish().value();
    gj::QueuePlan queues = gj::ByDevice()(list, [](gj::DeviceId) { return true; }).value();
    const gj::SignalPlan plan =
        gj::SignalPlanner().plan(list, gj::Planner().plan(list).value(), queues, gj::QueueOrder::kept).value();
    CHECK(plan.waits(gj::OpIndex{2}).size() == 2);
    CHECK(plan.signals(gj::OpIndex{0}));
    CHECK(plan.signals(gj::OpIndex{1}));
    CHECK(plan.signals(gj::OpIndex{2}));  // device 0 goes on with later work only when its memory is left alone
}

TEST_CASE("queues: a copy goes to its source's copy queue, else its destination's, else it is a compute queue's") {
    std::array<std::int32_t, 8> memory = {};
    CpuRecorder rec;
    const auto near_one = rec.buffer("a", memory.data(), 4, gj::DeviceId{1});
    const auto near_two = rec.buffer("b", memory.data() + 4, 4, gj::DeviceId{2});
    (void)rec.copy(near_two, near_one);
    const CpuList list = std::move(rec).finish().value();
    const auto queue = [&](auto has_copy_queue) {
        const gj::QueuePlan plan = gj::ByDevice()(list, has_copy_queue).value();
        return plan.queue(plan.queue_of(gj::OpIndex{0}));
    };
    CHECK(queue([](gj::DeviceId) { return true; }).device == gj::DeviceId{1});
    CHECK(queue([](gj::DeviceId d) { return d == gj::DeviceId{2}; }).device == gj::DeviceId{2});
    CHECK(queue([](gj::DeviceId) { return false; }).kind == gj::QueueKind::compute);
}

TEST_CASE("queues: little work stays on one queue, independent work is spread") {
    std::vector<std::int32_t> memory(std::size_t{4} * 64);
    CpuRecorder rec;
    for (unsigned i = 0; i < 64; ++i) (void)rec.launch(fill<>, rec.buffer("b", memory.data() + i * 4, 4), 1);
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = gj::Planner().plan(list).value();
    CHECK(gj::Balanced{.queues = 2}(list, dag).value().queues().size() == 2);
    CHECK(gj::Balanced{.queues = 1}(list, dag).value().queues().size() == 1);
}

}  // namespace
