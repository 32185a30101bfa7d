#include <graphjit/plan/one_queue.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random_devices.hpp"
#include "support/signal_plans.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace test;

[[nodiscard]] std::vector<unsigned> order_of(const gj::QueuePlan& plan) {
    std::vector<unsigned> order;
    for (const gj::OpIndex op : plan.order()) order.push_back(to_integer(op));
    return order;
}
/// The queues and the order that a policy gives a list.
[[nodiscard]] std::string plan_text(const gj::OneQueue& policy, const CpuList& list) {
    gj::QueuePlan plan = policy(list, plan_of(list)).value();
    const std::string order = text(order_of(plan));
    return Signalled(list, std::move(plan), gj::QueueOrder::kept).all_queues() + " | " + order;
}

/// Ops in memory of their own, of two kernels in turn; `chains`: op i reads what op i - 2 wrote.
[[nodiscard]] CpuList in_turn(std::vector<std::int32_t>& memory, unsigned ops, bool chains, unsigned devices = 1) {
    memory.assign(4 * ops, 0);
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> buffers;
    for (unsigned i = 0; i < ops; ++i) {
        const auto device = static_cast<gj::DeviceId>(i / 2 % devices);
        buffers.push_back(rec.buffer("b", memory.data() + 4 * i, 4, device));
        rec.on(device);
        const auto& before = buffers[chains && i >= 2 ? i - 2 : i];
        if (i % 2 == 0) {
            rec.launch(fill<>, buffers.back(), 1, gj::reads(before));
        } else {
            rec.launch(inc<>, buffers.back(), gj::reads(before));
        }
    }
    return std::move(rec).finish().value();
}

TEST_CASE("OneQueue: without a window, the order is the recording's") {
    std::vector<std::int32_t> memory;
    CHECK(plan_text({}, in_turn(memory, 4, false)) == "C0 C0 C0 C0 | 0 1 2 3");
    CHECK(plan_text({}, in_turn(memory, 4, false, 2)) == "C0 C0 C1 C1 | 0 1 2 3");
}

TEST_CASE("OneQueue: with a window, ops of a kernel run one after another") {
    std::vector<std::int32_t> memory;
    CHECK(plan_text({.window = 256}, in_turn(memory, 6, false)) == "C0 C0 C0 C0 C0 C0 | 0 2 4 1 3 5");
    CHECK(plan_text({.window = 256}, in_turn(memory, 6, true)) == "C0 C0 C0 C0 C0 C0 | 0 2 4 1 3 5");
    CHECK(plan_text({.window = 1}, in_turn(memory, 6, false)) == "C0 C0 C0 C0 C0 C0 | 0 1 2 3 4 5");
    CHECK(plan_text({.window = 4}, in_turn(memory, 8, false)) == "C0 C0 C0 C0 C0 C0 C0 C0 | 0 2 1 3 4 6 5 7");
    CHECK(plan_text({.window = 256}, in_turn(memory, 6, false, 2)) == "C0 C0 C1 C1 C0 C0 | 0 4 1 5 2 3");
}

TEST_CASE("OneQueue: an op that may not run yet does not hold up those of its kernel behind it") {
    std::vector<std::int32_t> memory(16);
    CpuRecorder rec;
    const auto b = rec.buffer("b", memory.data(), 16);
    rec.launch(fill<>, b.slice(0, 4), 1);                            // 0
    rec.launch(inc<>, b.slice(4, 4));                                // 1
    rec.launch(fill<>, b.slice(8, 4), 1, gj::reads(b.slice(4, 4)));  // 2 waits for 1
    rec.launch(fill<>, b.slice(12, 4), 1);                           // 3
    CHECK(plan_text({.window = 16}, std::move(rec).finish().value()) == "C0 C0 C0 C0 | 0 3 1 2");
}

TEST_CASE("OneQueue: copies and fills are kernels of their own, on each device") {
    std::vector<std::int32_t> memory(16);
    CpuRecorder rec;
    const auto b = rec.buffer("b", memory.data(), 16);
    rec.fill(b.slice(0, 2), 1);               // 0
    rec.copy(b.slice(2, 2), b.slice(4, 2));   // 1
    rec.fill(b.slice(6, 2), 1);               // 2
    rec.copy(b.slice(8, 2), b.slice(10, 2));  // 3
    CHECK(plan_text({.window = 16}, std::move(rec).finish().value()) == "C0 C0 C0 C0 | 0 2 1 3");
}

TEST_CASE("OneQueue: every op is put in once, behind all that it depends on, and not much earlier than recorded") {
    std::vector<std::int32_t> memory;
    for (unsigned seed = 0; seed < 60; ++seed) {
        INFO("seed ", seed);
        const CpuList list = RandomDevices(seed, 2 + 3 * seed, 1 + seed % 3).record(memory);
        const gj::Dag dag = plan_of(list);
        const unsigned window = 1 + seed % 20;
        const std::vector<unsigned> order = order_of(gj::OneQueue{.window = window}(list, dag).value());
        REQUIRE(order.size() == list.size());
        std::vector<bool> put(list.size(), false);
        for (const unsigned op : order) {
            CHECK(!put[op]);
            for (const gj::OpIndex before : dag.dependencies(static_cast<gj::OpIndex>(op)))
                CHECK(put[to_integer(before)]);
            const auto first = static_cast<unsigned>(std::find(put.begin(), put.end(), false) - put.begin());
            CHECK(op - first < window);
            put[op] = true;
        }
    }
}

TEST_CASE("OneQueue: where memory runs out, whenever, it says so") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(1, 40, 3).record(memory);
    const gj::Dag dag = plan_of(list);
    CHECK(allocations_needed([&] {
              const gj::Result<gj::QueuePlan> plan = gj::OneQueue{.window = 8}(list, dag);
              CHECK((plan.ok() || plan.code() == gj::ErrorCode::out_of_memory));
              return plan.ok();
          }) > 7);
}

}  // namespace
