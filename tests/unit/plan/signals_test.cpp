#include <graphjit/plan/signals.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random_devices.hpp"
#include "support/signal_plans.hpp"

#include <graphjit/plan/balanced.hpp>

#include <array>

namespace {

using namespace test;

TEST_CASE("signals: keep every order, and no wait could be left out, whatever a queue keeps by itself") {
    std::vector<std::int32_t> memory;
    for (unsigned seed = 0; seed < 60; ++seed) {
        INFO("seed ", seed);
        const CpuList list = RandomDevices(seed, 4 + seed % 26, 1 + seed % 6).record(memory);
        for (const gj::QueueOrder order : queue_orders) {
            CHECK(Signalled(list, order).verdict() == "right");
            gj::QueuePlan queues = gj::Balanced{.queues = 3, .hop_cost = 0.1f}(list, plan_of(list)).value();
            CHECK(Signalled(list, std::move(queues), order).verdict() == "right");
        }
    }
}

/// Four kernels on one queue, of which each needs the one before but the last, which needs nothing.
CpuList four_in_a_row(std::array<std::int32_t, 8>& memory) {
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory.data(), 4);
    rec.launch(inc<>, a);
    rec.launch(inc<>, a);
    rec.launch(inc<>, a);
    rec.launch(inc<>, rec.buffer("b", memory.data() + 4, 4));
    return std::move(rec).finish().value();
}

TEST_CASE("signals: on one queue nothing waits but where the queue keeps no order, and there everything does") {
    std::array<std::int32_t, 8> memory = {};
    const CpuList list = four_in_a_row(memory);
    for (const gj::QueueOrder order : {gj::QueueOrder::kept, gj::QueueOrder::chains_two}) {
        const Signalled signalled(list, order);
        for (unsigned i = 0; i < 4; ++i) CHECK(signalled.waits(i) == "");
        CHECK(signalled.final_waits(0) == "");
        CHECK(signalled.signals() == "");
    }
    const Signalled signalled(list, gj::QueueOrder::not_kept);
    CHECK(signalled.waits(0) == "");
    CHECK(signalled.waits(1) == "C0:1");
    CHECK(signalled.waits(2) == "C0:2");
    CHECK(signalled.waits(3) == "C0:3");  // or its counter could be at 4 before it was at 3
    CHECK(signalled.final_waits(0) == "C0:4");
    CHECK(signalled.signals() == "0 1 2 3");
    for (unsigned i = 0; i < 4; ++i) {
        CHECK(signalled.plan().position(op(i)) == i + 1);
        CHECK(signalled.ready_waits(i) == "");
    }
}

TEST_CASE("signals: a queue that chains two does so only for an op that waits for nothing else") {
    std::array<std::int32_t, 16> memory = {};
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory.data(), 4);
    const auto b = rec.buffer("b", memory.data() + 4, 4);
    const auto c = rec.buffer("c", memory.data() + 8, 4, gj::DeviceId{1});
    rec.launch(fill<>, a, 1);
    rec.on(gj::DeviceId{1});
    rec.launch(fill<>, c, 1);
    rec.on(gj::DeviceId{0});
    rec.launch(add<>, b, a, c);  // waits for device 1, and so for the one before as well
    rec.launch(inc<>, b);
    const CpuList list = std::move(rec).finish().value();
    const Signalled signalled(list, gj::QueueOrder::chains_two);
    CHECK(signalled.waits(2) == "C1:1 C0:1");
    CHECK(signalled.waits(3) == "");
    CHECK(signalled.verdict() == "right");
    CHECK(Signalled(list, gj::QueueOrder::kept).waits(2) == "C1:1");
}

TEST_CASE("signals: two producers on different queues are both waited for") {
    std::array<std::int32_t, 16> memory = {};
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory.data(), 4);
    const auto b = rec.buffer("b", memory.data() + 4, 4);
    const auto s = rec.buffer("s", memory.data() + 8, 4);
    const auto c = rec.buffer("c", memory.data() + 12, 4, gj::DeviceId{1});
    rec.launch(fill<>, a, 1);
    rec.copy(b, s);
    rec.on(gj::DeviceId{1});
    rec.launch(add<>, c, a, b);
    const CpuList list = std::move(rec).finish().value();
    const Signalled signalled(list, gj::QueueOrder::kept);
    CHECK(signalled.waits(2) == "C0:1 X0:1");
    CHECK(signalled.signals() == "0 1 2");  // device 0 goes on with later work only when its memory is left alone
    CHECK(signalled.final_waits(0) == "C1:1");
}

TEST_CASE("signals: what another op was known to wait for is not waited for again") {
    std::array<std::int32_t, 16> memory = {};
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory.data(), 4);
    const auto b = rec.buffer("b", memory.data() + 4, 4, gj::DeviceId{1});
    const auto c = rec.buffer("c", memory.data() + 8, 4, gj::DeviceId{2});
    const auto d = rec.buffer("d", memory.data() + 12, 4, gj::DeviceId{2});
    rec.launch(fill<>, a, 1);
    rec.launch(fill<>, rec.buffer("e", memory.data(), 2), 1);
    rec.on(gj::DeviceId{1});
    rec.launch(slow<>, b, a);
    rec.on(gj::DeviceId{2});
    rec.launch(slow<>, c, b);
    rec.launch(slow<>, d, a);  // its queue knows by way of device 1
    const CpuList list = std::move(rec).finish().value();
    const Signalled signalled(list, gj::QueueOrder::kept);
    CHECK(signalled.waits(2) == "C0:2");
    CHECK(signalled.waits(3) == "C1:1");
    CHECK(signalled.waits(4) == "");
    CHECK(signalled.ready_waits(4) == "");
    CHECK(signalled.verdict() == "right");
}

TEST_CASE("signals: a device of which only the memory is used gets a queue for its timeline") {
    std::array<std::int32_t, 4> memory = {};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("a", memory, gj::DeviceId{5}));
    const CpuList list = std::move(rec).finish().value();
    const Signalled signalled(list, gj::QueueOrder::kept);
    REQUIRE(signalled.plan().devices().size() == 2);
    CHECK(signalled.plan().devices()[1] == gj::DeviceId{5});
    CHECK(signalled.queue(signalled.plan().timeline_queue(1)) == "C5");
    CHECK(signalled.ready_waits(0) == "5");
    CHECK(signalled.final_waits(5) == "C0:1");
    CHECK(signalled.final_waits(0) == "");
}

TEST_CASE("signals: no ops, no devices") {
    const CpuList list;
    for (const gj::QueueOrder order : queue_orders) {
        const Signalled signalled(list, order);
        CHECK(signalled.plan().devices().empty());
        CHECK(signalled.verdict() == "right");
    }
}

TEST_CASE("signals: where memory runs out, whenever, it is said, and the next plan is right") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(3, 40, 4).record(memory);
    const gj::Dag dag = plan_of(list);
    CHECK(allocations_needed([&] {
              gj::Result<gj::QueuePlan> queues = gj::ByDevice()(list, [](gj::DeviceId) { return true; });
              if (!queues) return false;
              const gj::Result<gj::SignalPlan> plan = gj::SignalPlanner().plan(list, dag, *queues,
                                                                               gj::QueueOrder::not_kept);
              CHECK((plan.ok() || plan.code() == gj::ErrorCode::out_of_memory));
              return plan.ok();
          }) > 10);

    gj::SignalPlanner kept;
    gj::QueuePlan queues = queues_by_device(list);
    for (std::size_t allowed = 0; allowed < 20; ++allowed) {
        const FailingAllocations failing(allowed);
        (void)kept.plan(list, dag, queues, gj::QueueOrder::not_kept);
    }
    const Signalled after(list, std::move(queues), gj::QueueOrder::not_kept, kept);
    CHECK(after.verdict() == "right");
    CHECK(after.text() == Signalled(list, gj::QueueOrder::not_kept).text());
}

}  // namespace
