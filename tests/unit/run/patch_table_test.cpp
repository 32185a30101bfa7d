#include <graphjit/run/patch_table.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

void narrow(std::int8_t, std::uint16_t, std::int64_t, std::int32_t*) {}

/// A table of a recording, over blocks of its own.
class Table {
public:
    explicit Table(CpuList&& list, const gj::BackendLimits& limits = {}) : list_(std::move(list)) {
        blocks_.resize(list_.blocks().size());
        REQUIRE(table_.build(
            list_, limits, [&](gj::OpIndex op) { return blocks_.data() + list_.op(op).block; },
            [](const gj::Use&) { return true; }));
    }
    [[nodiscard]] const gj::PatchTable* operator->() const { return &table_; }
    [[nodiscard]] const CpuList& list() const { return list_; }
    /// Where in an op's block a place is.
    [[nodiscard]] std::ptrdiff_t offset(const std::byte* place, unsigned op) const {
        return place - (blocks_.data() + list_.op(test::op(op)).block);
    }

private:
    CpuList list_;
    std::vector<std::byte> blocks_;
    gj::PatchTable table_;
};

TEST_CASE("PatchTable: an input lands where ops were given it, whole or in part") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto unused = rec.input<std::int32_t>("unused", 16);
    (void)rec.launch(mix<4>, in.slice(4, 4), in, 1);  // op 0
    (void)rec.launch(inc<4>, in.slice(8, 4));         // op 1
    (void)rec.launch(mix<4>, in, nullptr, 1);         // op 2
    const Table table(std::move(rec).finish().value());
    const gj::SlotIndex slot = in.slot();
    REQUIRE(table->starts(slot).size() == 2);
    CHECK(table.offset(table->starts(slot)[0], 0) == mix<4>.info.arguments[1].offset);
    CHECK(table.offset(table->starts(slot)[1], 2) == mix<4>.info.arguments[0].offset);
    REQUIRE(table->pointers(slot).size() == 2);
    CHECK(table.offset(table->pointers(slot)[0].place, 0) == mix<4>.info.arguments[0].offset);
    CHECK(table->pointers(slot)[0].add == 16);
    CHECK(table.offset(table->pointers(slot)[1].place, 1) == 0);
    CHECK(table->pointers(slot)[1].add == 32);
    CHECK(table->pointer_ops(slot).size() == 4);
    CHECK(table->need(slot).bytes == 64);
    CHECK(table->need(slot).op == op(0));
    CHECK(table->starts(unused.slot()).empty());
    CHECK(table->pointers(unused.slot()).empty());
    CHECK(table->need(unused.slot()).op == gj::OpIndex::none);
}

TEST_CASE("PatchTable: the first op that needs the most of an input is the one that is named") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    (void)rec.launch(inc<4>, in.slice(0, 4));
    (void)rec.launch(inc<4>, in.slice(4, 4));
    (void)rec.launch(inc<4>, in.slice(4, 4));
    (void)rec.launch(inc<4>, in.slice(0, 4));
    const Table table(std::move(rec).finish().value());
    CHECK(table->need(in.slot()).bytes == 32);
    CHECK(table->need(in.slot()).op == op(1));
}

TEST_CASE("PatchTable: a value lands in every op it was given to") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    const auto number = rec.slot<std::int32_t>("number");
    (void)rec.launch(fill<>, buffer, 1);
    (void)rec.launch(fill<>, buffer, number);
    (void)rec.fill(buffer, number);
    const Table table(std::move(rec).finish().value());
    REQUIRE(table->values(number.slot()).size() == 2);
    CHECK(table->values(number.slot())[0].op == op(1));
    CHECK(table.offset(table->values(number.slot())[0].place, 1) == fill<>.info.arguments[1].offset);
    CHECK(table->values(number.slot())[1].op == op(2));
    CHECK(table.offset(table->values(number.slot())[1].place, 2) == offsetof(gj::FillBlock, pattern));
}

TEST_CASE("PatchTable: an integer may be what its argument can hold, a dim what the backend allows") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto x = rec.variable("x", {.min = 0, .max = 5});
    (void)rec.launch(gj::kernel<narrow>, x, x, x, in);
    (void)rec.launch(iota, {.groups = {1, x}, .group_size = {1, 1, x}}, in);
    gj::BackendLimits limits;
    limits.groups.y = 77;
    limits.group_size.z = 33;
    const Table table(std::move(rec).finish().value(), limits);
    const auto expr = static_cast<gj::ExprIndex>(table.list().slot(x.slot()).index);
    const gj::Span<const gj::IntegerPatch> patches = table->integers(expr);
    REQUIRE(patches.size() == 5);
    const struct {
        std::int64_t min, max;
        unsigned width;
        unsigned op;
    } expected[] = {{-128, 127, 1, 0}, {0, 65'535, 2, 0}, {INT64_MIN, INT64_MAX, 8, 0}, {0, 77, 4, 1}, {1, 33, 4, 1}};
    std::vector<gj::Use> uses;
    for (const gj::Use& use : table.list().uses()) {
        if (use.expr == expr) uses.push_back(use);
    }
    REQUIRE(uses.size() == 5);
    for (unsigned i = 0; i < 5; ++i) {
        CAPTURE(i);
        const gj::Use& use = uses[i];
        const gj::Bounds bounds = gj::bounds_of(use, limits);
        CHECK(bounds.min == expected[i].min);
        CHECK(bounds.max == expected[i].max);
        CHECK(use.op == op(expected[i].op));
        CHECK(patches[i].width == expected[i].width);
    }
    CHECK(table->bounds(expr).min == 1);
    CHECK(table->bounds(expr).max == 33);
    REQUIRE(table->group_dims(expr).size() == 1);
    CHECK(table.list().uses()[table->group_dims(expr)[0]].dim == 5);
    CHECK(table.offset(patches[3].place, 1) == iota.info.dims_offset + 4);
    CHECK(table.offset(patches[4].place, 1) == iota.info.dims_offset + 20);
}

TEST_CASE("PatchTable: a symbolic view depends on its input, its place and its size") {
    Array4 a{};
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto all = rec.buffer("a", a);
    const auto x = rec.variable("x", {.min = 0, .max = 2});
    const auto y = rec.variable("y", {.min = 0, .max = 2});
    (void)rec.launch(inc<1>, in.slice(x, y));   // use 0
    (void)rec.launch(inc<1>, all.slice(x, x));  // use 1: the same Expr for both
    const Table table(std::move(rec).finish().value());
    REQUIRE(table->symbols(in.slot()).size() == 1);
    CHECK(table->symbols(in.slot())[0] == 0);
    const gj::Use& first = table.list().uses()[0];
    const gj::Use& second = table.list().uses()[1];
    CHECK(first.expr == second.expr);  // x * 4
    REQUIRE(table->symbols(first.expr).size() == 2);
    CHECK(table->symbols(first.expr)[0] == 0);
    CHECK(table->symbols(first.expr)[1] == 1);
    REQUIRE(table->symbols(first.size).size() == 1);
    CHECK(table.offset(table->place(0), 0) == 0);
    CHECK(table.offset(table->place(1), 1) == 0);
    // What an input must have at least is not known for a part that moves; that it is used, is.
    CHECK(table->need(in.slot()).op == op(0));
    CHECK(table->need(in.slot()).bytes == 0);
}

TEST_CASE("PatchTable: knows which expressions are needed, and by whom") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto x = rec.variable("x", {.min = 0, .max = 2});
    const auto kept = rec.let(x * 5);
    const auto forgotten = rec.let(x * 6);
    (void)forgotten;
    (void)rec.launch(fill<>, in, kept + kept);
    const Table table(std::move(rec).finish().value());
    const gj::Span<const gj::ExprNode> nodes = table.list().exprs().nodes();
    unsigned needed = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        needed += table->is_needed(i) ? 1u : 0u;
        for (const std::uint32_t user : table->users(i)) {
            CHECK(table->is_needed(user));
            CHECK((nodes[user].a == i || nodes[user].b == i));
        }
    }
    CHECK(needed == 4);                                        // x, 5, their product, and the sum
    const auto top = to_integer(table.list().uses()[1].expr);  // after the input's
    CHECK(table->users(top).empty());
    CHECK(table->users(nodes[top].a).size() == 1);  // once, though it is both operands
}

TEST_CASE("PatchTable: where memory runs out it says so") {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto x = rec.variable("x", {.min = 0, .max = 2});
    const auto number = rec.slot<std::int32_t>("number");
    (void)rec.launch(fill<>, in.slice(4, 4), number);
    (void)rec.launch(fill<>, in.slice(x, x + 1), x * 2);
    (void)rec.launch(fill<>, in, x * 2);
    const CpuList list = std::move(rec).finish().value();
    std::vector<std::byte> blocks(list.blocks().size());
    CHECK(allocations_needed([&] {
              gj::PatchTable table;
              return table.build(
                  list, {}, [&](gj::OpIndex op) { return blocks.data() + list.op(op).block; },
                  [](const gj::Use&) { return true; });
          }) > 10);
}

}  // namespace
