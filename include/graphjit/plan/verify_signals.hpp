// The oracle of signal plans: says whether queues and waits alone keep the order that memory needs, without using the
// clocks it judges. Slow on purpose, for tests.
#pragma once

#include <graphjit/plan/signals.hpp>
#include <graphjit/plan/verify.hpp>

namespace graphjit::inline v0 {

struct SignalVerdict {
    enum class Kind : std::uint8_t {
        right,
        not_ordered,    // `a` and `b` conflict, and no wait or queue orders them
        not_signalled,  // `b` waits for `a`, which does not signal, or comes after `b`, or is not there at all
        counter_jumps,  // two ops of a queue signal, and the later one may do so first
        not_ready,      // `a` touches a device that may still be busy with earlier work
        not_finished,   // `a` may still run when a device it touches goes on with later work
        needless_wait,  // a wait of `b` (or of the end of a device: none) could be left out
        out_of_memory,
    };
    Kind kind = Kind::right;
    OpIndex a = OpIndex::none;
    OpIndex b = OpIndex::none;

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return kind == Kind::right; }
};

/// Judges a signal plan.
/// Cost: ops² x accesses², and for every wait ops² + ops x waits; 2 ops² bytes of memory.
class SignalOracle {
public:
    SignalOracle(const OpList& list, const QueuePlan& queues, const SignalPlan& plan, QueueOrder compute_order) noexcept
        : list_(list), queues_(queues), plan_(plan), order_(compute_order) {}

    [[nodiscard]] SignalVerdict verify() noexcept {
        using Kind = SignalVerdict::Kind;
        if (!find_conflicts()) return {Kind::out_of_memory};
        if (const SignalVerdict sound = judge({}); !sound) return sound;
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            for (std::uint32_t w = 0; w < plan_.waits(op).size(); ++w) {
                if (judge({Left::wait, i, w})) return {Kind::needless_wait, op_at(plan_.waits(op)[w]), op};
            }
            for (std::uint32_t w = 0; w < plan_.ready_waits(op).size(); ++w) {
                if (judge({Left::ready_wait, i, w})) return {Kind::needless_wait, OpIndex::none, op};
            }
        }
        for (std::uint32_t d = 0; d < plan_.devices().size(); ++d) {
            for (std::uint32_t w = 0; w < plan_.final_waits(d).size(); ++w) {
                if (judge({Left::final_wait, d, w})) return {Kind::needless_wait, op_at(plan_.final_waits(d)[w])};
            }
        }
        return {};
    }

private:
    /// The one wait that is left out to see whether it is missed.
    struct Left {
        enum Kind : std::uint8_t { nothing, wait, ready_wait, final_wait } kind = nothing;
        std::uint32_t row = 0;
        std::uint32_t index = 0;
        [[nodiscard]] bool out(Kind k, std::uint32_t r, std::uint32_t i) const noexcept {
            return kind == k && row == r && index == i;
        }
    };

    [[nodiscard]] OpIndex op_at(const Wait& wait) const noexcept {
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            if (queues_.queue_of(op) == wait.queue && plan_.position(op) == wait.count) return op;
        }
        return OpIndex::none;
    }
    /// The op that was put into the queue last, of the first `places` in order of submission.
    [[nodiscard]] OpIndex last_on(QueueIndex queue, std::size_t places) const noexcept {
        while (places-- > 0) {
            if (queues_.queue_of(queues_.order()[places]) == queue) return queues_.order()[places];
        }
        return OpIndex::none;
    }
    [[nodiscard]] bool keeps_order(QueueIndex queue) const noexcept {
        return queues_.queue(queue).kind == QueueKind::copy || order_ == QueueOrder::kept;
    }
    [[nodiscard]] bool touches(std::uint32_t op, DeviceId device) const noexcept {
        for (const AccessRecord& access : list_.accesses(static_cast<OpIndex>(op))) {
            if (list_.memory(access.memory).device == device) return true;
        }
        return false;
    }
    [[nodiscard]] bool* row(std::uint32_t op) noexcept { return before_.data() + std::size_t{op} * list_.size(); }
    /// Whether the op is there, was put in before the one that is looked at, and signals.
    [[nodiscard]] bool signals_before(OpIndex op) noexcept {
        return op != OpIndex::none && row(to_integer(op))[to_integer(op)] && plan_.signals(op);
    }
    void follow(bool* into, std::uint32_t op) noexcept {
        into[op] = true;
        for (std::uint32_t a = 0; a < list_.size(); ++a) into[a] = into[a] || row(op)[a];
    }

    [[nodiscard]] bool find_conflicts() noexcept {
        const std::uint32_t count = list_.size();
        conflicts_.clear();
        if (!conflicts_.resize(std::size_t{count} * count, false)) return false;
        for (std::uint32_t b = 0; b < count; ++b) {
            for (std::uint32_t a = 0; a < b; ++a) {
                conflicts_[std::size_t{b} * count + a] = detail::oracle_conflict(list_, static_cast<OpIndex>(a),
                                                                                 static_cast<OpIndex>(b));
            }
        }
        return true;
    }

    [[nodiscard]] SignalVerdict judge(Left left) noexcept {
        using Kind = SignalVerdict::Kind;
        const std::uint32_t count = list_.size();
        before_.clear();
        if (!before_.resize(std::size_t{count} * count, false) || !end_.resize(count, false))
            return {Kind::out_of_memory};
        for (std::size_t place = 0; place < queues_.order().size(); ++place) {
            const OpIndex op = queues_.order()[place];
            const std::uint32_t b = to_integer(op);
            const QueueIndex queue = queues_.queue_of(op);
            const OpIndex before = last_on(queue, place);
            // A queue that chains two does so only for an op that has nothing else to wait for.
            const bool kept = keeps_order(queue) || (order_ == QueueOrder::chains_two && count_waits(op, left) == 0);
            if (before != OpIndex::none && kept) follow(row(b), to_integer(before));
            for (std::uint32_t w = 0; w < plan_.waits(op).size(); ++w) {
                if (left.out(Left::wait, b, w)) continue;
                const OpIndex a = op_at(plan_.waits(op)[w]);
                if (!signals_before(a)) return {Kind::not_signalled, a, op};
                follow(row(b), to_integer(a));
            }
            row(b)[b] = true;
        }
        for (std::uint32_t b = 0; b < count; ++b) {
            for (std::uint32_t a = 0; a < b; ++a) {
                const auto op_a = static_cast<OpIndex>(a);
                const auto op_b = static_cast<OpIndex>(b);
                if (!row(b)[a] && conflicts_[std::size_t{b} * count + a]) return {Kind::not_ordered, op_a, op_b};
                const bool ordered = row(b)[a] || row(a)[b];
                if (!ordered && queues_.queue_of(op_a) == queues_.queue_of(op_b))
                    return {Kind::counter_jumps, op_a, op_b};
            }
        }
        for (const DeviceId device : plan_.devices()) {
            if (const SignalVerdict ready = check_ready(device, left); !ready) return ready;
        }
        for (std::uint32_t d = 0; d < plan_.devices().size(); ++d) {
            if (const SignalVerdict finished = check_finished(d, left); !finished) return finished;
        }
        return {};
    }

    [[nodiscard]] std::uint32_t count_waits(OpIndex op, Left left) const noexcept {
        const auto waits = static_cast<std::uint32_t>(plan_.waits(op).size() + plan_.ready_waits(op).size());
        const bool one_less = left.kind != Left::nothing && left.kind != Left::final_wait && left.row == to_integer(op);
        return one_less ? waits - 1 : waits;
    }

    /// Whether the op itself waits until the device is ready: on the queue that awaits its timeline, or by a wait.
    [[nodiscard]] bool waits_ready(std::uint32_t op, std::size_t device, Left left) const noexcept {
        if (queues_.queue_of(static_cast<OpIndex>(op)) == plan_.timeline_queue(device)) return true;
        const Span<const DeviceId> waits = plan_.ready_waits(static_cast<OpIndex>(op));
        for (std::uint32_t w = 0; w < waits.size(); ++w) {
            if (waits[w] == plan_.devices()[device] && !left.out(Left::ready_wait, op, w)) return true;
        }
        return false;
    }
    [[nodiscard]] SignalVerdict check_ready(DeviceId device, Left left) noexcept {
        std::size_t place = 0;
        while (plan_.devices()[place] != device) ++place;
        for (std::uint32_t b = 0; b < list_.size(); ++b) {
            if (!touches(b, device)) continue;
            bool ready = waits_ready(b, place, left);
            for (std::uint32_t a = 0; a < list_.size() && !ready; ++a) ready = row(b)[a] && waits_ready(a, place, left);
            if (!ready) return {SignalVerdict::Kind::not_ready, static_cast<OpIndex>(b)};
        }
        return {};
    }

    [[nodiscard]] SignalVerdict check_finished(std::uint32_t device, Left left) noexcept {
        for (bool& ended : end_) ended = false;
        const QueueIndex queue = plan_.timeline_queue(device);
        std::size_t waits = plan_.final_waits(device).size();
        if (left.kind == Left::final_wait && left.row == device) --waits;
        const OpIndex last = last_on(queue, queues_.order().size());
        const bool kept = keeps_order(queue) || (order_ == QueueOrder::chains_two && waits == 0);
        if (last != OpIndex::none && kept) follow(end_.data(), to_integer(last));
        for (std::uint32_t w = 0; w < plan_.final_waits(device).size(); ++w) {
            if (left.out(Left::final_wait, device, w)) continue;
            const OpIndex a = op_at(plan_.final_waits(device)[w]);
            if (!signals_before(a)) return {SignalVerdict::Kind::not_signalled, a};
            follow(end_.data(), to_integer(a));
        }
        for (std::uint32_t a = 0; a < list_.size(); ++a) {
            const bool own = queues_.queue(queues_.queue_of(static_cast<OpIndex>(a))).device == plan_.devices()[device];
            if ((own || touches(a, plan_.devices()[device])) && !end_[a]) {
                return {SignalVerdict::Kind::not_finished, static_cast<OpIndex>(a)};
            }
        }
        return {};
    }

    const OpList& list_;
    const QueuePlan& queues_;
    const SignalPlan& plan_;
    QueueOrder order_;
    detail::Array<bool> conflicts_;  // conflicts_[b * ops + a]: the later b conflicts with a
    detail::Array<bool> before_;     // before_[b * ops + a]: a is over when b begins; of b itself: it was put in
    detail::Array<bool> end_;        // by op: it is over when the device's timeline advances
};

}  // namespace graphjit::inline v0
