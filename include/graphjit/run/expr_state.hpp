// The values of a graph's expressions: each evaluated once, and only when a Variable of it changed.
#pragma once

#include <graphjit/record/expr_table.hpp>
#include <graphjit/run/patch_table.hpp>

#include <bit>

namespace graphjit::inline v0 {

class ExprState {
public:
    struct Fault {
        detail::ExprFault kind = detail::ExprFault::none;
        std::uint32_t expr = 0;
    };

    /// Errors: false when memory ran out.
    [[nodiscard]] bool build(const ExprTable& exprs) noexcept {
        const std::size_t count = exprs.size();
        if (!values_.resize(count, {}) || !changed_.reserve(count) || !waiting_.resize((count + 63) / 64, 0))
            return false;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (is_constant(exprs, i)) values_[i] = {.live = exprs.nodes()[i].value, .is_live = true};
        }
        first_ = waiting_.size();
        return true;
    }

    /// Takes a Variable's new value; `evaluate` follows.
    void set_variable(ExprIndex expr, std::int64_t value) noexcept {
        values_[to_integer(expr)].next = value;
        wait_for(to_integer(expr));
    }

    /// Evaluates all that depends on what was set. Operands have smaller numbers, so one pass in order is enough.
    [[nodiscard]] Fault evaluate(const ExprTable& exprs, const PatchTable& table, std::uint64_t& evaluations) noexcept {
        changed_.clear();
        ++round_;
        for (std::size_t word = first_; word < waiting_.size(); ++word) {
            while (waiting_[word] != 0) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(waiting_[word]));
                waiting_[word] &= waiting_[word] - 1;
                const auto i = static_cast<std::uint32_t>(word * 64 + bit);
                const ExprNode& node = exprs.nodes()[i];
                Value& value = values_[i];
                if (node.joins()) {
                    ++evaluations;
                    const detail::ExprValue joined = detail::evaluate(node.op, current(node.a), current(node.b));
                    if (joined.fault != detail::ExprFault::none) {
                        forget_waiting();
                        return {joined.fault, i};
                    }
                    value.next = joined.value;
                }
                if (value.is_live && value.next == value.live) continue;
                value.round = round_;
                changed_.push_reserved(i);
                for (const std::uint32_t user : table.users(i)) wait_for(user);
            }
        }
        first_ = waiting_.size();
        return {};
    }

    /// The value for the replay that is being prepared.
    [[nodiscard]] std::int64_t current(std::uint32_t expr) const noexcept {
        const Value& value = values_[expr];
        return value.round == round_ ? value.next : value.live;
    }
    [[nodiscard]] std::int64_t current(ExprIndex expr) const noexcept { return current(to_integer(expr)); }
    [[nodiscard]] Span<const std::uint32_t> changed() const noexcept { return {changed_.data(), changed_.size()}; }

    void commit() noexcept {
        for (const std::uint32_t i : changed_) {
            values_[i].live = values_[i].next;
            values_[i].is_live = true;
        }
        refuse();
    }
    /// The replay was refused: what was evaluated for it does not count.
    void refuse() noexcept {
        forget_waiting();  // a check may have failed between set_variable and evaluate
        changed_.clear();
        ++round_;
    }
    /// Nothing is known of what the executable has. Pre: all Variables are set anew.
    void forget(const ExprTable& exprs) noexcept {
        for (std::uint32_t i = 0; i < values_.size(); ++i) values_[i].is_live = is_constant(exprs, i);
    }

private:
    struct Value {
        std::int64_t live = 0;  // what the executable has
        std::int64_t next = 0;
        std::uint64_t round = 0;  // of the evaluation that made `next`
        bool is_live = false;
    };

    static bool is_constant(const ExprTable& exprs, std::uint32_t i) noexcept {
        return exprs.nodes()[i].op == ExprOp::constant;
    }

    void wait_for(std::uint32_t expr) noexcept {
        const std::size_t word = expr / 64;
        waiting_[word] |= std::uint64_t{1} << (expr % 64);
        if (word < first_) first_ = word;
    }
    void forget_waiting() noexcept {
        for (; first_ < waiting_.size(); ++first_) waiting_[first_] = 0;
    }

    detail::Array<Value> values_;  // by expression
    detail::Array<std::uint32_t> changed_;
    detail::Array<std::uint64_t> waiting_;  // a bit per expression to evaluate
    std::size_t first_ = 0;                 // no bit is set in words before
    std::uint64_t round_ = 0;
};

}  // namespace graphjit::inline v0
