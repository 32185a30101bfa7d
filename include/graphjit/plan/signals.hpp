// Who waits for whom across queues, with the fewest waits.
//
// Every queue has one counter: when its n-th op is over, the counter is n. An op waits for the counters of other
// queues; it need not wait for what its queue knows already: what the ops before it on the queue waited for, and what
// the ops they waited for knew, and so on. So every op has a clock, the counter of each queue as far as it is known to
// be reached when the op is over, and a wait is left out when another wait or the queue itself implies it.
//
// A device is ready when all work submitted to it before the graph is over. Its compute queue waits for that first;
// an op on another queue that touches memory of the device waits for readiness unless it knows.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/queues.hpp>

namespace graphjit::inline v0 {

/// Wait until this many ops of the queue are over.
struct Wait {
    QueueIndex queue = QueueIndex::none;
    std::uint32_t count = 0;
};

/// Where the waits and signals of a graph are.
class SignalPlan {
public:
    /// What the op waits for besides the order its queue keeps.
    [[nodiscard]] Span<const Wait> waits(OpIndex op) const noexcept { return waits_.row(to_integer(op)); }
    /// The devices whose readiness the op waits for.
    [[nodiscard]] Span<const DeviceId> ready_waits(OpIndex op) const noexcept {
        return ready_waits_.row(to_integer(op));
    }
    /// Whether somebody waits for the op, so that it must set its queue's counter to `position`.
    [[nodiscard]] bool signals(OpIndex op) const noexcept { return signals_[to_integer(op)]; }
    /// Which op of its queue it is, counted from 1.
    [[nodiscard]] std::uint32_t position(OpIndex op) const noexcept { return positions_[to_integer(op)]; }

    /// All devices whose queues or memory the graph uses, ascending.
    [[nodiscard]] Span<const DeviceId> devices() const noexcept { return devices_; }
    /// The queue that awaits and later advances the timeline of `devices()[i]`.
    [[nodiscard]] QueueIndex timeline_queue(std::size_t i) const noexcept { return timeline_queues_[i]; }
    /// What that queue waits for at the end, so that later work of the device comes after the graph.
    [[nodiscard]] Span<const Wait> final_waits(std::size_t i) const noexcept {
        return final_waits_.row(static_cast<std::uint32_t>(i));
    }

private:
    friend class SignalPlanner;

    /// A list of lists, of which each is made in one go, in any order.
    template <class T>
    struct Rows {
        struct Row {
            std::uint32_t begin = 0;
            std::uint32_t end = 0;
        };
        detail::Array<Row> rows;
        detail::Array<T> values;

        [[nodiscard]] bool start(std::uint32_t count) noexcept { return rows.resize(count, {}); }
        [[nodiscard]] Span<const T> row(std::uint32_t i) const noexcept {
            return {values.data() + rows[i].begin, rows[i].end - rows[i].begin};
        }
        void end_row(std::uint32_t i, std::size_t begin) noexcept {
            rows[i] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(values.size())};
        }
    };

    Rows<Wait> waits_;
    Rows<DeviceId> ready_waits_;
    Rows<Wait> final_waits_;
    detail::Array<bool> signals_;
    detail::Array<std::uint32_t> positions_;
    detail::Array<DeviceId> devices_;
    detail::Array<QueueIndex> timeline_queues_;
};

/// Makes signal plans. Pre: `dag` is the plan of `list`, `queues` assigns its ops.
class SignalPlanner {
public:
    /// `compute_order` is what compute queues keep; copy queues keep order. Adds a compute queue for each device that
    /// has none, since its timeline needs one.
    /// Cost: ops x (queues + devices). Errors: out_of_memory.
    [[nodiscard]] Result<SignalPlan> plan(const OpList& list, const Dag& dag, QueuePlan& queues,
                                          QueueOrder compute_order) noexcept {
        SignalPlan plan;
        if (!plan_into(list, dag, queues, compute_order, plan)) {
            return list.error(ErrorCode::out_of_memory, "no memory to plan signals in");
        }
        return plan;
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffffu;

    /// An op that another, or the end of the graph, must come after.
    struct Need {
        std::uint32_t op = 0;
        std::uint32_t queue = 0;
        std::uint32_t count = 0;
    };

    struct QueueState {
        std::uint32_t last = none;  // its last op so far
        std::uint32_t count = 0;    // how many it has
        bool keeps_order = false;
    };

    [[nodiscard]] bool plan_into(const OpList& list, const Dag& dag, QueuePlan& queues, QueueOrder order,
                                 SignalPlan& plan) noexcept {
        if (!list_devices(list, queues, plan)) return false;
        const std::uint32_t count = list.size();
        queue_count_ = queues.queues().size();
        width_ = queue_count_ + plan.devices_.size();
        order_ = order;
        states_.clear();
        touching_.clear();
        // Unset: every clock is written as a whole. One more than there are ops, for the ends of the devices.
        if (!clocks_.reserve(width_ * (std::size_t{count} + 1)) || !states_.resize(queue_count_, {}) ||
            !touching_.resize(queue_count_ * plan.devices_.size(), none) || !plan.signals_.resize(count, false) ||
            !plan.positions_.resize(count, 0) || !plan.waits_.start(count) || !plan.ready_waits_.start(count) ||
            !plan.final_waits_.start(static_cast<std::uint32_t>(plan.devices_.size()))) {
            return false;
        }
        for (std::size_t i = 0; i < queue_count_; ++i) {
            states_[i].keeps_order = order == QueueOrder::kept || queues.queues()[i].kind == QueueKind::copy;
        }
        for (const OpIndex op : queues.order()) {
            if (!plan_op(list, dag, queues, plan, op)) return false;
        }
        for (std::size_t d = 0; d < plan.devices_.size(); ++d) {
            if (!plan_end(queues, plan, d)) return false;
        }
        return true;
    }

    /// Lists the devices, finds their timeline queues, and says where each memory's device stands in the list.
    [[nodiscard]] bool list_devices(const OpList& list, QueuePlan& queues, SignalPlan& plan) noexcept {
        const auto memories = static_cast<std::uint32_t>(list.memories().size());
        places_.clear();
        if (!places_.resize(memories, none)) return false;
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            for (const AccessRecord& access : list.accesses(static_cast<OpIndex>(i)))
                places_[to_integer(access.memory)] = 0;
        }
        for (const QueueRecord& queue : queues.queues()) {
            if (!add_device(queue.device, plan)) return false;
        }
        for (std::uint32_t i = 0; i < memories; ++i) {
            if (places_[i] != none && !add_device(list.memories()[i].device, plan)) return false;
        }
        for (std::uint32_t i = 0; i < memories; ++i) {
            if (places_[i] != none) places_[i] = place_of(plan, list.memories()[i].device);
        }
        for (const DeviceId device : plan.devices_) {
            QueueIndex queue = QueueIndex::none;
            if (!queues.find_or_add(device, QueueKind::compute, 0, queue) || !plan.timeline_queues_.push(queue)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] static bool add_device(DeviceId device, SignalPlan& plan) noexcept {
        std::size_t place = plan.devices_.size();
        while (place > 0 && plan.devices_[place - 1] >= device) --place;
        if (place < plan.devices_.size() && plan.devices_[place] == device) return true;
        if (!plan.devices_.push(device)) return false;
        for (std::size_t i = plan.devices_.size() - 1; i > place; --i) plan.devices_[i] = plan.devices_[i - 1];
        plan.devices_[place] = device;
        return true;
    }
    [[nodiscard]] static std::uint32_t place_of(const SignalPlan& plan, DeviceId device) noexcept {
        std::uint32_t i = 0;
        while (plan.devices_[i] != device) ++i;
        return i;
    }

    [[nodiscard]] std::uint32_t* clock(std::uint32_t op) noexcept { return clocks_.data() + op * width_; }

    void cover(std::uint32_t* now, const std::uint32_t* other) const noexcept {
        for (std::size_t i = 0; i < width_; ++i) now[i] = now[i] < other[i] ? other[i] : now[i];
    }

    /// What the queue knows before it looks at its next op.
    void start_on(const QueuePlan& queues, const SignalPlan& plan, std::uint32_t queue, std::uint32_t* now) noexcept {
        const QueueState& state = states_[queue];
        if (state.last == none) {
            for (std::size_t i = 0; i < width_; ++i) now[i] = 0;
            const std::uint32_t place = place_of(plan, queues.queues()[queue].device);
            if (to_integer(plan.timeline_queues_[place]) == queue) now[queue_count_ + place] = 1;
            return;
        }
        const std::uint32_t* before = clock(state.last);
        for (std::size_t i = 0; i < width_; ++i) now[i] = before[i];
        now[queue] = state.count;
    }

    /// Notes that an op must be over, unless that is known: then all that it knew is known as well.
    [[nodiscard]] bool need(std::uint32_t* now, const Need& need) noexcept {
        if (now[need.queue] >= need.count) return true;
        cover(now, clock(need.op));
        return needs_.push(need);
    }

    /// Waits for those of `needs_` that the others do not imply.
    [[nodiscard]] bool wait_for_needs(SignalPlan& plan, SignalPlan::Rows<Wait>& waits, std::uint32_t* now) noexcept {
        std::size_t kept = 0;
        for (const Need& need : needs_) {
            if (now[need.queue] < need.count) needs_[kept++] = need;
        }
        needs_.truncate(kept);
        for (const Need& need : needs_) {
            now[need.queue] = need.count;
            plan.signals_[need.op] = true;
            if (!waits.values.push({static_cast<QueueIndex>(need.queue), need.count})) return false;
        }
        return true;
    }

    /// Waits for the op before on the same queue, where that is not kept behind it and no other wait implies it.
    [[nodiscard]] bool wait_for_own(SignalPlan& plan, SignalPlan::Rows<Wait>& waits, std::uint32_t queue,
                                    bool has_waits) noexcept {
        const QueueState& state = states_[queue];
        if (state.keeps_order || state.last == none || (order_ == QueueOrder::chains_two && !has_waits)) return true;
        for (const Need& need : needs_) {
            if (clock(need.op)[queue] >= state.count) return true;  // that one came after it
        }
        plan.signals_[state.last] = true;
        return waits.values.push({static_cast<QueueIndex>(queue), state.count});
    }

    [[nodiscard]] bool plan_op(const OpList& list, const Dag& dag, const QueuePlan& queues, SignalPlan& plan,
                               OpIndex op) noexcept {
        const std::uint32_t queue = to_integer(queues.queue_of(op));
        std::uint32_t* const now = clock(to_integer(op));
        start_on(queues, plan, queue, now);
        needs_.clear();
        for (const OpIndex before : dag.dependencies(op)) {
            if (!need(now, {to_integer(before), to_integer(queues.queue_of(before)), plan.position(before)}))
                return false;
        }
        const std::size_t first_wait = plan.waits_.values.size();
        if (!wait_for_needs(plan, plan.waits_, now)) return false;
        const std::size_t first_ready = plan.ready_waits_.values.size();
        for (const AccessRecord& access : list.accesses(op)) {
            const std::uint32_t place = places_[to_integer(access.memory)];
            touching_[place * queue_count_ + queue] = to_integer(op);
            if (now[queue_count_ + place] != 0) continue;
            now[queue_count_ + place] = 1;
            if (!plan.ready_waits_.values.push(plan.devices_[place])) return false;
        }
        const bool has_waits = plan.waits_.values.size() != first_wait ||
                               plan.ready_waits_.values.size() != first_ready;
        if (!wait_for_own(plan, plan.waits_, queue, has_waits)) return false;
        states_[queue].last = to_integer(op);
        plan.positions_[to_integer(op)] = ++states_[queue].count;
        plan.waits_.end_row(to_integer(op), first_wait);
        plan.ready_waits_.end_row(to_integer(op), first_ready);
        return true;
    }

    /// The device's timeline advances after all that touched its memory or ran on its queues.
    [[nodiscard]] bool plan_end(const QueuePlan& queues, SignalPlan& plan, std::size_t device) noexcept {
        const std::uint32_t queue = to_integer(plan.timeline_queues_[device]);
        std::uint32_t* const now = clock(static_cast<std::uint32_t>(plan.positions_.size()));
        start_on(queues, plan, queue, now);
        needs_.clear();
        for (std::uint32_t other = 0; other < queue_count_; ++other) {
            std::uint32_t op = touching_[device * queue_count_ + other];
            if (queues.queues()[other].device == plan.devices_[device]) op = states_[other].last;
            if (op != none && !need(now, {op, other, plan.positions_[op]})) return false;
        }
        const std::size_t first_wait = plan.final_waits_.values.size();
        if (!wait_for_needs(plan, plan.final_waits_, now)) return false;
        if (!wait_for_own(plan, plan.final_waits_, queue, !needs_.empty())) return false;
        plan.final_waits_.end_row(static_cast<std::uint32_t>(device), first_wait);
        return true;
    }

    QueueOrder order_ = QueueOrder::kept;  // of compute queues
    std::size_t queue_count_ = 0;
    std::size_t width_ = 0;                  // of a clock: counters of all queues, then readiness of all devices
    detail::Array<std::uint32_t> clocks_;    // by op: what is known when it begins
    detail::Array<std::uint32_t> places_;    // by memory: where its device stands among all devices
    detail::Array<std::uint32_t> touching_;  // by device and queue: the last op that touched the device's memory
    detail::Array<QueueState> states_;       // by queue
    detail::Array<Need> needs_;              // of the op being planned
};

}  // namespace graphjit::inline v0
