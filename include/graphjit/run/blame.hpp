// Who is to blame, for errors: the op and the slot a message names. Slow, and only run when something is wrong.
#pragma once

#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0::detail {

[[nodiscard]] inline bool depends(const OpList& list, ExprIndex expr, ExprIndex on) noexcept {
    const ExprNode& node = list.exprs()[expr];
    return expr == on || (node.joins() && (depends(list, static_cast<ExprIndex>(node.a), on) ||
                                           depends(list, static_cast<ExprIndex>(node.b), on)));
}

/// A Variable that the expression depends on.
[[nodiscard]] inline SlotIndex variable_of(const OpList& list, ExprIndex expr) noexcept {
    const ExprNode& node = list.exprs()[expr];
    if (node.op == ExprOp::variable) return static_cast<SlotIndex>(node.a);
    if (!node.joins()) return SlotIndex::none;
    const SlotIndex left = variable_of(list, static_cast<ExprIndex>(node.a));
    return left != SlotIndex::none ? left : variable_of(list, static_cast<ExprIndex>(node.b));
}
[[nodiscard]] inline SlotIndex variable_of(const OpList& list, const Use& use) noexcept {
    const SlotIndex slot = variable_of(list, use.expr);
    return slot != SlotIndex::none || use.size == ExprIndex::none ? slot : variable_of(list, use.size);
}

/// The first op that an expression goes into.
[[nodiscard]] inline OpIndex user_of(const OpList& list, ExprIndex expr) noexcept {
    for (const Use& use : list.uses()) {
        const bool in_value = use.expr != ExprIndex::none && depends(list, use.expr, expr);
        const bool in_size = use.size != ExprIndex::none && depends(list, use.size, expr);
        if (in_value || in_size) return use.op;
    }
    return OpIndex::none;
}

/// The first op that a slot goes into; none: the graph does not need it.
[[nodiscard]] inline OpIndex user_of(const OpList& list, SlotIndex slot) noexcept {
    const SlotRecord& record = list.slot(slot);
    if (record.kind == SlotKind::variable) return user_of(list, static_cast<ExprIndex>(record.index));
    for (const Use& use : list.uses()) {
        if (use.slot == slot) return use.op;
    }
    return OpIndex::none;
}

}  // namespace graphjit::inline v0::detail
