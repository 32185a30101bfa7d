#include <graphjit/record/expr.hpp>

#include <graphjit/record/expr_table.hpp>

#include "support/random.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

namespace gj = graphjit;
using gj::detail::ExprFault;
using gj::detail::ExprValue;
using gj::Expr;
using gj::ExprDefect;
using gj::ExprOp;

__extension__ using Wide = __int128;  // no operation on 64 bits leaves it

constexpr ExprOp joins[] = {ExprOp::add,         ExprOp::subtract, ExprOp::multiply, ExprOp::divide,
                            ExprOp::ceil_divide, ExprOp::modulo,   ExprOp::minimum,  ExprOp::maximum};

/// Whether `given` is what the operation is defined as: not computed again, but tested.
bool is_right(ExprOp op, std::int64_t a, std::int64_t b, const ExprValue& given) {
    const Wide x = a;
    const Wide y = b;
    const Wide value = given.value;
    const auto exactly = [&](Wide wanted) {
        const bool fits = wanted >= INT64_MIN && wanted <= INT64_MAX;
        return fits ? given.fault == ExprFault::none && value == wanted : given.fault == ExprFault::overflow;
    };
    if ((op == ExprOp::divide || op == ExprOp::ceil_divide || op == ExprOp::modulo) && b <= 0) {
        return given.fault == ExprFault::divisor;
    }
    switch (op) {
        case ExprOp::add: return exactly(x + y);
        case ExprOp::subtract: return exactly(x - y);
        case ExprOp::multiply: return exactly(x * y);
        case ExprOp::divide: return given.fault == ExprFault::none && value * y <= x && x < (value + 1) * y;
        case ExprOp::ceil_divide: return given.fault == ExprFault::none && (value - 1) * y < x && x <= value * y;
        case ExprOp::modulo: return given.fault == ExprFault::none && 0 <= value && value < y && (x - value) % y == 0;
        case ExprOp::minimum: return value <= x && value <= y && (value == x || value == y);
        case ExprOp::maximum: return value >= x && value >= y && (value == x || value == y);
        default: return false;
    }
}

/// Small numbers, powers of two, both ends of 64 bits, and anything.
std::int64_t interesting(test::Random& random) {
    switch (random.below(6)) {
        case 0: return random.between(-3, 3);
        case 1: return random.between(-100, 100);
        case 2: return INT64_MIN + random.between(0, 3);
        case 3: return INT64_MAX - random.between(0, 3);
        case 4: return (random.chance(50) ? 1 : -1) * (std::int64_t{1} << random.below(62)) + random.between(-1, 1);
        default: return static_cast<std::int64_t>(random.next());
    }
}

TEST_CASE("Expr: every operation is as defined on small numbers, divisions round down") {
    for (const ExprOp op : joins) {
        for (std::int64_t a = -40; a <= 40; ++a) {
            for (std::int64_t b = -40; b <= 40; ++b) {
                CAPTURE(static_cast<int>(op));
                CAPTURE(a);
                CAPTURE(b);
                REQUIRE(is_right(op, a, b, gj::detail::evaluate(op, a, b)));
            }
        }
    }
}

TEST_CASE("Expr: every operation is as defined up to where 64 bits end, and says when it leaves them") {
    test::Random random(1);
    for (int round = 0; round < 400'000; ++round) {
        const ExprOp op = joins[random.below(8)];
        const std::int64_t a = interesting(random);
        const std::int64_t b = interesting(random);
        CAPTURE(static_cast<int>(op));
        CAPTURE(a);
        CAPTURE(b);
        REQUIRE(is_right(op, a, b, gj::detail::evaluate(op, a, b)));
    }
}

// --- Whole expressions against a tree that is evaluated without them -------------------------------------------------

struct Tree {
    ExprOp op = ExprOp::constant;
    std::int64_t value = 0;  // of a constant; the number of a variable
    std::vector<Tree> sides;
};

Tree random_tree(test::Random& random, unsigned leaves, unsigned variables) {
    if (leaves == 1) {
        if (variables != 0 && random.chance(70)) return {ExprOp::variable, random.below(variables), {}};
        return {ExprOp::constant, interesting(random), {}};
    }
    const unsigned left = 1 + random.below(leaves - 1);
    return {joins[random.below(8)],
            0,
            {random_tree(random, left, variables), random_tree(random, leaves - left, variables)}};
}

Expr expr_of(const Tree& tree) {
    if (tree.op == ExprOp::constant) return tree.value;
    if (tree.op == ExprOp::variable) return Expr::leaf(1, ExprOp::variable, static_cast<std::uint32_t>(tree.value));
    const Expr a = expr_of(tree.sides[0]);
    const Expr b = expr_of(tree.sides[1]);
    switch (tree.op) {
        case ExprOp::add: return a + b;
        case ExprOp::subtract: return a - b;
        case ExprOp::multiply: return a * b;
        case ExprOp::divide: return a / b;
        case ExprOp::ceil_divide: return gj::ceil_div(a, b);
        case ExprOp::modulo: return a % b;
        case ExprOp::minimum: return gj::min(a, b);
        default: return gj::max(a, b);
    }
}

ExprValue value_of(const Tree& tree, const std::vector<std::int64_t>& variables) {
    if (tree.op == ExprOp::constant) return {tree.value};
    if (tree.op == ExprOp::variable) return {variables[static_cast<std::size_t>(tree.value)]};
    const ExprValue a = value_of(tree.sides[0], variables);
    if (a.fault != ExprFault::none) return a;
    const ExprValue b = value_of(tree.sides[1], variables);
    if (b.fault != ExprFault::none) return b;
    return gj::detail::evaluate(tree.op, a.value, b.value);
}

ExprValue value_of(const Expr& expr, const std::vector<std::int64_t>& variables) {
    return expr.fold<ExprValue>(
        [&](ExprOp op, std::int64_t operand) {
            return ExprValue{op == ExprOp::constant ? operand : variables[static_cast<std::size_t>(operand)]};
        },
        [](ExprOp op, ExprValue a, ExprValue b) {
            if (a.fault != ExprFault::none) return a;
            if (b.fault != ExprFault::none) return b;
            return gj::detail::evaluate(op, a.value, b.value);
        });
}

TEST_CASE("Expr: an expression has the value of the tree it was written as") {
    test::Random random(2);
    int valid = 0;
    for (int round = 0; round < 50'000; ++round) {
        const Tree tree = random_tree(random, 1 + random.below(8), 4);
        const std::vector<std::int64_t> variables{interesting(random), interesting(random), interesting(random), 3};
        const Expr expr = expr_of(tree);
        const ExprValue wanted = value_of(tree, variables);
        if (!expr.valid()) {  // a part without variables is at fault, so the whole is
            REQUIRE(wanted.fault != ExprFault::none);
            continue;
        }
        ++valid;
        const Expr copy = expr;
        const ExprValue given = value_of(copy, variables);
        REQUIRE(given.fault == wanted.fault);
        if (wanted.fault == ExprFault::none) REQUIRE(given.value == wanted.value);
    }
    CHECK(valid > 10'000);
}

TEST_CASE("Expr: bounds of small ranges hold for every value in them") {
    test::Random random(3);
    int compared = 0;
    for (int round = 0; round < 3'000; ++round) {
        Tree tree = random_tree(random, 2 + random.below(4), 3);
        const Expr expr = expr_of(tree);
        if (!expr.valid() || expr.is_constant()) continue;
        gj::ExprTable table;
        gj::Bounds ranges[3];
        for (std::uint32_t i = 0; i < 3; ++i) {
            const std::int64_t least = random.chance(20) ? interesting(random) % (INT64_MAX - 8)
                                                         : random.between(-9, 9);
            ranges[i] = {least, least + random.between(0, 6)};
            REQUIRE(table.add_variable(gj::SlotIndex{i}, ranges[i]) != gj::ExprIndex::none);
        }
        const gj::Bounds bounds = table[table.intern(expr)].bounds;
        for (std::int64_t x = ranges[0].min; x <= ranges[0].max; ++x) {
            for (std::int64_t y = ranges[1].min; y <= ranges[1].max; ++y) {
                for (std::int64_t z = ranges[2].min; z <= ranges[2].max; ++z) {
                    const ExprValue value = value_of(tree, {x, y, z});
                    if (value.fault != ExprFault::none) continue;
                    CAPTURE(value.value);
                    CAPTURE(bounds.min);
                    CAPTURE(bounds.max);
                    REQUIRE(value.value >= bounds.min);
                    REQUIRE(value.value <= bounds.max);
                    ++compared;
                }
            }
        }
    }
    CHECK(compared > 50'000);
}

TEST_CASE("Expr: bounds of wide ranges hold for every value tried, their ends first") {
    test::Random random(4);
    int compared = 0;
    for (int round = 0; round < 20'000; ++round) {
        const Tree tree = random_tree(random, 2 + random.below(4), 2);
        const Expr expr = expr_of(tree);
        if (!expr.valid() || expr.is_constant()) continue;
        gj::ExprTable table;
        gj::Bounds ranges[2];
        for (std::uint32_t i = 0; i < 2; ++i) {
            const std::int64_t a = interesting(random);
            const std::int64_t b = interesting(random);
            ranges[i] = {a < b ? a : b, a < b ? b : a};
            REQUIRE(table.add_variable(gj::SlotIndex{i}, ranges[i]) != gj::ExprIndex::none);
        }
        const gj::Bounds bounds = table[table.intern(expr)].bounds;
        const auto pick = [&](const gj::Bounds& range) {
            const unsigned kind = random.below(4);
            const auto span = static_cast<std::uint64_t>(range.max) - static_cast<std::uint64_t>(range.min);
            const std::uint64_t step = span == UINT64_MAX ? random.next() : random.next() % (span + 1);
            const auto inside = static_cast<std::int64_t>(static_cast<std::uint64_t>(range.min) + step);
            const bool has_zero = range.min <= 0 && range.max >= 0;
            return kind == 0 ? range.min : kind == 1 ? range.max : kind == 2 && has_zero ? 0 : inside;
        };
        for (int sample = 0; sample < 20; ++sample) {
            const ExprValue value = value_of(tree, {pick(ranges[0]), pick(ranges[1])});
            if (value.fault != ExprFault::none) continue;
            CAPTURE(value.value);
            CAPTURE(bounds.min);
            CAPTURE(bounds.max);
            REQUIRE(value.value >= bounds.min);
            REQUIRE(value.value <= bounds.max);
            ++compared;
        }
    }
    CHECK(compared > 50'000);
}

// --- What cannot be recorded -----------------------------------------------------------------------------------------

TEST_CASE("Expr: holds eight operands, in whatever shape, and no more") {
    test::Random random(5);
    for (int round = 0; round < 2'000; ++round) {
        const unsigned leaves = 1 + random.below(12);
        Tree tree = random_tree(random, leaves, 1);
        // Constants alone would fold into fewer operands.
        const auto variables_only = [](auto& self, Tree& node) -> void {
            if (node.sides.empty()) node = {ExprOp::variable, 0, {}};
            for (Tree& side : node.sides) self(self, side);
        };
        variables_only(variables_only, tree);
        const Expr expr = expr_of(tree);
        REQUIRE(expr.defect() == (leaves <= Expr::max_operands ? ExprDefect::none : ExprDefect::too_long));
    }
}

TEST_CASE("Expr: a mix of two recordings is a fault that stays, one recording and constants are none") {
    const Expr mine = Expr::leaf(1, ExprOp::variable, 0);
    const Expr theirs = Expr::leaf(2, ExprOp::variable, 0);
    CHECK((mine + 1).owner() == 1);
    CHECK((1 + mine).owner() == 1);
    CHECK((mine * mine).owner() == 1);
    CHECK((mine + theirs).defect() == ExprDefect::mixed_recordings);
    CHECK((1 + (mine + 2) * (theirs + 3)).defect() == ExprDefect::mixed_recordings);
    CHECK(((mine + theirs) * 2 - 1).defect() == ExprDefect::mixed_recordings);
}

TEST_CASE("Expr: assignment replaces value, owner and fault, also by itself") {
    Expr expr = Expr(1) / 0;
    CHECK(expr.defect() == ExprDefect::divisor);
    expr = Expr::leaf(7, ExprOp::variable, 3) + 2;
    CHECK(expr.valid());
    CHECK(expr.owner() == 7);
    const Expr& same = expr;
    expr = same;
    CHECK(value_of(expr, {0, 0, 0, 40}).value == 42);
    expr = 5;
    CHECK(expr.is_constant());
    CHECK(expr.constant() == 5);
    CHECK(expr.owner() == 0);
}

}  // namespace
