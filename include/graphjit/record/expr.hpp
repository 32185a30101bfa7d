// Integer expressions over Variables, as the user writes them.
#pragma once

#include <graphjit/base/ids.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

/// Divisions round towards minus infinity (`ceil_div`: plus infinity); divisors must be positive.
enum class ExprOp : std::uint8_t {
    constant,
    variable,  // operand: SlotIndex
    shared,    // operand: an expression the recorder keeps, see Recorder::let
    add,
    subtract,
    multiply,
    divide,
    ceil_divide,
    modulo,
    minimum,
    maximum,
};

namespace detail {

enum class ExprFault : std::uint8_t { none, overflow, divisor };

struct ExprValue {
    std::int64_t value = 0;
    ExprFault fault = ExprFault::none;
};

[[nodiscard]] constexpr ExprValue evaluate(ExprOp op, std::int64_t a, std::int64_t b) noexcept {
    std::int64_t value = 0;
    const auto checked = [&](bool overflowed) {
        return ExprValue{value, overflowed ? ExprFault::overflow : ExprFault::none};
    };
    switch (op) {
        case ExprOp::add: return checked(__builtin_add_overflow(a, b, &value));
        case ExprOp::subtract: return checked(__builtin_sub_overflow(a, b, &value));
        case ExprOp::multiply: return checked(__builtin_mul_overflow(a, b, &value));
        case ExprOp::minimum: return {a < b ? a : b};
        case ExprOp::maximum: return {a < b ? b : a};
        case ExprOp::divide:
        case ExprOp::ceil_divide:
        case ExprOp::modulo: {
            if (b <= 0) return {0, ExprFault::divisor};
            const std::int64_t rest = a % b < 0 ? a % b + b : a % b;
            if (op == ExprOp::modulo) return {rest};
            const std::int64_t floor = a / b - (a % b < 0 ? 1 : 0);
            return {op == ExprOp::ceil_divide && rest != 0 ? floor + 1 : floor};
        }
        default: return {};
    }
}

}  // namespace detail

/// Why an expression cannot be recorded.
enum class ExprDefect : std::uint8_t { none, too_long, mixed_recordings, overflow, divisor, refused };

/// An integer expression: a constant, a Variable, or both joined by + - * / %, `ceil_div`, `min`, `max`.
/// A value without memory of its own: it holds up to eight constants and variables. For longer ones let the recorder
/// keep a part (`Recorder::let`); a too long one is refused when it is recorded.
class Expr {
public:
    static constexpr unsigned max_operands = 8;

    template <class T>
        requires(std::integral<T> && !std::same_as<T, bool>)
    constexpr Expr(T value) noexcept {
        if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) {
            if (value > INT64_MAX) defect_ = ExprDefect::overflow;
        }
        push(ExprOp::constant, static_cast<std::int64_t>(value));
    }
    constexpr Expr() noexcept : Expr(0) {}

    constexpr Expr(const Expr& other) noexcept { append(other); }
    constexpr Expr& operator=(const Expr& other) noexcept {
        if (this != &other) {
            owner_ = 0;
            ops_size_ = 0;
            operands_size_ = 0;
            defect_ = ExprDefect::none;
            append(other);
        }
        return *this;
    }

    static constexpr Expr leaf(std::uint32_t owner, ExprOp op, std::uint32_t index) noexcept {
        Expr expr{Empty{}};
        expr.owner_ = owner;
        expr.push(op, index);
        return expr;
    }

    /// What no op takes.
    static constexpr Expr refused() noexcept {
        Expr expr(0);
        expr.defect_ = ExprDefect::refused;
        return expr;
    }

    static constexpr Expr binary(ExprOp op, const Expr& a, const Expr& b) noexcept {
        if (a.is_constant() && b.is_constant()) {
            const detail::ExprValue folded = detail::evaluate(op, a.operands_[0], b.operands_[0]);
            Expr expr(folded.value);
            if (folded.fault == detail::ExprFault::overflow) expr.defect_ = ExprDefect::overflow;
            if (folded.fault == detail::ExprFault::divisor) expr.defect_ = ExprDefect::divisor;
            return expr;
        }
        Expr expr{Empty{}};
        expr.append(a);
        expr.append(b);
        if (expr.valid()) expr.ops_[expr.ops_size_++] = op;
        const bool divides = op == ExprOp::divide || op == ExprOp::ceil_divide || op == ExprOp::modulo;
        if (expr.valid() && divides && b.is_constant() && b.constant() <= 0) expr.defect_ = ExprDefect::divisor;
        return expr;
    }

    [[nodiscard]] constexpr bool is_constant() const noexcept {
        return ops_size_ == 1 && ops_[0] == ExprOp::constant && valid();
    }
    /// Pre: `is_constant()`.
    [[nodiscard]] constexpr std::int64_t constant() const noexcept { return operands_[0]; }
    [[nodiscard]] constexpr ExprDefect defect() const noexcept { return defect_; }
    [[nodiscard]] constexpr bool valid() const noexcept { return defect_ == ExprDefect::none; }
    /// The recording its variables belong to, 0 for constants.
    [[nodiscard]] constexpr std::uint32_t owner() const noexcept { return owner_; }

    /// Calls `leaf(op, operand) -> Value` and `join(op, Value, Value) -> Value` bottom-up.
    /// Pre: `valid()`.
    template <class Value, class Leaf, class Join>
    constexpr Value fold(Leaf leaf, Join join) const {
        Value stack[max_operands] = {};
        unsigned depth = 0;
        unsigned operand = 0;
        for (unsigned i = 0; i < ops_size_; ++i) {
            if (ops_[i] <= ExprOp::shared) {
                stack[depth++] = leaf(ops_[i], operands_[operand++]);
            } else if (depth >= 2) {  // always: but g++ warns of a stack it cannot see the depth of
                --depth;
                stack[depth - 1] = join(ops_[i], stack[depth - 1], stack[depth]);
            }
        }
        return stack[0];
    }

private:
    static constexpr unsigned max_ops = 2 * max_operands - 1;
    struct Empty {};
    constexpr explicit Expr(Empty) noexcept {}

    constexpr void push(ExprOp op, std::int64_t operand) noexcept {
        ops_[ops_size_++] = op;
        operands_[operands_size_++] = operand;
    }

    constexpr void append(const Expr& other) noexcept {
        if (valid()) defect_ = other.defect_;
        if (valid() && owner_ != 0 && other.owner_ != 0 && owner_ != other.owner_) {
            defect_ = ExprDefect::mixed_recordings;
        }
        if (valid() && operands_size_ + other.operands_size_ > max_operands) defect_ = ExprDefect::too_long;
        if (owner_ == 0) owner_ = other.owner_;
        if (!valid()) return;
        for (unsigned i = 0; i < other.ops_size_; ++i) ops_[ops_size_++] = other.ops_[i];
        for (unsigned i = 0; i < other.operands_size_; ++i) operands_[operands_size_++] = other.operands_[i];
    }

    // Postfix: a leaf pushes its operand, any other op joins the two values on top.
    std::uint32_t owner_ = 0;
    std::uint8_t ops_size_ = 0;
    std::uint8_t operands_size_ = 0;
    ExprDefect defect_ = ExprDefect::none;
    ExprOp ops_[max_ops] = {};
    std::int64_t operands_[max_operands] = {};
};

constexpr Expr operator+(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::add, a, b); }
constexpr Expr operator-(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::subtract, a, b); }
constexpr Expr operator*(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::multiply, a, b); }
constexpr Expr operator-(const Expr& a) noexcept { return Expr(0) - a; }
/// Rounds towards minus infinity.
constexpr Expr operator/(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::divide, a, b); }
/// The rest of that division: never negative.
constexpr Expr operator%(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::modulo, a, b); }
constexpr Expr ceil_div(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::ceil_divide, a, b); }
// In parentheses, since a well-known system header defines macros of these names.
constexpr Expr(min)(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::minimum, a, b); }
constexpr Expr(max)(const Expr& a, const Expr& b) noexcept { return Expr::binary(ExprOp::maximum, a, b); }

}  // namespace graphjit::inline v0
