// Who is to blame, for errors: the op and the slot a message names. Linear in what was recorded, and only run when
// something is wrong.
#pragma once

#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0::detail {

/// Finds culprits with storage that was made before, since errors of a replay may not allocate.
class Blame {
public:
    /// Errors: false when memory ran out.
    [[nodiscard]] bool build(const OpList& list) noexcept { return marks_.resize(list.exprs().size(), false); }

    /// A Variable that the expression depends on.
    [[nodiscard]] SlotIndex variable_of(const OpList& list, ExprIndex expr) noexcept {
        if (expr == ExprIndex::none) return SlotIndex::none;
        for (bool& mark : marks_) mark = false;
        marks_[to_integer(expr)] = true;
        for (std::uint32_t i = to_integer(expr) + 1; i-- > 0;) {  // operands have smaller numbers
            const ExprNode& node = list.exprs().nodes()[i];
            if (!marks_[i]) continue;
            if (node.op == ExprOp::variable) return static_cast<SlotIndex>(node.a);
            if (node.joins()) marks_[node.a] = marks_[node.b] = true;
        }
        return SlotIndex::none;
    }
    [[nodiscard]] SlotIndex variable_of(const OpList& list, const Use& use) noexcept {
        const SlotIndex slot = variable_of(list, use.expr);
        return slot != SlotIndex::none ? slot : variable_of(list, use.size);
    }

    /// The first op that an expression goes into.
    [[nodiscard]] OpIndex user_of(const OpList& list, ExprIndex expr) noexcept {
        for (bool& mark : marks_) mark = false;
        marks_[to_integer(expr)] = true;
        for (std::uint32_t i = to_integer(expr) + 1; i < marks_.size(); ++i) {
            const ExprNode& node = list.exprs().nodes()[i];
            marks_[i] = node.joins() && (marks_[node.a] || marks_[node.b]);
        }
        for (const Use& use : list.uses()) {
            if (use.expr != ExprIndex::none && marks_[to_integer(use.expr)]) return use.op;
            if (use.size != ExprIndex::none && marks_[to_integer(use.size)]) return use.op;
        }
        return OpIndex::none;
    }

    /// The first op that a slot goes into; none: the graph does not need it.
    [[nodiscard]] OpIndex user_of(const OpList& list, SlotIndex slot) noexcept {
        const SlotRecord& record = list.slot(slot);
        if (record.kind == SlotKind::variable) return user_of(list, static_cast<ExprIndex>(record.index));
        for (const Use& use : list.uses()) {
            if (use.slot == slot) return use.op;
        }
        return OpIndex::none;
    }

private:
    Array<bool> marks_;  // by expression
};

}  // namespace graphjit::inline v0::detail
