#include <graphjit/run/eager_runner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <string>

namespace {

using namespace test;
using Eager = gj::EagerRunner<RecordingBackend>;

struct Fixture {
    DeviceLog log;
    std::int32_t memory[8] = {};
    gj::Slot<std::int32_t> number;
    RecordingList list;

    Fixture() {
        RecordingRecorder rec(RecordingBackend{&log});
        const auto all = rec.buffer("m", memory);
        number = rec.slot<std::int32_t>("number", 5);
        (void)rec.launch(fill<>, all.slice(0, 4), number);
        (void)rec.copy(all.slice(4, 4), all.slice(0, 4));
        (void)rec.launch(inc<>, all.slice(0, 4));
        list = std::move(rec).finish().value();
    }
};

TEST_CASE("EagerRunner: gives the backend one op after another, in recorded order, and makes no graph") {
    Fixture f;
    Eager runner = Eager::create(f.list).value();
    CHECK(f.log.text() == "");
    REQUIRE(replay_error(runner) == "");
    CHECK(f.log.text() == "run 0, run 1, run 2");
    CHECK(text(f.memory) == "6 6 6 6 5 5 5 5");
    CHECK(f.log.alive == 0);
    CHECK(runner.wait().ok());
    CHECK(edges(runner.dag()) == "0>1 1>2");
}

TEST_CASE("EagerRunner: stops at the op that fails") {
    Fixture f;
    Eager runner = Eager::create(f.list).value();
    f.log.fail_at = 2;
    const gj::Status status = runner.replay();
    CHECK(status.code() == gj::ErrorCode::backend_failure);
    CHECK(status.error().op == op(1));
    CHECK(f.log.text() == "run 0, run 1");
    f.log.forget();
    f.log.fail_at = 0;
    REQUIRE(replay_error(runner) == "");
    CHECK(f.log.text() == "run 0, run 1, run 2");
}

TEST_CASE("EagerRunner: has its own copy of the recording and its blocks") {
    Fixture f;
    Eager first = Eager::create(f.list).value();
    Eager second = Eager::create(f.list).value();
    REQUIRE(replay_error(first.set(f.number, 1)) == "");
    CHECK(f.memory[4] == 1);
    REQUIRE(replay_error(second) == "");
    CHECK(f.memory[4] == 5);
    Eager third = Eager::create(std::move(f.list)).value();
    REQUIRE(replay_error(third.set(f.number, 3)) == "");
    CHECK(f.memory[4] == 3);
}

TEST_CASE("EagerRunner: dims that no replay can change are checked when it is made") {
    DeviceLog log;
    RecordingRecorder rec(RecordingBackend{&log});
    (void)rec.launch(inc<>, nullptr);
    (void)rec.launch("too many", iota, {.groups = {1'001}}, nullptr);
    const gj::Result<Eager> made = Eager::create(std::move(rec).finish().value());
    CHECK(made.code() == gj::ErrorCode::dims_limit);
    CHECK(std::string(made.message().c_str()).find("op 1 'too many'") != std::string::npos);
}

TEST_CASE("EagerRunner: where memory runs out it is not made, whenever that is") {
    Fixture f;
    CHECK(allocations_needed([&] {
              const gj::Result<Eager> made = Eager::create(f.list);
              CHECK((made.ok() || made.code() == gj::ErrorCode::out_of_memory));
              return made.ok();
          }) > 20);
}

}  // namespace
