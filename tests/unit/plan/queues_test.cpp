#include <graphjit/plan/queues.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random_devices.hpp"
#include "support/ways.hpp"

#include <array>

namespace {

using namespace test;

constexpr auto everywhere = [](gj::DeviceId) { return true; };

TEST_CASE("QueuePlan: a queue is made when it is first asked for, and found again") {
    gj::QueuePlan plan;
    gj::QueueIndex first = gj::QueueIndex::none, second = gj::QueueIndex::none, again = gj::QueueIndex::none;
    REQUIRE(plan.find_or_add(gj::DeviceId{3}, gj::QueueKind::compute, 0, first));
    REQUIRE(plan.find_or_add(gj::DeviceId{3}, gj::QueueKind::copy, 0, second));
    CHECK(first != second);
    REQUIRE(plan.find_or_add(gj::DeviceId{3}, gj::QueueKind::compute, 1, again));
    CHECK(again != first);
    REQUIRE(plan.find_or_add(gj::DeviceId{4}, gj::QueueKind::compute, 0, again));
    CHECK(plan.queues().size() == 4);
    CHECK(plan.queue(again).device == gj::DeviceId{4});
    REQUIRE(plan.find_or_add(gj::DeviceId{3}, gj::QueueKind::compute, 0, again));
    CHECK(again == first);
    REQUIRE(plan.find_or_add(gj::DeviceId{3}, gj::QueueKind::copy, 0, again));
    CHECK(again == second);
    CHECK(plan.queues().size() == 4);
}

TEST_CASE("ByDevice: a copy goes to its source's copy queue, else its destination's, else it is a compute queue's") {
    std::array<std::int32_t, 8> memory = {};
    CpuRecorder rec;
    const auto source = rec.buffer("a", memory.data(), 4, gj::DeviceId{1});
    const auto destination = rec.buffer("b", memory.data() + 4, 4, gj::DeviceId{2});
    rec.copy(destination, source);
    const CpuList list = std::move(rec).finish().value();
    const auto queue = [&](auto has_copy_queue) {
        const gj::QueuePlan plan = gj::ByDevice()(list, has_copy_queue).value();
        CHECK(plan.queues().size() == 1);
        return plan.queue(plan.queue_of(op(0)));
    };
    CHECK(queue(everywhere).device == gj::DeviceId{1});
    CHECK(queue(everywhere).kind == gj::QueueKind::copy);
    CHECK(queue([](gj::DeviceId d) { return d == gj::DeviceId{2}; }).device == gj::DeviceId{2});
    CHECK(queue([](gj::DeviceId) { return false; }).kind == gj::QueueKind::compute);
    CHECK(queue([](gj::DeviceId) { return false; }).device == gj::DeviceId{1});
}

TEST_CASE("ByDevice: a fill goes to the copy queue of the memory's device, kernels and host calls to their own") {
    std::array<std::int32_t, 4> memory = {};
    CpuRecorder rec;
    const auto filled = rec.buffer("a", memory, gj::DeviceId{2});
    rec.on(gj::DeviceId{1});
    rec.fill(filled, 1);
    rec.launch(inc<>, filled);
    rec.host_call(inc<>, filled);
    const CpuList list = std::move(rec).finish().value();
    const gj::QueuePlan plan = gj::ByDevice()(list, everywhere).value();
    const auto is = [&](unsigned i, gj::QueueKind kind, unsigned device) {
        const gj::QueueRecord& queue = plan.queue(plan.queue_of(op(i)));
        return queue.kind == kind && to_integer(queue.device) == device;
    };
    CHECK(is(0, gj::QueueKind::copy, 2));
    CHECK(is(1, gj::QueueKind::compute, 1));
    CHECK(is(2, gj::QueueKind::compute, 1));
    CHECK(plan.queues().size() == 2);
}

TEST_CASE("ByDevice: all ops are put in as they were recorded") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(1, 40, 3).record(memory);
    const gj::QueuePlan plan = gj::ByDevice()(list, everywhere).value();
    REQUIRE(plan.order().size() == list.size());
    for (unsigned i = 0; i < list.size(); ++i) CHECK(plan.order()[i] == op(i));
    CHECK(gj::ByDevice()(CpuList(), everywhere).value().queues().empty());
}

TEST_CASE("ByDevice: where memory runs out, whenever, it says so") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(1, 40, 3).record(memory);
    CHECK(allocations_needed([&] {
              const gj::Result<gj::QueuePlan> plan = gj::ByDevice()(list, everywhere);
              CHECK((plan.ok() || plan.code() == gj::ErrorCode::out_of_memory));
              return plan.ok();
          }) >= 3);
}

}  // namespace
