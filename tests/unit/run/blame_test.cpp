#include <graphjit/run/blame.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

namespace {

using namespace test;

struct Fixture {
    gj::Input<std::int32_t> in, unused;
    gj::Variable x, y, idle;
    gj::Slot<std::int32_t> number;
    CpuList list;
    gj::detail::Blame blame;

    Fixture() {
        CpuRecorder rec;
        in = rec.input<std::int32_t>("in", 16);
        unused = rec.input<std::int32_t>("unused", 16);
        x = rec.variable("x", {.min = 0, .max = 2});
        y = rec.variable("y", {.min = 0, .max = 2});
        idle = rec.variable("idle", {.min = 0, .max = 2});
        number = rec.slot<std::int32_t>("number");
        (void)rec.let(idle * 2);
        (void)rec.launch(fill<>, nullptr, 1);                       // 0
        (void)rec.launch(fill<>, nullptr, x + 1);                   // 1
        (void)rec.launch(fill<>, in, number);                       // 2
        (void)rec.launch(fill<>, in.slice(0, (x + 1) * 4 + y), 1);  // 3
        (void)rec.launch(fill<>, nullptr, 100 - y);                 // 4
        list = std::move(rec).finish().value();
        REQUIRE(blame.build(list));
    }
    [[nodiscard]] gj::ExprIndex expr(gj::Variable variable) const {
        return static_cast<gj::ExprIndex>(list.slot(variable.slot()).index);
    }
};

TEST_CASE("blame: the first op that a slot goes into, directly or through expressions") {
    Fixture f;
    CHECK(f.blame.user_of(f.list, f.in.slot()) == op(2));
    CHECK(f.blame.user_of(f.list, f.number.slot()) == op(2));
    CHECK(f.blame.user_of(f.list, f.x.slot()) == op(1));
    CHECK(f.blame.user_of(f.list, f.y.slot()) == op(3));  // only in a size
    CHECK(f.blame.user_of(f.list, f.unused.slot()) == gj::OpIndex::none);
    CHECK(f.blame.user_of(f.list, f.idle.slot()) == gj::OpIndex::none);
}

TEST_CASE("blame: a Variable that an expression depends on") {
    Fixture f;
    const auto& uses = f.list.uses();
    CHECK(f.blame.variable_of(f.list, uses[0].expr) == f.x.slot());
    CHECK(f.blame.variable_of(f.list, f.expr(f.y)) == f.y.slot());
    // The place of the last but one is the constant 0: the Variable is found in its size.
    CHECK(f.blame.variable_of(f.list, uses[uses.size() - 1]) == f.y.slot());
    const gj::Use& last = uses[uses.size() - 2];
    CHECK(f.blame.variable_of(f.list, last.expr) == gj::SlotIndex::none);
    const gj::SlotIndex found = f.blame.variable_of(f.list, last);
    CHECK((found == f.x.slot() || found == f.y.slot()));
}

TEST_CASE("blame: of a long sum it is found in one pass, and asking does not allocate") {
    CpuRecorder rec;
    const auto x = rec.variable("x", {.min = 0, .max = 1});
    const auto y = rec.variable("y", {.min = 0, .max = 1});
    gj::Expr sum = y;
    for (int i = 0; i < 62; ++i) sum = rec.let(sum + sum);  // followed along both sides it would take 2^62 steps
    (void)rec.launch(fill<>, nullptr, x);
    (void)rec.launch(fill<>, nullptr, rec.let(sum - sum) + 1);
    const CpuList list = std::move(rec).finish().value();
    gj::detail::Blame blame;
    REQUIRE(blame.build(list));
    const FailingAllocations failing(0);
    CHECK(blame.user_of(list, y.slot()) == op(1));
    CHECK(blame.user_of(list, x.slot()) == op(0));
    CHECK(blame.variable_of(list, list.uses()[1]) == y.slot());
    CHECK(failing.refused() == 0);
}

}  // namespace
