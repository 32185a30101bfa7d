// Which queue each op goes to.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

enum class QueueIndex : std::uint32_t { none = 0xffff'ffffu };

enum class QueueKind : std::uint8_t { compute, copy };

/// What a queue keeps by itself of the order in which ops were put in.
enum class QueueOrder : std::uint8_t {
    kept,        // an op begins when the one before is over
    chains_two,  // the same, but only for an op that waits for no signal; one that does may overtake the one before
    not_kept,    // never: an op must wait for the one before like for any other
};

struct QueueRecord {
    DeviceId device = {};
    QueueKind kind = QueueKind::compute;
    std::uint32_t which = 0;  // of the device's queues of this kind
};

/// The queues of a graph and the order in which ops are put into them: a topological one, and per queue its own.
class QueuePlan {
public:
    [[nodiscard]] Span<const QueueRecord> queues() const noexcept { return queues_; }
    [[nodiscard]] const QueueRecord& queue(QueueIndex queue) const noexcept { return queues_[to_integer(queue)]; }
    [[nodiscard]] QueueIndex queue_of(OpIndex op) const noexcept { return queue_of_[to_integer(op)]; }
    /// All ops, in the order of submission.
    [[nodiscard]] Span<const OpIndex> order() const noexcept { return order_; }

    /// Errors: false when memory ran out, here and below.
    [[nodiscard]] bool start(std::uint32_t ops) noexcept {
        return queue_of_.resize(ops, QueueIndex::none) && order_.reserve(ops);
    }
    /// Puts an op behind all others. Pre: once per op; all that it depends on was put before.
    void put(OpIndex op, QueueIndex queue) noexcept {
        queue_of_[to_integer(op)] = queue;
        order_.push_reserved(op);
    }
    /// The queue of this kind on this device, the `which`-th if there are several; made when it is first asked for.
    [[nodiscard]] bool find_or_add(DeviceId device, QueueKind kind, std::uint32_t which, QueueIndex& found) noexcept {
        for (std::uint32_t i = 0; i < queues_.size(); ++i) {
            if (queues_[i].device != device || queues_[i].kind != kind || queues_[i].which != which) continue;
            found = static_cast<QueueIndex>(i);
            return true;
        }
        found = static_cast<QueueIndex>(queues_.size());
        return queues_.push({device, kind, which});
    }

private:
    detail::Array<QueueRecord> queues_;
    detail::Array<QueueIndex> queue_of_;  // by op
    detail::Array<OpIndex> order_;
};

/// One compute queue and one copy queue a device, each made when something needs it. A copy goes to the copy queue of
/// the device that holds its source, or of the one that holds its destination where `has_copy_queue` says no for the
/// source's; where both have none, to the compute queue of the source's device.
struct ByDevice {
    /// Errors: out_of_memory.
    template <class HasCopyQueue>
    [[nodiscard]] Result<QueuePlan> operator()(const OpList& list, HasCopyQueue has_copy_queue) const noexcept {
        QueuePlan plan;
        if (!plan.start(list.size())) return list.error(ErrorCode::out_of_memory, "no memory to plan queues in");
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            DeviceId device = list.op(op).device;
            QueueKind kind = QueueKind::compute;
            if (list.op(op).kind == OpKind::copy || list.op(op).kind == OpKind::fill) {
                const Span<const AccessRecord> accesses = list.accesses(op);
                if (!accesses.empty()) device = list.memory(accesses[accesses.size() - 1].memory).device;
                for (std::size_t a = accesses.size(); a-- > 0 && kind == QueueKind::compute;) {  // the source is last
                    const DeviceId holder = list.memory(accesses[a].memory).device;
                    if (!has_copy_queue(holder)) continue;
                    device = holder;
                    kind = QueueKind::copy;
                }
            }
            QueueIndex queue = QueueIndex::none;
            if (!plan.find_or_add(device, kind, 0, queue)) {
                return list.error(ErrorCode::out_of_memory, "no memory to plan queues in");
            }
            plan.put(op, queue);
        }
        return plan;
    }
};

}  // namespace graphjit::inline v0
