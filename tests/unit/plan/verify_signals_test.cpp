#include <graphjit/plan/verify_signals.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random_devices.hpp"
#include "support/signal_plans.hpp"

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

// Only `SignalPlanner` makes signal plans, and it makes no wrong ones. So what is wrong here is what they are judged
// with: other queues, or another order of queues, than they were made for.

namespace {

using namespace test;
using gj::QueueOrder;

void nothing(std::int32_t) {}

/// Registered memory of 4 elements each, to record a few ops with.
class Ops {
public:
    Ops() {
        for (unsigned i = 0; i < 6; ++i) buffers_.push_back(rec_.buffer("b", memory_.data() + 4 * i, 4));
    }
    Ops& kernel(unsigned out) { return rec_.launch(inc<>, buffers_[out]), *this; }
    Ops& kernel(unsigned out, unsigned in) { return rec_.launch(slow<>, buffers_[out], buffers_[in]), *this; }
    Ops& copy(unsigned out, unsigned in) { return rec_.copy(buffers_[out], buffers_[in]), *this; }
    Ops& kernel_without_memory() { return rec_.launch(gj::kernel<nothing>, 0), *this; }
    Ops& on(unsigned device) { return rec_.on(static_cast<gj::DeviceId>(device)), *this; }
    [[nodiscard]] CpuList list() { return std::move(rec_).finish().value(); }

private:
    std::array<std::int32_t, 24> memory_ = {};
    CpuRecorder rec_;
    std::vector<gj::Buffer<std::int32_t>> buffers_;
};

struct Put {
    unsigned op = 0;
    unsigned queue = 0;
};

/// Compute queues of device 0, ops put in as listed.
gj::QueuePlan queues(unsigned count, std::initializer_list<Put> puts) {
    gj::QueuePlan plan;
    REQUIRE(plan.start(static_cast<std::uint32_t>(puts.size())));
    for (unsigned i = 0; i < count; ++i) {
        gj::QueueIndex queue = gj::QueueIndex::none;
        REQUIRE(plan.find_or_add(gj::DeviceId{}, gj::QueueKind::compute, i, queue));
    }
    for (const Put& put : puts) plan.put(op(put.op), static_cast<gj::QueueIndex>(put.queue));
    return plan;
}

std::string judged_on(const gj::OpList& list, const Signalled& signalled, const gj::QueuePlan& other,
                      QueueOrder order = QueueOrder::kept) {
    return verdict(gj::SignalOracle(list, other, signalled.plan(), order).verify());
}

TEST_CASE("SignalOracle: ops that conflict and are not ordered") {
    const CpuList list = Ops().kernel(0).kernel(0).list();
    const Signalled signalled(list, QueueOrder::kept);
    CHECK(signalled.verdict() == "right");
    CHECK(signalled.judged_as(QueueOrder::chains_two) == "right");
    CHECK(signalled.judged_as(QueueOrder::not_kept) == "not ordered 0 1");
}

TEST_CASE("SignalOracle: a queue that chains two does not order an op that waits for something else") {
    const CpuList list = Ops().kernel(0).copy(1, 2).kernel(0, 1).list();
    const Signalled signalled(list, QueueOrder::kept);
    CHECK(signalled.waits(2) == "X0:1");
    CHECK(signalled.judged_as(QueueOrder::chains_two) == "not ordered 0 2");
}

TEST_CASE("SignalOracle: ops of one queue of which the later may be over first") {
    const CpuList list = Ops().kernel(0).kernel(1).list();
    CHECK(Signalled(list, QueueOrder::kept).judged_as(QueueOrder::not_kept) == "counter jumps 0 1");
}

TEST_CASE("SignalOracle: a device that may go on before the graph is over") {
    const CpuList list = Ops().kernel(0).list();
    CHECK(Signalled(list, QueueOrder::kept).judged_as(QueueOrder::not_kept) == "not finished 0 -");
}

TEST_CASE("SignalOracle: an op that touches a device that may not be ready") {
    const CpuList list = Ops().kernel(0).list();
    const Signalled signalled(list, queues(2, {{0, 0}}), QueueOrder::kept);
    CHECK(signalled.verdict() == "right");
    CHECK(judged_on(list, signalled, queues(2, {{0, 1}})) == "not ready 0 -");
}

TEST_CASE("SignalOracle: a wait for an op that does not signal, that is not there, or that comes later") {
    // 0 and 1 are in front of 3 and 4, so that the end of the graph waits for those alone; 2 needs 0.
    const CpuList list = Ops().kernel(0).kernel(1).kernel(2, 0).kernel(3).kernel(4).list();
    const Signalled signalled(list, queues(3, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {4, 2}}), QueueOrder::kept);
    REQUIRE(signalled.verdict() == "right");
    REQUIRE(signalled.waits(2) == "C0.1:1");
    REQUIRE(!signalled.plan().signals(op(1)));
    CHECK(judged_on(list, signalled, queues(3, {{0, 2}, {1, 1}, {2, 0}, {3, 1}, {4, 2}})) == "not signalled 1 2");
    CHECK(judged_on(list, signalled, queues(3, {{0, 2}, {1, 2}, {2, 0}, {3, 1}, {4, 2}})) == "not signalled - 2");
    CHECK(judged_on(list, signalled, queues(3, {{2, 0}, {0, 1}, {1, 2}, {3, 1}, {4, 2}})) == "not signalled 0 2");
    // What the end of the graph waits for.
    CHECK(judged_on(list, signalled, queues(3, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {4, 1}})) == "not signalled");
}

TEST_CASE("SignalOracle: a wait that could be left out") {
    const CpuList two = Ops().kernel(0).kernel(0).list();
    CHECK(Signalled(two, QueueOrder::not_kept).judged_as(QueueOrder::kept) == "needless wait 0 1");
    CHECK(Signalled(two, QueueOrder::not_kept).judged_as(QueueOrder::chains_two) == "needless wait 0 1");
    const CpuList one = Ops().kernel(0).list();
    CHECK(Signalled(one, QueueOrder::not_kept).judged_as(QueueOrder::kept) == "needless wait 0 -");
    CHECK(Signalled(one, QueueOrder::not_kept).judged_as(QueueOrder::chains_two) == "needless wait 0 -");

    // For readiness: made for an op on another queue than the one that awaits the device, and judged on that one.
    const CpuList list = Ops().kernel(0).kernel_without_memory().list();
    const Signalled signalled(list, queues(2, {{0, 1}, {1, 0}}), QueueOrder::not_kept);
    REQUIRE(signalled.verdict() == "right");
    REQUIRE(signalled.ready_waits(0) == "0");
    CHECK(judged_on(list, signalled, queues(2, {{0, 0}, {1, 1}}), QueueOrder::not_kept) == "needless wait - 0");
}

TEST_CASE("SignalOracle: without memory it judges nothing") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(2, 12, 3).record(memory);
    const Signalled signalled(list, QueueOrder::not_kept);
    CHECK(allocations_needed([&] {
              const gj::SignalVerdict given =
                  gj::SignalOracle(list, signalled.queues(), signalled.plan(), QueueOrder::not_kept).verify();
              CHECK((given || given.kind == gj::SignalVerdict::Kind::out_of_memory));
              return static_cast<bool>(given);
          }) >= 3);
}

}  // namespace
