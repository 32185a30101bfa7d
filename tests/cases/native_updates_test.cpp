// The cases that need a look at what a device is told: 19, 20, 21, 29, 33, 34, 36, 41, 42, 47, 48, 50, 51, 56, 58, 61,
// 62, 63, 71. The device of recording_backend.hpp keeps a copy of its arguments, as real ones do, and runs that copy
// alone.
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"

#include <graphjit/run/multi_graph_runner.hpp>

#include <doctest/doctest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

template <class Range>
bool all(const Range& range, std::int32_t value) {
    for (const std::int32_t element : range) {
        if (element != value) return false;
    }
    return true;
}

/// Instantiates and forgets the calls that it took.
RecordingRunner build(const RecordingList& list, DeviceLog& log) {
    RecordingRunner graph = gj::instantiate(list).value();
    log.forget();
    return graph;
}

/// Replays and says what the device was asked to do.
std::string calls(RecordingRunner& graph, DeviceLog& log) {
    log.forget();
    const gj::Status status = graph.replay();
    return status.ok() ? log.text() : std::string(status.message().c_str());
}

TEST_CASE("a graph is built by one call per step and op, and torn down") {
    DeviceLog log;
    Array4 a{};
    {
        RecordingRecorder rec(RecordingBackend{&log});
        const auto buffer = rec.buffer("a", a);
        rec.launch(fill<>, buffer, 1);
        rec.launch(inc<>, buffer);
        RecordingRunner graph = gj::instantiate(std::move(rec)).value();
        CHECK(log.text() == "supports 0, supports 1, create, add_node 0, add_node 1, instantiate");
        CHECK(log.alive == 1);  // the executable; the graph it was made of is gone
        CHECK(calls(graph, log) == "launch");
        CHECK(all(a, 2));
        CHECK(graph.wait().ok());
        CHECK(log.text() == "launch, wait");
    }
    CHECK(log.alive == 0);
}

TEST_CASE("case 19: the device is told of a copy whose destination changed") {
    DeviceLog log;
    Array4 s{}, x{}, y{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    rec.copy(in0, rec.buffer("s", s));
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    int step = 0;
    for (Array4* target : {&x, &y, &x}) {
        s.fill(++step);
        graph.set(in0, *target);
        CHECK(calls(graph, log) == "update 0, launch");
        CHECK(all(*target, step));
    }
    CHECK(all(y, 2));
}

TEST_CASE("case 20: the device is told of a copy whose source changed") {
    DeviceLog log;
    Array4 b{}, c{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto buffer_b = rec.buffer("b", b);
    rec.copy(buffer_b, in0);
    rec.launch(mix<>, rec.buffer("c", c), buffer_b, 0);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    Array4 sources[3];
    for (int i = 0; i < 3; ++i) sources[i].fill(i + 1);
    for (const int i : {0, 1, 2, 0}) {
        graph.set(in0, sources[i]);
        CHECK(calls(graph, log) == "update 0, launch");
        CHECK(all(c, 3 * (i + 1)));
    }
}

TEST_CASE("case 21: the device is told of the op that changed, and of no other") {
    DeviceLog log;
    Array4 b0{}, b1{}, b2{}, c0{}, one{}, five{}, seven{};
    one.fill(1);
    five.fill(5);
    seven.fill(7);
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<const std::int32_t>("in1", 4);
    const auto in2 = rec.input<const std::int32_t>("in2", 4);
    const auto buffer_b0 = rec.buffer("b0", b0);
    rec.copy(buffer_b0, in0);
    rec.launch(mix<>, rec.buffer("c0", c0), buffer_b0, 0);
    rec.copy(rec.buffer("b1", b1), in1);
    rec.copy(rec.buffer("b2", b2), in2);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    const auto values = [&] { return std::to_string(b0[0]) + std::to_string(b1[1]) + std::to_string(b2[2]); };
    graph.set(in0, one).set(in1, one).set(in2, one);
    CHECK(calls(graph, log) == "update 0, update 2, update 3, launch");
    CHECK(values() == "111");
    graph.set(in1, five);
    CHECK(calls(graph, log) == "update 2, launch");
    CHECK(values() == "151");
    graph.set(in2, seven);
    CHECK(calls(graph, log) == "update 3, launch");
    CHECK(values() == "157");
}

TEST_CASE("case 29: where nothing changed the device is told of nothing, however it was set") {
    DeviceLog log;
    std::int32_t a[12];
    for (int i = 0; i < 12; ++i) a[i] = i + 1;
    Array4 c{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto k = rec.slot<std::int32_t>("k", 0);
    const auto n = rec.variable("n", {.min = 0, .max = 3}, 1);
    rec.launch(mix<>, rec.buffer("c", c), in0, k);
    rec.launch(mix<1>, rec.buffer("c again", c).slice(n, 1), in0, n);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    for (const int offset : {0, 4, 8, 4}) {
        graph.set(in0, a + offset);
        CHECK(calls(graph, log) == "update 0, update 1, launch");
        CHECK(c[0] == 3 * (offset + 1));
        CHECK(c[1] == 3 * (offset + 1) + 1);
        const gj::ReplayCounters before = graph.counters();
        CHECK(calls(graph, log) == "launch");
        graph.set(in0, a + offset).set(k, 0).set(n, 1);
        CHECK(calls(graph, log) == "launch");
        graph.set(in0, a).set(k, 5).set(n, 2).set(in0, a + offset).set(k, 0).set(n, 1);  // there and back
        CHECK(calls(graph, log) == "launch");
        CHECK(graph.counters().native_updates == before.native_updates);
        CHECK(graph.counters().patches == before.patches);
        CHECK(graph.counters().expr_evaluations == before.expr_evaluations);
        CHECK(graph.counters().replays == before.replays + 3);
    }
}

TEST_CASE("an op is told of once per replay, however many of its arguments changed") {
    DeviceLog log;
    std::int32_t memory[16] = {};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<std::int32_t>("in0", 16);
    const auto k = rec.slot<std::int32_t>("k", 0);
    const auto n = rec.variable("n", {.min = 0, .max = 4}, 1);
    rec.launch(add<>, in0.slice(0, 4), in0.slice(4, 4), in0.slice(n + 4, 4));
    rec.launch(mix<>, in0.slice(n + 8, 4), in0.slice(0, 4), k);
    rec.launch(iota, {.groups = {n}, .group_size = {n + 1}}, in0.slice(n, 4));
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    graph.set(in0, memory).set(k, 1).set(n, 1);
    const auto updates_of = [&](unsigned index) {
        unsigned count = 0;
        for (std::uint32_t i = 0; i < log.entry_count; ++i) {
            const bool is_one = log.entries[i].call == Call::update &&
                                log.entries[i].op == static_cast<gj::OpIndex>(index);
            count += is_one ? 1u : 0u;
        }
        return count;
    };
    for (std::uint64_t replay = 1; replay <= 2; ++replay) {
        (void)calls(graph, log);
        CHECK(log.count(Call::update) == 3);
        for (unsigned i = 0; i < 3; ++i) CHECK(updates_of(i) == 1);
        CHECK(graph.counters().native_updates == 3 * replay);
        graph.set(k, 2).set(n, 0);
    }
    graph.set(k, 3);
    CHECK(calls(graph, log) == "update 1, launch");
}

void note_shared(const gj::LaunchDims& dims, gj::Out<std::int32_t> out) {
    *out = static_cast<std::int32_t>(dims.shared_bytes);
}

TEST_CASE("case 44: shared memory is part of a launch: recorded, changed by replays, kept by other updates") {
    DeviceLog log;
    std::int32_t own = 0, other = 0;
    RecordingRecorder rec(RecordingBackend{&log});
    const auto out = rec.input<std::int32_t>("out", 1);
    const auto n = rec.variable("n", {.min = 0, .max = 10'000}, 100);
    rec.launch("reverse", gj::kernel<note_shared>, {.groups = {n / 4}, .group_size = {4}, .shared_bytes = 8 * n}, out);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    graph.set(out, &own, 1);
    CHECK(calls(graph, log) == "update 0, launch");
    CHECK(own == 800);
    graph.set(n, 512);
    CHECK(calls(graph, log) == "update 0, launch");
    CHECK(own == 4096);
    graph.set(out, &other, 1);
    CHECK(calls(graph, log) == "update 0, launch");
    CHECK(other == 4096);

    graph.set(n, 513);
    const gj::Status refused = graph.replay();
    CHECK(refused.code() == gj::ErrorCode::dims_limit);
    CHECK(std::string(refused.message().c_str()) ==
          "graphjit: a launch asks for more shared memory than the backend's limit: op 0 'reverse', slot 'n': given "
          "4104, limit 4096");
    CHECK(other == 4096);
}

TEST_CASE("case 33: whether memory of another device can be reached is asked before anything runs") {
    DeviceLog log;
    Array4 s{}, x{}, y{}, z{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto d0 = static_cast<gj::DeviceId>(0), d1 = static_cast<gj::DeviceId>(1), d2 = static_cast<gj::DeviceId>(2);
    const auto in0 = rec.input<std::int32_t>("in0", 4, d1);
    rec.copy("out", in0, rec.buffer("s", s, d0));
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    s.fill(1);
    graph.set(in0, x.data(), 4, d1);  // as recorded: no question
    CHECK(calls(graph, log) == "update 0, launch");
    CHECK(all(x, 1));

    s.fill(2);
    graph.set(in0, y.data(), 4, d2);
    log.forget();
    const gj::Status refused = graph.replay();
    CHECK(refused.code() == gj::ErrorCode::wrong_device);
    CHECK(std::string(refused.message().c_str()).find("op 0 'out', slot 'in0'") != std::string::npos);
    CHECK(refused.error().value == 2);
    CHECK(refused.error().limit == 1);
    CHECK(log.text() == "reaches");
    CHECK(all(y, 0));
    CHECK(all(x, 1));

    log.reachable = 1u << 2;
    CHECK(calls(graph, log) == "reaches, update 0, launch");
    CHECK(all(y, 2));
    s.fill(3);
    graph.set(in0, z.data(), 4, d1);
    CHECK(calls(graph, log) == "update 0, launch");
    CHECK(all(z, 3));
    graph.set(in0, z.data(), 4, d2);  // the same address on another device is a change
    CHECK(calls(graph, log) == "reaches, update 0, launch");
}

TEST_CASE("case 34: the device is not asked about inputs that no op uses") {
    DeviceLog log;
    Array4 c{}, a{};
    a.fill(2);
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto unused = rec.input<std::int32_t>("unused", 4, static_cast<gj::DeviceId>(3));
    rec.launch(mix<>, rec.buffer("c", c), in0, 0);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    graph.set(in0, a).set(unused, nullptr);
    CHECK(calls(graph, log) == "update 0, launch");
    graph.set(unused, a.data(), 4, static_cast<gj::DeviceId>(5));
    CHECK(calls(graph, log) == "launch");
    CHECK(all(c, 6));
}

TEST_CASE("case 36: a slot without a value is refused before the device hears of anything") {
    DeviceLog log;
    Array4 c{}, a{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto in1 = rec.input<const std::int32_t>("in1", 4);
    rec.launch(add<>, rec.buffer("c", c), in0, in1);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    graph.set(in0, a);
    CHECK(graph.replay().code() == gj::ErrorCode::unbound);
    graph.set(in1, nullptr);
    CHECK(graph.replay().code() == gj::ErrorCode::null_pointer);
    CHECK(log.text() == "");
    CHECK(graph.counters().native_updates == 0);
    CHECK(graph.counters().patches == 0);
}

TEST_CASE("cases 41 and 42: the device is told of a launch whose size changed, and keeps what did not") {
    DeviceLog log;
    std::vector<std::int32_t> o(512);
    RecordingRecorder rec(RecordingBackend{&log});
    const auto groups = rec.variable("groups", {.min = 0, .max = 8}, 4);
    const auto block = rec.variable("block", {.min = 1, .max = 64}, 8);
    rec.launch(iota, {.groups = {groups}, .group_size = {block}}, rec.buffer("o", o));
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    CHECK(calls(graph, log) == "update 0, launch");
    std::int64_t g = 4, b = 8;
    const auto check = [&] {
        for (std::int32_t& value : o) value = poison;
        graph.set(groups, g).set(block, b);
        CHECK(calls(graph, log) == "update 0, launch");
        const auto count = static_cast<std::size_t>(g * b);
        for (std::size_t i = 0; i < o.size(); ++i) {
            CHECK(o[i] == (i < count ? static_cast<std::int32_t>(i + 1) : poison));
        }
    };
    for (const int size : {16, 4, 32}) {
        b = size;
        check();
    }
    for (const int count : {1, 5, 2, 0, 5}) {
        g = count;
        check();
    }
}

TEST_CASE("case 47: an update goes to the executable it was set on") {
    DeviceLog log;
    Array4 a{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto v0 = rec.slot<std::int32_t>("v0", 9);
    rec.launch(fill<>, rec.buffer("a", a), v0);
    const RecordingList list = std::move(rec).finish().value();
    RecordingRunner e1 = build(list, log);
    RecordingRunner e2 = build(list, log);
    const auto value = [&](RecordingRunner& graph) {
        REQUIRE(graph.replay().ok());
        return a[3];
    };
    CHECK(value(e1.set(v0, 1)) == 1);
    CHECK(value(e2.set(v0, 2)) == 2);
    CHECK(value(e1.set(v0, 3)) == 3);
    RecordingRunner e3 = build(list, log);
    CHECK(value(e3) == 9);
    CHECK(value(e2) == 2);
    CHECK(log.alive == 3);
}

TEST_CASE("case 48: hundreds of ops keep their arguments apart on the device") {
    DeviceLog log;
    std::vector<std::int32_t> memory(500);
    RecordingRecorder rec(RecordingBackend{&log});
    const auto buffer = rec.buffer("memory", memory);
    const auto v = rec.variable("v", {.min = 0, .max = 1000});
    for (int i = 0; i < 500; ++i) rec.launch(fill<1>, buffer.slice(i, 1), v + i);
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    for (std::int32_t replay = 0; replay < 5; ++replay) {
        graph.set(v, 100 * replay);
        REQUIRE(graph.replay().ok());
        for (std::int32_t i = 0; i < 500; ++i) CHECK(memory[static_cast<std::size_t>(i)] == 100 * replay + i);
    }
    CHECK(graph.counters().native_updates == 2500);
    CHECK(log.alive == 1);
}

TEST_CASE("cases 50, 51: parameters are those of their replay, and each replay launches once") {
    DeviceLog log;
    Array4 targets[3] = {};
    Array4 x{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in0 = rec.input<std::int32_t>("in0", 4);
    const auto v0 = rec.slot<std::int32_t>("v0");
    rec.launch(slow_fill<>, in0, v0);
    rec.launch(inc<>, rec.buffer("x", x));
    RecordingRunner graph = build(std::move(rec).finish().value(), log);
    for (int i = 0; i < 3; ++i) {
        graph.set(in0, targets[i]).set(v0, i + 1);
        CHECK(calls(graph, log) == "update 0, launch");
    }
    for (int i = 0; i < 3; ++i) CHECK(all(targets[i], i + 1));
    CHECK(all(x, 3));
}

TEST_CASE("case 58: whichever call of a build fails, nothing is left behind and the next build works") {
    DeviceLog log;
    Array4 a{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto buffer = rec.buffer("a", a);
    rec.launch("first", fill<>, buffer, 1);
    rec.launch("second", inc<>, buffer);
    rec.launch("third", inc<>, buffer);
    const RecordingList list = std::move(rec).finish().value();
    const char* failing[] = {"supports", "supports", "supports", "create",
                             "add_node", "add_node", "add_node", "instantiate"};
    for (std::uint32_t k = 1; k <= 8; ++k) {
        log = DeviceLog();
        log.fail_at = k;
        const auto graph = gj::instantiate(list);
        REQUIRE(!graph.ok());
        CHECK(graph.code() == gj::ErrorCode::backend_failure);
        const std::string message = graph.message().c_str();
        CHECK(message.find(std::string(failing[k - 1]) + " (719)") != std::string::npos);
        if (k <= 3) CHECK(message.find("op " + std::to_string(k - 1)) != std::string::npos);
        CHECK(log.calls == k);
        CHECK(log.alive == 0);
    }
    log = DeviceLog();
    log.fail_at = 9;  // one later is the launch
    RecordingRunner graph = gj::instantiate(list).value();
    CHECK(log.alive == 1);
    const gj::Status status = graph.replay();
    CHECK(status.code() == gj::ErrorCode::backend_failure);
    CHECK(all(a, 0));
    REQUIRE(graph.replay().ok());
    CHECK(all(a, 3));
}

TEST_CASE("case 58: an op the device cannot take is refused before anything native exists") {
    DeviceLog log;
    log.unsupported = static_cast<gj::OpIndex>(1);
    Array4 a{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto buffer = rec.buffer("a", a);
    rec.launch("first", fill<>, buffer, 1);
    rec.launch("second", inc<>, buffer);
    const auto graph = gj::instantiate(std::move(rec));
    CHECK(graph.code() == gj::ErrorCode::unsupported);
    CHECK(std::string(graph.message().c_str()).find("op 1 'second'") != std::string::npos);
    CHECK(log.text() == "supports 0, supports 1");
}

TEST_CASE("cases 56, 61: the end of one graph leaves the others alone") {
    DeviceLog log;
    Array4 a{}, b{}, c{};
    RecordingRecorder rec1(RecordingBackend{&log}), rec2(RecordingBackend{&log}), rec3(RecordingBackend{&log});
    rec1.launch(fill<>, rec1.buffer("a", a), 1);
    const auto v = rec2.slot<std::int32_t>("v", 2);
    rec2.launch(fill<>, rec2.buffer("b", b), v);
    {
        RecordingRunner first = gj::instantiate(std::move(rec1)).value();
        REQUIRE(first.replay().ok());
    }
    RecordingRunner second = gj::instantiate(std::move(rec2)).value();
    {
        RecordingRecorder other(RecordingBackend{&log});
        other.launch(fill<>, other.buffer("a", a), 4);
        auto list = std::move(other).finish().value();
        RecordingRunner gone = gj::instantiate(list).value();
        rec3.launch(fill<>, rec3.buffer("c", c), 3);  // one graph is destroyed while another is recorded
    }
    REQUIRE(second.replay().ok());
    CHECK(all(b, 2));
    RecordingRunner third = gj::instantiate(std::move(rec3)).value();
    second.set(v, 5);
    REQUIRE(second.replay().ok());
    REQUIRE(third.replay().ok());
    CHECK(all(a, 1));
    CHECK(all(b, 5));
    CHECK(all(c, 3));
    CHECK(log.alive == 2);
    third = std::move(second);
    REQUIRE(third.replay().ok());
    CHECK(all(b, 5));
}

TEST_CASE("case 62: recording calls no device") {
    DeviceLog log;
    Array4 x{};
    RecordingRecorder rec(RecordingBackend{&log});
    const auto buffer = rec.buffer("x", x);
    rec.launch(inc<>, buffer);
    rec.host_call(inc<>, buffer);
    rec.fill(buffer, 3);
    const RecordingList list = std::move(rec).finish().value();
    const RecordingList clone = list.clone().value();
    CHECK(clone.size() == 3);
    CHECK(log.calls == 0);
    CHECK(all(x, 0));
}

TEST_CASE("case 71: what was recorded is on the device before the first launch") {
    for (std::int32_t round = 0; round < 200; ++round) {
        DeviceLog log;
        std::int32_t out[4] = {};
        RecordingRunner graph = [&] {
            RecordingRecorder rec(RecordingBackend{&log});
            rec.launch(fill<>, rec.buffer("out", out), round);
            return gj::instantiate(std::move(rec)).value();
        }();
        REQUIRE(graph.replay().ok());
        if (!all(out, round)) FAIL("wrong in round ", round);
    }
}

}  // namespace
