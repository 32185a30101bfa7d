#include <graphjit/record/expr_table.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace {

namespace gj = graphjit;
using gj::Expr;
using gj::ExprIndex;
using gj::ExprOp;

Expr variable(std::uint32_t slot) { return Expr::leaf(1, ExprOp::variable, slot); }
Expr shared(ExprIndex index) { return Expr::leaf(1, ExprOp::shared, gj::to_integer(index)); }

TEST_CASE("ExprTable: equal expressions are one, different ones are not") {
    gj::ExprTable table;
    const ExprIndex x = table.add_variable(gj::SlotIndex{0}, {0, 9});
    const ExprIndex y = table.add_variable(gj::SlotIndex{1}, {0, 9});
    CHECK(x != y);
    CHECK(table.intern(variable(0)) == x);
    const ExprIndex sum = table.intern(variable(0) + variable(1));
    CHECK(table.intern(variable(0) + variable(1)) == sum);
    const ExprIndex others[] = {table.intern(variable(1) + variable(0)),
                                table.intern(variable(0) - variable(1)),
                                table.intern(variable(0) + 1),
                                table.intern(variable(0) + 2),
                                table.intern(1),
                                table.intern(2)};
    std::set<ExprIndex> seen{x, y, sum};
    for (const ExprIndex other : others) CHECK(seen.insert(other).second);
}

TEST_CASE("ExprTable: a part that two expressions share is kept once") {
    gj::ExprTable table;
    (void)table.add_variable(gj::SlotIndex{0}, {0, 9});
    (void)table.intern(variable(0) * 128 + 1);
    const std::size_t size = table.size();
    (void)table.intern(variable(0) * 128 + 2);  // the product is there: a constant and a sum are new
    CHECK(table.size() == size + 2);
    (void)table.intern(variable(0) * 128 + 1);
    CHECK(table.size() == size + 2);
}

TEST_CASE("ExprTable: a kept expression stands for itself in longer ones") {
    gj::ExprTable table;
    (void)table.add_variable(gj::SlotIndex{0}, {2, 5});
    const ExprIndex product = table.intern(variable(0) * 10);
    const ExprIndex longer = table.intern(shared(product) + 1);
    CHECK(longer == table.intern(variable(0) * 10 + 1));
    CHECK(table.intern(shared(product)) == product);
    CHECK(table[longer].bounds.min == 21);
    CHECK(table[longer].bounds.max == 51);
}

TEST_CASE("ExprTable: operands come before what uses them, and carry what was recorded") {
    gj::ExprTable table;
    const ExprIndex x = table.add_variable(gj::SlotIndex{7}, {-3, 9});
    const ExprIndex top = table.intern((variable(7) + 1) * (variable(7) - 2));
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        const gj::ExprNode& node = table.nodes()[i];
        if (!node.joins()) continue;
        CHECK(node.a < i);
        CHECK(node.b < i);
    }
    CHECK(table[x].op == ExprOp::variable);
    CHECK(table[x].a == 7);
    CHECK(table[x].bounds.min == -3);
    CHECK(table[x].bounds.max == 9);
    CHECK(table[top].op == ExprOp::multiply);
    CHECK(table[static_cast<ExprIndex>(table[top].a)].op == ExprOp::add);
    CHECK(table[static_cast<ExprIndex>(table[top].b)].op == ExprOp::subtract);
    const gj::ExprNode& constant = table[table.intern(-5)];
    CHECK(constant.op == ExprOp::constant);
    CHECK(constant.value == -5);
    CHECK(constant.bounds.min == -5);
    CHECK(constant.bounds.max == -5);
    CHECK(!constant.joins());
}

TEST_CASE("ExprTable: thousands of expressions are all found again, and by no other's number") {
    gj::ExprTable table;
    std::vector<ExprIndex> indices;
    const auto expr_number = [](std::uint32_t i) { return variable(i % 100) * (i / 100 + 2) + i % 7; };
    for (std::uint32_t i = 0; i < 100; ++i) (void)table.add_variable(gj::SlotIndex{i}, {0, 9});
    for (std::uint32_t i = 0; i < 20'000; ++i) indices.push_back(table.intern(expr_number(i)));
    const std::size_t size = table.size();
    for (std::uint32_t i = 0; i < 20'000; ++i) REQUIRE(table.intern(expr_number(i)) == indices[i]);
    CHECK(table.size() == size);
    CHECK(std::set<ExprIndex>(indices.begin(), indices.end()).size() == 20'000);
}

TEST_CASE("ExprTable: a copy is its own") {
    gj::ExprTable original;
    (void)original.add_variable(gj::SlotIndex{0}, {0, 9});
    const ExprIndex sum = original.intern(variable(0) + 1);
    gj::ExprTable copy;
    (void)copy.intern(99);
    REQUIRE(copy.copy_from(original));
    CHECK(copy.size() == original.size());
    CHECK(copy.intern(variable(0) + 1) == sum);
    const ExprIndex added = copy.intern(variable(0) + 1000);
    CHECK(to_integer(added) >= original.size());
    CHECK(original.intern(variable(0) + 1) == sum);
}

TEST_CASE("ExprTable: where memory runs out it says so, keeps what it has, and goes on when there is some again") {
    for (std::size_t allowed = 0; allowed < 12; ++allowed) {
        CAPTURE(allowed);
        gj::ExprTable table;
        std::vector<ExprIndex> known;
        bool refused = false;
        for (std::uint32_t i = 0; i < 5'000; ++i) {
            const Expr expr = variable(i) + i;
            ExprIndex index = ExprIndex::none;
            {
                // every 64th one may allocate as often as said, the others not at all
                const test::FailingAllocations failing(i % 64 == 0 ? allowed : 0);
                index = table.intern(expr);
            }
            refused = refused || index == ExprIndex::none;
            if (index == ExprIndex::none) index = table.intern(expr);
            REQUIRE(index != ExprIndex::none);
            known.push_back(index);
        }
        CHECK(refused);
        for (std::uint32_t i = 0; i < 5'000; ++i) REQUIRE(table.intern(variable(i) + i) == known[i]);
        CHECK(std::set<ExprIndex>(known.begin(), known.end()).size() == known.size());
    }
}

TEST_CASE("integer_bounds: what an argument of each width can hold") {
    const auto holds = [](unsigned width, bool is_signed, std::int64_t value) {
        const gj::Bounds bounds = gj::detail::integer_bounds(width, is_signed);
        return value >= bounds.min && value <= bounds.max;
    };
    for (const unsigned width : {1u, 2u, 4u}) {
        CAPTURE(width);
        const std::int64_t values = std::int64_t{1} << (8 * width);
        CHECK(holds(width, false, 0));
        CHECK(holds(width, false, values - 1));
        CHECK(!holds(width, false, values));
        CHECK(!holds(width, false, -1));
        CHECK(holds(width, true, -values / 2));
        CHECK(holds(width, true, values / 2 - 1));
        CHECK(!holds(width, true, values / 2));
        CHECK(!holds(width, true, -values / 2 - 1));
    }
    CHECK(holds(8, true, INT64_MIN));
    CHECK(holds(8, true, INT64_MAX));
    CHECK(holds(8, false, INT64_MAX));
    CHECK(!holds(8, false, -1));
}

}  // namespace
