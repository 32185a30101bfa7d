// Kind C: scalars, launch dims, argument memory. Where each number of the kind is:
//
//   37, 39, 41, 42, 45 to 48   here, in every way to run a recording; 41, 42, 47, 48 also in native_updates_test.cpp
//   44                         here as far as it goes: host kernels have no dynamic local memory, so the scratch is
//   memory
//                              of the user whose size is recorded; the rest belongs to backends that have it
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

constexpr std::int32_t int_max = std::numeric_limits<std::int32_t>::max();

TEST_CASE("case 37: a value slot is what the caller set, not what was recorded") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto v0 = rec.slot<std::int32_t>("v0", 77);
    rec.launch(fill<>, rec.buffer("a", a), v0);
    rec.fill(rec.buffer("b", b), v0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        REQUIRE(replay_error(graph) == "");
        CHECK(text(a) == "77 77 77 77");
        for (const std::int32_t value : {1, 2, 3, -5, int_max}) {
            poison_all(a, b);
            graph.set(v0, value);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(a, value));
            CHECK(all_equal(b, value));
        }
    });
}

TEST_CASE("case 37: a Variable and an Expr of it are what the caller set") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto v0 = rec.variable("v0", {.min = -5, .max = int_max});
    rec.launch(fill<>, rec.buffer("a", a), v0);
    rec.fill(rec.buffer("b", b), 2 - v0 % 10);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (const std::int32_t value : {1, 2, 3, -5, int_max}) {
            poison_all(a, b);
            graph.set(v0, value);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(a, value));
            CHECK(all_equal(b, 2 - (value % 10 + 10) % 10));
        }
    });
}

TEST_CASE("case 37: fill values of every size, through a slot and as a constant") {
    struct Four {
        std::int32_t parts[4];
        bool operator==(const Four&) const = default;
    };
    struct Three {
        std::int8_t parts[3];
        bool operator==(const Three&) const = default;
    };
    std::int8_t bytes[5] = {};
    std::int16_t shorts[7] = {};
    Three threes[5] = {};
    double doubles[3] = {};
    Four fours[3] = {};
    CpuRecorder rec;
    const auto v1 = rec.slot<std::int8_t>("v1");
    const auto v3 = rec.slot<Three>("v3");
    const auto v8 = rec.slot<double>("v8");
    const auto v16 = rec.slot<Four>("v16");
    rec.fill(rec.buffer("bytes", bytes), v1);
    rec.fill(rec.buffer("shorts", shorts), std::int16_t{-300});
    rec.fill(rec.buffer("threes", threes), v3);
    rec.fill(rec.buffer("doubles", doubles), v8);
    rec.fill(rec.buffer("fours", fours), v16);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (std::int8_t i = 1; i < 5; ++i) {
            const Three three{{i, 2, static_cast<std::int8_t>(-i)}};
            const Four four{{i, -i, 3, int_max}};
            graph.set(v1, i).set(v3, three).set(v8, 0.5 * i).set(v16, four);
            set_all(shorts, std::int16_t{0});
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(bytes, i));
            CHECK(all_equal(shorts, -300));
            CHECK(all_equal(threes, three));
            CHECK(all_equal(doubles, 0.5 * i));
            CHECK(all_equal(fours, four));
        }
    });
}

struct Echo {
    const void* p0;
    std::int32_t i0;
    const void* p1;
    std::int8_t i1;
    std::int64_t i2;
    std::int32_t i3;
    double f0;
    const void* p2;
    friend bool operator==(const Echo&, const Echo&) = default;
};

void echo(gj::Out<Echo> out, const std::int32_t* p0, std::int32_t i0, std::int32_t* p1, std::int8_t i1, std::int64_t i2,
          std::int32_t i3, double f0, const void* p2) {
    *out.pointer = {p0, i0, p1, i1, i2, i3, f0, p2};
}
void echo_short(gj::Out<Echo> out, const std::int32_t* p0, std::int8_t i1, std::int64_t i2, std::int32_t i3) {
    *out.pointer = {p0, 0, nullptr, i1, i2, i3, 0, nullptr};
}

TEST_CASE("case 39: arguments stand where C puts them, and an update leaves the neighbours alone") {
    Echo out[2] = {};
    Array4 m0{}, m1{}, m2{}, n0{};
    CpuRecorder rec;
    const auto p0 = rec.input<const std::int32_t>("p0", 4);
    const auto i0 = rec.slot<std::int32_t>("i0", 1);
    const auto i1 = rec.slot<std::int8_t>("i1", std::int8_t{2});
    const auto i2 = rec.slot<std::int64_t>("i2", 3);
    const auto i3 = rec.slot<std::int32_t>("i3", 4);
    const auto f0 = rec.slot<double>("f0", 5.0);
    const auto p2 = rec.input<std::int32_t>("p2", 4);
    const auto results = rec.buffer("out", out);
    rec.launch(gj::kernel<echo>, results.slice(0, 1), p0, i0, rec.buffer("m1", m1), i1, i2, i3, f0, p2);
    rec.launch(gj::kernel<echo_short>, results.slice(1, 1), p0, i1, i2, i3);
    const CpuList list = std::move(rec).finish().value();

    CHECK(list.op(op(0)).info->block_bytes == 72);
    CHECK(list.op(op(1)).info->block_bytes == 36);
    const std::uint32_t offsets[] = {0, 8, 16, 24, 32, 40, 48, 56, 64};
    for (unsigned i = 0; i < 9; ++i) CHECK(list.op(op(0)).info->arguments[i].offset == offsets[i]);

    in_all_ways(list, [&](CpuRunner& graph) {
        Echo expected{m0.data(), 1, m1.data(), 2, 3, 4, 5.0, m2.data()};
        const auto check = [&] {
            std::memset(static_cast<void*>(out), 0x55, sizeof out);
            REQUIRE(replay_error(graph) == "");
            CHECK(out[0] == expected);
            const Echo& e = expected;
            CHECK(out[1] == Echo{e.p0, 0, nullptr, e.i1, e.i2, e.i3, 0, nullptr});
        };
        graph.set(p0, m0).set(p2, m2);
        check();
        graph.set(i0, -1);
        expected.i0 = -1;
        check();
        graph.set(i1, std::int8_t{-128});
        expected.i1 = -128;
        check();
        graph.set(i2, std::int64_t{-1});
        expected.i2 = -1;
        check();
        graph.set(i3, int_max);
        expected.i3 = int_max;
        check();
        graph.set(f0, -0.0);
        expected.f0 = -0.0;
        check();
        graph.set(p0, n0);
        expected.p0 = n0.data();
        check();
        graph.set(p2, m0);
        expected.p2 = m0.data();
        check();
        graph.set(i0, 0x01020304).set(i1, std::int8_t{0}).set(i2, std::int64_t{1} << 62).set(f0, 1e300);
        expected = {n0.data(), 0x01020304, m1.data(), 0, std::int64_t{1} << 62, int_max, 1e300, m0.data()};
        check();
    });
}

struct Padded {
    std::int8_t a;
    std::int64_t b;
};
struct Narrow {
    bool flag;
    std::int8_t byte;
    std::int16_t half;
    std::uint32_t word;
    std::uint64_t wide;
    Padded padded;
    std::uint8_t last;
    friend bool operator==(const Narrow& x, const Narrow& y) {
        return x.flag == y.flag && x.byte == y.byte && x.half == y.half && x.word == y.word && x.wide == y.wide &&
               x.padded.a == y.padded.a && x.padded.b == y.padded.b && x.last == y.last;
    }
};
void echo_narrow(gj::Out<Narrow> out, bool flag, std::int8_t byte, std::int16_t half, std::uint32_t word,
                 std::uint64_t wide, Padded padded, std::uint8_t last) {
    *out.pointer = {flag, byte, half, word, wide, padded, last};
}

TEST_CASE("case 39: an Expr for each integer width leaves the neighbours alone") {
    Narrow out{};
    CpuRecorder rec;
    const auto v = rec.variable("v", {.min = -100, .max = 100}, 1);
    const auto w = rec.variable("w", {.min = 0, .max = 255}, 1);
    rec.launch(gj::kernel<echo_narrow>, rec.buffer("out", &out, 1), true, v, v * 300, w * 1000000, w * 4000000000,
               Padded{1, -2}, w);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        Random random(39);
        for (int round = 0; round < 50; ++round) {
            const auto x = static_cast<std::int32_t>(random.between(-100, 100));
            const auto y = static_cast<std::uint32_t>(random.below(256));
            graph.set(v, x).set(w, y);
            REQUIRE(replay_error(graph) == "");
            CHECK(out == Narrow{true,
                                static_cast<std::int8_t>(x),
                                static_cast<std::int16_t>(x * 300),
                                y * 1000000,
                                std::uint64_t{y} * 4000000000u,
                                {1, -2},
                                static_cast<std::uint8_t>(y)});
        }
    });
}

int calls = 0;
void count_call() { ++calls; }
struct alignas(16) Wide {
    std::int64_t a, b;
};
void sum_of_wide(std::int8_t first, Wide wide, gj::Out<std::int64_t> out, Wide again, std::int8_t last) {
    out[0] = first + wide.a + wide.b + again.a + again.b + last;
}

TEST_CASE("case 39: a kernel without arguments, and one whose arguments are aligned to sixteen bytes") {
    std::int64_t sum[2] = {};
    CpuRecorder rec;
    const auto slot = rec.slot<Wide>("wide", Wide{1, 2});
    const auto sums = rec.buffer("sum", sum);
    const auto order = rec.token("order");
    CHECK(rec.launch(gj::kernel<count_call>) == op(0));
    rec.launch(gj::kernel<count_call>, updates(order));
    rec.launch(gj::kernel<sum_of_wide>, std::int8_t{100}, slot, sums.slice(0, 1), Wide{10, 20}, std::int8_t{-1});
    rec.launch(gj::kernel<count_call>, updates(order));
    rec.launch(gj::kernel<sum_of_wide>, std::int8_t{0}, Wide{5, 6}, sums.slice(1, 1), slot, std::int8_t{0});
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "1>3");
    in_all_ways(list, [&](CpuRunner& graph) {
        calls = 0;
        REQUIRE(replay_error(graph) == "");
        CHECK(calls == 3);
        CHECK(sum[0] == 132);
        CHECK(sum[1] == 14);
        graph.set(slot, Wide{7, 8});
        REQUIRE(replay_error(graph) == "");
        CHECK(calls == 6);
        CHECK(sum[0] == 144);
        CHECK(sum[1] == 26);
    });
}

[[nodiscard]] std::string written(const std::vector<std::int32_t>& values) {
    unsigned count = 0;
    while (count < values.size() && values[count] == static_cast<std::int32_t>(count + 1)) ++count;
    for (unsigned i = count; i < values.size(); ++i) {
        if (values[i] != poison) return "element " + std::to_string(i) + " is wrong";
    }
    return std::to_string(count);
}

TEST_CASE("case 41: only the group size changes") {
    std::vector<std::int32_t> o(256);
    CpuRecorder rec;
    const auto block = rec.variable("block", {.min = 1, .max = 64});
    rec.launch(iota, {.groups = {4}, .group_size = {block}}, rec.buffer("o", o));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (const int size : {8, 16, 4}) {
            set_all(o, poison);
            graph.set(block, size);
            REQUIRE(replay_error(graph) == "");
            CHECK(written(o) == std::to_string(4 * size));
        }
    });
}

TEST_CASE("case 42: only the group count changes, down to none") {
    std::vector<std::int32_t> o(256);
    CpuRecorder rec;
    const auto groups = rec.variable("groups", {.min = 0, .max = 8});
    rec.launch(iota, {.groups = {groups}, .group_size = {32}}, rec.buffer("o", o));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (const int count : {1, 5, 2, 5, 0, 8}) {
            set_all(o, poison);
            graph.set(groups, count);
            REQUIRE(replay_error(graph) == "");
            CHECK(written(o) == std::to_string(32 * count));
        }
    });
}

void echo_dims(gj::Out<gj::LaunchDims> out, gj::LaunchDims dims) { *out.pointer = dims; }

TEST_CASE("case 42: each of the six dims is its own") {
    gj::LaunchDims seen;
    CpuRecorder rec;
    const auto v = rec.variable("v", {.min = 1, .max = 100}, 1);
    const auto w = rec.variable("w", {.min = 1, .max = 100}, 1);
    rec.launch(gj::kernel<echo_dims>, {.groups = {v, 2, ceil_div(w, 8)}, .group_size = {v + w, w, 3}},
               rec.buffer("seen", &seen, 1));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (const auto& [x, y] : {std::pair{1u, 1u}, {5u, 1u}, {5u, 10u}, {20u, 10u}, {100u, 2u}}) {
            seen = {};
            graph.set(v, x).set(w, y);
            REQUIRE(replay_error(graph) == "");
            CHECK(seen.groups.x == x);
            CHECK(seen.groups.y == 2);
            CHECK(seen.groups.z == (y + 7) / 8);
            CHECK(seen.group_size.x == x + y);
            CHECK(seen.group_size.y == y);
            CHECK(seen.group_size.z == 3);
        }
    });
}

void reverse_groups(gj::LaunchDims dims, gj::Out<std::int32_t> out, const std::int32_t* in, std::int32_t* scratch,
                    std::int32_t scratch_size) {
    for (std::uint32_t group = 0; group < dims.groups.x; ++group) {
        const std::uint32_t size = dims.group_size.x;
        for (std::uint32_t i = 0; i < size && static_cast<std::int32_t>(i) < scratch_size; ++i)
            scratch[i] = in[group * size + i];
        for (std::uint32_t i = 0; i < size; ++i) out[group * size + i] = scratch[size - 1 - i];
    }
}

TEST_CASE("case 44: scratch keeps its recorded size whatever else a replay changes") {
    std::vector<std::int32_t> out(64), scratch(16), one(64), two(64);
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 64);
    const auto groups = rec.variable("groups", {.min = 0, .max = 4}, 2);
    rec.launch(gj::kernel<reverse_groups>, {.groups = {groups}, .group_size = {16}}, rec.buffer("out", out), in0,
               rec.buffer("scratch", scratch), 16);
    const CpuList list = std::move(rec).finish().value();
    for (unsigned i = 0; i < 64; ++i) {
        one[i] = static_cast<std::int32_t>(i);
        two[i] = static_cast<std::int32_t>(1000 + i);
    }
    in_all_ways(list, [&](CpuRunner& graph) {
        const auto check = [&](const std::vector<std::int32_t>& in, unsigned count) {
            set_all(out, poison);
            REQUIRE(replay_error(graph) == "");
            for (unsigned i = 0; i < 64; ++i)
                CHECK(out[i] == (i < 16 * count ? in[i / 16 * 16 + 15 - i % 16] : poison));
        };
        graph.set(in0, one);
        check(one, 2);
        check(one, 2);
        graph.set(groups, 4);
        check(one, 4);
        graph.set(in0, two);
        check(two, 4);
        graph.set(groups, 1);
        check(two, 1);
    });
}

TEST_CASE("case 45: arguments belong to the op, not to the kernel") {
    Array4 a{}, b{}, c{}, e{};
    CpuRecorder rec1, rec2;
    rec1.launch(fill<>, rec1.buffer("a", a), 1);
    rec1.launch(fill<>, rec1.buffer("b", b), 2);
    const auto v0 = rec2.slot<std::int32_t>("v0", 3);
    rec2.launch(fill<>, rec2.buffer("c", c), v0);
    const CpuList list1 = std::move(rec1).finish().value();
    const CpuList list2 = std::move(rec2).finish().value();
    in_all_ways(list1, [&](CpuRunner& graph1) {
        CpuRunner graph2 = as_graph(list2);
        poison_all(a, b, c, e);
        const auto state = [&] { return text(a) + "|" + text(b) + "|" + text(c) + "|" + text(e); };
        REQUIRE(replay_error(graph1) == "");
        CHECK(state() == "1 1 1 1|2 2 2 2|-7 -7 -7 -7|-7 -7 -7 -7");
        kernels::fill<4>({e.data()}, 4);
        REQUIRE(replay_error(graph2) == "");
        CHECK(state() == "1 1 1 1|2 2 2 2|3 3 3 3|4 4 4 4");
        graph2.set(v0, 30);
        REQUIRE(replay_error(graph1) == "");
        CHECK(state() == "1 1 1 1|2 2 2 2|3 3 3 3|4 4 4 4");
        REQUIRE(replay_error(graph2) == "");
        CHECK(state() == "1 1 1 1|2 2 2 2|30 30 30 30|4 4 4 4");
        REQUIRE(replay_error(graph1) == "");
        CHECK(state() == "1 1 1 1|2 2 2 2|30 30 30 30|4 4 4 4");
    });
}

struct Table {
    std::int32_t values[40];
};
void from_table(gj::Out<std::int32_t> out, Table table, const gj::LaunchDims& dims) {
    for (std::uint32_t i = 0; i < dims.groups.x; ++i) out[i] = table.values[i];
}

/// Everything handed over lives on this stack frame.
[[gnu::noinline]] CpuList record_from_the_stack(std::vector<std::int32_t>& out, gj::Slot<Table>& slot) {
    char names[3][16] = {"first", "second", "table"};
    Table table{};
    for (int i = 0; i < 40; ++i) table.values[i] = 100 + i;
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> handles = {rec.buffer(names[2], out)};
    slot = rec.slot<Table>(names[2], table);
    gj::Expr groups = 20;
    gj::LaunchExprs dims = {.groups = {groups}};
    rec.launch(names[0], gj::kernel<from_table>, dims, handles[0].slice(0, 20), table);
    rec.launch(names[1], gj::kernel<from_table>, dims, handles[0].slice(20, 20), slot);
    gj::Result<CpuList> list = std::move(rec).finish();
    std::memset(names, 'x', sizeof names);
    std::memset(&table, 0xff, sizeof table);
    return std::move(list.value());
}
[[gnu::noinline]] void overwrite_the_stack() {
    volatile unsigned char bytes[8192];
    for (volatile unsigned char& byte : bytes) byte = 0xa5;
}

TEST_CASE("case 46: nothing of the caller's is kept by reference") {
    std::vector<std::int32_t> out(40);
    gj::Slot<Table> slot;
    const CpuList list = record_from_the_stack(out, slot);
    overwrite_the_stack();
    CHECK(std::string(list.name(op(0)).data(), list.name(op(0)).size()) == "first");
    CHECK(std::string(list.name(op(1)).data(), list.name(op(1)).size()) == "second");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            set_all(out, poison);
            overwrite_the_stack();
            REQUIRE(replay_error(graph) == "");
            for (int i = 0; i < 20; ++i) CHECK(out[static_cast<unsigned>(i)] == 100 + i);
            for (int i = 0; i < 20; ++i) CHECK(out[static_cast<unsigned>(20 + i)] == 100 + i);
        }
        {
            Table other{};
            for (int i = 0; i < 40; ++i) other.values[i] = -i;
            graph.set(slot, other);
            std::memset(&other, 0x11, sizeof other);  // a value is taken when it is set
        }
        REQUIRE(replay_error(graph) == "");
        for (int i = 0; i < 20; ++i) CHECK(out[static_cast<unsigned>(20 + i)] == -i);
    });
}

TEST_CASE("case 47: each executable has its own values, and a new one those of the recording") {
    Array4 a{};
    CpuRecorder rec;
    const auto v0 = rec.slot<std::int32_t>("v0", 9);
    const auto n = rec.variable("n", {.min = 0, .max = 10}, 7);
    const auto buffer = rec.buffer("a", a);
    rec.launch(fill<3>, buffer.slice(0, 3), v0);
    rec.launch(fill<1>, buffer.slice(3, 1), n);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& first) {
        CpuRunner second = as_graph(list);
        const auto values = [&](CpuRunner& graph) {
            set_all(a, poison);
            REQUIRE(replay_error(graph) == "");
            return text(a);
        };
        first.set(v0, 1).set(n, 1);
        CHECK(values(first) == "1 1 1 1");
        second.set(v0, 2);
        CHECK(values(second) == "2 2 2 7");
        first.set(v0, 3);
        CHECK(values(first) == "3 3 3 1");
        CHECK(values(second) == "2 2 2 7");
        CpuRunner third = as_graph(list);
        CHECK(values(third) == "9 9 9 7");
        CHECK(values(first) == "3 3 3 1");
    });
}

struct Large {
    std::int32_t values[64];
};
void sum_of_ends(gj::Out<std::int32_t> out, Large large) { out[0] = large.values[0] + large.values[63]; }

TEST_CASE("case 48: hundreds of ops with large arguments, and many thousand replays in which all change") {
    constexpr unsigned count = 500;
    std::vector<std::int32_t> memory(count);
    CpuRecorder rec;
    const auto buffer = rec.buffer("memory", memory);
    const auto shift = rec.slot<std::int32_t>("shift", 0);
    for (unsigned i = 0; i < count; ++i) {
        Large large{};
        large.values[63] = static_cast<std::int32_t>(i);
        rec.launch(gj::kernel<sum_of_ends>, buffer.slice(i, 1), large);
    }
    rec.launch(fill<1>, buffer.slice(0, 1), shift);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 1; replay <= 3; ++replay) {
            set_all(memory, poison);
            graph.set(shift, -replay);
            REQUIRE(replay_error(graph) == "");
            CHECK(memory[0] == -replay);
            for (unsigned i = 1; i < count; ++i) CHECK(memory[i] == static_cast<std::int32_t>(i));
        }
    });

    CpuRecorder small;
    Array4 a{}, b{};
    const auto in0 = small.input<std::int32_t>("in0", 4);
    const auto v0 = small.slot<std::int32_t>("v0");
    const auto n = small.variable("n", {.min = 0, .max = 1 << 20});
    small.launch(fill<3>, in0.slice(0, 3), v0);
    small.launch(fill<1>, in0.slice(3, 1), n);
    CpuRunner graph = as_graph(std::move(small).finish().value());
    for (std::int32_t i = 0; i < 200000; ++i) {
        Array4& target = i % 2 == 0 ? a : b;
        graph.set(in0, target.data()).set(v0, -i).set(n, i);
        const gj::Status status = graph.replay();
        if (!status.ok() || target[2] != -i || target[3] != i) FAIL("wrong in replay ", i);
    }
    CHECK(graph.counters().replays == 200000);
    CHECK(graph.counters().patches == 200000u * 4);
}

}  // namespace
