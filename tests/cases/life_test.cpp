// Kind D: replay life cycle and work in flight. Where each number of the kind is:
//
//   51, 52, 55, 58, 62, 63, 68, 69   here, in every way to run a recording
//   47, 48, 50, 56, 58, 61, 71       native_updates_test.cpp: on a device with argument memory of its own
//   50, 54, 56, 71                   here the part that a device without queues can get wrong; work that is in flight
//                                    while the host goes on needs queues, and is tested with the backends that have
//                                    them
//   66                               nothing is hoisted; here it is shown that a constant part is not taken for one
//   67                               here only unsplit, with a host call between; splitting has tests of its own
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <memory>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

TEST_CASE("case 50: parameters of one replay do not reach the former one") {
    Array4 x{}, y{}, z{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto v0 = rec.slot<std::int32_t>("v0");
    rec.launch(slow_fill<>, in0, v0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        poison_all(x, y, z);
        REQUIRE(replay_error(graph.set(in0, x).set(v0, 1)) == "");
        REQUIRE(replay_error(graph.set(in0, y).set(v0, 2)) == "");
        REQUIRE(replay_error(graph.set(in0, z).set(v0, 3)) == "");
        CHECK(text(x) == "1 1 1 1");
        CHECK(text(y) == "2 2 2 2");
        CHECK(text(z) == "3 3 3 3");
    });
}

TEST_CASE("case 51: each replay runs each op once") {
    Array4 x{};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("x", x));
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(x, 0);
        for (int replay = 0; replay < 5; ++replay) REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "5 5 5 5");
        CHECK(graph.counters().replays == 5);
    });
}

TEST_CASE("case 52: order holds in every replay, not only in the first") {
    Array4 a{}, b{}, c{}, in{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    rec.launch(slow<>, buffer_a, in0);
    rec.copy(buffer_b, buffer_a);
    rec.launch(mix<>, rec.buffer("c", c), buffer_b, 0);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");
    in_all_ways(list, [&](CpuRunner& graph) {
        graph.set(in0, in);
        for (int replay = 1; replay <= 3; ++replay) {
            set_all(in, replay);
            poison_all(a, b, c);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(c, 3 * replay));
        }
    });
}

TEST_CASE("case 54: replays of two graphs and direct work stay in the order of submission") {
    Array4 a{}, b{}, b2{}, c{};
    CpuRecorder rec1, rec2;
    rec1.launch(mix<>, rec1.buffer("b", b), rec1.buffer("a", a), 0);
    rec2.launch(mix<>, rec2.buffer("b2", b2), rec2.buffer("b", b), 0);
    const CpuList list1 = std::move(rec1).finish().value();
    const CpuList list2 = std::move(rec2).finish().value();
    in_all_ways(list1, [&](CpuRunner& first) {
        CpuRunner second = as_graph(list2);
        for (int replay = 0; replay < 3; ++replay) {
            poison_all(a, b, b2, c);
            kernels::slow_fill<4>({a.data()}, 1);
            REQUIRE(replay_error(first) == "");
            REQUIRE(replay_error(second) == "");
            kernels::mix<4>({c.data()}, b2.data(), 0);
            CHECK(text(b) + text(b2) + text(c) == "3 3 3 39 9 9 927 27 27 27");
        }
    });
}

constexpr int width = 8;
void sum_up(const std::int32_t* values, gj::Out<std::int32_t> out) {
    out[0] = 0;
    for (int i = 0; i < width; ++i) out[0] += values[i];
}
void barrier() {}

TEST_CASE("case 55: a diamond and a wide join run each op once per replay, thousands of times") {
    std::int32_t source = 0, sum = 0, join = 0;
    std::int32_t parts[width] = {};
    CpuRecorder rec;
    const auto buffer_source = rec.buffer("source", &source, 1);
    const auto buffer_parts = rec.buffer("parts", parts);
    const auto buffer_join = rec.buffer("join", &join, 1);
    rec.launch(inc<1>, buffer_source);
    for (int i = 0; i < width; ++i) rec.launch(mix<1>, buffer_parts.slice(i, 1), buffer_source, i);
    rec.launch(gj::kernel<sum_up>, buffer_parts, rec.buffer("sum", &sum, 1));
    rec.launch(inc<1>, buffer_join, reads(buffer_parts));
    rec.launch("barrier", gj::kernel<barrier>, reads(buffer_parts),
               reads(buffer_join));  // nothing comes after
    const CpuList list = std::move(rec).finish().value();
    CHECK(verdict(list) == "right");

    const auto run = [&](CpuRunner graph, std::int32_t replays) {
        source = join = 0;
        for (std::int32_t i = 1; i <= replays; ++i) {
            const gj::Status status = graph.replay();
            if (!status.ok() || sum != 3 * width * i + width * (width - 1) / 2 || join != i)
                FAIL("wrong in replay ", i);
        }
        CHECK(source == replays);
    };
    run(as_graph(list), 10000);
    run(eagerly(list), 10000);
    run(in_random_order(list, 1, 1), 3000);
    run(in_random_order(list, 2, 3), 300);
}

TEST_CASE("case 55: a graph of nothing, and one of only a barrier, complete") {
    CpuRecorder empty;
    const CpuList none = std::move(empty).finish().value();
    CHECK(none.size() == 0);
    CHECK(verdict(none) == "right");
    in_all_ways(none, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) CHECK(replay_error(graph) == "");
    });

    CpuRecorder rec;
    rec.launch(gj::kernel<barrier>, updates(rec.token("everything")));
    const CpuList one = std::move(rec).finish().value();
    in_all_ways(one, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) CHECK(replay_error(graph) == "");
    });
}

TEST_CASE("case 56: a graph that is destroyed right after a replay leaves right values") {
    for (int round = 0; round < 500; ++round) {
        auto memory = std::make_unique<Array4>();
        {
            CpuRecorder rec;
            rec.launch(slow_fill<>, rec.buffer("memory", *memory), round);
            CpuRunner graph = round % 2 == 0 ? as_graph(std::move(rec).finish().value())
                                             : in_random_order(std::move(rec).finish().value(), 1, 1);
            REQUIRE(graph.replay().ok());
        }
        if (!all_equal(*memory, round)) FAIL("wrong in round ", round);
    }
}

TEST_CASE("case 56: a graph that was moved is still the same graph") {
    Array4 a{}, b{};
    CpuRecorder rec;
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto v = rec.variable("v", {.min = 0, .max = 9}, 1);
    rec.launch(fill<>, in0, v);
    rec.launch(inc<>, in0);
    const CpuList list = std::move(rec).finish().value();
    auto first = gj::instantiate(list).value();
    first.set(in0, a).set(v, 4);
    REQUIRE(first.replay().ok());
    auto second = std::move(first);  // with what it held
    set_all(a, poison);
    REQUIRE(second.replay().ok());
    CHECK(text(a) == "5 5 5 5");
    second.set(v, 7);  // and what was set but not replayed
    std::vector<CpuRunner::Graph> many;
    for (int i = 0; i < 9; ++i) many.push_back(gj::instantiate(list).value());
    many[3] = std::move(second);
    many[3].set(in0, b);
    REQUIRE(many[3].replay().ok());
    CHECK(text(b) == "8 8 8 8");
    CHECK(text(a) == "5 5 5 5");
}

TEST_CASE("case 58: a recording with a refused op can be put right and built") {
    Array4 a{};
    const std::int32_t constant[4] = {};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    rec.launch(fill<>, buffer, 3);
    rec.launch("bad", mix<>, buffer, rec.buffer("constant", constant).slice(1, 3).slice(0, 4), 0);
    CHECK(!rec.status().ok());
    CHECK(rec.size() == 1);
    CHECK(std::move(rec).finish().code() == gj::ErrorCode::invalid_argument);  // refused, and nothing is lost
    CHECK(rec.size() == 1);
    rec.clear_error();
    rec.launch(inc<>, buffer);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 0; replay < 3; ++replay) {
            set_all(a, poison);
            REQUIRE(replay_error(graph) == "");
            CHECK(text(a) == "4 4 4 4");
        }
    });
}

TEST_CASE("case 62: recording runs nothing, and one recording knows nothing of the former") {
    Array4 x{};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("x", x));
    CHECK(text(x) == "0 0 0 0");
    const CpuList first = std::move(rec).finish().value();
    CHECK(rec.size() == 0);  // the recorder is as new
    const auto again = rec.buffer("x", x);
    const auto v = rec.slot<std::int32_t>("v", 10);
    rec.launch(fill<>, again, v);
    rec.launch(inc<>, again);
    const CpuList second = std::move(rec).finish().value();
    CHECK(text(x) == "0 0 0 0");
    CHECK(edges(first) == "");
    CHECK(edges(second) == "0>1");
    in_all_ways(first, [&](CpuRunner& graph) {
        CpuRunner other = as_graph(second);
        set_all(x, 0);
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "1 1 1 1");
        REQUIRE(replay_error(other) == "");
        CHECK(text(x) == "11 11 11 11");
        REQUIRE(replay_error(graph) == "");
        CHECK(text(x) == "12 12 12 12");
    });
}

TEST_CASE("case 63: a graph keeps no input alive") {
    std::weak_ptr<Array4> watch;
    Array4 b{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    rec.launch(mix<>, rec.buffer("b", b), in0, 0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        {
            auto a = std::make_shared<Array4>(Array4{1, 1, 1, 1});
            watch = a;
            graph.set(in0, *a);
            REQUIRE(replay_error(graph) == "");
        }
        CHECK(watch.expired());
        for (std::int32_t value = 2; value < 5; ++value) {
            auto a = std::make_unique<Array4>(Array4{value, value, value, value});  // may lie where the former one did
            graph.set(in0, *a);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(b, 3 * value));
        }
    });
}

TEST_CASE("case 66: what depends on an input through a copy follows it, and what does not is the same each time") {
    Array4 b{}, c{}, w0{}, w1{}, in{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_b = rec.buffer("b", b);
    const auto buffer_w1 = rec.buffer("w1", w1);
    rec.copy(buffer_b, in0);
    rec.launch(mix<>, buffer_w1, rec.buffer("w0", w0), 0);
    rec.launch(add<>, rec.buffer("c", c), buffer_b, buffer_w1);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>2 1>2");
    in_all_ways(list, [&](CpuRunner& graph) {
        set_all(w0, 100);
        for (int replay = 1; replay <= 3; ++replay) {
            Array4 other;
            set_all(other, replay);
            poison_all(b, c);
            graph.set(in0, other);
            REQUIRE(replay_error(graph) == "");
            CHECK(all_equal(c, 300 + replay));
        }
        graph.set(in0, in);
    });
}

TEST_CASE("case 67: kernels on both sides of a host call, with inputs on both sides") {
    Array4 a{}, b{}, c{}, x{}, y{};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto out0 = rec.input<std::int32_t>("out0", 4);
    const auto buffer_a = rec.buffer("a", a);
    const auto buffer_b = rec.buffer("b", b);
    rec.launch(mix<>, buffer_a, in0, 1);
    rec.launch(mix<>, buffer_b, buffer_a, 2);
    rec.host_call(inc<>, buffer_b);
    rec.launch(add<>, rec.buffer("c", c), buffer_b, in0);
    rec.launch(add<>, out0, buffer_a, buffer_b);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2 2>3 2>4");
    in_all_ways(list, [&](CpuRunner& graph) {
        for (int replay = 1; replay <= 4; ++replay) {
            Array4 in;
            set_all(in, replay);
            poison_all(a, b, c, x, y);
            Array4& out = replay % 2 == 0 ? x : y;
            graph.set(in0, in).set(out0, out);
            REQUIRE(replay_error(graph) == "");
            const int first = 3 * replay + 1, second = 3 * first + 2 + 1;
            CHECK(all_equal(c, second + replay));
            CHECK(all_equal(out, first + second));
            CHECK(all_equal(replay % 2 == 0 ? y : x, poison));
        }
    });
}

TEST_CASE("case 68: an output buffer holds what the last replay wrote") {
    Array4 o{};
    CpuRecorder rec;
    const auto v0 = rec.slot<std::int32_t>("v0");
    rec.launch(fill<>, rec.buffer("o", o), v0);
    const CpuList list = std::move(rec).finish().value();
    in_all_ways(list, [&](CpuRunner& graph) {
        const Array4& kept = o;
        for (int replay = 1; replay <= 3; ++replay) {
            REQUIRE(replay_error(graph.set(v0, replay)) == "");
            CHECK(all_equal(kept, replay));
        }
    });
}

TEST_CASE("case 69: lists that begin alike, or lie where another one lay, are different graphs") {
    Array4 a{}, b{};
    const auto record = [&](bool second) {
        CpuRecorder rec;
        const auto buffer = rec.buffer("a", a);
        rec.launch(fill<>, buffer, 1);
        rec.launch(mix<>, rec.buffer("b", b), buffer, second ? 10 : 20);
        return std::move(rec).finish().value();
    };
    CpuRunner first = as_graph(record(false));
    CpuRunner second = as_graph(record(true));
    for (int replay = 0; replay < 4; ++replay) {
        REQUIRE(replay_error(replay % 2 == 0 ? first : second) == "");
        CHECK(all_equal(b, replay % 2 == 0 ? 23 : 13));
    }
    for (int round = 0; round < 20; ++round) {
        auto list = std::make_unique<CpuList>(record(round % 2 == 0));
        CpuRunner graph = as_graph(*list);
        list.reset();
        REQUIRE(replay_error(graph) == "");
        CHECK(all_equal(b, round % 2 == 0 ? 13 : 23));
    }
}

struct Large {
    std::int32_t values[200];
};
void sum_of_all(gj::Out<std::int32_t> out, Large large, const std::int32_t* constant) {
    out[0] = constant[0];
    for (const std::int32_t value : large.values) out[0] += value;
}

TEST_CASE("case 71: the first replay right after building is as right as the tenth") {
    for (std::int32_t round = 0; round < 300; ++round) {
        std::int32_t out = poison;
        std::int32_t constant = 0;
        const auto build = [&] {
            auto large = std::make_unique<Large>();
            for (std::int32_t& value : large->values) value = round;
            auto rec = std::make_unique<CpuRecorder>();
            rec->launch(gj::kernel<sum_of_all>, rec->buffer("out", &out, 1), *large,
                        rec->buffer("constant", static_cast<const std::int32_t*>(&constant), 1));
            constant = 5;  // written between recording and building
            return as_graph(std::move(*rec).finish().value());
        };
        CpuRunner graph = build();
        REQUIRE(graph.replay().ok());
        if (out != 200 * round + 5) FAIL("wrong in round ", round);
    }
}

}  // namespace
