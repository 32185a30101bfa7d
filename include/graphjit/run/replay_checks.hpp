// What a replay checks before it writes anything.
#pragma once

#include <graphjit/base/config.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/record/handles.hpp>
#include <graphjit/run/blame.hpp>
#include <graphjit/run/contract.hpp>
#include <graphjit/run/dims_check.hpp>
#include <graphjit/run/expr_state.hpp>
#include <graphjit/run/overlap.hpp>
#include <graphjit/run/patch_table.hpp>
#include <graphjit/run/slot_state.hpp>

namespace graphjit::inline v0 {

/// What a graph has done so far.
struct ReplayCounters {
    std::uint64_t replays = 0;
    std::uint64_t patches = 0;  // places written
    std::uint64_t expr_evaluations = 0;
    std::uint64_t native_updates = 0;  // ops the backend was told of
};

/// The slots of a graph and the checks on what they are about to become. All works on values that are not yet in the
/// executable, so a refusal leaves nothing to take back.
/// `Derived` has `block_of(OpIndex)`, `limits()`, `is_told(const OpRecord&, const Use&)` and
/// `reaches(DeviceId recorded, DeviceId given)`.
template <class Derived>
class ReplayChecks {
protected:
    ReplayChecks(OpList&& list, Dag&& dag) noexcept : list_(std::move(list)), dag_(std::move(dag)) {}
    ReplayChecks(ReplayChecks&&) noexcept = default;
    ReplayChecks& operator=(ReplayChecks&&) noexcept = default;

    /// Pre: blocks are where they will stay. Errors: false when memory ran out.
    [[nodiscard]] bool build_checks() noexcept {
        const auto block_of = [this](OpIndex op) { return derived().block_of(op); };
        const auto is_told = [this](const Use& use) { return derived().is_told(list_.op(use.op), use); };
        return table_.build(list_, derived().limits(), block_of, is_told) && state_.build(list_) &&
               exprs_.build(list_.exprs()) && overlap_.build(list_, dag_.size()) && blame_.build(list_) &&
               inputs_.reserve(list_.slots().size()) && symbols_.reserve(list_.uses().size()) &&
               symbol_round_.resize(list_.uses().size(), 0) && list_aliased_copies();
    }

    [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }

    [[nodiscard]] Status validate() noexcept {
        if (foreign_handle_) {
            foreign_handle_ = false;
            return list_.error(ErrorCode::foreign_handle, "a value was set through a slot of another recording");
        }
        if (!complete_) {
            if (Status status = check_bound(); !status.ok()) return status;
        }
        inputs_.clear();
        symbols_.clear();
        ++round_;
        for (const std::uint32_t i : state_.dirty()) {
            const auto slot = static_cast<SlotIndex>(i);
            const SlotRecord& record = list_.slot(slot);
            if (!state_.changed(slot, record.bytes)) {
                if (record.kind == SlotKind::input) bind(slot);  // a refused replay may have bound something else
                continue;
            }
            if (record.kind == SlotKind::input) {
                if (Status status = check_input(slot); !status.ok()) return status;
            } else if (record.kind == SlotKind::variable) {
                if (Status status = check_variable(slot); !status.ok()) return status;
            }
        }
        if (Status status = check_exprs(); !status.ok()) return status;
        for (const std::uint32_t use : symbols_) {
            if (Status status = check_symbol(list_.uses()[use]); !status.ok()) return status;
        }
        if (!inputs_.empty()) {
            if (Status status = check_overlap(); !status.ok()) return status;
        }
        return check_copies();
    }

    /// What a place would hold if this replay is accepted.
    [[nodiscard]] std::int64_t pending_value(const Use& use) const noexcept {
        switch (use.kind) {
            case UseKind::pointer: return state_.pending(use.slot).value + use.add;
            case UseKind::symbolic_pointer: return base_of(use) + use.add + exprs_.current(use.expr);
            case UseKind::integer:
            case UseKind::dim: return exprs_.current(use.expr);
            case UseKind::value: break;
        }
        return 0;
    }
    [[nodiscard]] std::int64_t base_of(const Use& use) const noexcept {
        if (use.slot != SlotIndex::none) return state_.pending(use.slot).value;
        return static_cast<std::int64_t>(list_.memory(use.memory).address);
    }
    /// The field of a block: what a use will put there, or what was recorded.
    [[nodiscard]] std::int64_t pending_field(OpIndex op, std::uint32_t offset, std::int64_t recorded) const noexcept {
        const Span<const Use> uses = list_.uses();
        // Uses are in the order of ops.
        std::size_t i = detail::first_not(uses.data(), uses.size(), [op](const Use& use) { return use.op < op; });
        for (; i < uses.size() && uses[i].op == op; ++i) {
            if (uses[i].offset == offset) return pending_value(uses[i]);
        }
        return recorded;
    }

    OpList list_;
    Dag dag_;
    PatchTable table_;
    SlotState state_;
    ExprState exprs_;
    detail::Array<std::uint32_t> symbols_;  // symbolic pointers that change in this replay
    ReplayCounters counters_;
    std::uint64_t round_ = 0;
    bool foreign_handle_ = false;
    bool complete_ = false;  // every slot that is used has been set

private:
    [[nodiscard]] GRAPHJIT_COLD Status refuse(ErrorCode code, const char* sentence, OpIndex op, SlotIndex slot,
                                              std::int64_t value, std::int64_t limit, const char* value_is = "given",
                                              const char* limit_is = "limit") noexcept {
        Error error = list_.error(code, sentence, op, slot);
        error.has_value = true;
        error.value = value;
        error.limit = limit;
        error.value_is = value_is;
        error.limit_is = limit_is;
        return error;
    }
    [[nodiscard]] GRAPHJIT_COLD Status refuse(ErrorCode code, const char* sentence, OpIndex op,
                                              SlotIndex slot) noexcept {
        return list_.error(code, sentence, op, slot);
    }

    [[nodiscard]] Status check_bound() noexcept {
        for (std::uint32_t i = 0; i < list_.slots().size(); ++i) {
            const auto slot = static_cast<SlotIndex>(i);
            if (!state_.is_bound(slot) && blame_.user_of(list_, slot) != OpIndex::none) {
                return refuse(ErrorCode::unbound, "a slot has never been set", blame_.user_of(list_, slot), slot);
            }
        }
        return {};
    }

    [[nodiscard]] Status check_input(SlotIndex slot) noexcept {
        const auto index = static_cast<MemoryIndex>(list_.slot(slot).index);
        const MemoryRecord& memory = list_.memory(index);
        const SlotValue& given = state_.pending(slot);
        const InputNeed& need = table_.need(slot);
        if (need.op == OpIndex::none && !overlap_.uses(index)) return {};  // no op of this graph uses it
        if (given.value == 0 && memory.bytes != 0 &&
            given.bytes != 0) {  // null of no bytes is judged by what is needed
            return refuse(ErrorCode::null_pointer, "an input was set to null", blame_.user_of(list_, slot), slot);
        }
        if (static_cast<std::uint64_t>(given.value) % memory.align != 0) {
            return refuse(ErrorCode::misaligned, "an input is not aligned for its elements",
                          blame_.user_of(list_, slot), slot, given.value, memory.align, "address", "alignment");
        }
        if (given.bytes != SlotValue::unknown_bytes && given.bytes < need.bytes) {
            return refuse(ErrorCode::too_small, "an input has fewer bytes than its ops touch", need.op, slot,
                          given.bytes, need.bytes, "bytes given", "needed");
        }
        if (given.device != SlotValue::recorded_device && given.device != static_cast<std::int32_t>(memory.device) &&
            !derived().reaches(memory.device, static_cast<DeviceId>(given.device))) {
            return refuse(ErrorCode::wrong_device, "an input lies on another device than it was recorded for",
                          blame_.user_of(list_, slot), slot, given.device, static_cast<std::int64_t>(memory.device),
                          "device", "recorded");
        }
        bind(slot);
        if (overlap_.uses(index)) inputs_.push_reserved(index);
        for (const std::uint32_t use : table_.symbols(slot)) touch(use);
        return {};
    }

    void bind(SlotIndex slot) noexcept {
        const auto index = static_cast<MemoryIndex>(list_.slot(slot).index);
        const SlotValue& given = state_.pending(slot);
        const auto begin = static_cast<std::uintptr_t>(given.value);
        const std::int64_t bytes = given.bytes == SlotValue::unknown_bytes ? list_.memory(index).bytes : given.bytes;
        if (overlap_.uses(index)) overlap_.bind(index, {begin, begin + static_cast<std::uintptr_t>(bytes)});
    }

    [[nodiscard]] Status check_variable(SlotIndex slot) noexcept {
        const auto expr = static_cast<ExprIndex>(list_.slot(slot).index);
        const std::int64_t value = state_.pending(slot).value;
        const Bounds range = list_.exprs()[expr].bounds;
        if (value < range.min || value > range.max) {
            return refuse(ErrorCode::out_of_range, "a Variable is outside its range", blame_.user_of(list_, slot), slot,
                          value, value < range.min ? range.min : range.max);
        }
        exprs_.set_variable(expr, value);
        return {};
    }

    [[nodiscard]] Status check_exprs() noexcept {
        const ExprState::Fault fault = exprs_.evaluate(list_.exprs(), table_, counters_.expr_evaluations);
        if (fault.kind != detail::ExprFault::none) {
            const bool overflow = fault.kind == detail::ExprFault::overflow;
            return refuse(overflow ? ErrorCode::overflow : ErrorCode::division_by_zero,
                          overflow ? "an Expr overflows 64 bits" : "an Expr divides by something that is not positive",
                          blame_.user_of(list_, static_cast<ExprIndex>(fault.expr)),
                          blame_.variable_of(list_, static_cast<ExprIndex>(fault.expr)));
        }
        for (const std::uint32_t i : exprs_.changed()) {
            const auto expr = static_cast<ExprIndex>(i);
            const std::int64_t value = exprs_.current(expr);
            const Bounds& bounds = table_.bounds(expr);
            if (value < bounds.min || value > bounds.max) [[unlikely]]
                return refuse_integer(expr, value);
            for (const std::uint32_t use : table_.symbols(expr)) touch(use);
        }
        if (derived().limits().group_items == ~std::uint64_t{0}) return {};
        for (const std::uint32_t i : exprs_.changed()) {
            for (const std::uint32_t use : table_.group_dims(static_cast<ExprIndex>(i))) {
                if (Status status = check_group(list_.uses()[use]); !status.ok()) return status;
            }
        }
        return {};
    }

    /// Names the first place that cannot hold the value. Pre: there is one.
    [[nodiscard]] GRAPHJIT_COLD Status refuse_integer(ExprIndex expr, std::int64_t value) noexcept {
        for (const Use& use : list_.uses()) {
            if (use.expr != expr || (use.kind != UseKind::integer && use.kind != UseKind::dim)) continue;
            const Bounds bounds = bounds_of(use, derived().limits());
            if (value >= bounds.min && value <= bounds.max) continue;
            const bool is_dim = use.kind == UseKind::dim;
            return refuse(is_dim ? ErrorCode::dims_limit : ErrorCode::out_of_range,
                          is_dim ? detail::dims_sentence(use.dim) : "an Expr does not fit the argument's type", use.op,
                          blame_.variable_of(list_, use), value, value < bounds.min ? bounds.min : bounds.max);
        }
        return {};
    }

    void touch(std::uint32_t use) noexcept {
        if (symbol_round_[use] == round_) return;
        symbol_round_[use] = round_;
        symbols_.push_reserved(use);
    }

    [[nodiscard]] Status check_symbol(const Use& use) noexcept {
        const std::int64_t value = exprs_.current(use.expr);
        const std::int64_t bytes = use.size == ExprIndex::none ? use.bytes : exprs_.current(use.size);
        if (!detail::lies_inside(value, bytes, use.within)) {
            return refuse(ErrorCode::out_of_range, "a view lies outside its buffer", use.op,
                          blame_.variable_of(list_, use), value, use.within - bytes, "first byte", "last possible");
        }
        if (use.slot == SlotIndex::none) return {};
        const std::int64_t given = state_.pending(use.slot).bytes;
        if (given != SlotValue::unknown_bytes && bytes != 0 && given < use.add + value + bytes) {
            return refuse(ErrorCode::too_small, "an input has fewer bytes than its ops touch", use.op, use.slot, given,
                          use.add + value + bytes, "bytes given", "needed");
        }
        return {};
    }

    /// Pre: the use is an extent of a group, and each of them is in range by itself.
    [[nodiscard]] Status check_group(const Use& use) noexcept {
        const std::uint64_t limit = derived().limits().group_items;
        std::uint64_t items = 1;
        for (std::uint32_t axis = 3; axis < 6; ++axis) {
            std::uint32_t recorded = 0;
            const auto offset = use.offset + 4 * (axis - use.dim);
            std::memcpy(&recorded, derived().block_of(use.op) + offset, sizeof recorded);
            const std::int64_t extent = pending_field(use.op, offset, recorded);
            if (items > limit / static_cast<std::uint64_t>(extent)) {
                return refuse(ErrorCode::dims_limit, "a group has more work-items than the backend's limit", use.op,
                              blame_.variable_of(list_, use), extent, static_cast<std::int64_t>(limit));
            }
            items *= static_cast<std::uint64_t>(extent);
        }
        return {};
    }

    [[nodiscard]] Status check_overlap() noexcept {
        const OverlapCheck::Conflict conflict = overlap_.find_conflict(list_, dag_, inputs_);
        if (!conflict.found) return {};
        Error error = list_.error(
            ErrorCode::overlap,
            "an input shares memory with something the graph does not order it against; see may_alias", conflict.op,
            list_.memory(conflict.input).slot);
        error.other_op = conflict.other_op;
        error.other_op_name = ShortName(list_.name(conflict.other_op));
        error.other_memory = ShortName(list_.name(conflict.other));
        return error;
    }

    /// Copies between two memories that may alias: whether their ends meet depends on what is bound.
    [[nodiscard]] bool list_aliased_copies() noexcept {
        if (list_.aliases().empty()) return true;
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const Span<const AccessRecord> ends = list_.accesses(op);
            if (list_.op(op).kind != OpKind::copy || ends.size() != 2 || ends[0].memory == ends[1].memory) continue;
            const bool swapped = ends[1].memory < ends[0].memory;
            const AliasRecord pair{ends[swapped ? 1 : 0].memory, ends[swapped ? 0 : 1].memory};
            if (list_.may_alias(pair) && !aliased_copies_.push(op)) return false;
        }
        return true;
    }

    /// The two ends of a copy may never meet. As far as constants decide, that was checked while recording.
    [[nodiscard]] Status check_copies() noexcept {
        for (const std::uint32_t use : symbols_) {
            if (Status status = check_copy(list_.uses()[use].op); !status.ok()) return status;
        }
        if (inputs_.empty()) return {};
        for (const OpIndex op : aliased_copies_) {
            if (Status status = check_copy(op); !status.ok()) return status;
        }
        return {};
    }

    [[nodiscard]] Status check_copy(OpIndex op) noexcept {
        if (list_.op(op).kind != OpKind::copy) return {};
        CopyBlock copy;
        std::memcpy(&copy, derived().block_of(op), sizeof copy);
        const auto field = [&](std::size_t offset, auto value) {
            return static_cast<std::uint64_t>(
                pending_field(op, static_cast<std::uint32_t>(offset), static_cast<std::int64_t>(value)));
        };
        const std::uint64_t to = field(offsetof(CopyBlock, destination),
                                       reinterpret_cast<std::uintptr_t>(copy.destination));
        const std::uint64_t from = field(offsetof(CopyBlock, source), reinterpret_cast<std::uintptr_t>(copy.source));
        const std::uint64_t bytes = field(offsetof(CopyBlock, bytes), copy.bytes);
        if (bytes == 0 || to >= from + bytes || from >= to + bytes) return {};
        SlotIndex slot = SlotIndex::none;  // rather one that moves an end than one that only gives its buffer
        for (const Use& use : list_.uses()) {
            if (use.op != op || slot != SlotIndex::none) continue;
            if (use.kind == UseKind::symbolic_pointer) slot = blame_.variable_of(list_, use.expr);
        }
        for (const Use& use : list_.uses()) {
            if (use.op != op || slot != SlotIndex::none) continue;
            slot = use.slot != SlotIndex::none ? use.slot : blame_.variable_of(list_, use);
        }
        return refuse(ErrorCode::overlap, "the source and the destination of a copy overlap", op, slot);
    }

    OverlapCheck overlap_;
    detail::Blame blame_;
    detail::Array<MemoryIndex> inputs_;          // that change in this replay
    detail::Array<std::uint64_t> symbol_round_;  // by use: the last round that touched it
    detail::Array<OpIndex> aliased_copies_;
};

}  // namespace graphjit::inline v0
