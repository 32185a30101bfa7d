// What the host wrote before a replay and reads after it, and graphs that come and go around it: parts of cases 61, 62,
// 68, 71 and 87 that need work that is in flight.
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <memory>
#include <optional>
#include <thread>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;
using Backend = gj::ThreadBackend;

[[nodiscard]] ThreadGraph graph_of(const CpuList& list, const Backend& backend) {
    return gj::instantiate(for_backend(list, backend)).value();
}

/// Replays and waits, in one of the ways there are.
[[nodiscard]] bool ran(ThreadGraph& graph, int way) {
    if (way % 3 == 0) return graph.replay_and_wait().ok();
    if (!graph.replay().ok()) return false;
    if (way % 3 == 1) return graph.wait().ok();
    while (!graph.poll()) std::this_thread::yield();
    return true;
}

/// `c = 3 * in`, in0 being read on device 0 and, with two devices, copied to the other one and back.
[[nodiscard]] CpuList tripled(Four& in, Four& far, Four& c, bool is_apart) {
    CpuRecorder rec;
    const auto source = rec.buffer("in", in);
    const auto result = rec.buffer("c", c);
    if (is_apart) {
        const auto there = rec.buffer("far", far, gj::DeviceId{1});
        rec.copy(there, source);
        rec.on(gj::DeviceId{1});
        rec.launch(mix<>, result, there, 0);
    } else {
        rec.launch(mix<>, result, source, 0);
    }
    return std::move(rec).finish().value();
}

void check_host_writes(const gj::ThreadOptions& options, const gj::HcqOptions& graph_options, bool is_apart) {
    Four in{}, far{}, c{};
    gj::ThreadDevices devices(options);
    ThreadGraph graph = graph_of(tripled(in, far, c, is_apart), {devices, graph_options});
    for (std::int32_t k = 1; k <= 10'000; ++k) {
        in = {k, k + 1, k + 2, k + 3};
        if (!ran(graph, k)) FAIL("a replay failed: ", k);
        const Four expected{3 * k, 3 * k + 3, 3 * k + 6, 3 * k + 9};
        if (c != expected) FAIL("round ", k, ": ", text(c));
    }
}

TEST_CASE("case 87: what the host wrote just before a replay is seen, ten thousand times: one device") {
    check_host_writes({}, {}, false);
    check_host_writes({.turns = 0}, {.in_flight = 1}, false);
}
TEST_CASE("case 87: what the host wrote just before a replay is seen, ten thousand times: two devices") {
    check_host_writes({.devices = 2}, {}, true);
    check_host_writes({.devices = 2, .turns = 0}, {.in_flight = 4}, true);
}

TEST_CASE("case 87: an input's memory is written anew for each replay, and every replay in flight has its own") {
    std::array<Four, 8> in{}, out{};
    CpuRecorder rec;
    const auto source = rec.input<const std::int32_t>("in", 4);
    const auto result = rec.input<std::int32_t>("out", 4);
    rec.launch(mix<>, result, source, 0);
    gj::ThreadDevices devices;
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), {devices, {.in_flight = 8}});
    for (std::int32_t k = 0; k < 10'000; k += 8) {
        for (std::int32_t i = 0; i < 8; ++i) {
            const auto place = static_cast<std::size_t>(i);
            set_all(in[place], k + i);
            if (!graph.set(source, in[place]).set(result, out[place]).replay().ok()) FAIL("a replay failed");
        }
        if (!ran(graph, 1)) FAIL("a replay failed");
        for (std::int32_t i = 0; i < 8; ++i) {
            if (!all_equal(out[static_cast<std::size_t>(i)], 3 * (k + i))) FAIL("replay ", k + i);
        }
    }
}

TEST_CASE("case 68: a result that was kept holds what the last replay wrote, once that is over") {
    Four in{}, far{}, c{};
    gj::ThreadDevices devices({.devices = 2});
    ThreadGraph graph = graph_of(tripled(in, far, c, true), devices);
    const Four& kept = c;
    Four copies[3] = {};
    for (std::int32_t k = 0; k < 300; ++k) {
        set_all(in, k);
        REQUIRE(graph.replay().ok());
        REQUIRE(graph.wait().ok());
        copies[k % 3] = kept;
        CHECK(all_equal(kept, 3 * k));
        if (k > 0) CHECK(all_equal(copies[(k - 1) % 3], 3 * (k - 1)));  // a copy is the caller's own
    }
}

struct Large {
    std::int32_t values[200];
};
void sum_of_all(gj::Out<std::int32_t> out, Large large, const std::int32_t* constant) {
    out[0] = constant[0];
    for (const std::int32_t value : large.values) out[0] += value;
}

TEST_CASE("case 71: a first replay right after building has all that was recorded: a thousand times") {
    gj::ThreadDevices shared({.devices = 2});
    std::int32_t constant = 0;
    CpuRecorder writer;
    const auto value = writer.slot<std::int32_t>("value");
    writer.launch(slow_fill<1>, writer.buffer("constant", &constant, 1), value);
    ThreadGraph write = graph_of(std::move(writer).finish().value(), shared);
    for (std::int32_t round = 0; round < 1'000; ++round) {
        // Devices of its own, whose threads have just been started, now and then. The memory is the host's all the
        // same, so only what was submitted to the shared ones need not be waited for.
        std::optional<gj::ThreadDevices> own;
        if (round % 10 == 0) own.emplace(gj::ThreadOptions{.devices = 2});
        std::int32_t out = poison, far = poison;
        REQUIRE(write.set(value, round).replay().ok());
        if (own) REQUIRE(write.wait().ok());
        const auto build = [&] {
            auto large = std::make_unique<Large>();
            for (std::int32_t& number : large->values) number = round;
            auto rec = std::make_unique<CpuRecorder>();
            const auto there = rec->buffer("far", &far, 1, gj::DeviceId{1});
            const auto result = rec->buffer("out", &out, 1);
            const std::int32_t* read = &constant;
            rec->launch(gj::kernel<sum_of_all>, result, *large, rec->buffer("constant", read, 1));
            rec->copy(there, result);
            return graph_of(std::move(*rec).finish().value(), own ? *own : shared);
        };
        ThreadGraph graph = build();
        if (!ran(graph, round)) FAIL("a replay failed: ", round);
        if (far != 201 * round) FAIL("round ", round, ": ", far);
        if (!ran(graph, round + 1) || far != 201 * round) FAIL("the second replay of round ", round);
    }
}

TEST_CASE("cases 61, 62: recording runs nothing, whatever else begins, runs and ends meanwhile") {
    Four x{}, y{};
    gj::ThreadDevices devices;
    const auto adding = [&](Four& memory) {
        CpuRecorder rec;
        rec.launch(inc<>, rec.buffer("memory", memory));
        return std::move(rec).finish().value();
    };
    for (std::int32_t round = 0; round < 100; ++round) {
        x = y = {};
        std::optional<ThreadGraph> other = graph_of(adding(y), devices);
        CpuRecorder rec;
        const auto X = rec.buffer("x", x);
        rec.launch(inc<>, X);
        REQUIRE(other->replay().ok());
        ThreadGraph first = graph_of(std::move(rec).finish().value(), devices);
        // The same recorder again, and a graph ends while it records.
        const auto again = rec.buffer("x", x);
        rec.launch(mix<>, again, again, 10);
        other.reset();
        CHECK(all_equal(y, 1));
        rec.launch(inc<>, again);
        ThreadGraph second = graph_of(std::move(rec).finish().value(), devices);
        CHECK(edges(first.dag()) == "");
        CHECK(edges(second.dag()) == "0>1");
        CHECK(all_equal(x, 0));
        REQUIRE(first.replay().ok());
        REQUIRE(second.replay().ok());
        REQUIRE(first.replay().ok());
        REQUIRE(first.wait().ok());
        CHECK(all_equal(x, 3 * 1 + 10 + 1 + 1));
    }
}

}  // namespace
