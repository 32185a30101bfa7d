#include <graphjit/run/blame.hpp>

#include "support/kernels.hpp"
#include "support/ways.hpp"

namespace {

using namespace test;

struct Fixture {
    gj::Input<std::int32_t> in, unused;
    gj::Variable x, y, idle;
    gj::Slot<std::int32_t> number;
    CpuList list;

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
        list = std::move(rec).finish().value();
    }
    [[nodiscard]] gj::ExprIndex expr(gj::Variable variable) const {
        return static_cast<gj::ExprIndex>(list.slot(variable.slot()).index);
    }
};

TEST_CASE("blame: the first op that a slot goes into, directly or through expressions") {
    const Fixture f;
    CHECK(gj::detail::user_of(f.list, f.in.slot()) == op(2));
    CHECK(gj::detail::user_of(f.list, f.number.slot()) == op(2));
    CHECK(gj::detail::user_of(f.list, f.x.slot()) == op(1));
    CHECK(gj::detail::user_of(f.list, f.y.slot()) == op(3));  // only in a size
    CHECK(gj::detail::user_of(f.list, f.unused.slot()) == gj::OpIndex::none);
    CHECK(gj::detail::user_of(f.list, f.idle.slot()) == gj::OpIndex::none);
}

TEST_CASE("blame: a Variable that an expression depends on") {
    const Fixture f;
    const auto& uses = f.list.uses();
    CHECK(gj::detail::variable_of(f.list, uses[0].expr) == f.x.slot());
    CHECK(gj::detail::variable_of(f.list, f.expr(f.y)) == f.y.slot());
    CHECK(gj::detail::depends(f.list, uses[0].expr, f.expr(f.x)));
    CHECK(!gj::detail::depends(f.list, uses[0].expr, f.expr(f.y)));
    // The place of the last use is the constant 0: the Variable is found in its size.
    const gj::Use& last = uses[uses.size() - 1];
    CHECK(gj::detail::variable_of(f.list, last.expr) == gj::SlotIndex::none);
    CHECK(gj::detail::variable_of(f.list, last) == f.x.slot());
    CHECK(gj::detail::depends(f.list, last.size, f.expr(f.y)));
}

}  // namespace
