// Whether buffers given at replay share memory in a way the graph was not ordered for.
//
// A graph is planned as if its inputs were apart from each other and from all recorded memory. Where they are not, each
// read through one name must still come before each write through the other: then every op sees what it would have seen
// with buffers apart. Anything else is refused, unless `Recorder::may_alias` said so.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

/// Memory as it is bound.
struct BoundRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    [[nodiscard]] constexpr bool meets(const BoundRange& other) const noexcept {
        const std::uintptr_t first = begin < other.begin ? other.begin : begin;
        const std::uintptr_t last = end < other.end ? end : other.end;
        return first < last;  // never where one of them has no bytes
    }
};

class OverlapCheck {
public:
    struct Conflict {
        bool found = false;
        OpIndex op = OpIndex::none;        // the op that would go wrong
        OpIndex other_op = OpIndex::none;  // the op it is not ordered against
        MemoryIndex input = MemoryIndex::none;
        MemoryIndex other = MemoryIndex::none;
    };

    /// Cost: linear in accesses; nothing where a recording has no inputs. Errors: false when memory ran out.
    [[nodiscard]] bool build(const OpList& list, std::uint32_t dag_size) noexcept {
        const Span<const MemoryRecord> memories = list.memories();
        bool any = false;
        for (const MemoryRecord& memory : memories) any = any || memory.is_input;
        if (!any) return true;
        if (!list_accesses(list)) return false;
        for (const bool written : {true, false}) {  // the written ones first
            for (std::uint32_t i = 0; i < memories.size(); ++i) {
                if (accesses_[i].empty() || writes_[i] != written) continue;
                if (memories[i].is_input) {
                    places_[i] = static_cast<std::uint32_t>(inputs_.size());
                    if (!inputs_.push(i)) return false;
                } else if (memories[i].bytes != 0 && !allocations_.push({range_of(memories[i]), i})) {
                    return false;
                }
            }
            if (!written) continue;
            written_inputs_ = inputs_.size();
            if (!written_allocations_.copy_from(allocations_)) return false;
        }
        const std::size_t most = larger(inputs_.size(), allocations_.size());
        if (!bound_.resize(inputs_.size(), {}) || !verified_.resize(inputs_.size(), {}) || !scratch_.resize(most, {}) ||
            !order_.reserve(inputs_.size()) || !active_.reserve(inputs_.size()) || !visited_.resize(dag_size, 0) ||
            !stack_.reserve(dag_size)) {
            return false;
        }
        sort_by_address(allocations_);
        sort_by_address(written_allocations_);
        for (const std::uint32_t input : inputs_) order_.push_reserved({{}, input});
        return true;
    }

    [[nodiscard]] bool uses(MemoryIndex input) const noexcept { return !accesses_[to_integer(input)].empty(); }

    /// Where an input will be from now on, if the replay is accepted. Pre: `uses(input)`.
    void bind(MemoryIndex input, const BoundRange& range) noexcept { bound_of(to_integer(input)) = range; }

    /// Checks the `changed` inputs against everything that a write makes dangerous.
    /// Cost: few changed: a comparison per input that counts; many: a sort that finds what is in order already. Ops are
    ///       looked at only where memory is in fact shared.
    [[nodiscard]] Conflict find_conflict(const OpList& list, const Dag& dag, Span<const MemoryIndex> changed) noexcept {
        std::size_t comparisons = 0;
        for (const MemoryIndex input : changed) {
            const Conflict conflict = meets_allocations(list, dag, to_integer(input));
            if (conflict.found) return conflict;
            comparisons += others_of(to_integer(input));
        }
        return comparisons <= scan_limit * (changed.size() + inputs_.size()) ? scan(list, dag, changed)
                                                                             : sweep(list, dag);
    }

private:
    static constexpr std::size_t scan_limit = 8;  // comparisons that cost as much as one input's part of a sweep

    static constexpr std::uint32_t none = 0xffff'ffffu;

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
        std::uint32_t other = none;
        std::uintptr_t shift = 0;
        std::uintptr_t bytes = 0;
        std::uintptr_t other_bytes = 0;
        friend bool operator==(const Verified&, const Verified&) = default;
    };

    static bool begins_before(const Placed& a, const Placed& b) noexcept { return a.range.begin < b.range.begin; }
    template <class T>
    static T larger(T a, T b) noexcept {
        return a < b ? b : a;
    }
    static BoundRange range_of(const MemoryRecord& memory) noexcept {
        return {memory.address, memory.address + static_cast<std::uintptr_t>(memory.bytes)};
    }

    [[nodiscard]] BoundRange& bound_of(std::uint32_t input) noexcept { return bound_[places_[input]]; }
    /// Whom an input must be compared with: all inputs if it is written, else the written ones, which come first.
    [[nodiscard]] std::size_t others_of(std::uint32_t input) const noexcept {
        return writes_[input] ? inputs_.size() : written_inputs_;
    }

    template <class Visit>
    static void for_each_access(const OpList& list, Visit visit) noexcept {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            for (const AccessRecord& access : list.accesses(op)) visit(access, op);
        }
    }

    [[nodiscard]] bool list_accesses(const OpList& list) noexcept {
        const std::size_t memories = list.memories().size();
        if (!accesses_.start(memories) || !writes_.resize(memories, false) || !places_.resize(memories, none))
            return false;
        for_each_access(list, [&](const AccessRecord& access, OpIndex) { accesses_.count(to_integer(access.memory)); });
        if (!accesses_.place()) return false;
        for_each_access(list, [&](const AccessRecord& access, OpIndex op) {
            const std::uint32_t memory = to_integer(access.memory);
            accesses_.add(memory, {access, op});
            writes_[memory] = writes_[memory] || writes(access.access);
        });
        return true;
    }

    void sort_by_address(detail::Array<Placed>& placed) noexcept {
        detail::sort(placed.data(), scratch_.data(), placed.size(), begins_before);
        std::uintptr_t reach = 0;
        for (Placed& one : placed) {
            reach = larger(reach, one.range.end);
            one.reach = reach;
        }
    }

    [[nodiscard]] Conflict meets_allocations(const OpList& list, const Dag& dag, std::uint32_t input) noexcept {
        const BoundRange range = bound_of(input);
        const detail::Array<Placed>& placed = writes_[input] ? allocations_ : written_allocations_;
        // The first that begins at or behind the end, without a branch that would be guessed wrong.
        std::size_t first = 0;
        for (std::size_t left = placed.size(); left > 0;) {
            const std::size_t half = (left + 1) / 2;
            first += placed[first + half - 1].range.begin < range.end ? half : 0;
            left -= half;
        }
        for (; first > 0 && placed[first - 1].reach > range.begin; --first) {
            const Placed& allocation = placed[first - 1];
            if (!allocation.range.meets(range)) continue;
            const Conflict conflict = compare(list, dag, input, allocation.memory, allocation.range);
            if (conflict.found) return conflict;
        }
        return {};
    }

    [[nodiscard]] Conflict scan(const OpList& list, const Dag& dag, Span<const MemoryIndex> changed) noexcept {
        for (const MemoryIndex index : changed) {
            const std::uint32_t input = to_integer(index);
            const BoundRange range = bound_of(input);
            const std::size_t others = others_of(input);
            std::size_t meeting = 0;
            for (std::size_t i = 0; i < others; ++i) meeting += bound_[i].meets(range) ? 1u : 0u;
            const std::size_t itself = places_[input] < others && range.begin < range.end ? 1 : 0;
            if (meeting == itself) continue;
            for (std::size_t i = 0; i < others; ++i) {
                if (inputs_[i] == input || !bound_[i].meets(range)) continue;
                const Conflict conflict = compare(list, dag, input, inputs_[i], bound_[i]);
                if (conflict.found) return conflict;
            }
        }
        return {};
    }

    [[nodiscard]] Conflict sweep(const OpList& list, const Dag& dag) noexcept {
        for (Placed& placed : order_) placed.range = bound_of(placed.memory);
        detail::sort(order_.data(), scratch_.data(), order_.size(), begins_before);
        active_.clear();
        for (const Placed& placed : order_) {
            std::size_t still = 0;
            for (const std::uint32_t other : active_) {
                const BoundRange other_range = bound_of(other);
                if (other_range.end <= placed.range.begin) continue;
                active_[still++] = other;
                const Conflict conflict = compare(list, dag, placed.memory, other, other_range);
                if (conflict.found) return conflict;
            }
            active_.truncate(still);
            active_.push_reserved(placed.memory);
        }
        return {};
    }

    /// The two memories share bytes: do ops, too, and are they ordered as they would be apart?
    [[nodiscard]] Conflict compare(const OpList& list, const Dag& dag, std::uint32_t input, std::uint32_t other,
                                   const BoundRange& other_range) noexcept {
        if (!writes_[input] && !writes_[other]) return {};
        const BoundRange range = bound_of(input);
        // What matters is how the two lie to each other: the same pair at other addresses is as harmless.
        const Verified now{other, other_range.begin - range.begin, range.end - range.begin,
                           other_range.end - other_range.begin};
        if (verified_[places_[input]] == now || may_alias(list, input, other)) return {};
        Conflict conflict = late_reads(input, other, range, other_range);
        if (!conflict.found) conflict = late_reads(other, input, other_range, range);
        if (!conflict.found) conflict = unordered(dag, input, other, range, other_range);
        if (!conflict.found) conflict = unordered(dag, other, input, other_range, range);
        if (conflict.found) {
            conflict.input = static_cast<MemoryIndex>(input);
            conflict.other = static_cast<MemoryIndex>(other);
        } else {
            verified_[places_[input]] = now;
        }
        return conflict;
    }

    [[nodiscard]] static bool may_alias(const OpList& list, std::uint32_t a, std::uint32_t b) noexcept {
        const AliasRecord pair = a < b ? AliasRecord{static_cast<MemoryIndex>(a), static_cast<MemoryIndex>(b)}
                                       : AliasRecord{static_cast<MemoryIndex>(b), static_cast<MemoryIndex>(a)};
        return list.may_alias(pair);
    }

    static BoundRange bytes(const BoundRange& memory, const OpAccess& use) noexcept {
        return {memory.begin + static_cast<std::uintptr_t>(use.access.begin),
                memory.begin + static_cast<std::uintptr_t>(use.access.end)};
    }

    /// A read through `reader` of what an earlier op, or the same one, wrote through `writer`.
    [[nodiscard]] Conflict late_reads(std::uint32_t reader, std::uint32_t writer, const BoundRange& reader_range,
                                      const BoundRange& writer_range) const noexcept {
        if (!writes_[writer]) return {};
        for (const OpAccess& write : accesses_[writer]) {
            if (!writes(write.access.access)) continue;
            const BoundRange written = bytes(writer_range, write);
            for (const OpAccess& read : accesses_[reader]) {
                if (read.op < write.op || !reads(read.access.access)) continue;
                if (bytes(reader_range, read).meets(written)) return {true, read.op, write.op};
            }
        }
        return {};
    }

    /// A write through `later` that nothing orders behind an earlier access through `earlier`.
    /// Cost: one search of the graph for each write that has such an access.
    [[nodiscard]] Conflict unordered(const Dag& dag, std::uint32_t earlier, std::uint32_t later,
                                     const BoundRange& earlier_range, const BoundRange& later_range) noexcept {
        if (!writes_[later]) return {};
        for (const OpAccess& write : accesses_[later]) {
            if (!writes(write.access.access)) continue;
            const BoundRange written = bytes(later_range, write);
            bool searched = false;
            for (const OpAccess& before : accesses_[earlier]) {
                if (before.op > write.op || !bytes(earlier_range, before).meets(written)) continue;
                if (before.op == write.op) return {true, write.op, before.op};
                if (!searched) search(dag, write.op);
                searched = true;
                if (visited_[to_integer(before.op)] != visit_) return {true, write.op, before.op};
            }
        }
        return {};
    }

    /// Marks all ops that `to` comes after in every order the graph allows.
    void search(const Dag& dag, OpIndex to) noexcept {
        ++visit_;
        stack_.clear();
        stack_.push_reserved(to);  // room for every op was reserved in build
        while (!stack_.empty()) {
            const OpIndex at = stack_.back();
            stack_.truncate(stack_.size() - 1);
            for (const OpIndex before : dag.dependencies(at)) {
                if (visited_[to_integer(before)] == visit_) continue;
                visited_[to_integer(before)] = visit_;
                stack_.push_reserved(before);
            }
        }
    }

    detail::Csr<OpAccess> accesses_;       // by memory
    detail::Array<bool> writes_;           // by memory: whether any op writes it
    detail::Array<std::uint32_t> places_;  // by memory: of a used input its place in the next three
    detail::Array<std::uint32_t> inputs_;  // the used ones; those that are written come first
    detail::Array<BoundRange> bound_;
    detail::Array<Verified> verified_;  // the last overlap that was found harmless
    std::size_t written_inputs_ = 0;
    detail::Array<Placed> allocations_;          // by address
    detail::Array<Placed> written_allocations_;  // by address
    detail::Array<Placed> order_;                // inputs by address, as of the last sweep
    detail::Array<Placed> scratch_;
    detail::Array<std::uint32_t> active_;
    detail::Array<std::uint64_t> visited_;  // by op: the last search that came by
    detail::Array<OpIndex> stack_;
    std::uint64_t visit_ = 0;
};

}  // namespace graphjit::inline v0
