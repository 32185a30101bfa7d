// Whether buffers given at replay share memory in a way the graph was not ordered for.
//
// A graph is planned as if its inputs were apart from each other and from all recorded memory. Where they are not, each
// read through one name must still come before each write through the other: then every op sees what it would have seen
// with buffers apart. Anything else is refused, unless `Recorder::may_alias` said so.
#pragma once

#include <graphjit/base/sort.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/record/op_list.hpp>
#include <graphjit/run/csr.hpp>

namespace graphjit::inline v0 {

/// Memory as it is bound.
struct BoundRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    [[nodiscard]] constexpr bool meets(const BoundRange& other) const noexcept {
        return begin < other.end && other.begin < end;
    }
};

class OverlapCheck {
public:
    struct Conflict {
        bool found = false;
        OpIndex op = OpIndex::none;  // the op that would go wrong
        MemoryIndex input = MemoryIndex::none;
    };

    /// Cost: linear in accesses; nothing where a recording has no inputs. Errors: false when memory ran out.
    [[nodiscard]] bool build(const OpList& list, std::uint32_t dag_size) noexcept {
        const Span<const MemoryRecord> memories = list.memories();
        for (std::uint32_t i = 0; i < memories.size(); ++i) {
            if (memories[i].is_input && !inputs_.push(i)) return false;
        }
        if (inputs_.empty()) return true;
        if (!accesses_.start(memories.size())) return false;
        for_each_access(list, [&](const AccessRecord& access, OpIndex) { accesses_.count(to_integer(access.memory)); });
        if (!accesses_.place()) return false;
        for_each_access(list, [&](const AccessRecord& access, OpIndex op) {
            accesses_.add(to_integer(access.memory), {access, op});
        });
        std::size_t used = 0;
        for (const std::uint32_t input : inputs_) {
            if (!accesses_[input].empty()) inputs_[used++] = input;
        }
        inputs_.truncate(used);
        for (std::uint32_t i = 0; i < memories.size(); ++i) {
            const bool is_allocation = !memories[i].is_input && memories[i].bytes != 0;
            if (is_allocation && !accesses_[i].empty() && !allocations_.push({range_of(memories[i]), i})) return false;
        }
        if (!bound_.resize(memories.size(), {}) || !writes_.resize(memories.size(), false) ||
            !verified_.resize(memories.size(), {}) ||
            !scratch_.resize(larger(inputs_.size(), allocations_.size()), {}) || !order_.reserve(inputs_.size()) ||
            !active_.reserve(inputs_.size()) || !visited_.resize(dag_size, 0) || !stack_.reserve(dag_size)) {
            return false;
        }
        for (std::uint32_t i = 0; i < memories.size(); ++i) {
            for (const OpAccess& use : accesses_[i]) writes_[i] = writes_[i] || writes(use.access.access);
        }
        detail::sort(allocations_.data(), scratch_.data(), allocations_.size(), begins_before);
        std::uintptr_t reach = 0;
        for (Placed& allocation : allocations_) {
            reach = larger(reach, allocation.range.end);
            allocation.reach = reach;
        }
        for (const std::uint32_t input : inputs_) (void)order_.push({{}, input});  // reserved above
        return true;
    }

    [[nodiscard]] bool active() const noexcept { return !inputs_.empty(); }
    [[nodiscard]] bool uses(MemoryIndex input) const noexcept { return !accesses_[to_integer(input)].empty(); }

    /// Where an input will be from now on, if the replay is accepted.
    void bind(MemoryIndex input, const BoundRange& range) noexcept { bound_[to_integer(input)] = range; }

    /// Checks the `changed` inputs against everything.
    /// Cost: few changed: a comparison per input; many: a sort that finds what is in order already. Ops are looked at
    ///       only where memory is in fact shared.
    [[nodiscard]] Conflict find_conflict(const OpList& list, const Dag& dag, Span<const MemoryIndex> changed) noexcept {
        for (const MemoryIndex input : changed) {
            const Conflict conflict = meets_allocations(list, dag, to_integer(input));
            if (conflict.found) return conflict;
        }
        return changed.size() <= scan_limit ? scan(list, dag, changed) : sweep(list, dag);
    }

private:
    static constexpr std::size_t scan_limit = 4;

    struct OpAccess {
        AccessRecord access;
        OpIndex op = OpIndex::none;
    };
    struct Placed {
        BoundRange range;
        std::uint32_t memory = 0;
        std::uintptr_t reach = 0;  // of allocations: the furthest end so far
    };
    struct Verified {
        std::uint32_t other = 0xffff'ffffu;
        BoundRange range;
        BoundRange other_range;
    };

    static bool begins_before(const Placed& a, const Placed& b) noexcept { return a.range.begin < b.range.begin; }
    template <class T>
    static T larger(T a, T b) noexcept {
        return a < b ? b : a;
    }
    static BoundRange range_of(const MemoryRecord& memory) noexcept {
        return {memory.address, memory.address + static_cast<std::uintptr_t>(memory.bytes)};
    }

    template <class Visit>
    static void for_each_access(const OpList& list, Visit visit) noexcept {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            for (const AccessRecord& access : list.accesses(static_cast<OpIndex>(i)))
                visit(access, static_cast<OpIndex>(i));
        }
    }

    [[nodiscard]] Conflict meets_allocations(const OpList& list, const Dag& dag, std::uint32_t input) noexcept {
        const BoundRange range = bound_[input];
        std::size_t low = 0;
        std::size_t high = allocations_.size();
        while (low < high) {  // the first that begins at or behind the end
            const std::size_t middle = (low + high) / 2;
            if (allocations_[middle].range.begin < range.end) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; low > 0 && allocations_[low - 1].reach > range.begin; --low) {
            const Placed& allocation = allocations_[low - 1];
            if (!allocation.range.meets(range)) continue;
            const Conflict conflict = compare(list, dag, input, allocation.memory, allocation.range);
            if (conflict.found) return conflict;
        }
        return {};
    }

    [[nodiscard]] Conflict scan(const OpList& list, const Dag& dag, Span<const MemoryIndex> changed) noexcept {
        for (const MemoryIndex index : changed) {
            const std::uint32_t input = to_integer(index);
            for (const std::uint32_t other : inputs_) {
                if (other == input || !bound_[other].meets(bound_[input])) continue;
                const Conflict conflict = compare(list, dag, input, other, bound_[other]);
                if (conflict.found) return conflict;
            }
        }
        return {};
    }

    [[nodiscard]] Conflict sweep(const OpList& list, const Dag& dag) noexcept {
        for (Placed& placed : order_) placed.range = bound_[placed.memory];
        detail::sort(order_.data(), scratch_.data(), order_.size(), begins_before);
        active_.clear();
        for (const Placed& placed : order_) {
            std::size_t still = 0;
            for (const std::uint32_t other : active_) {
                if (bound_[other].end <= placed.range.begin) continue;
                active_[still++] = other;
                const Conflict conflict = compare(list, dag, placed.memory, other, bound_[other]);
                if (conflict.found) return conflict;
            }
            active_.truncate(still);
            (void)active_.push(placed.memory);  // reserved in build
        }
        return {};
    }

    /// The two memories share bytes: do ops, too, and are they ordered as they would be apart?
    [[nodiscard]] Conflict compare(const OpList& list, const Dag& dag, std::uint32_t input, std::uint32_t other,
                                   const BoundRange& other_range) noexcept {
        if (!writes_[input] && !writes_[other]) return {};
        const BoundRange range = bound_[input];
        Verified& verified = verified_[input];
        if (verified.other == other && verified.range.begin == range.begin && verified.range.end == range.end &&
            verified.other_range.begin == other_range.begin && verified.other_range.end == other_range.end) {
            return {};
        }
        for (const AliasRecord& alias : list.aliases()) {
            const std::uint32_t a = to_integer(alias.a);
            const std::uint32_t b = to_integer(alias.b);
            if ((a == input && b == other) || (a == other && b == input)) return {};
        }
        for (const OpAccess& mine : accesses_[input]) {
            for (const OpAccess& theirs : accesses_[other]) {
                if (!writes(mine.access.access) && !writes(theirs.access.access)) continue;
                if (!bytes(range, mine).meets(bytes(other_range, theirs)) || ordered(dag, mine, theirs)) continue;
                const std::uint32_t culprit = list.memories()[input].is_input ? input : other;
                return {true, mine.op, static_cast<MemoryIndex>(culprit)};
            }
        }
        verified = {other, range, other_range};
        return {};
    }

    static BoundRange bytes(const BoundRange& memory, const OpAccess& use) noexcept {
        return {memory.begin + static_cast<std::uintptr_t>(use.access.begin),
                memory.begin + static_cast<std::uintptr_t>(use.access.end)};
    }

    [[nodiscard]] bool ordered(const Dag& dag, const OpAccess& mine, const OpAccess& theirs) noexcept {
        if (mine.op == theirs.op) return false;
        const OpAccess& first = mine.op < theirs.op ? mine : theirs;
        const OpAccess& second = mine.op < theirs.op ? theirs : mine;
        // What was written under one name would be read under the other.
        if (writes(first.access.access) && reads(second.access.access)) return false;
        return reaches(dag, first.op, second.op);
    }

    /// Whether `to` comes after `from` in every order the graph allows.
    [[nodiscard]] bool reaches(const Dag& dag, OpIndex from, OpIndex to) noexcept {
        ++visit_;
        stack_.clear();
        (void)stack_.push(to);  // reserved for every op in build
        while (!stack_.empty()) {
            const OpIndex at = stack_.back();
            stack_.truncate(stack_.size() - 1);
            for (const OpIndex before : dag.dependencies(at)) {
                if (before == from) return true;
                if (before < from || visited_[to_integer(before)] == visit_) continue;
                visited_[to_integer(before)] = visit_;
                (void)stack_.push(before);
            }
        }
        return false;
    }

    detail::Array<std::uint32_t> inputs_;  // the used ones
    detail::Csr<OpAccess> accesses_;       // by memory
    detail::Array<Placed> allocations_;    // by address
    detail::Array<BoundRange> bound_;      // by memory
    detail::Array<bool> writes_;           // by memory: whether any op writes it
    detail::Array<Verified> verified_;     // by memory: the last overlap that was found harmless
    detail::Array<Placed> order_;          // inputs by address, as of the last sweep
    detail::Array<Placed> scratch_;
    detail::Array<std::uint32_t> active_;
    detail::Array<std::uint64_t> visited_;  // by op: the last search that came by
    detail::Array<OpIndex> stack_;
    std::uint64_t visit_ = 0;
};

}  // namespace graphjit::inline v0
