// Kind B: replacing buffers at replay. Where each number of the kind is:
//
//   19 to 21, 23, 24, 27 to 30, 34, 36   here: values, in every way to run a recording
//   19, 20, 21, 29, 33, 34               also native_updates_test.cpp: what a device is told of
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <memory>
#include <numeric>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

TEST_CASE("case 19: the destination of a copy follows its slot") {
    Array4 s{}, x{}, y{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    rec.copy(in0, rec.buffer("s", s));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(x, y);
        set_all(s, 1);
        graph.set(in0, x);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "1 1 1 1");
        set_all(s, 2);
        graph.set(in0, y);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(y) == "2 2 2 2");
        CHECK(text(x) == "1 1 1 1");
        set_all(s, 3);
        graph.set(in0, x);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "3 3 3 3");
        CHECK(text(y) == "2 2 2 2");
    });
}

TEST_CASE("case 19: so do the destination of a fill and the output of a kernel, at any offset") {
    std::int32_t x[12] = {}, y[12] = {};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 12);
    const auto v0 = rec.slot<std::int32_t>("v0", 1);
    rec.fill(in0.slice(0, 4), v0);
    rec.launch(fill<>, in0.slice(4, 4), v0);
    rec.copy(in0.slice(8, 4), in0.slice(0, 4));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(x, y);
        graph.set(in0, x).set(v0, 1);
        REQUIRE(replay_error(graph) == "");
        CHECK(all_equal(x, 1));
        graph.set(in0, y).set(v0, 2);
        REQUIRE(replay_error(graph) == "");
        CHECK(all_equal(y, 2));
        CHECK(all_equal(x, 1));
        graph.set(in0, x).set(v0, 3);
        REQUIRE(replay_error(graph) == "");
        CHECK(all_equal(x, 3));
        CHECK(all_equal(y, 2));
    });
}

TEST_CASE("case 20: the source of a copy follows its slot") {
    Array4 s1{}, s2{}, s3{}, b{}, c{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_b = rec.buffer("b", b);
    rec.copy(buffer_b, in0);
    rec.launch(mix<>, rec.buffer("c", c), buffer_b, 0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(s1, 1);
        set_all(s2, 2);
        set_all(s3, 3);
        const std::pair<Array4*, const char*> steps[] = {
            {&s1, "3 3 3 3"}, {&s2, "6 6 6 6"}, {&s3, "9 9 9 9"}, {&s1, "3 3 3 3"}};
        for (const auto& [source, expected] : steps) {
            poison_all(b, c);
            graph.set(in0, *source);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(c) == expected);
        }
    });
}

TEST_CASE("case 21: of several copies the one whose slot changed is updated") {
    Array4 b0{}, b1{}, b2{}, c0{}, ones{}, fives{}, sevens{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<const std::int32_t>("in1", 4);
    const auto in2 = rec.input<const std::int32_t>("in2", 4);
    const auto buffer_b0 = rec.buffer("b0", b0);
    rec.copy(buffer_b0, in0);
    rec.launch(mix<>, rec.buffer("c0", c0), buffer_b0, 0);
    rec.copy(rec.buffer("b1", b1), in1);
    rec.copy(rec.buffer("b2", b2), in2);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(ones, 1);
        set_all(fives, 5);
        set_all(sevens, 7);
        const auto replay = [&] {
            poison_all(b0, b1, b2, c0);
            REQUIRE(replay_error(graph) == "");
            return std::to_string(b0[0]) + std::to_string(b1[1]) + std::to_string(b2[2]) + std::to_string(c0[3]);
        };
        graph.set(in0, ones).set(in1, ones).set(in2, ones);
        CHECK(replay() == "1113");
        graph.set(in1, fives);
        CHECK(replay() == "1513");
        graph.set(in1, fives).set(in2, sevens);
        CHECK(replay() == "1573");
        graph.set(in1, ones);
        CHECK(replay() == "1173");
    });
}

TEST_CASE("case 23: an output does not follow an input that was the same buffer at first") {
    Array4 t{}, o{}, f{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_t = rec.buffer("t", t);
    rec.launch(mix<>, buffer_t, in0, 0);
    rec.launch(mix<>, rec.buffer("o", o), buffer_t, 0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(o, 1);
        set_all(f, 10);
        graph.set(in0, o);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "9 9 9 9");
        graph.set(in0, f);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "90 90 90 90");
        CHECK(text(f) == "10 10 10 10");
        graph.set(in0, o);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "810 810 810 810");
        CHECK(text(f) == "10 10 10 10");
    });
}

TEST_CASE("case 23: an output slot does not follow an input slot that holds the same buffer") {
    Array4 t{}, x{}, y{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto out0 = rec.input<std::int32_t>("out0", 4);
    const auto buffer_t = rec.buffer("t", t);
    rec.launch(mix<>, buffer_t, in0, 0);
    rec.launch(mix<>, out0, buffer_t, 0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(x, 1);
        set_all(y, 10);
        graph.set(in0, x).set(out0, x);  // read, and written later: in order
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "9 9 9 9");
        graph.set(in0, y);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "90 90 90 90");
        CHECK(text(y) == "10 10 10 10");
        graph.set(out0, y);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "90 90 90 90");
        CHECK(text(y) == "90 90 90 90");
    });
}

TEST_CASE("case 24: an input that the graph writes before it last reads it is refused") {
    Array4 a{}, b{}, o{}, p{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    rec.launch("first", mix<>, rec.buffer("o", o), in0, 0);
    rec.launch("second", add<>, rec.buffer("p", p), in0, rec.buffer("b", b));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(o, p);
        set_all(a, 1);
        set_all(b, 100);
        graph.set(in0, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "3 3 3 3");
        CHECK(text(p) == "101 101 101 101");
        for (int again = 0; again < 2; ++again) {
            graph.set(in0, o);
            const gj::Status status = graph.replay();
            CHECK(status.code() == gj::ErrorCode::overlap);
            CHECK(lacks(status, "slot 'in0'") == "");
            CHECK(text(o) == "3 3 3 3");  // nothing ran
            CHECK(text(p) == "101 101 101 101");
        }
        set_all(a, 2);
        graph.set(in0, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "6 6 6 6");
        CHECK(text(p) == "102 102 102 102");
    });
}

TEST_CASE("case 24: also where the op that reads it last comes after the one that writes it") {
    Array4 a{}, b{}, o{}, p{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_o = rec.buffer("o", o);
    rec.launch(mix<>, buffer_o, rec.buffer("b", b), 0);
    rec.launch(add<>, rec.buffer("p", p), in0, buffer_o);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (std::int32_t value = 1; value <= 3; ++value) {
            set_all(a, value);
            set_all(b, value);
            graph.set(in0, a);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(p, 4 * value));
            graph.set(in0, o);
            CHECK(graph.replay().code() == gj::ErrorCode::overlap);
            CHECK(all_equal(o, 3 * value));
            CHECK(all_equal(p, 4 * value));
        }
    });
}

TEST_CASE("case 24: with may_alias the ops are ordered for it, and see what the caller passed") {
    Array4 a{}, b{}, o{}, p{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_o = rec.buffer("o", o);
    rec.may_alias(in0, buffer_o);
    rec.launch(slow<>, rec.buffer("p", p), in0);
    rec.launch(add<>, buffer_o, buffer_o, rec.buffer("b", b));
    rec.launch(add<>, rec.buffer("p again", p), in0, rec.buffer("b again", b));
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");
    CHECK(verdict(list) == "right");
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(a, 1);
        set_all(b, 100);
        set_all(o, 5);
        poison_all(p);
        graph.set(in0, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "105 105 105 105");
        CHECK(text(p) == "101 101 101 101");
        graph.set(in0, o);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "205 205 205 205");
        CHECK(text(p) == "305 305 305 305");
        graph.set(in0, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(o) == "305 305 305 305");
        CHECK(text(p) == "101 101 101 101");
    });
}

TEST_CASE("case 27: two slots that held one buffer are still two slots") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<const std::int32_t>("in1", 4);
    rec.launch(add<>, rec.buffer("c", c), in0, in1);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(a, 1);
        set_all(b, 10);
        const auto replay = [&] {
            set_all(c, poison);
            REQUIRE(replay_error(graph) == "");
            return text(c);
        };
        graph.set(in0, a).set(in1, a);
        CHECK(replay() == "2 2 2 2");
        graph.set(in1, b);
        CHECK(replay() == "11 11 11 11");
        graph.set(in0, b).set(in1, a);
        CHECK(replay() == "11 11 11 11");
        graph.set(in1, b);
        CHECK(replay() == "20 20 20 20");
        graph.set(in0, a);
        CHECK(replay() == "11 11 11 11");
    });
}

TEST_CASE("case 28: two buffers that take turns") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<std::int32_t>("in1", 4);
    rec.launch(mix<>, in1, in0, 1);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(a, 1);
        set_all(b, poison);
        const std::int32_t expected[] = {4, 13, 40, 121, 364, 1093, 3280, 9841};
        for (int replay = 0; replay < 8; ++replay) {
            Array4& from = replay % 2 == 0 ? a : b;
            Array4& to = replay % 2 == 0 ? b : a;
            graph.set(in0, from).set(in1, to);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(to, expected[replay]));
        }
    });
}

TEST_CASE("case 29: an input that moves inside one allocation is a change") {
    std::int32_t a[12];
    Array4 c{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    rec.launch(mix<>, rec.buffer("c", c), in0, 0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        std::iota(std::begin(a), std::end(a), 1);
        for (const int offset : {0, 4, 8, 4}) {
            set_all(c, poison);
            graph.set(in0, a + offset);
            REQUIRE(replay_error(graph) == "");
            for (int i = 0; i < 4; ++i) CHECK(c[static_cast<unsigned>(i)] == 3 * (offset + i + 1));
        }
    });
}

TEST_CASE("case 30: nothing that decides the result lives in an assertion") {
    // The release build of this file, without assertions, has to give the same values as the others.
    std::int32_t memory[8] = {};
    Array4 s{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto at = rec.variable("at", {.min = 0, .max = 4});
    rec.copy(rec.buffer("memory", memory).slice(at, 4), in0);
    rec.copy(in0, rec.buffer("s", s));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        Array4 x{1, 1, 1, 1}, y{2, 2, 2, 2};
        set_all(memory, poison);
        set_all(s, 8);
        graph.set(in0, x).set(at, 0);
        REQUIRE(replay_error(graph) == "");
        graph.set(in0, y).set(at, 4);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(memory) == "1 1 1 1 2 2 2 2");
        graph.set(at, 5);
        CHECK(graph.replay().code() == gj::ErrorCode::out_of_range);
        graph.set(at, 2);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(memory) == "1 1 8 8 8 8 2 2");
        CHECK(text(x) == "8 8 8 8");
    });
}

TEST_CASE("case 34: inputs that no op uses may be anything, and the first buffer may be freed") {
    Array4 c{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto unused = rec.input<std::int32_t>("unused", 1 << 20);
    const auto never_set = rec.input<double>("never set", 4);
    rec.launch(mix<>, rec.buffer("c", c), in0, 0);
    const CpuList list = std::move(rec).finish().value();
    (void)never_set;
    in_all_ways(list, [&](CpuRunner& graph) {
        auto first = std::make_unique<Array4>(Array4{1, 2, 3, 4});
        graph.set(in0, *first).set(unused, nullptr);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(c) == "3 6 9 12");
        first.reset();
        Array4 second{5, 6, 7, 8};
        graph.set(in0, second).set(unused, second);  // too small, and shared with in0: nobody looks
        REQUIRE(replay_error(graph) == "");
        CHECK(text(c) == "15 18 21 24");
        Array4 third{1, 1, 1, 1};
        graph.set(in0, third).set(unused, nullptr);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(c) == "3 3 3 3");
    });
}

TEST_CASE("case 34: an input of which ops use no bytes at all is bound, and shares nothing") {
    Array4 a{}, c{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto in1 = rec.input<std::int32_t>("in1", 0);
    const auto in2 = rec.input<std::int32_t>("in2", 4);
    rec.launch(fill<0>, in0.slice(4, 0), 1);
    rec.launch(fill<0>, in1, 1);
    rec.launch(fill<>, rec.buffer("c", c), 2);
    rec.launch(mix<0>, in2.slice(0, 0), in0.slice(1, 0), 1);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "");
    in_all_ways(list, [&](CpuRunner& graph) {
        graph.set(in0, a).set(in1, nullptr).set(in2, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(c) == "2 2 2 2");
        graph.set(in0, c).set(in1, c.data()).set(in2, c);
        REQUIRE(replay_error(graph) == "");
        graph.set(in0, a.data(), 4).set(in1, c.data(), 0);
        REQUIRE(replay_error(graph) == "");
        graph.set(in0, nullptr);
        CHECK(graph.replay().code() == gj::ErrorCode::null_pointer);
    });
}

TEST_CASE("case 36: a slot that was never set, or set to null, is an error and nothing runs") {
    Array4 a{1, 1, 1, 1}, c{}, ran{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<const std::int32_t>("in1", 4);
    rec.launch(fill<>, rec.buffer("ran", ran), 1);
    rec.launch("sum", add<>, rec.buffer("c", c), in0, in1);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(c, ran);
        graph.set(in0, a);
        for (int again = 0; again < 2; ++again) {
            const gj::Status unbound = graph.replay();
            CHECK(unbound.code() == gj::ErrorCode::unbound);
            CHECK(lacks(unbound, "op 1 'sum', slot 'in1'") == "");
        }
        graph.set(in1, nullptr);
        for (int again = 0; again < 2; ++again) {
            const gj::Status null = graph.replay();
            CHECK(null.code() == gj::ErrorCode::null_pointer);
            CHECK(lacks(null, "op 1 'sum', slot 'in1'") == "");
        }
        CHECK(text(ran) == "-7 -7 -7 -7");
        CHECK(text(c) == "-7 -7 -7 -7");
        graph.set(in1, a);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(c) == "2 2 2 2");
        graph.set(in0, nullptr);  // after a good replay the former buffer must not be taken instead
        set_all(c, poison);
        CHECK(graph.replay().code() == gj::ErrorCode::null_pointer);
        CHECK(text(c) == "-7 -7 -7 -7");
    });
}

}  // namespace
