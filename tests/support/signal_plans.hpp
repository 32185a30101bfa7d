// Queues and signals as text, for comparisons whose failure shows what was planned.
#pragma once

#include "support/ways.hpp"

#include <graphjit/plan/queues.hpp>
#include <graphjit/plan/signals.hpp>
#include <graphjit/plan/verify_signals.hpp>

#include <string>
#include <utility>

namespace test {

inline constexpr gj::QueueOrder queue_orders[] = {gj::QueueOrder::kept, gj::QueueOrder::chains_two,
                                                  gj::QueueOrder::not_kept};

/// "right", or what the oracle objects to.
[[nodiscard]] inline std::string verdict(const gj::SignalVerdict& given) {
    const char* kinds[] = {"right",     "not ordered",  "not signalled", "counter jumps",
                           "not ready", "not finished", "needless wait", "out of memory"};
    std::string text = kinds[static_cast<unsigned>(given.kind)];
    for (const gj::OpIndex named : {given.a, given.b}) {
        if (given.a == gj::OpIndex::none && given.b == gj::OpIndex::none) break;
        text += named == gj::OpIndex::none ? " -" : " " + std::to_string(to_integer(named));
    }
    return text;
}

/// The queues that `ByDevice` gives where every device has a copy queue.
[[nodiscard]] inline gj::QueuePlan queues_by_device(const gj::OpList& list) {
    return gj::ByDevice()(list, [](gj::DeviceId) { return true; }).value();
}

/// A recording on its queues, with its signals. The recording must outlive it.
class Signalled {
public:
    Signalled(const gj::OpList& list, gj::QueuePlan&& queues, gj::QueueOrder order, gj::SignalPlanner& planner)
        : list_(list), order_(order), queues_(std::move(queues)),
          plan_(planner.plan(list, plan_of(list), queues_, order).value()) {}
    Signalled(const gj::OpList& list, gj::QueuePlan&& queues, gj::QueueOrder order)
        : list_(list), order_(order), queues_(std::move(queues)),
          plan_(gj::SignalPlanner().plan(list, plan_of(list), queues_, order).value()) {}
    Signalled(const gj::OpList& list, gj::QueueOrder order) : Signalled(list, queues_by_device(list), order) {}

    [[nodiscard]] const gj::QueuePlan& queues() const { return queues_; }
    [[nodiscard]] const gj::SignalPlan& plan() const { return plan_; }

    /// "C0": the compute queue of device 0; "C0.1": its second one; "X0": its copy queue.
    [[nodiscard]] std::string queue(gj::QueueIndex index) const {
        const gj::QueueRecord& queue = queues_.queue(index);
        const std::string name = (queue.kind == gj::QueueKind::copy ? "X" : "C") +
                                 std::to_string(to_integer(queue.device));
        return queue.which == 0 ? name : name + "." + std::to_string(queue.which);
    }
    [[nodiscard]] std::string queue(unsigned i) const { return queue(queues_.queue_of(op(i))); }
    /// By op, with spaces between.
    [[nodiscard]] std::string all_queues() const {
        return joined(list_.size(), [&](unsigned i) { return queue(i); });
    }

    /// "C0:1 X0:2": until one op of the one and two of the other are over.
    [[nodiscard]] std::string waits(unsigned i) const { return text_of(plan_.waits(op(i))); }
    /// "0 2": the devices.
    [[nodiscard]] std::string ready_waits(unsigned i) const {
        const gj::Span<const gj::DeviceId> devices = plan_.ready_waits(op(i));
        return joined(devices.size(), [&](unsigned d) { return std::to_string(to_integer(devices[d])); });
    }
    /// What the device's timeline waits for; "-" where the graph does not use the device.
    [[nodiscard]] std::string final_waits(unsigned device) const {
        for (unsigned d = 0; d < plan_.devices().size(); ++d) {
            if (to_integer(plan_.devices()[d]) == device) return text_of(plan_.final_waits(d));
        }
        return "-";
    }
    /// "0 2": the ops.
    [[nodiscard]] std::string signals() const {
        std::string text;
        for (unsigned i = 0; i < list_.size(); ++i) {
            if (!plan_.signals(op(i))) continue;
            if (!text.empty()) text += ' ';
            text += std::to_string(i);
        }
        return text;
    }

    [[nodiscard]] std::string verdict() const { return judged_as(order_); }
    /// As if compute queues kept another order than the plan was made for.
    [[nodiscard]] std::string judged_as(gj::QueueOrder order) const {
        return test::verdict(gj::SignalOracle(list_, queues_, plan_, order).verify());
    }

    /// All there is to a plan, a line per op and device.
    [[nodiscard]] std::string text() const {
        std::string text = "in the order";
        for (const gj::OpIndex submitted : queues_.order()) text += " " + std::to_string(to_integer(submitted));
        for (unsigned i = 0; i < list_.size(); ++i) {
            text += "\n" + std::to_string(i) + " on " + queue(i) + " is " + std::to_string(plan_.position(op(i))) +
                    " waits " + waits(i) + " ready " + ready_waits(i);
        }
        for (unsigned d = 0; d < plan_.devices().size(); ++d) {
            const unsigned device = to_integer(plan_.devices()[d]);
            text += "\ndevice " + std::to_string(device) + " on " + queue(plan_.timeline_queue(d)) + " waits " +
                    final_waits(device);
        }
        return text + "\nsignals " + signals();
    }

private:
    template <class Text>
    [[nodiscard]] static std::string joined(std::size_t count, Text text_of) {
        std::string text;
        for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + text_of(i);
        return text;
    }
    [[nodiscard]] std::string text_of(gj::Span<const gj::Wait> waits) const {
        return joined(waits.size(),
                      [&](unsigned w) { return queue(waits[w].queue) + ":" + std::to_string(waits[w].count); });
    }

    const gj::OpList& list_;
    gj::QueueOrder order_;
    gj::QueuePlan queues_;
    gj::SignalPlan plan_;
};

}  // namespace test
