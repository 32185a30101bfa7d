// Expressions at compile time: constants fold at once, faults are remembered, bounds come out exact.
#include <graphjit/record/expr.hpp>

#include <graphjit/record/expr_table.hpp>
#include <graphjit/record/handles.hpp>

#include <cstdint>

namespace gj = graphjit;
using gj::Expr;
using gj::ExprDefect;
using gj::ExprOp;

namespace test {

constexpr Expr variable(std::uint32_t owner, std::uint32_t slot) { return Expr::leaf(owner, ExprOp::variable, slot); }
constexpr Expr x() { return variable(1, 0); }
constexpr Expr y() { return variable(1, 1); }
constexpr Expr foreign() { return variable(2, 0); }
constexpr Expr eight() { return x() + x() + x() + x() + x() + x() + x() + x(); }

/// The value, with x = 10 and y = -3.
constexpr std::int64_t value(const Expr& expr) {
    return expr.fold<std::int64_t>(
        [](ExprOp op, std::int64_t operand) { return op == ExprOp::constant ? operand
                                                     : operand == 0         ? 10
                                                                            : -3; },
        [](ExprOp op, std::int64_t a, std::int64_t b) { return gj::detail::evaluate(op, a, b).value; });
}
constexpr bool is(const Expr& expr, std::int64_t expected) {
    return expr.valid() && expr.is_constant() && expr.constant() == expected && expr.owner() == 0;
}
constexpr bool is(const Expr& expr, ExprDefect defect) { return !expr.valid() && expr.defect() == defect; }

// --- Constants -------------------------------------------------------------------------------------------------------

static_assert(is(Expr(), 0) && is(7, 7) && is(-7, -7) && is(static_cast<unsigned char>(200), 200));
static_assert(is(Expr(2) + 3, 5) && is(2 - Expr(3), -1) && is(Expr(2) * 3, 6) && is(gj::min(2, Expr(3)), 2) &&
              is(gj::max(Expr(2), 3), 3));

// Divisions round towards minus infinity, `ceil_div` towards plus infinity, the rest is never negative.
static_assert(is(Expr(7) / 3, 2) && is(Expr(-7) / 3, -3) && is(Expr(-6) / 3, -2) && is(Expr(0) / 3, 0));
static_assert(is(gj::ceil_div(Expr(7), 3), 3) && is(gj::ceil_div(Expr(-7), 3), -2) && is(gj::ceil_div(Expr(6), 3), 2));
static_assert(is(Expr(7) % 3, 1) && is(Expr(-7) % 3, 2) && is(Expr(-6) % 3, 0));
static_assert(is(Expr(INT64_MIN) / 1, INT64_MIN) && is(Expr(INT64_MAX) / INT64_MAX, 1) &&
              is(Expr(INT64_MIN) % INT64_MAX, INT64_MAX - 1));

static_assert(is(Expr(1) / 0, ExprDefect::divisor) && is(Expr(1) % 0, ExprDefect::divisor) &&
              is(gj::ceil_div(Expr(1), 0), ExprDefect::divisor) && is(Expr(1) / -2, ExprDefect::divisor));
static_assert(is(Expr(INT64_MAX) + 1, ExprDefect::overflow) && is(Expr(INT64_MIN) - 1, ExprDefect::overflow) &&
              is(Expr(INT64_MIN) * -1, ExprDefect::overflow));
static_assert(is(UINT64_MAX, ExprDefect::overflow) && is(std::uint64_t{INT64_MAX}, INT64_MAX));

// --- With variables --------------------------------------------------------------------------------------------------

static_assert(x().valid() && !x().is_constant() && x().owner() == 1 && value(x()) == 10);
static_assert(value(x() + y()) == 7 && value(x() - y()) == 13 && value(x() * y()) == -30 && value(y() / 2) == -2 &&
              value(y() % 2) == 1);
static_assert(value((x() + 2) * 3) == 36 && value(x() + 2 * Expr(3)) == 16 && value(2 - (x() - y())) == -11);
static_assert(value(gj::min(x(), y())) == -3 && value(gj::max(x(), y())) == 10 && value(gj::ceil_div(x(), 4)) == 3);
static_assert(value((x() + 1) * (y() - 1) + (x() - 1) * (y() + 1)) == 11 * -4 + 9 * -2,
              "eight operands are not too many");
static_assert((x() + (Expr(2) + 3)).valid() && value(x() + (Expr(2) + 3)) == 15);

// A fault stays, whatever is made of the expression, and the first one counts.
static_assert(is(x() + foreign(), ExprDefect::mixed_recordings) &&
              is(1 + (x() + foreign()) * 2, ExprDefect::mixed_recordings));
static_assert(is((Expr(1) / 0) * x(), ExprDefect::divisor) && is(x() * (Expr(1) / 0), ExprDefect::divisor));
static_assert(is(Expr(1) / 0 + (Expr(INT64_MAX) + 1), ExprDefect::divisor));
static_assert(eight().valid() && value(eight()) == 80);
static_assert(is(eight() + 1, ExprDefect::too_long) && is(1 + eight(), ExprDefect::too_long) &&
              is(eight() * eight(), ExprDefect::too_long));

// A Variable stands for its expression; both are what they were after a copy.
inline constexpr gj::Variable declared = gj::detail::HandleAccess::variable(1, gj::SlotIndex{});
static_assert(value(declared * 3) == 30 && (Expr(declared) + x()).owner() == 1);
constexpr Expr assigned() {
    Expr expr = eight() + 1;
    expr = y() + 1;
    const Expr& same = expr;
    expr = same;
    return expr;
}
static_assert(assigned().valid() && value(assigned()) == -2);

// A divisor that can only be wrong is refused at once, and what was refused stays so.
static_assert(is(x() / 0, ExprDefect::divisor) && is(x() % -1, ExprDefect::divisor) &&
              is(gj::ceil_div(x(), 0), ExprDefect::divisor) && (x() / 1).valid() && (1 / x()).valid());
static_assert(is(Expr::refused(), ExprDefect::refused) && is(Expr::refused() + x(), ExprDefect::refused) &&
              is(x() * Expr::refused(), ExprDefect::refused) && is(Expr::refused() + 1, ExprDefect::refused));

// An expression can be a constant of the program.
inline constexpr Expr kept = (x() + 3) * y();
static_assert(value(kept) == -39 && value(kept + 1) == -38);

// --- Bounds ----------------------------------------------------------------------------------------------------------

constexpr bool bounds_are(ExprOp op, gj::Bounds a, gj::Bounds b, std::int64_t least, std::int64_t most) {
    const gj::Bounds joined = gj::detail::join_bounds(op, a, b);
    return joined.min == least && joined.max == most;
}
constexpr gj::Bounds exactly(std::int64_t of) { return {of, of}; }

static_assert(bounds_are(ExprOp::add, {-2, 5}, {10, 20}, 8, 25));
static_assert(bounds_are(ExprOp::subtract, {-2, 5}, {10, 20}, -22, -5));
static_assert(bounds_are(ExprOp::multiply, {-2, 5}, {-3, 4}, -15, 20));
static_assert(bounds_are(ExprOp::multiply, {-4, -2}, {-3, -1}, 2, 12));
static_assert(bounds_are(ExprOp::minimum, {0, 9}, {4, 6}, 0, 6) && bounds_are(ExprOp::maximum, {0, 9}, {4, 6}, 4, 9));
static_assert(bounds_are(ExprOp::divide, {-7, 7}, exactly(2), -4, 3));
static_assert(bounds_are(ExprOp::ceil_divide, {-7, 7}, exactly(2), -3, 4));
static_assert(bounds_are(ExprOp::divide, {8, 100}, {-5, 4}, 2, 100), "a divisor below one is refused at replay");
static_assert(bounds_are(ExprOp::modulo, {0, 374}, exactly(375), 0, 374), "nothing to cut off");
static_assert(bounds_are(ExprOp::modulo, {100, 200}, exactly(375), 100, 200));
static_assert(bounds_are(ExprOp::modulo, {-1, 1000}, exactly(16), 0, 15));
static_assert(bounds_are(ExprOp::modulo, {0, 1000}, {1, 16}, 0, 15));

// Where 64 bits end, so do bounds: what is beyond is refused at replay.
static_assert(bounds_are(ExprOp::add, {0, INT64_MAX}, exactly(1), 1, INT64_MAX));
static_assert(bounds_are(ExprOp::subtract, {INT64_MIN, 0}, exactly(1), INT64_MIN, -1));
static_assert(bounds_are(ExprOp::multiply, {INT64_MIN, INT64_MAX}, exactly(2), INT64_MIN, INT64_MAX));
static_assert(bounds_are(ExprOp::multiply, {INT64_MIN, 0}, exactly(-1), 0, INT64_MAX));

// What an argument can hold.
static_assert(gj::detail::integer_bounds(1, true).min == -128 && gj::detail::integer_bounds(1, true).max == 127);
static_assert(gj::detail::integer_bounds(2, false).min == 0 && gj::detail::integer_bounds(2, false).max == 65535);
static_assert(gj::detail::integer_bounds(4, true).min == INT32_MIN &&
              gj::detail::integer_bounds(4, true).max == INT32_MAX);
static_assert(gj::detail::integer_bounds(4, false).max == UINT32_MAX);
static_assert(gj::detail::integer_bounds(8, true).min == INT64_MIN &&
              gj::detail::integer_bounds(8, true).max == INT64_MAX);
static_assert(gj::detail::integer_bounds(8, false).min == 0 && gj::detail::integer_bounds(8, false).max == INT64_MAX);

}  // namespace test
