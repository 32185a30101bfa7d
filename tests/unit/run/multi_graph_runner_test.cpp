#include <graphjit/run/multi_graph_runner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <string>

namespace {

using namespace test;

std::int32_t memory[8] = {};

RecordingList two_ops(DeviceLog& log) {
    RecordingRecorder rec(RecordingBackend{&log});
    const auto all = rec.buffer("m", memory);
    (void)rec.launch("first", fill<>, all.slice(0, 4), 5);
    (void)rec.copy("second", all.slice(4, 4), all.slice(0, 4));
    return std::move(rec).finish().value();
}

TEST_CASE("MultiGraphRunner: asks first, then builds in recorded order, then launches") {
    DeviceLog log;
    {
        RecordingRunner runner = gj::instantiate(two_ops(log)).value();
        CHECK(log.text() == "supports 0, supports 1, create, add_node 0, add_node 1, instantiate");
        CHECK(log.alive == 1);
        log.forget();
        REQUIRE(replay_error(runner) == "");
        REQUIRE(replay_error(runner) == "");
        CHECK(runner.wait().ok());
        CHECK(runner.poll());
        CHECK(log.text() == "launch, launch, wait");
        CHECK(text(memory) == "5 5 5 5 5 5 5 5");
    }
    CHECK(log.alive == 0);
}

TEST_CASE("MultiGraphRunner: whichever call fails while building, nothing is left, and the error is the backend's") {
    DeviceLog log;
    const RecordingList list = two_ops(log);
    for (std::uint32_t which = 1; which <= 6; ++which) {
        CAPTURE(which);
        log.forget();
        log.fail_at = which;
        const gj::Result<RecordingRunner> made = gj::instantiate(list);
        CHECK(made.code() == gj::ErrorCode::backend_failure);
        CHECK(log.calls == which);
        CHECK(log.alive == 0);
        CHECK(made.status().error().native == RecordingBackend::native_code);
    }
    log.forget();
    log.fail_at = 7;
    CHECK(gj::instantiate(list).ok());
    CHECK(log.calls == 6);
    CHECK(log.alive == 0);
}

TEST_CASE("MultiGraphRunner: an op that the device cannot take is refused before anything is built") {
    DeviceLog log;
    const RecordingList list = two_ops(log);
    log.unsupported = op(1);
    const gj::Result<RecordingRunner> made = gj::instantiate(list);
    CHECK(made.code() == gj::ErrorCode::unsupported);
    CHECK(made.status().error().op == op(1));
    CHECK(std::string(made.status().error().op_name.c_str()) == "second");
    CHECK(log.count(Call::create) == 0);
}

TEST_CASE("MultiGraphRunner: dims that no replay can change are checked before anything is built") {
    DeviceLog log;
    RecordingRecorder rec(RecordingBackend{&log});
    (void)rec.launch("too large", iota, {.group_size = {64, 8}}, nullptr);
    const gj::Result<RecordingRunner> made = gj::instantiate(std::move(rec));
    CHECK(made.code() == gj::ErrorCode::dims_limit);
    CHECK(log.count(Call::create) == 0);
}

TEST_CASE("MultiGraphRunner: an error of the recording is the error of the graph") {
    DeviceLog log;
    RecordingRecorder rec(RecordingBackend{&log});
    (void)rec.launch("op", fill<>, gj::Buffer<std::int32_t>(), 5);
    CHECK(gj::instantiate(std::move(rec)).code() == gj::ErrorCode::foreign_handle);
    CHECK(log.calls == 0);
}

TEST_CASE("MultiGraphRunner: graphs of one recording are apart from each other") {
    CpuRecorder rec;
    const auto number = rec.slot<std::int32_t>("number", 1);
    (void)rec.launch(fill<8>, rec.buffer("m", memory), number);
    const CpuList list = std::move(rec).finish().value();
    auto first = gj::instantiate(list).value();
    auto second = gj::instantiate(list).value();
    REQUIRE(replay_error(first.set(number, 2)) == "");
    CHECK(memory[0] == 2);
    REQUIRE(replay_error(second) == "");
    CHECK(memory[0] == 1);
    REQUIRE(replay_error(first) == "");
    CHECK(memory[0] == 2);
}

TEST_CASE("MultiGraphRunner: gives each op its reduced dependencies") {
    struct Listing : gj::NullBackend {
        std::string* told = nullptr;
        gj::Status add_node(NativeGraph& graph, const gj::OpView& op,
                            gj::Span<const gj::OpIndex> after) const noexcept {
            *told += std::to_string(to_integer(op.index)) + ":";
            for (const gj::OpIndex before : after) *told += " " + std::to_string(to_integer(before));
            *told += "; ";
            return gj::NullBackend::add_node(graph, op, after);
        }
    };
    std::string told;
    Listing backend;
    backend.told = &told;
    gj::Recorder<Listing> rec(backend);
    const auto all = rec.buffer("m", memory);
    (void)rec.launch(fill<8>, all, 1);
    (void)rec.launch(inc<>, all.slice(0, 4));
    (void)rec.launch(inc<>, all.slice(4, 4));
    (void)rec.launch(inc<8>, all);
    auto runner = gj::instantiate(std::move(rec)).value();
    CHECK(told == "0:; 1: 0; 2: 0; 3: 1 2; ");
    CHECK(edges(runner.dag()) == "0>1 0>2 1>3 2>3");
}

TEST_CASE("MultiGraphRunner: asks a backend that can tell whether the work is over") {
    struct Slow : gj::NullBackend {
        int* left = nullptr;
        bool poll(NativeExec&) const noexcept { return --*left <= 0; }
    };
    int left = 3;
    Slow backend;
    backend.left = &left;
    gj::Recorder<Slow> rec(backend);
    (void)rec.launch(inc<>, nullptr);
    auto runner = gj::instantiate(std::move(rec)).value();
    CHECK(!runner.poll());
    CHECK(!runner.poll());
    CHECK(runner.poll());
}

TEST_CASE("MultiGraphRunner: a planner and a plan may be given") {
    DeviceLog log;
    gj::Planner planner;
    for (int i = 0; i < 3; ++i) {
        RecordingRunner runner = RecordingRunner::instantiate(two_ops(log), planner).value();
        CHECK(edges(runner.dag()) == "0>1");
    }
    RecordingList list = two_ops(log);
    gj::Dag dag = planner.plan(list).value();
    RecordingRunner runner = RecordingRunner::instantiate(std::move(list), std::move(dag)).value();
    CHECK(edges(runner.dag()) == "0>1");
    REQUIRE(replay_error(runner) == "");
}

TEST_CASE("MultiGraphRunner: where memory runs out there is no graph, whenever that is, and nothing is left") {
    DeviceLog log;
    RecordingRecorder rec(RecordingBackend{&log});
    const auto in = rec.input<std::int32_t>("in", 8);
    const auto at = rec.variable("at", {.min = 0, .max = 4});
    (void)rec.launch(fill<>, in.slice(at, 4), at * 2);
    (void)rec.copy(in.slice(0, 4), in.slice(4, 4));
    const RecordingList list = std::move(rec).finish().value();
    CHECK(allocations_needed([&] {
              const bool made = [&] {
                  const gj::Result<RecordingRunner> runner = gj::instantiate(list);
                  CHECK((runner.ok() || runner.code() == gj::ErrorCode::out_of_memory));
                  return runner.ok();
              }();
              CHECK(log.alive == 0);
              return made;
          }) > 30);
}

}  // namespace
