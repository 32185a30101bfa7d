#include <graphjit/run/graph_runner.hpp>

#include <graphjit/run/eager_runner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <array>
#include <string>
#include <vector>

namespace {

using namespace test;

/// Two inputs, a value, two Variables; five ops that use them in every way.
struct Fixture {
    DeviceLog log;
    std::int32_t in_memory[32] = {};
    std::int32_t out_memory[32] = {};
    std::int32_t other_memory[32] = {};
    std::int32_t results[16] = {};
    gj::Input<const std::int32_t> in;
    gj::Input<std::int32_t> out;
    gj::Slot<std::int32_t> number;
    gj::Variable at, count;
    RecordingList list;

    Fixture() {
        for (int i = 0; i < 32; ++i) in_memory[i] = i;
        RecordingRecorder rec(RecordingBackend{&log});
        in = rec.input<const std::int32_t>("in", 16);
        out = rec.input<std::int32_t>("out", 16);
        number = rec.slot<std::int32_t>("number");
        at = rec.variable("at", {.min = 0, .max = 12});
        count = rec.variable("count", {.min = 0, .max = 16});
        const auto result = rec.buffer("result", results);
        (void)rec.launch("mix", mix<>, result.slice(0, 4), in, number);        // in whole, number
        (void)rec.launch("add", add<>, out, in.slice(4, 4), in.slice(at, 4));  // out, in part, in symbolic
        (void)rec.launch("fill", fill<>, result.slice(4, 4), at + 1);          // at
        (void)rec.launch("iota", iota, {.groups = {count}}, out);              // count, out
        (void)rec.fill("rest", result.slice(8, 4), number);                    // number
        (void)rec.launch("both", fill<>, result.slice(12, 4), at + count);
        list = std::move(rec).finish().value();
    }
    template <class Runner>
    void set_all(Runner& runner) {
        runner.set(in, in_memory).set(out, out_memory).set(number, 7).set(at, 3).set(count, 2);
    }
};

struct Counts {
    std::uint64_t replays, patches, evaluations, updates;
    friend bool operator==(const Counts&, const Counts&) = default;
};
/// How far the counters went since the last call.
template <class Runner>
class Progress {
public:
    explicit Progress(Runner& runner) : runner_(runner) {}
    Counts operator()() {
        const gj::ReplayCounters now = runner_.counters();
        const Counts since{now.replays - last_.replays, now.patches - last_.patches,
                           now.expr_evaluations - last_.expr_evaluations, now.native_updates - last_.native_updates};
        last_ = now;
        return since;
    }

private:
    Runner& runner_;
    gj::ReplayCounters last_;
};

TEST_CASE("replay: patches what changed, and tells the device of an op once") {
    Fixture f;
    RecordingRunner runner = gj::instantiate(f.list).value();
    Progress progress(runner);
    f.set_all(runner);
    REQUIRE(replay_error(runner) == "");
    // in: mix, add twice; out: add, iota; number: mix, rest; at: fill, both, and the part of add; count: iota, both.
    // The place of the part counts once, and so does the sum.
    CHECK(progress() == Counts{1, 10, 3, 6});

    REQUIRE(replay_error(runner) == "");
    CHECK(progress() == Counts{1, 0, 0, 0});
    f.set_all(runner);  // the same again
    REQUIRE(replay_error(runner) == "");
    CHECK(progress() == Counts{1, 0, 0, 0});

    REQUIRE(replay_error(runner.set(f.number, 8)) == "");
    CHECK(progress() == Counts{1, 2, 0, 2});
    REQUIRE(replay_error(runner.set(f.count, 3)) == "");
    CHECK(progress() == Counts{1, 2, 1, 2});
    REQUIRE(replay_error(runner.set(f.at, 4)) == "");
    CHECK(progress() == Counts{1, 3, 3, 3});  // at * 4, at + 1, at + count
    REQUIRE(replay_error(runner.set(f.out, f.other_memory)) == "");
    CHECK(progress() == Counts{1, 2, 0, 2});
    REQUIRE(replay_error(runner.set(f.in, f.in_memory + 1)) == "");
    CHECK(progress() == Counts{1, 3, 0, 2});
    REQUIRE(replay_error(runner.set(f.in, f.in_memory).set(f.at, 5)) == "");
    CHECK(progress() == Counts{1, 5, 3, 4});  // the moving part depends on both and is written once
}

TEST_CASE("set: takes arrays, containers, views and pointers, and knows the size of all but the last") {
    std::int32_t result[4] = {};
    CpuRecorder rec;
    const auto in = rec.input<const std::int32_t>("in", 4);
    (void)rec.launch(slow<>, rec.buffer("m", result), in);
    auto runner = gj::instantiate(std::move(rec)).value();
    const std::int32_t plain[4] = {1, 1, 1, 1};
    std::int32_t writable[5] = {2, 2, 2, 2};
    const std::int32_t small[3] = {3, 3, 3};
    const std::array<std::int32_t, 4> array{4, 4, 4, 4};
    const std::vector<std::int32_t> vector(4, 5);
    const std::vector<std::int32_t> short_vector(3, 6);
    const auto seen = [&](auto& graph) { return replay_error(graph) == "" ? result[3] : -1; };
    CHECK(seen(runner.set(in, plain)) == 1);
    CHECK(seen(runner.set(in, writable)) == 2);
    CHECK(seen(runner.set(in, small)) == -1);
    CHECK(seen(runner.set(in, array)) == 4);
    CHECK(seen(runner.set(in, vector)) == 5);
    CHECK(seen(runner.set(in, short_vector)) == -1);
    CHECK(seen(runner.set(in, gj::Span<const std::int32_t>(plain, 4))) == 1);
    CHECK(seen(runner.set(in, gj::Span<const std::int32_t>(plain, 3))) == -1);
    CHECK(seen(runner.set(in, vector.data())) == 5);
    CHECK(seen(runner.set(in, plain, std::size_t{4})) == 1);
    CHECK(seen(runner.set(in, plain, 3u)) == -1);
    CHECK(seen(runner.set(in, nullptr)) == -1);
}

TEST_CASE("replay: several values set before one replay count as the last") {
    Fixture f;
    RecordingRunner runner = gj::instantiate(f.list).value();
    Progress progress(runner);
    f.set_all(runner);
    REQUIRE(replay_error(runner) == "");
    (void)progress();
    runner.set(f.number, 8).set(f.number, 9).set(f.at, 1).set(f.at, 3).set(f.number, 7);
    REQUIRE(replay_error(runner) == "");
    CHECK(progress() == Counts{1, 0, 0, 0});
    CHECK(f.results[8] == 7);
    runner.set(f.number, 8).set(f.number, 9);
    REQUIRE(replay_error(runner) == "");
    CHECK(progress() == Counts{1, 2, 0, 2});
    CHECK(f.results[8] == 9);
}

TEST_CASE("replay: ops see what was set, and only what was set") {
    Fixture f;
    RecordingRunner runner = gj::instantiate(f.list).value();
    f.set_all(runner);
    REQUIRE(replay_error(runner) == "");
    CHECK(text(f.results) == "7 10 13 16 4 4 4 4 7 7 7 7 5 5 5 5");
    CHECK(f.out_memory[0] == 1);
    CHECK(f.out_memory[1] == 2);
    CHECK(f.out_memory[2] == f.in_memory[6] + f.in_memory[5]);
    REQUIRE(replay_error(runner.set(f.at, 0).set(f.count, 0)) == "");
    CHECK(text(f.results) == "7 10 13 16 1 1 1 1 7 7 7 7 0 0 0 0");
    CHECK(f.out_memory[0] == f.in_memory[4] + f.in_memory[0]);
}

TEST_CASE("replay: after a failed update nothing counts as there, and the next replay sends all again") {
    Fixture f;
    RecordingRunner runner = gj::instantiate(f.list).value();
    Progress progress(runner);
    f.set_all(runner);
    REQUIRE(replay_error(runner) == "");
    (void)progress();
    for (std::uint32_t which = 1; which <= 2; ++which) {
        f.log.forget();
        f.log.fail_at = which;
        CHECK(runner.set(f.number, 100 + static_cast<int>(which)).replay().code() == gj::ErrorCode::backend_failure);
        CHECK(f.log.count(Call::launch) == 0);
        f.log.fail_at = 0;
        (void)progress();
        REQUIRE(replay_error(runner) == "");
        CHECK(progress() == Counts{1, 10, 3, 6});
        CHECK(f.results[8] == 100 + static_cast<int>(which));
        REQUIRE(replay_error(runner) == "");
        CHECK(progress() == Counts{1, 0, 0, 0});
    }
}

TEST_CASE("replay: a failed launch is an error, and the next one runs what was set") {
    Fixture f;
    RecordingRunner runner = gj::instantiate(f.list).value();
    f.set_all(runner);
    REQUIRE(replay_error(runner) == "");
    f.log.forget();
    f.log.fail_at = 3;  // two updates, then the launch
    CHECK(runner.set(f.number, 50).replay().code() == gj::ErrorCode::backend_failure);
    CHECK(f.log.text() == "update 0, update 4, launch");
    f.log.fail_at = 0;
    REQUIRE(replay_error(runner) == "");
    CHECK(f.results[8] == 50);
}

TEST_CASE("replay: sets nothing in stone: a runner that is moved goes on with what it has") {
    Fixture f;
    RecordingRunner first = gj::instantiate(f.list).value();
    f.set_all(first);
    REQUIRE(replay_error(first) == "");
    RecordingRunner second = std::move(first);
    Progress progress(second);
    (void)progress();
    REQUIRE(replay_error(second.set(f.number, 9)) == "");
    CHECK(progress() == Counts{1, 2, 0, 2});
    CHECK(f.results[8] == 9);
    RecordingRunner third = gj::instantiate(f.list).value();
    third = std::move(second);
    REQUIRE(replay_error(third.set(f.number, 10)) == "");
    CHECK(f.results[8] == 10);
}

TEST_CASE("replay: a graph without slots has nothing to check, from the first time on") {
    std::int32_t memory[4] = {};
    CpuRecorder rec;
    (void)rec.launch(inc<>, rec.buffer("m", memory));
    auto runner = gj::instantiate(std::move(rec)).value();
    for (int i = 0; i < 5; ++i) REQUIRE(replay_error(runner) == "");
    CHECK(memory[0] == 5);
    CHECK(runner.counters().patches == 0);
    CHECK(runner.counters().replays == 5);
}

TEST_CASE("replay: an empty graph runs") {
    CpuRecorder rec;
    auto runner = gj::instantiate(std::move(rec)).value();
    CHECK(replay_error(runner) == "");
    CHECK(runner.ops().size() == 0);
    CHECK(runner.dag().size() == 0);
}

TEST_CASE("replay: values of every size arrive whole, and their neighbours stay") {
    struct Three {
        std::uint8_t bytes[3];
    };
    struct Twelve {
        std::int32_t values[3];
    };
    static std::vector<std::int64_t> seen;
    constexpr auto echo = [](std::uint8_t a, Three b, std::int16_t c, Twelve d, std::int64_t e, std::int32_t f) {
        seen = {a, b.bytes[0], b.bytes[1], b.bytes[2], c, d.values[0], d.values[1], d.values[2], e, f};
    };
    CpuRecorder rec;
    const auto a = rec.slot<std::uint8_t>("a", 1);
    const auto b = rec.slot<Three>("b", {{2, 3, 4}});
    const auto c = rec.slot<std::int16_t>("c", std::int16_t{5});
    const auto d = rec.slot<Twelve>("d", {{6, 7, 8}});
    const auto e = rec.slot<std::int64_t>("e", 9);
    const auto f = rec.slot<std::int32_t>("f", 10);
    (void)rec.launch(gj::kernel<echo>, a, b, c, d, e, f);
    auto runner = gj::instantiate(std::move(rec)).value();
    REQUIRE(replay_error(runner) == "");
    CHECK(text(seen) == "1 2 3 4 5 6 7 8 9 10");
    REQUIRE(replay_error(runner.set(a, std::uint8_t{255})) == "");
    CHECK(text(seen) == "255 2 3 4 5 6 7 8 9 10");
    REQUIRE(replay_error(runner.set(b, Three{{20, 30, 40}})) == "");
    CHECK(text(seen) == "255 20 30 40 5 6 7 8 9 10");
    REQUIRE(replay_error(runner.set(c, std::int16_t{-5})) == "");
    CHECK(text(seen) == "255 20 30 40 -5 6 7 8 9 10");
    REQUIRE(replay_error(runner.set(d, Twelve{{-6, -7, -8}})) == "");
    CHECK(text(seen) == "255 20 30 40 -5 -6 -7 -8 9 10");
    REQUIRE(replay_error(runner.set(e, INT64_MIN)) == "");
    CHECK(text(seen) == "255 20 30 40 -5 -6 -7 -8 -9223372036854775808 10");
    REQUIRE(replay_error(runner.set(f, -1)) == "");
    CHECK(text(seen) == "255 20 30 40 -5 -6 -7 -8 -9223372036854775808 -1");
}

TEST_CASE("replay: integers of every width arrive as their Expr says") {
    static std::vector<std::int64_t> seen;
    constexpr auto echo = [](std::int8_t a, std::uint16_t b, std::int32_t c, std::uint32_t d, std::int64_t e) {
        seen = {a, b, c, d, e};
    };
    CpuRecorder rec;
    const auto x = rec.variable("x", {.min = -100'000, .max = 0xffff'ffff});
    (void)rec.launch(gj::kernel<echo>, x % 100 - 50, x % 65'536, min(x, 7) * -3, max(x, 0), x - 1);
    auto runner = gj::instantiate(std::move(rec)).value();
    REQUIRE(replay_error(runner.set(x, 0xffff'ffff)) == "");
    CHECK(text(seen) == "45 65535 -21 4294967295 4294967294");
    REQUIRE(replay_error(runner.set(x, -99'999)) == "");
    CHECK(text(seen) == "-49 31073 299997 0 -100000");
}

/// What the fixture's ops are to do, written down without the library.
struct Model {
    const std::int32_t* in = nullptr;
    std::int32_t* out = nullptr;
    std::int32_t number = 0;
    std::int64_t at = 0;
    std::int64_t count = 0;

    [[nodiscard]] bool is_accepted() const { return at >= 0 && at <= 12 && count >= 0 && count <= 16; }
    void run(std::int32_t (&results)[16]) const {
        for (int i = 0; i < 4; ++i) results[i] = 3 * in[i] + number;
        for (int i = 0; i < 4; ++i) out[i] = in[4 + i] + in[at + i];
        for (int i = 4; i < 8; ++i) results[i] = static_cast<std::int32_t>(at + 1);
        for (int i = 0; i < count; ++i) out[i] = i + 1;
        for (int i = 8; i < 12; ++i) results[i] = number;
        for (int i = 12; i < 16; ++i) results[i] = static_cast<std::int32_t>(at + count);
    }
};

TEST_CASE("replay: with random values, good and bad, in any order, it does what is written, and never allocates") {
    Random random(1);
    int accepted = 0;
    int refused = 0;
    for (int round = 0; round < 40; ++round) {
        Fixture f;
        RecordingRunner graph = gj::instantiate(f.list).value();
        auto eager = gj::EagerRunner<RecordingBackend>::create(f.list).value();
        Model model{f.in_memory, f.out_memory, 7, 3, 2};
        f.set_all(graph);
        f.set_all(eager);
        for (int step = 0; step < 100; ++step) {
            const auto change = [&](auto handle, auto& field, auto value) {
                field = value;
                graph.set(handle, value);
                eager.set(handle, value);
            };
            for (unsigned i = 0; i < 5; ++i) {
                switch (random.below(12)) {
                    case 0: change(f.in, model.in, f.in_memory + random.below(16)); break;
                    case 1: change(f.out, model.out, f.out_memory + random.below(16)); break;
                    case 2: change(f.number, model.number, static_cast<std::int32_t>(random.below(100))); break;
                    case 3: change(f.at, model.at, random.between(0, 13)); break;
                    case 4: change(f.count, model.count, random.between(0, 17)); break;
                    default: break;
                }
            }
            const auto run = [&](auto replay) {
                poison_all(f.results, f.out_memory);
                const bool ran = replay();
                return std::to_string(static_cast<int>(ran)) + ' ' + text(f.results) + ' ' + text(f.out_memory);
            };
            const auto replay = [](auto& runner) {
                return [&runner] {
                    const FailingAllocations failing(0);
                    const bool ran = runner.replay().ok();
                    CHECK(failing.refused() == 0);
                    return ran;
                };
            };
            const std::string expected = run([&] {
                if (model.is_accepted()) model.run(f.results);
                return model.is_accepted();
            });
            REQUIRE(run(replay(graph)) == expected);
            REQUIRE(run(replay(eager)) == expected);
            ++(model.is_accepted() ? accepted : refused);
        }
    }
    CHECK(accepted > 300);
    CHECK(refused > 300);
}

}  // namespace
