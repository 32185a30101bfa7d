#include <graphjit/run/adversarial_runner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace test;
using Adversary = gj::AdversarialRunner<gj::CpuBackend>;

/// Four rows of five ops each, one behind the other; the rows in any order, and one op behind all.
CpuList rows(std::vector<std::int32_t>& memory) {
    memory.assign(16, 0);
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    for (int i = 0; i < 5; ++i) {
        for (int row = 0; row < 4; ++row) (void)rec.launch(mix<>, all.slice(4 * row, 4), all.slice(4 * row, 4), i);
    }
    (void)rec.launch(inc<16>, all);
    return std::move(rec).finish().value();
}

std::vector<unsigned> order(const Adversary& runner) {
    std::vector<unsigned> all;
    for (const gj::OpIndex at : runner.last_order()) all.push_back(to_integer(at));
    return all;
}
/// Whether each op comes once, and behind all it waits for.
bool is_legal(const std::vector<unsigned>& order, const gj::Dag& dag) {
    std::vector<std::size_t> place(dag.size(), order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (place[order[i]] != order.size()) return false;
        place[order[i]] = i;
    }
    for (unsigned after = 0; after < dag.size(); ++after) {
        if (place[after] == order.size()) return false;
        for (const gj::OpIndex before : dag.dependencies(op(after))) {
            if (place[to_integer(before)] >= place[after]) return false;
        }
    }
    return true;
}

TEST_CASE("AdversarialRunner: runs orders that the graph allows, and many of them") {
    std::vector<std::int32_t> memory;
    const CpuList list = rows(memory);
    std::set<std::vector<unsigned>> orders;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Adversary runner = Adversary::create(list, {.seed = seed}).value();
        for (int replay = 0; replay < 3; ++replay) {
            REQUIRE(replay_error(runner) == "");
            const std::vector<unsigned> ran = order(runner);
            REQUIRE(is_legal(ran, runner.dag()));
            orders.insert(ran);
        }
    }
    CHECK(orders.size() == 90);  // of 20!/(5!)^4 there are
}

TEST_CASE("AdversarialRunner: the same seed gives the same orders") {
    std::vector<std::int32_t> memory;
    const CpuList list = rows(memory);
    Adversary first = Adversary::create(list, {.seed = 7}).value();
    Adversary second = Adversary::create(list, {.seed = 7}).value();
    Adversary other = Adversary::create(list, {.seed = 8}).value();
    for (int replay = 0; replay < 3; ++replay) {
        REQUIRE(replay_error(first) == "");
        REQUIRE(replay_error(second) == "");
        REQUIRE(replay_error(other) == "");
        CHECK(order(first) == order(second));
        CHECK(order(first) != order(other));
    }
}

TEST_CASE("AdversarialRunner: with threads its orders are legal, too, and its results those of recorded order") {
    std::vector<std::int32_t> memory;
    const CpuList list = rows(memory);
    auto eager = gj::EagerRunner<gj::CpuBackend>::create(list).value();
    memory.assign(16, 1);
    REQUIRE(replay_error(eager) == "");
    const std::vector<std::int32_t> expected = memory;
    for (const unsigned threads : {1u, 2u, 4u, 40u}) {
        Adversary runner = Adversary::create(list, {.seed = threads, .threads = threads}).value();
        for (int replay = 0; replay < 20; ++replay) {
            memory.assign(16, 1);
            REQUIRE(replay_error(runner) == "");
            REQUIRE(memory == expected);
            REQUIRE(is_legal(order(runner), runner.dag()));
        }
    }
}

TEST_CASE("AdversarialRunner: without an edge that is needed some order gives a wrong value") {
    std::int32_t memory[8] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    (void)rec.launch(fill<>, all.slice(0, 4), 5);
    (void)rec.launch(slow<>, all.slice(4, 4), all.slice(0, 4));
    const CpuList list = std::move(rec).finish().value();
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        gj::Dag without;
        REQUIRE(without.add_op({}));
        REQUIRE(without.add_op({}));
        Adversary runner = Adversary::create(list, std::move(without), {.seed = seed}).value();
        set_all(memory, poison);
        REQUIRE(replay_error(runner) == "");
        wrong += memory[4] == 5 ? 0 : 1;
    }
    CHECK(wrong > 5);
    CHECK(wrong < 35);
}

TEST_CASE("AdversarialRunner: once an op failed no other starts, and the error is that op's") {
    std::int32_t memory[4] = {};
    for (const unsigned threads : {1u, 3u}) {
        DeviceLog log;
        RecordingRecorder rec(RecordingBackend{&log});
        const auto all = rec.buffer("m", memory);
        for (int i = 0; i < 6; ++i) (void)rec.launch("op", inc<>, all);
        auto runner = gj::AdversarialRunner<RecordingBackend>::create(std::move(rec).finish().value(),
                                                                      {.threads = threads})
                          .value();
        log.fail_at = 3;
        const gj::Status status = runner.replay();
        CHECK(status.code() == gj::ErrorCode::backend_failure);
        CHECK(status.error().op == op(2));
        CHECK(log.count(Call::run) == 3);
        log.fail_at = 0;
        log.forget();
        CHECK(replay_error(runner) == "");
        CHECK(log.count(Call::run) == 6);
    }
}

TEST_CASE("AdversarialRunner: takes slots, and checks them, as every runner does") {
    std::int32_t memory[4] = {};
    CpuRecorder rec;
    const auto at = rec.variable("at", {.min = 0, .max = 3});
    (void)rec.launch(fill<>, rec.buffer("m", memory), at * 2);
    Adversary runner = Adversary::create(std::move(rec).finish().value()).value();
    CHECK(runner.replay().code() == gj::ErrorCode::unbound);
    REQUIRE(replay_error(runner.set(at, 3)) == "");
    CHECK(memory[0] == 6);
    CHECK(runner.set(at, 4).replay().code() == gj::ErrorCode::out_of_range);
    CHECK(memory[0] == 6);
    CHECK(runner.wait().ok());
}

TEST_CASE("AdversarialRunner: an empty recording has one order") {
    CpuRecorder rec;
    Adversary runner = Adversary::create(std::move(rec).finish().value(), {.threads = 3}).value();
    CHECK(replay_error(runner) == "");
    CHECK(runner.last_order().empty());
}

TEST_CASE("AdversarialRunner: where memory runs out it is not made, whenever that is") {
    std::vector<std::int32_t> memory;
    const CpuList list = rows(memory);
    CHECK(allocations_needed([&] {
              const gj::Result<Adversary> made = Adversary::create(list);
              CHECK((made.ok() || made.code() == gj::ErrorCode::out_of_memory));
              return made.ok();
          }) > 20);
}

}  // namespace
