#include <graphjit/plan/balanced.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random_devices.hpp"
#include "support/signal_plans.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace {

using namespace test;

/// Ops of which each reads what at most two others wrote, or all from one to another, and on which device it is.
struct Node {
    std::vector<unsigned> before = {};
    unsigned device = 0;
};

class Nodes {
public:
    Nodes(std::initializer_list<Node> nodes) : memory_(4 * nodes.size()), list_(record(nodes)) {}

    [[nodiscard]] const CpuList& list() const { return list_; }
    [[nodiscard]] gj::QueuePlan plan(const gj::Balanced& policy) const { return policy(list_, plan_of(list_)).value(); }
    /// The queue of each op: "C0" is the first one of device 0, "C0.1" its second.
    [[nodiscard]] std::string queues(const gj::Balanced& policy) const {
        return Signalled(list_, plan(policy), gj::QueueOrder::kept).all_queues();
    }
    [[nodiscard]] std::string order(const gj::Balanced& policy) const {
        std::vector<unsigned> order;
        const gj::QueuePlan queues = plan(policy);
        for (const gj::OpIndex op : queues.order()) order.push_back(to_integer(op));
        return text(order);
    }

private:
    [[nodiscard]] CpuList record(std::initializer_list<Node> nodes) {
        CpuRecorder rec;
        std::vector<gj::Buffer<std::int32_t>> buffers;
        for (const Node& node : nodes) {
            buffers.push_back(rec.buffer("b", memory_.data() + 4 * buffers.size(), 4));
            rec.on(static_cast<gj::DeviceId>(node.device));
            if (node.before.size() > 2) {
                const std::size_t first = node.before.front();
                const std::size_t size = 4 * node.before.size();
                const auto all = rec.buffer("all", memory_.data() + 4 * first, static_cast<std::int64_t>(size));
                rec.launch(fill<>, buffers.back(), 1, gj::reads(all));
            } else if (node.before.empty()) {
                rec.launch(fill<>, buffers.back(), 1);
            } else {
                rec.launch(add<>, buffers.back(), buffers[node.before.front()], buffers[node.before.back()]);
            }
        }
        return std::move(rec).finish().value();
    }

    std::vector<std::int32_t> memory_;
    CpuList list_;
};

TEST_CASE("Balanced: what the longest way hangs on goes first") {
    // 2 → 3 → 4, and two on their own.
    const Nodes nodes{{}, {}, {}, {{2}}, {{3}}};
    CHECK(nodes.order({.queues = 2, .hop_cost = 0}) == "2 3 0 1 4");
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0}) == "C0.1 C0.1 C0 C0 C0");
    CHECK(nodes.queues({.queues = 3, .hop_cost = 0}) == "C0.1 C0.2 C0 C0 C0");
}

TEST_CASE("Balanced: of equal ways the one recorded first goes first, on the earlier queue") {
    const Nodes nodes{{}, {}, {}, {}};
    CHECK(nodes.order({.queues = 2}) == "0 1 2 3");
    CHECK(nodes.queues({.queues = 2}) == "C0 C0.1 C0 C0.1");
}

TEST_CASE("Balanced: ops cost what the user says, and those that he says nothing of what all others do") {
    const Nodes nodes{{}, {}, {}, {}, {}};
    const float costs[] = {1, 1, 5};
    CHECK(nodes.queues({.queues = 2, .costs = costs}) == "C0.1 C0.1 C0 C0.1 C0.1");
    CHECK(nodes.order({.queues = 2, .costs = costs}) == "2 0 1 3 4");
    CHECK(nodes.order({.queues = 2, .op_cost = 2, .costs = costs}) == "2 3 4 0 1");

    const Nodes chains{{}, {{0}}, {}, {{2}}};
    const float second_is_longer[] = {1, 1, 3, 3};
    CHECK(chains.order({.queues = 2, .costs = second_is_longer}) == "2 3 0 1");
}

TEST_CASE("Balanced: going to another queue must be worth it") {
    // Two of each, side by side: 0 → 2, 1 → 3, and both into 4.
    const Nodes nodes{{}, {}, {{0}}, {{1}}, {{2, 3}}};
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0.5f}) == "C0 C0.1 C0 C0.1 C0");
    CHECK(nodes.queues({.queues = 2, .hop_cost = 10}) == "C0 C0 C0 C0 C0");
}

TEST_CASE("Balanced: one queue where telling another costs more than it gains") {
    // Two side by side, six times, and each waits for both before it.
    const Nodes nodes{{},       {},       {{0, 1}}, {{0, 1}}, {{2, 3}}, {{2, 3}},
                      {{4, 5}}, {{4, 5}}, {{6, 7}}, {{6, 7}}, {{8, 9}}, {{8, 9}}};
    const auto queues = [&](float signal_cost, float op_cost = 1) {
        return nodes.plan({.queues = 2, .op_cost = op_cost, .hop_cost = 0.1f, .signal_cost = signal_cost})
            .queues()
            .size();
    };
    CHECK(queues(0) == 2);
    CHECK(queues(0.1f) == 2);
    CHECK(queues(0.5f) == 2);
    CHECK(queues(10) == 1);
    CHECK(queues(100) == 1);
    CHECK(queues(100, 1'000) == 2);  // it is a matter of what ops cost
}

TEST_CASE("Balanced: an op that others wait for tells them once, however many they are") {
    // 1, 2 and 3 wait for 0; the short 4 goes where there is time, which is on the queue of 0 after it has told.
    const Nodes nodes{{}, {{0}}, {{0}}, {{0}}, {}};
    const float costs[] = {1, 4, 4, 4, 1};
    const auto queues = [&](float signal_cost) {
        return nodes.queues({.queues = 2, .hop_cost = 0.1f, .signal_cost = signal_cost, .costs = costs});
    };
    CHECK(queues(3) == "C0 C0 C0.1 C0.1 C0");
    CHECK(queues(5) == "C0 C0 C0.1 C0.1 C0.1");
}

TEST_CASE("Balanced: an op that waits for many of a queue is told by the last of them") {
    const Nodes nodes{{}, {}, {}, {}, {}, {}, {}, {}, {{0, 1, 2, 3, 4, 5, 6, 7}}};
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0.1f, .signal_cost = 2}) == "C0 C0.1 C0 C0.1 C0 C0.1 C0 C0.1 C0");
}

TEST_CASE("Balanced: what nobody waits for costs nothing to tell") {
    const Nodes nodes{{}, {{0}}, {{1}}, {}, {{3}}, {{4}}};
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0.1f, .signal_cost = 1000}) == "C0 C0 C0 C0.1 C0.1 C0.1");
}

TEST_CASE("Balanced: one queue where several gain nothing, or less than a tenth") {
    CHECK(Nodes{{}, {{0}}, {{1}}, {{2}}}.queues({.queues = 4}) == "C0 C0 C0 C0");
    CHECK(Nodes{{}}.queues({.queues = 4}) == "C0");
    CHECK(Nodes{{}, {}, {}}.queues({.queues = 1}) == "C0 C0 C0");

    const Nodes nodes{{}, {}};
    const float too_small[] = {10, 1.0f};
    const float enough[] = {10, 1.25f};
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0, .costs = too_small}) == "C0 C0");
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0, .costs = enough}) == "C0 C0.1");
    // In the end all queues are waited for, which takes a hop.
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0.5f, .costs = enough}) == "C0 C0");
}

TEST_CASE("Balanced: short ops on one queue run next to those of their kernel") {
    const Nodes nodes{{}, {{0}}, {}, {{2}}};  // fill, add, fill, add
    const auto order = [&](float op_cost) {
        return nodes.order({.queues = 2, .op_cost = op_cost, .start_cost = 1e6f, .switch_cost = 5});
    };
    CHECK(order(7) == "0 2 1 3");
    CHECK(order(101) == "0 1 2 3");
    CHECK(nodes.order({.queues = 2, .start_cost = 1e6f}) == "0 1 2 3");
}

TEST_CASE("Balanced: ops stay on their device, each device has its queues") {
    const Nodes nodes{{{}, 1}, {{}, 1}, {{}, 0}, {{}, 0}, {{}, 1}, {{}, 7}};
    CHECK(nodes.queues({.queues = 2, .hop_cost = 0.5f}) == "C1 C1.1 C0 C0.1 C1 C7");
    const Nodes apart{{{}, 0}, {{}, 1}, {{}, 2}};
    CHECK(apart.queues({.queues = 2}) == "C0 C1 C2");
}

TEST_CASE("Balanced: no ops, no queues; never more queues than something runs on; none asked for is one") {
    CHECK(gj::Balanced()(CpuList(), plan_of(CpuList())).value().queues().empty());
    const Nodes nodes{{}, {}, {}};
    CHECK(nodes.plan({.queues = 8}).queues().size() == 3);
    CHECK(nodes.queues({.queues = 8}) == "C0 C0.1 C0.2");
    CHECK(nodes.queues({.queues = 0}) == "C0 C0 C0");
    // The second device has nothing to spread, the first one has.
    CHECK(Nodes{{}, {}, {{}, 1}}.plan({.queues = 8, .hop_cost = 0.5f}).queues().size() == 3);
}

TEST_CASE("Balanced: every op is put in once, behind all that it depends on") {
    std::vector<std::int32_t> memory;
    for (unsigned seed = 0; seed < 60; ++seed) {
        INFO("seed ", seed);
        const CpuList list = RandomDevices(seed, 2 + seed, 1 + seed % 4).record(memory);
        const gj::Dag dag = plan_of(list);
        const gj::Balanced policy{
            .queues = 1 + seed % 5, .hop_cost = 0.2f, .signal_cost = 0.1f * static_cast<float>(seed % 3)};
        const gj::QueuePlan plan = policy(list, dag).value();
        REQUIRE(plan.order().size() == list.size());
        std::vector<bool> put(list.size(), false);
        std::vector<bool> used(plan.queues().size(), false);
        for (const gj::OpIndex op : plan.order()) {
            CHECK(!put[to_integer(op)]);
            for (const gj::OpIndex before : dag.dependencies(op)) CHECK(put[to_integer(before)]);
            put[to_integer(op)] = true;
            used[to_integer(plan.queue_of(op))] = true;
            CHECK(plan.queue(plan.queue_of(op)).device == list.op(op).device);
            CHECK(plan.queue(plan.queue_of(op)).kind == gj::QueueKind::compute);
        }
        CHECK(all_equal(used, true));
    }
}

TEST_CASE("Balanced: where memory runs out, whenever, it says so") {
    std::vector<std::int32_t> memory;
    const CpuList list = RandomDevices(1, 40, 3).record(memory);
    const gj::Dag dag = plan_of(list);
    for (const float hop_cost : {0.1f, 1000.0f}) {  // several queues, and one after all
        CHECK(allocations_needed([&] {
                  const gj::Result<gj::QueuePlan> plan = gj::Balanced{.queues = 3, .hop_cost = hop_cost}(list, dag);
                  CHECK((plan.ok() || plan.code() == gj::ErrorCode::out_of_memory));
                  return plan.ok();
              }) > 8);
    }
}

}  // namespace
