// One queue for each device.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/queues.hpp>

namespace graphjit::inline v0 {

/// One compute queue a device. With a `window`, ops of the same kernel run one after another where they may: a
/// processor guesses where such calls go, and has their code at hand. No op is taken before more than `window` others
/// that were recorded before it, so that data stays where it was used last.
struct OneQueue {
    std::uint32_t window = 0;  // 0: as recorded

    /// Cost: ops x log(ops), + ops x window. Errors: out_of_memory.
    [[nodiscard]] Result<QueuePlan> operator()(const OpList& list, const Dag& dag) const noexcept {
        QueuePlan plan;
        Gathering gathering;
        if (!plan.start(list.size()) || (window != 0 && !gathering.build(list, dag))) return out_of_memory(list);
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            if (window == 0) {
                if (!put(list, static_cast<OpIndex>(i), plan)) return out_of_memory(list);
                continue;
            }
            // The first op that has not run may: all that it depends on was recorded before it.
            if (!gathering.may_run(i)) continue;
            for (std::uint32_t op = i; op < list.size() && op - i < window; op = gathering.next_alike(op)) {
                if (!gathering.may_run(op)) continue;
                gathering.run(op);
                if (!put(list, static_cast<OpIndex>(op), plan)) return out_of_memory(list);
            }
        }
        return plan;
    }

private:
    [[nodiscard]] static Error out_of_memory(const OpList& list) noexcept {
        return list.error(ErrorCode::out_of_memory, "no memory to plan queues in");
    }
    [[nodiscard]] static bool put(const OpList& list, OpIndex op, QueuePlan& plan) noexcept {
        QueueIndex queue = QueueIndex::none;
        if (!plan.find_or_add(list.op(op).device, QueueKind::compute, 0, queue)) return false;
        plan.put(op, queue);
        return true;
    }

    class Gathering {
    public:
        [[nodiscard]] bool build(const OpList& list, const Dag& dag) noexcept {
            const std::uint32_t count = list.size();
            detail::Array<std::uint32_t> ops;
            detail::Array<std::uint32_t> scratch;
            if (!ops.resize(count, 0) || !scratch.resize(count, 0) || !next_.resize(count, none) ||
                !open_.resize(count, 0) || !followers_.start(count)) {
                return false;
            }
            for (std::uint32_t i = 0; i < count; ++i) {
                ops[i] = i;
                const Span<const OpIndex> before = dag.dependencies(static_cast<OpIndex>(i));
                open_[i] = static_cast<std::uint32_t>(before.size());
                for (const OpIndex op : before) followers_.count(to_integer(op));
            }
            if (!followers_.place()) return false;
            const auto op = [&](std::uint32_t i) -> const OpRecord& { return list.op(static_cast<OpIndex>(i)); };
            for (std::uint32_t i = 0; i < count; ++i) {
                for (const OpIndex before : dag.dependencies(static_cast<OpIndex>(i))) {
                    followers_.add(to_integer(before), i);
                }
            }
            // Handles are addresses, which are not the same in each run: they say which ops are alike, and no more.
            detail::sort(ops.data(), scratch.data(), count,
                         [&](std::uint32_t a, std::uint32_t b) { return is_before(op(a), op(b)); });
            for (std::uint32_t i = 0; i + 1 < count; ++i) {
                if (!is_before(op(ops[i]), op(ops[i + 1]))) next_[ops[i]] = ops[i + 1];
            }
            return true;
        }

        [[nodiscard]] bool may_run(std::uint32_t op) const noexcept { return open_[op] == 0; }
        void run(std::uint32_t op) noexcept {
            open_[op] = none;
            for (const std::uint32_t follower : followers_[op]) --open_[follower];
        }
        /// The next op of the same kernel on the same device, as recorded.
        [[nodiscard]] std::uint32_t next_alike(std::uint32_t op) const noexcept { return next_[op]; }

    private:
        static constexpr std::uint32_t none = 0xffff'ffffu;

        [[nodiscard]] static bool is_before(const OpRecord& a, const OpRecord& b) noexcept {
            if (a.device != b.device) return a.device < b.device;
            if (a.kind != b.kind) return a.kind < b.kind;
            return a.handle < b.handle;
        }

        detail::Array<std::uint32_t> next_;     // by op
        detail::Array<std::uint32_t> open_;     // by op: dependencies that have not run; `none`: it has
        detail::Csr<std::uint32_t> followers_;  // by op
    };
};

}  // namespace graphjit::inline v0
