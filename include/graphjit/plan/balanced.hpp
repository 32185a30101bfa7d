// Queues for one device that has several equal ones.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/one_queue.hpp>

namespace graphjit::inline v0 {

/// Spreads the ops of each device over `queues` compute queues: of the ops that may run, the one with the longest way
/// to the end comes first, and goes where it is over earliest. One queue is used where several would not gain a tenth,
/// with ops of the same kernel one after another if they are short; and never more than something runs on.
/// Units: costs are in any unit, the same for all.
struct Balanced {
    std::uint32_t queues = 2;      // of a device, at most
    float op_cost = 1.0f;          // of ops without a cost of their own
    float hop_cost = 1.0f;         // from an op's end on one queue to a start on another
    float signal_cost = 0.0f;      // of telling another queue, on the queue that tells
    float start_cost = 0.0f;       // of using more than one queue, once a replay
    float switch_cost = 0.0f;      // of another kernel than the one before; much cheaper than an op: no matter
    Span<const float> costs = {};  // by op; may be shorter than the recording

    /// Cost: (ops + edges) x log(ops) x queues. Errors: out_of_memory.
    [[nodiscard]] Result<QueuePlan> operator()(const OpList& list, const Dag& dag) const noexcept {
        QueuePlan plan;
        Schedule schedule;
        bool gains = false;
        if (!schedule.build(*this, list, dag) || !schedule.run(*this, list, dag, plan, gains))
            return out_of_memory(list);
        if (gains) return plan;
        constexpr std::uint32_t window = 256;
        const bool gathers = schedule.mean_cost() < 20 * switch_cost;
        return OneQueue{.window = gathers ? window : 0}(list, dag);
    }

private:
    [[nodiscard]] static Error out_of_memory(const OpList& list) noexcept {
        return list.error(ErrorCode::out_of_memory, "no memory to plan queues in");
    }
    [[nodiscard]] float cost(std::uint32_t op) const noexcept { return op < costs.size() ? costs[op] : op_cost; }

    class Schedule {
    public:
        [[nodiscard]] bool build(const Balanced& policy, const OpList& list, const Dag& dag) noexcept {
            const std::uint32_t count = list.size();
            if (!followers_.start(count) || !open_.resize(count, 0) || !way_.resize(count, 0) ||
                !over_.resize(count, 0) || !tells_.resize(count, false) || !ready_.reserve(count)) {
                return false;
            }
            for_each_edge(dag, [&](OpIndex before, OpIndex) { followers_.count(to_integer(before)); });
            if (!followers_.place()) return false;
            for_each_edge(dag, [&](OpIndex before, OpIndex after) { followers_.add(to_integer(before), after); });
            for (std::uint32_t i = count; i-- > 0;) {
                float longest = 0;
                for (const OpIndex follower : followers_[i]) {
                    longest = way_[to_integer(follower)] > longest ? way_[to_integer(follower)] : longest;
                }
                way_[i] = longest + policy.cost(i);
            }
            return true;
        }

        [[nodiscard]] bool run(const Balanced& policy, const OpList& list, const Dag& dag, QueuePlan& plan,
                               bool& gains) noexcept {
            const std::uint32_t count = list.size();
            if (!plan.start(count)) return false;
            for (std::uint32_t i = 0; i < count; ++i) {
                open_[i] = static_cast<std::uint32_t>(dag.dependencies(static_cast<OpIndex>(i)).size());
                if (open_[i] == 0) push(i);
            }
            float alone = 0;  // each device with one queue, all at once: a bound that favours one queue
            float over = 0;
            while (!ready_.empty()) {
                const std::uint32_t op = pop();
                if (!place(policy, list, dag, plan, op)) return false;
                over = over_[op] > over ? over_[op] : over;
                for (const OpIndex follower : followers_[op]) {
                    if (--open_[to_integer(follower)] == 0) push(to_integer(follower));
                }
            }
            for (const float busy : busy_until_) over = busy > over ? busy : over;  // telling others takes time, too
            for (const DeviceUse& device : devices_) alone = device.work > alone ? device.work : alone;
            // In the end all queues are waited for.
            gains = over + policy.hop_cost + policy.start_cost < 0.9f * alone;
            return true;
        }

        [[nodiscard]] float mean_cost() const noexcept {
            float work = 0;
            for (const DeviceUse& device : devices_) work += device.work;
            return over_.empty() ? 0 : work / static_cast<float>(over_.size());
        }

    private:
        struct DeviceUse {
            DeviceId device = {};
            std::uint32_t queues = 0;
            float work = 0;
        };

        template <class Visit>
        static void for_each_edge(const Dag& dag, Visit visit) noexcept {
            for (std::uint32_t i = 0; i < dag.size(); ++i) {
                for (const OpIndex before : dag.dependencies(static_cast<OpIndex>(i)))
                    visit(before, static_cast<OpIndex>(i));
            }
        }

        [[nodiscard]] DeviceUse* use_of(DeviceId device) noexcept {
            for (DeviceUse& known : devices_) {
                if (known.device == device) return &known;
            }
            return devices_.push({device}) ? &devices_.back() : nullptr;
        }

        /// When all that the op depends on is known to be over on a queue, which may be one that is not there yet.
        [[nodiscard]] float known_on(const Balanced& policy, const Dag& dag, const QueuePlan& plan, OpIndex op,
                                     QueueIndex queue) const noexcept {
            float known = 0;
            for (const OpIndex before : dag.dependencies(op)) {
                const float hop = plan.queue_of(before) == queue ? 0 : policy.hop_cost;
                const float over = over_[to_integer(before)] + hop;
                known = over > known ? over : known;
            }
            return known;
        }

        /// Chooses the queue on which the op begins first; the earlier queue where that makes no difference.
        [[nodiscard]] bool place(const Balanced& policy, const OpList& list, const Dag& dag, QueuePlan& plan,
                                 std::uint32_t op) noexcept {
            const auto index = static_cast<OpIndex>(op);
            DeviceUse* device = use_of(list.op(index).device);
            if (device == nullptr) return false;
            QueueIndex best = QueueIndex::none;
            float earliest = 0;
            for (std::uint32_t which = 0; which < device->queues; ++which) {
                QueueIndex queue = QueueIndex::none;
                if (!plan.find_or_add(device->device, QueueKind::compute, which, queue)) return false;
                const float known = known_on(policy, dag, plan, index, queue);
                const float idle = busy_until_[to_integer(queue)];
                const float start = known > idle ? known : idle;
                if (best != QueueIndex::none && start >= earliest) continue;
                best = queue;
                earliest = start;
            }
            if (best == QueueIndex::none || device->queues < policy.queues) {
                const float start = known_on(policy, dag, plan, index, QueueIndex::none);
                if (best == QueueIndex::none || start < earliest) {
                    if (!plan.find_or_add(device->device, QueueKind::compute, device->queues++, best)) return false;
                    if (!busy_until_.resize(plan.queues().size(), 0) ||
                        !last_of_.resize(plan.queues().size(), OpIndex::none)) {
                        return false;
                    }
                    earliest = start;
                }
            }
            over_[op] = earliest + policy.cost(op);
            busy_until_[to_integer(best)] = over_[op];
            device->work += policy.cost(op);
            plan.put(index, best);
            for (const OpIndex before :
                 dag.dependencies(index)) {  // one signal a queue: what is behind it is known, too
                const QueueIndex other = plan.queue_of(before);
                OpIndex& last = last_of_[to_integer(other)];
                if (other != best && (last == OpIndex::none || over_[to_integer(before)] > over_[to_integer(last)])) {
                    last = before;
                }
            }
            for (const OpIndex before : dag.dependencies(index)) {
                const QueueIndex other = plan.queue_of(before);
                const OpIndex last = std::exchange(last_of_[to_integer(other)], OpIndex::none);
                if (last == OpIndex::none || tells_[to_integer(last)]) continue;
                tells_[to_integer(last)] = true;
                busy_until_[to_integer(other)] += policy.signal_cost;
            }
            return true;
        }

        // Ops that may run, as a heap: the longest way to the end first, then the one recorded first.

        [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const noexcept {
            return way_[a] != way_[b] ? way_[a] > way_[b] : a < b;
        }
        void push(std::uint32_t op) noexcept {
            ready_.push_reserved(op);
            std::size_t i = ready_.size() - 1;
            for (; i > 0 && before(op, ready_[(i - 1) / 2]); i = (i - 1) / 2) ready_[i] = ready_[(i - 1) / 2];
            ready_[i] = op;
        }
        [[nodiscard]] std::uint32_t pop() noexcept {
            const std::uint32_t top = ready_[0];
            const std::uint32_t moved = ready_.back();
            ready_.truncate(ready_.size() - 1);
            std::size_t i = 0;
            for (std::size_t child = 1; child < ready_.size(); child = 2 * i + 1) {
                if (child + 1 < ready_.size() && before(ready_[child + 1], ready_[child])) ++child;
                if (!before(ready_[child], moved)) break;
                ready_[i] = ready_[child];
                i = child;
            }
            if (!ready_.empty()) ready_[i] = moved;
            return top;
        }

        detail::Csr<OpIndex> followers_;     // by op
        detail::Array<std::uint32_t> open_;  // by op: dependencies not placed yet
        detail::Array<float> way_;           // by op: cost from its start to the end of the graph
        detail::Array<float> over_;          // by op: when it is over
        detail::Array<bool> tells_;          // by op: another queue waits for it
        detail::Array<std::uint32_t> ready_;
        detail::Array<float> busy_until_;  // by queue
        detail::Array<OpIndex> last_of_;   // by queue: what is waited for there
        detail::Array<DeviceUse> devices_;
    };
};

}  // namespace graphjit::inline v0
