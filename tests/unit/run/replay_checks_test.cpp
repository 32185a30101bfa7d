#include <graphjit/run/replay_checks.hpp>

#include <graphjit/run/eager_runner.hpp>

#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <functional>
#include <optional>
#include <string>

namespace {

using namespace test;
using gj::ErrorCode;

using Eager = gj::EagerRunner<RecordingBackend>;

void narrow(std::int8_t value, gj::Out<std::int32_t> out) { *out = value; }
void halves(std::int64_t value, gj::Out<std::int32_t> out) { *out = static_cast<std::int32_t>(value); }

struct alignas(16) Quad {
    std::int32_t values[4];
};

/// A recording with something of everything, and values that it accepts.
class Fixture {
public:
    Fixture() : rec_(RecordingBackend{&log}) {
        in = rec_.input<const std::int32_t>("in", 8);
        out = rec_.input<std::int32_t>("out", 8);
        at = rec_.variable("at", {.min = -10, .max = 10});
        count = rec_.variable("count", {.min = -10, .max = 1'000});
        number = rec_.slot<std::int32_t>("number");
        result = rec_.buffer("result", results);
    }

    [[nodiscard]] RecordingRecorder& rec() { return rec_; }
    void finish() { list = std::move(rec_).finish().value(); }

    DeviceLog log;
    std::int32_t results[8] = {};
    std::int32_t in_memory[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    std::int32_t out_memory[16] = {};
    gj::Input<const std::int32_t> in;
    gj::Input<std::int32_t> out;
    gj::Variable at, count;
    gj::Slot<std::int32_t> number;
    gj::Buffer<std::int32_t> result;
    RecordingList list;

private:
    RecordingRecorder rec_;
};

/// A graph or an eager run. One type for both, since `set` in every test for each of them would be slow to compile.
class Runner {
public:
    explicit Runner(RecordingRunner&& graph) : graph_(std::move(graph)) {}
    explicit Runner(Eager&& eager) : eager_(std::move(eager)) {}

    template <class Handle, class... Values>
    Runner& set(const Handle& handle, Values&&... values) {
        if (graph_.has_value()) {
            graph_->set(handle, values...);
        } else {
            eager_->set(handle, values...);
        }
        return *this;
    }
    [[nodiscard]] gj::Status replay() { return graph_.has_value() ? graph_->replay() : eager_->replay(); }
    [[nodiscard]] const gj::ReplayCounters& counters() const {
        return graph_.has_value() ? graph_->counters() : eager_->counters();
    }

private:
    std::optional<RecordingRunner> graph_;
    std::optional<Eager> eager_;
};
using Set = std::function<void(Runner&)>;

/// Sets values that are accepted, replays, sets what `spoil` sets, and expects a refusal that names all it should and
/// leaves nothing behind; then sets the good values again and replays.
void check_refused(Fixture& f, Runner runner, const Set& good, const Set& spoil, ErrorCode code,
                   const std::string& message) {
    set_all(f.results, poison);
    good(runner);
    REQUIRE(replay_error(runner) == "");
    std::int32_t after[8];
    std::memcpy(after, f.results, sizeof after);
    const gj::ReplayCounters counters = runner.counters();
    f.log.forget();

    spoil(runner);
    for (int again = 0; again < 2; ++again) {  // refused until it is mended
        const gj::Status status = runner.replay();
        CHECK(status.code() == code);
        CHECK(std::string(status.message().c_str()) == "graphjit: " + message);
    }
    CHECK(f.log.count(Call::launch) == 0);
    CHECK(f.log.count(Call::update) == 0);
    CHECK(f.log.count(Call::run) == 0);
    CHECK(runner.counters().replays == counters.replays);
    CHECK(runner.counters().patches == counters.patches);
    CHECK(runner.counters().native_updates == counters.native_updates);

    set_all(f.results, poison);
    good(runner);
    REQUIRE(replay_error(runner) == "");
    CHECK(std::memcmp(after, f.results, sizeof after) == 0);
    CHECK(runner.counters().replays == counters.replays + 1);
    CHECK(runner.counters().patches == counters.patches);  // all was as it had been
}
void check_refused(Fixture& f, const Set& good, const Set& spoil, ErrorCode code, const std::string& message) {
    check_refused(f, Runner(gj::instantiate(f.list).value()), good, spoil, code, message);
    check_refused(f, Runner(Eager::create(f.list).value()), good, spoil, code, message);
}

TEST_CASE("replay checks: a slot that is used must have been set once") {
    Fixture f;
    (void)f.rec().launch("fill", fill<>, f.result, f.number);
    (void)f.rec().launch("copy it", slow<>, f.out, f.in);
    f.finish();
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner) == "graphjit: a slot has never been set: op 1 'copy it', slot 'in'");
    runner.set(f.in, f.in_memory);
    CHECK(replay_error(runner) == "graphjit: a slot has never been set: op 1 'copy it', slot 'out'");
    runner.set(f.out, f.out_memory);
    CHECK(replay_error(runner) == "graphjit: a slot has never been set: op 0 'fill', slot 'number'");
    runner.set(f.number, 5);
    CHECK(replay_error(runner) == "");  // the Variables are not used
    CHECK(f.results[0] == 5);
    CHECK(f.out_memory[3] == 4);
}

TEST_CASE("replay checks: an input is not null, unless it has no bytes") {
    Fixture f;
    const auto empty = f.rec().input<std::int32_t>("empty", 0);
    (void)f.rec().launch("op", slow<>, f.result.slice(0, 4), f.in, gj::reads(empty));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory).set(empty, nullptr); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, nullptr); }, ErrorCode::null_pointer,
        "an input was set to null: op 0 'op', slot 'in'");
}

TEST_CASE("replay checks: an input is aligned for its elements") {
    Fixture f;
    (void)f.rec().launch("op", slow<>, f.result.slice(0, 4), f.in);
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory); };
    const auto address = reinterpret_cast<std::uintptr_t>(f.in_memory) + 2;
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, reinterpret_cast<const std::int32_t*>(address)); },
        ErrorCode::misaligned,
        "an input is not aligned for its elements: op 0 'op', slot 'in': address " + std::to_string(address) +
            ", alignment 4");
}

TEST_CASE("replay checks: an input has the bytes that its ops touch") {
    Fixture f;
    (void)f.rec().launch("small", slow<>, f.result.slice(0, 4), f.in.slice(0, 4));
    (void)f.rec().launch("large", slow<>, f.result.slice(4, 4), f.in.slice(2, 4));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory, 6); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.in_memory, 5); }, ErrorCode::too_small,
        "an input has fewer bytes than its ops touch: op 1 'large', slot 'in': bytes given 20, needed 24");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, gj::Span<const std::int32_t>(f.in_memory, 0)); },
        ErrorCode::too_small,
        "an input has fewer bytes than its ops touch: op 1 'large', slot 'in': bytes given 0, needed 24");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.in_memory, -1); }, ErrorCode::too_small,
        "an input has fewer bytes than its ops touch: op 1 'large', slot 'in': bytes given -4, needed 24");
}

TEST_CASE("replay checks: a part that moves needs its bytes where it is now") {
    Fixture f;
    (void)f.rec().launch("part", slow<2>, f.result.slice(0, 2), f.in.slice(f.at, 2));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory, 4).set(f.at, 2); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 3); }, ErrorCode::too_small,
        "an input has fewer bytes than its ops touch: op 0 'part', slot 'in': bytes given 16, needed 20");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.in_memory, 3); }, ErrorCode::too_small,
        "an input has fewer bytes than its ops touch: op 0 'part', slot 'in': bytes given 12, needed 16");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 7); }, ErrorCode::out_of_range,
        "a view lies outside its buffer: op 0 'part', slot 'at': first byte 28, last possible 24");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, -1); }, ErrorCode::out_of_range,
        "a view lies outside its buffer: op 0 'part', slot 'at': first byte -4, last possible 24");
}

TEST_CASE("replay checks: a part whose size is a Variable stays inside, and is never negative") {
    Fixture f;
    (void)f.rec().launch("part", slow<1>, f.result.slice(0, 1), f.in.slice(f.at, f.count));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory).set(f.at, 2).set(f.count, 6); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.count, 7); }, ErrorCode::out_of_range,
        "a view lies outside its buffer: op 0 'part', slot 'at': first byte 8, last possible 4");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.count, -1); }, ErrorCode::out_of_range,
        "a view lies outside its buffer: op 0 'part', slot 'at': first byte 8, last possible 36");
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.in, f.in_memory).set(f.at, 8).set(f.count, 0)) == "");  // nothing, at the end
}

TEST_CASE("replay checks: an input lies on its recorded device, or on one that can be reached from there") {
    Fixture f;
    (void)f.rec().launch("op", slow<>, f.result.slice(0, 4), f.in);
    f.finish();
    f.log.reachable = 1u << 3;
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory, 8, gj::DeviceId{3}); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.in_memory, 8, gj::DeviceId{2}); }, ErrorCode::wrong_device,
        "an input lies on another device than it was recorded for: op 0 'op', slot 'in': device 2, recorded 0");
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.in, f.in_memory, 8, gj::DeviceId{0})) == "");
    CHECK(replay_error(runner.set(f.in, f.in_memory, 8)) == "");
}

TEST_CASE("replay checks: a Variable is within its range") {
    Fixture f;
    (void)f.rec().launch("op", fill<>, f.result.slice(0, 4), f.at * 2);
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.at, 10); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 11); }, ErrorCode::out_of_range,
        "a Variable is outside its range: op 0 'op', slot 'at': given 11, limit 10");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, -11); }, ErrorCode::out_of_range,
        "a Variable is outside its range: op 0 'op', slot 'at': given -11, limit -10");
}

TEST_CASE("replay checks: an Expr fits its argument") {
    Fixture f;
    (void)f.rec().launch("op", gj::kernel<narrow>, f.count, f.result.slice(0, 1));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.count, 127); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.count, 128); }, ErrorCode::out_of_range,
        "an Expr does not fit the argument's type: op 0 'op', slot 'count': given 128, limit 127");
}

TEST_CASE("replay checks: an Expr stays within 64 bits, and divides by what is positive") {
    Fixture f;
    const auto huge = f.rec().variable("huge", {.min = INT64_MIN, .max = INT64_MAX});
    (void)f.rec().launch("sum", gj::kernel<halves>, huge + 1, f.result.slice(0, 1));
    (void)f.rec().launch("rest", gj::kernel<halves>, 100 % f.at, f.result.slice(1, 1));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(huge, 1).set(f.at, 7); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(huge, INT64_MAX); }, ErrorCode::overflow,
        "an Expr overflows 64 bits: op 0 'sum', slot 'huge'");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 0); }, ErrorCode::division_by_zero,
        "an Expr divides by something that is not positive: op 1 'rest', slot 'at'");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, -3); }, ErrorCode::division_by_zero,
        "an Expr divides by something that is not positive: op 1 'rest', slot 'at'");
}

TEST_CASE("replay checks: launch dims are within the device's limits") {
    Fixture f;  // limits: 1000 x 100 x 10 groups of 64 x 8 x 4, and 128 work-items
    (void)f.rec().launch("op", iota, {.groups = {f.count}, .group_size = {2, f.at, 4}}, f.result);
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.count, 1).set(f.at, 8); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.count, -1); }, ErrorCode::dims_limit,
        "launch dims are beyond the backend's limit: op 0 'op', slot 'count': given -1, limit 0");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 0); }, ErrorCode::dims_limit,
        "launch dims are beyond the backend's limit: op 0 'op', slot 'at': given 0, limit 1");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 9); }, ErrorCode::dims_limit,
        "launch dims are beyond the backend's limit: op 0 'op', slot 'at': given 9, limit 8");
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.count, 0).set(f.at, 8)) == "");  // no groups: nothing to do
}

TEST_CASE("replay checks: a group has no more work-items than the device allows, whichever axis changed") {
    Fixture f;
    const auto z = f.rec().variable("z", {.min = 1, .max = 4});
    (void)f.rec().launch("op", iota, {.groups = {1}, .group_size = {f.count, f.at, z}}, f.result);
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.count, 8).set(f.at, 4).set(z, 4); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 5); }, ErrorCode::dims_limit,
        "a group has more work-items than the backend's limit: op 0 'op', slot 'at': given 4, limit 128");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.count, 9); }, ErrorCode::dims_limit,
        "a group has more work-items than the backend's limit: op 0 'op', slot 'count': given 4, limit 128");
    Runner runner(gj::instantiate(f.list).value());
    good(runner);
    CHECK(replay_error(runner) == "");
    CHECK(replay_error(runner.set(f.count, 64).set(f.at, 2).set(z, 1)) == "");  // all of them at once
}

TEST_CASE("replay checks: an input meets no memory that the graph did not order it against") {
    Fixture f;
    (void)f.rec().launch("writes", fill<8>, f.result, 5);
    (void)f.rec().launch("reads", slow<8>, f.out, f.in);
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.in, f.in_memory).set(f.out, f.out_memory); };
    const std::string sentence = "an input shares memory with something the graph does not order it against; see "
                                 "may_alias: op 1 'reads', slot 'in'";
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.results); }, ErrorCode::overlap,
        sentence + ", against op 0 'writes', memory 'result'");
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.in, f.out_memory + 7); }, ErrorCode::overlap,
        sentence + ", against op 1 'reads', memory 'out'");
    Runner runner(gj::instantiate(f.list).value());
    good(runner);
    CHECK(replay_error(runner.set(f.in, f.out_memory + 8)) == "");
}

TEST_CASE("replay checks: a refused place of an input is forgotten when it is set back") {
    Fixture f;
    (void)f.rec().launch("writes", fill<8>, f.out, 5);
    (void)f.rec().launch("reads", slow<8>, f.result, f.in);
    f.finish();
    Runner runner(gj::instantiate(f.list).value());
    runner.set(f.in, f.in_memory).set(f.out, f.out_memory);
    REQUIRE(replay_error(runner) == "");
    CHECK(replay_error(runner.set(f.in, f.out_memory)) != "");
    runner.set(f.in, f.in_memory);
    // `in` is bound where it was before; `out` may come there no more, and may where `in` was refused.
    CHECK(replay_error(runner.set(f.out, f.in_memory)) != "");
    CHECK(replay_error(runner.set(f.out, f.out_memory + 8)) == "");
}

TEST_CASE("replay checks: the two ends of a copy do not meet, wherever Variables put them") {
    Fixture f;
    (void)f.rec().copy("shift", f.result.slice(f.at, 2), f.result.slice(2, 2));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.at, 0); };
    for (const int at : {1, 2, 3}) {
        check_refused(
            f, good, [&](Runner& runner) { runner.set(f.at, at); }, ErrorCode::overlap,
            "the source and the destination of a copy overlap: op 0 'shift', slot 'at'");
    }
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.at, 4)) == "");
}

TEST_CASE("replay checks: two parts of one input are the ends of a copy only if they are apart") {
    Fixture f;
    (void)f.rec().copy("shift", f.out.slice(f.at, f.count), f.out.slice(4, f.count));
    f.finish();
    const auto good = [&](Runner& runner) { runner.set(f.out, f.out_memory).set(f.at, 0).set(f.count, 4); };
    check_refused(
        f, good, [&](Runner& runner) { runner.set(f.at, 1); }, ErrorCode::overlap,
        "the source and the destination of a copy overlap: op 0 'shift', slot 'at'");
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.out, f.out_memory).set(f.at, 4).set(f.count, 0)) == "");  // nothing to copy
}

TEST_CASE("replay checks: a value set through a slot of another recording is refused once") {
    Fixture f;
    (void)f.rec().launch("op", fill<>, f.result.slice(0, 4), f.number);
    f.finish();
    Fixture other;
    Runner runner(gj::instantiate(f.list).value());
    runner.set(f.number, 5);
    REQUIRE(replay_error(runner) == "");
    const std::string sentence = "graphjit: a value was set through a slot of another recording";
    CHECK(replay_error(runner.set(other.number, 6)) == sentence);
    CHECK(replay_error(runner) == "");
    CHECK(f.results[0] == 5);
    CHECK(replay_error(runner.set(other.in, f.in_memory)) == sentence);
    CHECK(replay_error(runner.set(other.at, 1)) == sentence);
    CHECK(replay_error(runner.set(gj::Slot<std::int32_t>(), 1)) == sentence);
    CHECK(replay_error(runner.set(gj::Input<std::int32_t>(), f.out_memory)) == sentence);
    CHECK(replay_error(runner.set(gj::Variable(), 1)) == sentence);
    CHECK(replay_error(runner) == "");
}

TEST_CASE("replay checks: an input that no op uses may be anything") {
    Fixture f;
    (void)f.rec().launch("op", fill<>, f.result.slice(0, 4), 1);
    f.finish();
    Runner runner(gj::instantiate(f.list).value());
    CHECK(replay_error(runner.set(f.in, nullptr)) == "");
    CHECK(replay_error(runner.set(f.in, f.results, 0, gj::DeviceId{9})) == "");
}

TEST_CASE("replay checks: a misaligned input is one for the strictest of its types") {
    DeviceLog log;
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in = rec.input<Quad>("in", 2);
    (void)rec.launch("op", inc<4>, in.as<std::int32_t>());
    RecordingRunner runner = gj::instantiate(std::move(rec)).value();
    alignas(16) std::int32_t memory[12] = {};
    CHECK(replay_error(runner.set(in, reinterpret_cast<Quad*>(memory))) == "");
    CHECK(runner.set(in, reinterpret_cast<Quad*>(memory + 1)).replay().code() == ErrorCode::misaligned);
}

}  // namespace
