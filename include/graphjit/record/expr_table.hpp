// The expressions of a recording: each distinct one once, with the bounds its Variables give it.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/span.hpp>
#include <graphjit/record/expr.hpp>

namespace graphjit::inline v0 {

/// An expression of an `ExprTable`.
enum class ExprIndex : std::uint32_t { none = 0xffff'ffffu };

struct Bounds {
    std::int64_t min = INT64_MIN;
    std::int64_t max = INT64_MAX;
};

/// Operands come before the expressions that use them.
struct ExprNode {
    ExprOp op = ExprOp::constant;
    std::uint32_t a = 0;  // operand, or the Variable's SlotIndex
    std::uint32_t b = 0;
    std::int64_t value = 0;  // of a constant
    Bounds bounds = {};      // holds whenever the evaluation does not overflow

    [[nodiscard]] constexpr bool joins() const noexcept { return op > ExprOp::shared; }
};

namespace detail {

/// What an integer of `width` bytes can hold.
[[nodiscard]] constexpr Bounds integer_bounds(unsigned width, bool is_signed) noexcept {
    if (width >= 8) return {is_signed ? INT64_MIN : 0, INT64_MAX};
    const std::int64_t limit = std::int64_t{1} << (8 * width - (is_signed ? 1 : 0));
    return {is_signed ? -limit : 0, limit - 1};
}

/// Sound whatever the operands are: a value outside 64 bits is refused at replay, so the bound may stop there.
[[nodiscard]] constexpr Bounds join_bounds(ExprOp op, Bounds a, Bounds b) noexcept {
    if (op == ExprOp::modulo) {
        const std::int64_t last = b.max > 0 ? b.max - 1 : 0;
        return a.min >= 0 && a.max < b.min ? a : Bounds{0, last};
    }
    if (op == ExprOp::divide || op == ExprOp::ceil_divide) {
        b.min = b.min < 1 ? 1 : b.min;
        b.max = b.max < 1 ? 1 : b.max;
    }
    Bounds out{INT64_MAX, INT64_MIN};
    for (const std::int64_t x : {a.min, a.max}) {
        for (const std::int64_t y : {b.min, b.max}) {
            const ExprValue corner = evaluate(op, x, y);
            std::int64_t value = corner.value;
            if (corner.fault == ExprFault::overflow) {
                const bool negative = op == ExprOp::multiply ? (x < 0) != (y < 0) : x < 0;
                value = negative ? INT64_MIN : INT64_MAX;
            }
            out.min = value < out.min ? value : out.min;
            out.max = value > out.max ? value : out.max;
        }
    }
    return out;
}

}  // namespace detail

class ExprTable {
public:
    /// Adds the expression, or finds it; `none` when memory ran out.
    /// Pre: `expr.valid()`, its owner is this recording.
    [[nodiscard]] ExprIndex intern(const Expr& expr) noexcept {
        return expr.fold<ExprIndex>(
            [&](ExprOp op, std::int64_t operand) {
                if (op == ExprOp::shared) return static_cast<ExprIndex>(operand);
                if (op == ExprOp::variable) return find_or_add({.op = op, .a = static_cast<std::uint32_t>(operand)});
                return find_or_add({.op = op, .value = operand, .bounds = {operand, operand}});
            },
            [&](ExprOp op, ExprIndex a, ExprIndex b) {
                if (a == ExprIndex::none || b == ExprIndex::none) return ExprIndex::none;
                const Bounds bounds = detail::join_bounds(op, (*this)[a].bounds, (*this)[b].bounds);
                return find_or_add({.op = op, .a = to_integer(a), .b = to_integer(b), .bounds = bounds});
            });
    }

    /// Makes the node of a Variable, which carries its declared range.
    [[nodiscard]] ExprIndex add_variable(SlotIndex slot, Bounds range) noexcept {
        return find_or_add({.op = ExprOp::variable, .a = to_integer(slot), .bounds = range});
    }

    [[nodiscard]] const ExprNode& operator[](ExprIndex index) const noexcept { return nodes_[to_integer(index)]; }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] Span<const ExprNode> nodes() const noexcept { return nodes_; }

    [[nodiscard]] bool copy_from(const ExprTable& other) noexcept {
        return nodes_.copy_from(other.nodes_) && heads_.copy_from(other.heads_) && next_.copy_from(other.next_);
    }

private:
    static constexpr std::uint32_t end = 0xffff'ffffu;

    [[nodiscard]] static std::uint64_t hash(const ExprNode& node) noexcept {
        std::uint64_t h = static_cast<std::uint64_t>(node.value) * 0x9e37'79b9'7f4a'7c15u;
        h ^= (std::uint64_t{node.a} << 32 | node.b) + static_cast<std::uint64_t>(node.op);
        h *= 0xff51'afd7'ed55'8ccdu;
        return h ^ (h >> 32);
    }

    [[nodiscard]] ExprIndex find_or_add(const ExprNode& node) noexcept {
        if (nodes_.size() >= heads_.size() && !rehash()) return ExprIndex::none;
        std::uint32_t& head = heads_[hash(node) & (heads_.size() - 1)];
        for (std::uint32_t i = head; i != end; i = next_[i]) {
            const ExprNode& other = nodes_[i];
            if (other.op == node.op && other.a == node.a && other.b == node.b && other.value == node.value) {
                return static_cast<ExprIndex>(i);
            }
        }
        const auto index = static_cast<std::uint32_t>(nodes_.size());
        if (!next_.push(head)) return ExprIndex::none;
        if (!nodes_.push(node)) {
            next_.truncate(index);
            return ExprIndex::none;
        }
        head = index;
        return static_cast<ExprIndex>(index);
    }

    [[nodiscard]] bool rehash() noexcept {
        const std::size_t size = heads_.empty() ? 16 : heads_.size() * 2;
        heads_.clear();
        if (!heads_.resize(size, end)) return false;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            std::uint32_t& head = heads_[hash(nodes_[i]) & (size - 1)];
            next_[i] = head;
            head = i;
        }
        return true;
    }

    detail::Array<ExprNode> nodes_;
    detail::Array<std::uint32_t> heads_;  // a power of two of chains through next_
    detail::Array<std::uint32_t> next_;
};

}  // namespace graphjit::inline v0
