// Which slot lands where: worked out once, so that a replay only stores.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/record/op_list.hpp>
#include <graphjit/run/contract.hpp>

#include <cstddef>
#include <cstdint>

namespace graphjit::inline v0 {

/// Store `address of the input + add` at `place`. Most uses are of the whole input: they have a list of bare places,
/// which is half as long to read.
struct PointerPatch {
    std::byte* place = nullptr;
    std::int64_t add = 0;
};

/// Store a value slot's bytes at `place`.
struct ValuePatch {
    std::byte* place = nullptr;
    OpIndex op = OpIndex::none;  // to tell the device of; none: it need not know
};

/// Store an Expr's value at `place`. Why so little: replays read it for every place.
struct IntegerPatch {
    std::byte* place = nullptr;
    OpIndex op = OpIndex::none;  // as above
    std::uint8_t width = 0;
};

/// What a place can hold: by the argument's type, or by the backend's limit of a dim.
[[nodiscard]] constexpr Bounds bounds_of(const Use& use, const BackendLimits& limits) noexcept {
    return use.kind == UseKind::dim ? detail::dim_bounds(limits, use.dim)
                                    : detail::integer_bounds(use.width, use.is_signed);
}

/// What the ops need of an input whatever the Variables are.
struct InputNeed {
    std::int64_t bytes = 0;
    OpIndex op = OpIndex::none;  // the first that needs as much; none: the input is not used
};

/// The places of an executable that depend on slots.
/// Cost: built in time linear in the recorded uses; nothing where a recording has no slots.
class PatchTable {
public:
    /// `block_of(OpIndex) -> std::byte*` says where an op's block is now, `is_told(const Use&)` whether the device must
    /// be told of a change there. Errors: false when memory ran out.
    template <class BlockOf, class IsTold>
    [[nodiscard]] bool build(const OpList& list, const BackendLimits& limits, BlockOf block_of,
                             IsTold is_told) noexcept {
        const Span<const Use> uses = list.uses();
        const std::size_t slots = list.slots().size();
        if (uses.empty() && slots == 0) return true;
        if (!starts_.start(slots) || !pointers_.start(slots) || !pointer_ops_.start(slots) || !values_.start(slots) ||
            !symbols_of_input_.start(slots) || !symbols_of_expr_.start(list.exprs().size()) ||
            !integers_.start(list.exprs().size()) || !group_dims_.start(list.exprs().size()) ||
            !bounds_.resize(list.exprs().size(), {}) || !users_.start(list.exprs().size()) ||
            !needs_.resize(slots, {}) || !places_.reserve(uses.size()) || !needed_.resize(list.exprs().size(), false)) {
            return false;
        }
        for (const Use& use : uses) {
            for_each_key(use, is_told(use), [](auto& table, std::uint32_t key) { table.count(key); });
        }
        mark_needed(list);
        for_each_edge(list, [&](std::uint32_t operand, std::uint32_t) { users_.count(operand); });
        if (!starts_.place() || !pointers_.place() || !pointer_ops_.place() || !values_.place() ||
            !symbols_of_input_.place() || !symbols_of_expr_.place() || !integers_.place() || !group_dims_.place() ||
            !users_.place()) {
            return false;
        }
        for_each_edge(list, [&](std::uint32_t operand, std::uint32_t user) { users_.add(operand, user); });
        for (std::uint32_t i = 0; i < uses.size(); ++i) {
            const Use& use = uses[i];
            std::byte* place = block_of(use.op) + use.offset;
            places_.push_reserved(place);
            if (use.memory != MemoryIndex::none && use.slot != SlotIndex::none) need(use);
            if (use.kind == UseKind::integer || use.kind == UseKind::dim) narrow(use, limits);
            const Told told{is_told(use)};
            for_each_key(use, told.is, [&](auto& table, std::uint32_t key) { add(table, key, use, i, place, told); });
        }
        return true;
    }

    /// Where the address of the input itself goes.
    [[nodiscard]] Span<std::byte* const> starts(SlotIndex slot) const noexcept { return starts_[to_integer(slot)]; }
    [[nodiscard]] Span<const PointerPatch> pointers(SlotIndex slot) const noexcept {
        return pointers_[to_integer(slot)];
    }
    /// The ops of both that the device is to be told of.
    [[nodiscard]] Span<const OpIndex> pointer_ops(SlotIndex slot) const noexcept {
        return pointer_ops_[to_integer(slot)];
    }
    [[nodiscard]] Span<const ValuePatch> values(SlotIndex slot) const noexcept { return values_[to_integer(slot)]; }
    [[nodiscard]] const InputNeed& need(SlotIndex slot) const noexcept { return needs_[to_integer(slot)]; }

    [[nodiscard]] Span<const IntegerPatch> integers(ExprIndex expr) const noexcept {
        return integers_[to_integer(expr)];
    }
    /// What all of them can hold.
    [[nodiscard]] const Bounds& bounds(ExprIndex expr) const noexcept { return bounds_[to_integer(expr)]; }
    /// Extents of groups that are the Expr, by their number in the recording.
    [[nodiscard]] Span<const std::uint32_t> group_dims(ExprIndex expr) const noexcept {
        return group_dims_[to_integer(expr)];
    }

    /// Symbolic pointers, by their number in the recording, that an input's address or an Expr's value goes into.
    [[nodiscard]] Span<const std::uint32_t> symbols(SlotIndex slot) const noexcept {
        return symbols_of_input_[to_integer(slot)];
    }
    [[nodiscard]] Span<const std::uint32_t> symbols(ExprIndex expr) const noexcept {
        return symbols_of_expr_[to_integer(expr)];
    }
    [[nodiscard]] std::byte* place(std::uint32_t use) const noexcept { return places_[use]; }

    /// Expressions that have this one as an operand and that some use needs.
    [[nodiscard]] Span<const std::uint32_t> users(std::uint32_t expr) const noexcept { return users_[expr]; }
    [[nodiscard]] bool is_needed(std::uint32_t expr) const noexcept { return needed_[expr]; }

private:
    struct Told {
        bool is = false;
    };

    template <class Visit>
    void for_each_key(const Use& use, bool is_told, Visit visit) noexcept {
        switch (use.kind) {
            case UseKind::pointer:
                use.add == 0 ? visit(starts_, to_integer(use.slot)) : visit(pointers_, to_integer(use.slot));
                if (is_told) visit(pointer_ops_, to_integer(use.slot));
                break;
            case UseKind::value: visit(values_, to_integer(use.slot)); break;
            case UseKind::symbolic_pointer:
                if (use.slot != SlotIndex::none) visit(symbols_of_input_, to_integer(use.slot));
                if (use.size != ExprIndex::none && use.size != use.expr) visit(symbols_of_expr_, to_integer(use.size));
                visit(symbols_of_expr_, to_integer(use.expr));
                break;
            case UseKind::dim:
                if (is_group_dim(use.dim)) visit(group_dims_, to_integer(use.expr));
                [[fallthrough]];
            case UseKind::integer: visit(integers_, to_integer(use.expr)); break;
        }
    }

    static void add(detail::Csr<std::byte*>& table, std::uint32_t key, const Use&, std::uint32_t, std::byte* place,
                    Told) noexcept {
        table.add(key, place);
    }
    static void add(detail::Csr<PointerPatch>& table, std::uint32_t key, const Use& use, std::uint32_t,
                    std::byte* place, Told) noexcept {
        table.add(key, {place, use.add});
    }
    static void add(detail::Csr<OpIndex>& table, std::uint32_t key, const Use& use, std::uint32_t, std::byte*,
                    Told) noexcept {
        table.add(key, use.op);
    }
    static void add(detail::Csr<ValuePatch>& table, std::uint32_t key, const Use& use, std::uint32_t, std::byte* place,
                    Told told) noexcept {
        table.add(key, {place, told.is ? use.op : OpIndex::none});
    }
    static void add(detail::Csr<std::uint32_t>& table, std::uint32_t key, const Use&, std::uint32_t index, std::byte*,
                    Told) noexcept {
        table.add(key, index);
    }
    static void add(detail::Csr<IntegerPatch>& table, std::uint32_t key, const Use& use, std::uint32_t,
                    std::byte* place, Told told) noexcept {
        table.add(key, {place, told.is ? use.op : OpIndex::none, use.width});
    }

    void narrow(const Use& use, const BackendLimits& limits) noexcept {
        Bounds& all = bounds_[to_integer(use.expr)];
        const Bounds own = bounds_of(use, limits);
        all.min = own.min > all.min ? own.min : all.min;
        all.max = own.max < all.max ? own.max : all.max;
    }

    void need(const Use& use) noexcept {
        InputNeed& needed = needs_[to_integer(use.slot)];
        const std::int64_t bytes = use.kind == UseKind::pointer ? use.add + use.bytes : 0;
        if (needed.op == OpIndex::none || bytes > needed.bytes) needed = {bytes, use.op};
    }

    void mark_needed(const OpList& list) noexcept {
        for (const Use& use : list.uses()) {
            if (use.expr != ExprIndex::none) needed_[to_integer(use.expr)] = true;
            if (use.size != ExprIndex::none) needed_[to_integer(use.size)] = true;
        }
        for (std::size_t i = needed_.size(); i-- > 0;) {
            const ExprNode& node = list.exprs().nodes()[i];
            if (needed_[i] && node.joins()) needed_[node.a] = needed_[node.b] = true;
        }
    }

    template <class Visit>
    void for_each_edge(const OpList& list, Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < needed_.size(); ++i) {
            const ExprNode& node = list.exprs().nodes()[i];
            if (!needed_[i] || !node.joins()) continue;
            visit(node.a, i);
            if (node.b != node.a) visit(node.b, i);
        }
    }

    detail::Csr<std::byte*> starts_;               // by slot
    detail::Csr<PointerPatch> pointers_;           // by slot
    detail::Csr<OpIndex> pointer_ops_;             // by slot
    detail::Csr<ValuePatch> values_;               // by slot
    detail::Csr<std::uint32_t> symbols_of_input_;  // by slot
    detail::Csr<std::uint32_t> symbols_of_expr_;   // by expression
    detail::Csr<IntegerPatch> integers_;           // by expression
    detail::Csr<std::uint32_t> group_dims_;        // by expression
    detail::Array<Bounds> bounds_;                 // by expression: of its integers
    detail::Csr<std::uint32_t> users_;             // by expression
    detail::Array<InputNeed> needs_;               // by slot
    detail::Array<std::byte*> places_;             // by use
    detail::Array<bool> needed_;                   // by expression
};

}  // namespace graphjit::inline v0
