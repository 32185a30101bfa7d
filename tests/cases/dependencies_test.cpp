// Kind A: working out dependencies. All numbers of the kind are here: 1, 3, 5, 7, 8, 10, 12, 13, 16, 17, 18.
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

/// Stands for an op of which only the accesses count.
void only_accesses(std::int32_t) {}

TEST_CASE("case 1: an op that names one buffer as output and as input does not wait for itself") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    const auto buffer_c = rec.buffer("c", c);
    rec.launch(add<>, buffer_a, buffer_a, buffer_b);
    rec.launch(add<>, buffer_c, buffer_a, buffer_b);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        a = {1, 2, 3, 4};
        set_all(b, 10);
        for (int replay = 0; replay < 3; ++replay) {
            set_all(c, poison);
            REQUIRE(replay_error(graph) == "");
        }
        CHECK(text(a) == "31 32 33 34");
        CHECK(text(c) == "41 42 43 44");
    });
}

TEST_CASE(
    "case 1: the same buffer as output, input and copy end of one op gives no self edge, whatever is listed first") {
    std::int32_t x[8] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("x", x);
    const auto low = all.slice(0, 4);
    const auto again = rec.buffer("x again", x);
    rec.launch(add<>, low, low, low);
    rec.launch(add<>, low, again.slice(0, 4), all.slice(2, 4));  // two names and a partial overlap inside one op
    rec.launch(inc<>, low, reads(all), writes(again), updates(low));
    rec.copy(all.slice(4, 4), low);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3");
    CHECK(verdict(list) == "right");
}

TEST_CASE("case 3: a writer waits for all readers, not for the latest") {
    Array4 a{}, c{}, d{}, e{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    rec.launch(slow<>, rec.buffer("c", c), buffer_a);
    rec.launch(slow<>, rec.buffer("d", d), buffer_a);
    rec.launch(slow<>, rec.buffer("e", e), buffer_a);
    rec.launch(fill<>, buffer_a, 9);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>3 1>3 2>3");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            poison_all(c, d, e);
            set_all(a, 5);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(c) == "5 5 5 5");
            CHECK(text(d) == "5 5 5 5");
            CHECK(text(e) == "5 5 5 5");
            CHECK(text(a) == "9 9 9 9");
        }
    });
}

TEST_CASE("case 3: readers of parts are all waited for by a writer of the whole, and by no writer of another part") {
    std::int32_t a[16] = {};
    std::int32_t out[32] = {};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    const auto result = rec.buffer("out", out);
    for (int i = 0; i < 6; ++i) {
        rec.launch(slow<>, result.slice(4 * i, 4), buffer.slice(2 * i, 4));  // ops 0 to 5 read windows that overlap
    }
    rec.launch(fill<>, buffer.slice(12, 4), 1);  // op 6: only the last two windows reach so far
    rec.launch(fill<16>, buffer, 2);             // op 7: all of them
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "5>6 0>7 1>7 2>7 3>7 4>7 6>7");
    CHECK(verdict(list) == "right");
}

TEST_CASE("case 5: a reader is ordered before a later op that updates in place") {
    Array4 x{};
    std::int32_t r[12] = {};
    CpuRecorder rec;
    const auto buffer_x = rec.buffer("x", x);
    const auto results = rec.buffer("r", r);
    for (int i = 0; i < 3; ++i) {
        rec.launch(inc<>, buffer_x);
        rec.launch(slow<>, results.slice(4 * i, 4), buffer_x);
    }
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3 3>4 4>5");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(x, 0);
        const char* expected[] = {"1 1 1 1 2 2 2 2 3 3 3 3", "4 4 4 4 5 5 5 5 6 6 6 6", "7 7 7 7 8 8 8 8 9 9 9 9"};
        for (const char* values : expected) {
            set_all(r, poison);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(r) == values);
        }
    });
}

TEST_CASE("case 7: readers of one buffer are not ordered among each other") {
    Array4 a{}, b{}, c{}, d{}, e{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    const auto buffer_c = rec.buffer("c", c);
    const auto buffer_d = rec.buffer("d", d);
    rec.launch(add<>, buffer_c, buffer_a, buffer_b);
    rec.launch(add<>, buffer_d, buffer_a, buffer_b);
    rec.launch(add<>, rec.buffer("e", e), buffer_c, buffer_d);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>2 1>2");
    CHECK(verdict(list) == "right");
}

TEST_CASE("case 7: const memory, inputs and parts of copies count as read only") {
    const std::int32_t a[4] = {1, 2, 3, 4};
    std::int32_t out[16] = {};
    CpuRecorder rec;
    const auto constant = rec.buffer("a", a);
    const auto input = rec.input<const std::int32_t>("in", 4);
    const auto result = rec.buffer("out", out);
    rec.copy(result.slice(0, 4), constant);
    rec.launch(add<>, result.slice(4, 4), constant, input);
    rec.copy(result.slice(8, 4), input);
    rec.launch(add<>, result.slice(12, 4), input, constant);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "");
    CHECK(verdict(list) == "right");
}

TEST_CASE("case 8: views that overlap in part are ordered") {
    std::int32_t a[8] = {};
    std::int32_t c[8] = {};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    rec.launch(slow_fill<>, buffer_a.slice(0, 4), 1);
    rec.launch(fill<>, buffer_a.slice(2, 4), 2);
    rec.copy(rec.buffer("c", c), buffer_a);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            set_all(a, 0);
            set_all(c, poison);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(c) == "1 1 2 2 2 2 0 0");
        }
    });
}

TEST_CASE("case 8: views that only touch, and registrations that overlap, are told apart by bytes") {
    std::int32_t a[8] = {};
    CpuRecorder rec;
    const auto low = rec.buffer("low", a, 5);
    const auto high = rec.buffer("high", a + 3, 5);
    rec.launch(fill<>, low.slice(0, 4), 1);   // 0 to 3
    rec.launch(fill<>, high.slice(1, 4), 2);  // 4 to 7: none of it is common
    rec.launch(inc<1>, low.slice(4, 1));      // 4: under another name
    rec.launch(inc<1>, high.slice(0, 1));     // 3
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "1>2 0>3");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            set_all(a, poison);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(a) == "1 1 1 2 3 2 2 2");
        }
    });
}

TEST_CASE("case 8: any two views are ordered if they share an element, and only then") {
    std::int32_t a[5] = {};
    for (int first = 0; first < 5; ++first) {
        for (int last = first + 1; last <= 5; ++last) {
            CpuRecorder rec;
            const auto buffer = rec.buffer("a", a);
            const auto part = [&](int from, int to) { return buffer.slice(from, to - from); };
            const auto other = rec.buffer("by another name", a + first, last - first);
            std::vector<std::pair<int, int>> others;
            for (int from = 0; from < 5; ++from) {
                for (int to = from + 1; to <= 5; ++to) others.push_back({from, to});
            }
            for (const auto& [from, to] : others) rec.launch(gj::kernel<only_accesses>, 0, reads(part(from, to)));
            rec.launch(gj::kernel<only_accesses>, 1, writes(part(first, last)));
            for (const auto& [from, to] : others) rec.launch(gj::kernel<only_accesses>, 2, reads(part(from, to)));
            rec.launch(gj::kernel<only_accesses>, 3, updates(other));
            const CpuList list = std::move(rec).finish().value();
            CHECK(verdict(list) == "right");
            const gj::Dag dag = plan_of(list);
            const auto count = static_cast<unsigned>(others.size());
            for (unsigned i = 0; i < count; ++i) {
                const bool shared = others[i].first < last && first < others[i].second;
                CHECK(has_path(dag, i, count) == shared);
                CHECK(has_path(dag, count, count + 1 + i) == shared);
                CHECK(has_path(dag, count + 1 + i, 2 * count + 1) == shared);
            }
        }
    }
}

TEST_CASE("case 10: a view of a view is a view of the memory") {
    std::int32_t a[16] = {};
    Array4 c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto v = buffer_a.slice(4, 8);
    const auto w = v.slice(2, 4);
    rec.launch(slow_fill<>, w, 5);
    rec.copy(rec.buffer("c", c), buffer_a.slice(6, 4));
    rec.launch(fill<8>, v, 8);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            set_all(a, 0);
            set_all(c, poison);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(c) == "5 5 5 5");
            CHECK(text(a) == "0 0 0 0 8 8 8 8 8 8 8 8 0 0 0 0");
        }
    });
}

TEST_CASE("case 10: views of views of inputs, of other element types, and with symbolic offsets follow the memory") {
    std::int32_t a[32] = {};
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 32);
    const auto at = rec.variable("at", {.min = 0, .max = 4});
    const auto inner = in.slice(8, 16).slice(at, 8).slice(2, 4);  // 10 to 13, shifted by up to 4: 10 to 17
    rec.launch(fill<>, inner, 1);
    rec.launch(inc<1>, in.slice(17, 1));                                               // may be touched
    rec.launch(inc<1>, in.slice(18, 1));                                               // cannot
    rec.fill(in.as<std::int64_t>().slice(4, 1), std::int64_t{0x0000'0006'0000'0005});  // elements 8 and 9: cannot
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (std::int32_t shift = 0; shift <= 4; ++shift) {
            set_all(a, 0);
            graph.set(in, a).set(at, shift);
            REQUIRE(replay_error(graph) == "");
            std::int32_t expected[32] = {};
            for (int i = 0; i < 4; ++i) expected[10 + shift + i] = 1;
            expected[17] += 1;
            expected[18] += 1;
            expected[8] = 5;
            expected[9] = 6;
            CHECK(text(a) == text(expected));
        }
    });
}

void with_unused_argument(gj::Out<std::int32_t> unused, const std::int32_t* in, gj::Out<std::int32_t> out) {
    for (int i = 0; i < 4; ++i) out[i] = unused.data() == nullptr ? in[i] : poison;
}

TEST_CASE("case 12: a null argument does not shift which of the others are written") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    rec.launch(gj::kernel<with_unused_argument>, nullptr, buffer_b, buffer_a);
    rec.launch(mix<>, rec.buffer("c", c), buffer_a, 0);
    rec.launch(fill<>, buffer_b, 9);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 0>2");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            poison_all(a, c);
            set_all(b, 2);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(c) == "6 6 6 6");
            CHECK(text(b) == "9 9 9 9");
        }
    });
}

void read_a_write_b(const std::int32_t* a, gj::Out<std::int32_t> b, std::int32_t) {
    for (int i = 0; i < 4; ++i) b[i] = a[i] + 1;
}
void write_b_read_a(gj::Out<std::int32_t> b, std::int32_t, const std::int32_t* a) { read_a_write_b(a, b, 0); }

TEST_CASE("case 13: the order in which accesses are listed makes no difference") {
    Array4 a{}, b{};
    for (unsigned order = 0; order < 4; ++order) {
        CpuRecorder rec;
        const auto buffer_a = rec.buffer("a", a);
        const auto buffer_b = rec.buffer("b", b);
        if ((order & 1) != 0) {
            rec.launch(gj::kernel<read_a_write_b>, buffer_a, buffer_b, 0);
        } else {
            rec.launch(gj::kernel<write_b_read_a>, buffer_b, 0, buffer_a);
        }
        if ((order & 2) != 0) {
            rec.launch(gj::kernel<read_a_write_b>, buffer_b, buffer_a, 0);
        } else {
            rec.launch(gj::kernel<write_b_read_a>, buffer_a, 0, buffer_b);
        }
        const CpuList list = std::move(rec).finish().value();
        CHECK(edges(list) == "0>1");
        CHECK(verdict(list) == "right");
        in_all_ways(list, [&](CpuRunner& graph) {
            for (int replay = 0; replay < 3; ++replay) {
                set_all(a, 1);
                set_all(b, poison);
                REQUIRE(replay_error(graph) == "");
                CHECK(text(a) == "3 3 3 3");
                CHECK(text(b) == "2 2 2 2");
            }
        });
    }
}

TEST_CASE("case 13: each permutation of reads, writes and updates gives the same plan") {
    std::int32_t memory[12] = {};
    std::array<unsigned, 3> order = {0, 1, 2};
    std::string first;
    do {
        CpuRecorder rec;
        const auto all = rec.buffer("memory", memory);
        const gj::Buffer<std::int32_t> parts[] = {all.slice(0, 8), all.slice(4, 8), all.slice(2, 4)};
        const gj::Access uses[] = {gj::Access::in, gj::Access::out, gj::Access::in_out};
        for (unsigned round = 0; round < 4; ++round) {
            using Use = gj::ExtraAccess<gj::Buffer<std::int32_t>>;
            const auto use = [&](unsigned i) { return Use{parts[(order[i] + round) % 3], uses[order[i]]}; };
            rec.launch(gj::kernel<only_accesses>, 0, use(0), use(1), use(2));
        }
        const CpuList list = std::move(rec).finish().value();
        CHECK(verdict(list) == "right");
        if (first.empty()) first = edges(list);
        CHECK(edges(list) == first);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("case 13: two threads record into two graphs at once") {
    std::string plans[2];
    std::vector<std::thread> threads;
    for (std::string& plan : plans) {
        threads.emplace_back([&plan] {
            for (int round = 0; round < 50; ++round) {
                std::int32_t a[4] = {}, b[4] = {};
                CpuRecorder rec;
                const auto buffer_a = rec.buffer("a", a);
                const auto buffer_b = rec.buffer("b", b);
                rec.launch(gj::kernel<read_a_write_b>, buffer_a, buffer_b, 0);
                rec.launch(gj::kernel<write_b_read_a>, buffer_a, 0, buffer_b);
                CpuRunner graph = as_graph(std::move(rec).finish().value());
                const bool right = graph.replay().ok() && a[0] == 2 && b[3] == 1;
                plan = right ? edges(graph.dag()) : "wrong values";
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(plans[0] == "0>1");
    CHECK(plans[1] == "0>1");
}

TEST_CASE("case 16: ops after a copy wait for it") {
    Array4 a{}, b{}, c{}, e{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    const auto buffer_c = rec.buffer("c", c);
    rec.launch(slow_fill<>, buffer_a, 4);
    rec.copy(buffer_b, buffer_a);
    rec.launch(mix<>, buffer_c, buffer_b, 0);
    rec.copy(rec.buffer("e", e), buffer_c);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3");
    CHECK(verdict(list) == "right");

    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            poison_all(a, b, c, e);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(b) == "4 4 4 4");
            CHECK(text(c) == "12 12 12 12");
            CHECK(text(e) == "12 12 12 12");
        }
    });
}

TEST_CASE("case 16: fills and host calls are waited for as kernels are") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    rec.fill(buffer_a, 4);
    rec.host_call(inc<>, buffer_a);
    rec.copy(buffer_b, buffer_a);
    rec.fill(buffer_a, 0);
    rec.host_call(inc<>, buffer_b);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3 2>4");
    CHECK(verdict(list) == "right");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            poison_all(a, b);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(a) == "0 0 0 0");
            CHECK(text(b) == "6 6 6 6");
        }
    });
}

TEST_CASE("case 17: a copy onto itself is refused when recorded, and right through a temporary") {
    for (const std::int64_t size : {std::int64_t{8}, std::int64_t{1} << 20}) {
        std::vector<std::int32_t> a(static_cast<std::size_t>(size)), temporary(static_cast<std::size_t>(size - 2));
        CpuRecorder rec;
        const auto buffer_a = rec.buffer("a", a);
        const auto t = rec.buffer("t", temporary);

        CHECK(rec.copy("shift up", buffer_a.slice(2, size - 2), buffer_a.slice(0, size - 2)) == gj::OpIndex::none);
        CHECK(rec.status().code() == gj::ErrorCode::overlap);
        CHECK(lacks(rec.status(), "'shift up'") == "");
        rec.clear_error();
        const auto again = rec.buffer("a again", a.data() + 1, size - 1);
        CHECK(rec.copy(buffer_a.slice(0, size - 2), again.slice(1, size - 2)) == gj::OpIndex::none);  // down, by name
        CHECK(rec.status().code() == gj::ErrorCode::overlap);
        rec.clear_error();

        rec.copy(t, buffer_a.slice(0, size - 2));
        rec.copy(buffer_a.slice(2, size - 2), t);
        const CpuList list = std::move(rec).finish().value();
        CHECK(edges(list) == "0>1");
        CHECK(verdict(list) == "right");
        in_all_ways(list, [&](CpuRunner& graph) {
            for (int replay = 0; replay < 3; ++replay) {
                std::iota(a.begin(), a.end(), 1);
                REQUIRE(replay_error(graph) == "");
                for (std::int64_t i = 0; i < size; ++i) {
                    const auto expected = static_cast<std::int32_t>(i < 2 ? i + 1 : i - 1);
                    if (a[static_cast<std::size_t>(i)] != expected) FAIL("wrong at ", i);
                }
            }
        });
    }
}

TEST_CASE("case 17: halves that only touch may be copied") {
    std::int32_t a[8] = {};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    rec.copy(buffer.slice(4, 4), buffer.slice(0, 4));
    rec.copy(buffer.slice(3, 1), buffer.slice(4, 1));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            std::iota(std::begin(a), std::end(a), 1);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(a) == "1 2 3 1 1 2 3 4");
        }
    });
}

TEST_CASE("case 17: ends that meet only because of what a replay gave are refused before anything runs") {
    std::int32_t a[16] = {};
    std::int32_t ran[4] = {};
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 16);
    const auto out = rec.input<std::int32_t>("out", 4);
    const auto at = rec.variable("at", {.min = 0, .max = 12});
    rec.launch(fill<>, rec.buffer("ran", ran), 1);
    rec.copy("shift", in.slice(at, 4), in.slice(4, 4));
    rec.copy("between", out, in.slice(12, 4));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        std::int32_t apart[4] = {};
        const auto prepare = [&] {
            std::iota(std::begin(a), std::end(a), 1);
            poison_all(ran, apart);
        };
        for (std::int64_t shift = 0; shift <= 12; ++shift) {
            prepare();
            graph.set(in, a).set(out, apart).set(at, shift);
            const gj::Status status = graph.replay();
            const bool overlaps = shift > 0 && shift < 8;
            CHECK(status.ok() == !overlaps);
            if (overlaps) {
                CHECK(status.code() == gj::ErrorCode::overlap);
                CHECK(lacks(status, "'shift'") == "");
                CHECK(text(a) == "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
                CHECK(text(ran) == "-7 -7 -7 -7");
            } else {
                CHECK(a[shift] == 5);
                CHECK(a[shift + 3] == 8);
                CHECK(text(ran) == "1 1 1 1");
                CHECK(text(apart) == text(std::vector<std::int32_t>(a + 12, a + 16)));
            }
        }
        // Between two inputs.
        prepare();
        graph.set(at, 0).set(out, a + 10);
        const gj::Status status = graph.replay();
        CHECK(status.code() == gj::ErrorCode::overlap);
        CHECK(text(ran) == "-7 -7 -7 -7");
        graph.set(out, apart);
        CHECK(replay_error(graph) == "");
        CHECK(text(apart) == "13 14 15 16");
    });
}

/// A graph of random ops over ten buffers of which any valid order must give the same values.
struct RandomOps {
    struct Op {
        bool is_copy;
        unsigned out, a, b;
    };
    static constexpr unsigned buffers = 10;
    std::vector<Op> ops;

    explicit RandomOps(unsigned seed) {
        Random random(seed);
        for (int i = 0; i < 40; ++i) {
            const unsigned out = random.below(buffers);
            const unsigned a = (out + 1 + random.below(buffers - 1)) % buffers;
            ops.push_back({random.chance(33), out, a, random.below(buffers)});
        }
    }

    [[nodiscard]] bool conflict(unsigned i, unsigned j) const {
        const auto touches = [](const Op& op, unsigned buffer) {
            return buffer == op.out || buffer == op.a || (!op.is_copy && buffer == op.b);
        };
        return touches(ops[i], ops[j].out) || touches(ops[j], ops[i].out);
    }

    /// A random one of the orders that keep every conflicting pair as it is.
    [[nodiscard]] std::vector<unsigned> shuffled(Random& random) const {
        std::vector<unsigned> order;
        std::vector<bool> taken(ops.size(), false);
        while (order.size() < ops.size()) {
            std::vector<unsigned> ready;
            for (unsigned j = 0; j < ops.size(); ++j) {
                bool free = !taken[j];
                for (unsigned i = 0; i < j; ++i) free = free && (taken[i] || !conflict(i, j));
                if (free) ready.push_back(j);
            }
            order.push_back(ready[random.below(static_cast<unsigned>(ready.size()))]);
            taken[order.back()] = true;
        }
        return order;
    }

    [[nodiscard]] CpuList record(const std::vector<unsigned>& order, std::vector<Array4>& memory) const {
        CpuRecorder rec;
        std::vector<gj::Buffer<std::int32_t>> handles;
        for (Array4& one : memory) handles.push_back(rec.buffer("one of ten", one));
        for (const unsigned i : order) {
            const Op& op = ops[i];
            rec.on(static_cast<gj::DeviceId>(i % 2));
            if (op.is_copy) {
                rec.copy(handles[op.out], handles[op.a]);
            } else {
                rec.launch(gj::kernel<combine>, handles[op.out], handles[op.a], handles[op.b],
                           static_cast<std::int32_t>(i));
            }
        }
        return std::move(rec).finish().value();
    }

    static void combine(gj::InOut<std::int32_t> out, const std::int32_t* a, const std::int32_t* b, std::int32_t k) {
        for (int i = 0; i < 4; ++i) {
            const auto wide = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
            out[i] = static_cast<std::int32_t>(5u * wide(out[i]) + 3u * wide(a[i]) + wide(b[i]) + wide(k));
        }
    }

    static void start(std::vector<Array4>& memory) {
        for (unsigned i = 0; i < buffers; ++i) set_all(memory[i], static_cast<std::int32_t>(i + 1));
    }
};

TEST_CASE("case 18: any valid order of the same ops gives the same values") {
    const RandomOps program(7);
    std::vector<Array4> memory(RandomOps::buffers);
    std::vector<unsigned> recorded(program.ops.size());
    std::iota(recorded.begin(), recorded.end(), 0u);

    RandomOps::start(memory);
    for (const RandomOps::Op& op : program.ops) {
        const auto k = static_cast<std::int32_t>(&op - program.ops.data());
        if (op.is_copy) {
            memory[op.out] = memory[op.a];
        } else {
            RandomOps::combine({memory[op.out].data()}, memory[op.a].data(), memory[op.b].data(), k);
        }
    }
    const std::vector<Array4> expected = memory;

    Random random(3);
    for (int round = 0; round < 20; ++round) {
        const CpuList list = program.record(round == 0 ? recorded : program.shuffled(random), memory);
        CHECK(verdict(list) == "right");
        in_all_ways(list, [&](CpuRunner& graph) {
            for (int replay = 0; replay < 3; ++replay) {
                RandomOps::start(memory);
                REQUIRE(replay_error(graph) == "");
                CHECK(memory == expected);
            }
        });
    }
}

TEST_CASE("case 18: a list that is built twice gives the same plan, wherever its memory lies") {
    const RandomOps program(11);
    std::vector<unsigned> recorded(program.ops.size());
    std::iota(recorded.begin(), recorded.end(), 0u);
    std::vector<Array4> memory(RandomOps::buffers);
    std::vector<std::vector<Array4>> elsewhere(5);
    const std::string first = edges(program.record(recorded, memory));
    for (std::vector<Array4>& other : elsewhere) {
        other.resize(RandomOps::buffers);
        CHECK(edges(program.record(recorded, other)) == first);
    }
    gj::Planner planner;  // one that has seen other lists
    for (unsigned seed = 0; seed < 5; ++seed) {
        (void)planner.plan(RandomOps(seed).record(recorded, memory)).value();
        CHECK(edges(planner.plan(program.record(recorded, memory)).value()) == first);
    }
}

}  // namespace
