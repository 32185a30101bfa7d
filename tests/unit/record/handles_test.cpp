#include <graphjit/record/handles.hpp>

#include "support/random.hpp"

#include <doctest/doctest.h>

namespace {

namespace gj = graphjit;
using Access = gj::detail::HandleAccess;

/// A buffer of memory 3 in recording 5.
template <class T>
gj::Buffer<T> buffer(std::int64_t elements) {
    return Access::buffer<T>({5, gj::MemoryIndex{3}, 0, elements * static_cast<std::int64_t>(sizeof(T))});
}

template <class T>
void check_part(const gj::Buffer<T>& part, std::int64_t offset_bytes, std::int64_t bytes) {
    const gj::detail::ConstantView& view = Access::view(part);
    CHECK(view.owner == 5);
    CHECK(view.memory == gj::MemoryIndex{3});
    CHECK(view.offset == offset_bytes);
    CHECK(view.bytes == bytes);
}
template <class T>
bool is_refused(const gj::Buffer<T>& part) {
    return Access::view(part).bytes < 0;
}

TEST_CASE("Buffer: a part counts elements from the start of its parent, and so does a part of a part") {
    const gj::Buffer<double> all = buffer<double>(100);
    CHECK(all.size() == 100);
    check_part(all.slice(10, 50), 80, 400);
    CHECK(all.slice(10, 50).size() == 50);
    check_part(all.slice(10, 50).slice(5, 20), 120, 160);
    check_part(all.slice(10, 50).slice(5, 20).slice(20, 0), 280, 0);
    check_part(all.slice(0, 100).slice(0, 100), 0, 800);
    check_part(all.slice(100, 0), 800, 0);
}

TEST_CASE("Buffer: a part that is not inside its parent is marked as such, and so are its parts") {
    const gj::Buffer<float> all = buffer<float>(10);
    CHECK(is_refused(all.slice(-1, 2)));
    CHECK(is_refused(all.slice(0, 11)));
    CHECK(is_refused(all.slice(10, 1)));
    CHECK(is_refused(all.slice(11, 0)));
    CHECK(is_refused(all.slice(3, -1)));
    CHECK(is_refused(all.slice(2, 4).slice(0, 5)));  // inside the buffer, but not inside the part
    CHECK(is_refused(all.slice(2, 4).slice(-1, 1)));
    CHECK(is_refused(all.slice(0, 11).slice(0, 1)));
    CHECK(is_refused(all.slice(0, 11).slice(0, 0)));
    CHECK(is_refused(all.slice(INT64_MAX, INT64_MAX)));
    CHECK(is_refused(all.slice(1, INT64_MAX)));
    CHECK(is_refused(all.slice(INT64_MIN, INT64_MIN)));
    CHECK(is_refused(all.slice(0, INT64_MAX / 4 + 1)));           // times four it would be small again
    CHECK(is_refused(buffer<char>(10).slice(9, INT64_MAX - 3)));  // and the sum of the two would be, here
}

TEST_CASE("Buffer: parts of parts are what arithmetic on plain numbers says") {
    test::Random random(1);
    for (int round = 0; round < 20'000; ++round) {
        gj::Buffer<short> part = buffer<short>(50);
        std::int64_t begin = 0;
        std::int64_t size = 50;
        bool inside = true;
        for (int depth = 0; depth < 4; ++depth) {
            const std::int64_t first = random.between(-2, 30);
            const std::int64_t count = random.between(-1, 30);
            part = part.slice(first, count);
            inside = inside && first >= 0 && count >= 0 && first + count <= size;
            begin += first;
            size = count;
        }
        REQUIRE(is_refused(part) == !inside);
        if (inside) {
            REQUIRE(Access::view(part).offset == 2 * begin);
            REQUIRE(Access::view(part).bytes == 2 * size);
        }
    }
}

TEST_CASE("Buffer: as another type it is the same bytes") {
    const gj::Buffer<float> floats = buffer<float>(6);
    check_part(floats.as<double>(), 0, 24);
    CHECK(floats.as<double>().size() == 3);
    CHECK(floats.as<const std::uint8_t>().size() == 24);
    check_part(floats.slice(2, 4).as<std::uint8_t>().slice(1, 3), 9, 3);
    struct Odd {
        char bytes[5];
    };
    check_part(floats.as<Odd>(), 0, -1);  // 24 bytes are no whole number of them
    check_part(floats.as<float>(), 0, 24);
}

TEST_CASE("Buffer: const can be added") {
    const gj::Buffer<const float> constant = buffer<float>(4);
    check_part(constant, 0, 16);
    check_part(constant.slice(1, 2), 4, 8);
}

TEST_CASE("Token: has no size, and is a part of itself only") {
    const gj::Token token = Access::buffer<gj::TokenElement>({5, gj::MemoryIndex{3}, 0, 0});
    CHECK(token.size() == 0);
    check_part(token, 0, 0);
    check_part(token.slice(0, 0), 0, 0);
    CHECK(is_refused(token.slice(0, 1)));
}

TEST_CASE("Buffer: a part with a Variable is an expression in bytes, within its parent") {
    const gj::Variable x = Access::variable(5, gj::SlotIndex{2});
    const gj::SymbolicBuffer<double> part = buffer<double>(100).slice(10, 50).slice(x * 2, x + 1);
    const gj::detail::SymbolicView& view = Access::view(part);
    CHECK(view.within.offset == 80);
    CHECK(view.within.bytes == 400);
    const auto at_seven = [](const gj::Expr& expr) {
        return expr.fold<std::int64_t>(
            [](gj::ExprOp op, std::int64_t operand) { return op == gj::ExprOp::constant ? operand : 7; },
            [](gj::ExprOp op, std::int64_t a, std::int64_t b) { return gj::detail::evaluate(op, a, b).value; });
    };
    CHECK(at_seven(view.offset) == 14 * 8);
    CHECK(at_seven(view.bytes) == 8 * 8);

    const gj::detail::SymbolicView deeper = Access::view(part.slice(3, x));
    CHECK(deeper.within.offset == 80);
    CHECK(deeper.within.bytes == 400);
    CHECK(at_seven(deeper.offset) == (14 + 3) * 8);
    CHECK(at_seven(deeper.bytes) == 7 * 8);

    const gj::SymbolicBuffer<const double> constant = part;
    CHECK(at_seven(Access::view(constant).offset) == 14 * 8);
}

TEST_CASE("SymbolicBuffer: a constant part of a part of constant size lies inside it, wherever that is") {
    const gj::Variable x = Access::variable(5, gj::SlotIndex{2});
    const gj::SymbolicBuffer<double> part = buffer<double>(100).slice(x, 10);
    const auto is_refused = [](const gj::SymbolicBuffer<double>& view) { return Access::view(view).within.bytes < 0; };
    CHECK(!is_refused(part.slice(0, 10)));
    CHECK(!is_refused(part.slice(10, 0)));
    CHECK(!is_refused(part.slice(3, 7)));
    CHECK(is_refused(part.slice(3, 8)));
    CHECK(is_refused(part.slice(11, 0)));
    CHECK(is_refused(part.slice(-1, 2)));
    CHECK(is_refused(part.slice(2, -1)));
    CHECK(is_refused(part.slice(1, INT64_MAX)));
    CHECK(is_refused(part.slice(3, 8).slice(0, 1)));
    CHECK(is_refused(part.slice(3, 7).slice(0, 8)));
    CHECK(!is_refused(part.slice(x, 10)));  // depends on x: seen at replay, against the buffer
    CHECK(!is_refused(part.slice(0, x)));
}

TEST_CASE("SymbolicBuffer: as another type it is the same bytes, counted anew") {
    const gj::Variable x = Access::variable(5, gj::SlotIndex{2});
    const auto at_seven = [](const gj::Expr& expr) {
        return expr.fold<std::int64_t>(
            [](gj::ExprOp op, std::int64_t operand) { return op == gj::ExprOp::constant ? operand : 7; },
            [](gj::ExprOp op, std::int64_t a, std::int64_t b) { return gj::detail::evaluate(op, a, b).value; });
    };
    const gj::detail::SymbolicView view = Access::view(buffer<double>(100).slice(x, 4).as<const float>().slice(3, 2));
    CHECK(at_seven(view.offset) == 7 * 8 + 3 * 4);
    CHECK(at_seven(view.bytes) == 8);
}

TEST_CASE("slots: know their number and their recording") {
    const gj::Variable variable = Access::variable(5, gj::SlotIndex{2});
    CHECK(variable.slot() == gj::SlotIndex{2});
    CHECK(Access::owner(variable) == 5);
    CHECK(gj::Expr(variable).owner() == 5);
    const gj::Slot<float> slot = Access::slot<float>(5, gj::SlotIndex{4});
    CHECK(slot.slot() == gj::SlotIndex{4});
    CHECK(Access::owner(slot) == 5);
    const gj::Input<float> input = Access::input<float>({5, gj::MemoryIndex{3}, 0, 16}, gj::SlotIndex{1});
    CHECK(input.slot() == gj::SlotIndex{1});
    CHECK(Access::owner(input) == 5);
    check_part(input.slice(1, 2), 4, 8);
    CHECK(Access::owner(gj::Buffer<float>()) == 0);
}

TEST_CASE("extra accesses: name their view and how it is used") {
    const gj::Buffer<float> all = buffer<float>(4);
    CHECK(gj::reads(all).access == gj::Access::in);
    CHECK(gj::writes(all).access == gj::Access::out);
    CHECK(gj::updates(all).access == gj::Access::in_out);
    check_part(gj::reads(all.slice(1, 1)).view, 4, 4);
}

}  // namespace
