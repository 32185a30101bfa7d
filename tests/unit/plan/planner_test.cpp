#include <graphjit/plan/planner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <vector>

namespace {

using namespace test;

std::string plan(gj::Planner& planner, const CpuList& list) { return edges(planner.plan(list).value()); }

CpuList random_list(std::uint64_t seed, std::vector<std::int32_t>& memory) {
    Random random(seed);
    CpuRecorder rec;
    const auto all = rec.buffer("all", memory);
    const auto again = rec.buffer("again", memory.data() + 16, 32);
    const auto x = rec.input<std::int32_t>("x", 32);
    const auto y = rec.input<std::int32_t>("y", 32);
    const auto token = rec.token("t");
    rec.may_alias(x, y);
    const auto part = [&]() -> gj::Buffer<std::int32_t> {
        const std::int64_t first = random.between(0, 28);
        switch (random.below(4)) {
            case 0: return all.slice(first, 4);
            case 1: return again.slice(first, 4);
            case 2: return x.slice(first, 4);
            default: return y.slice(first, 4);
        }
    };
    for (int i = 0; i < 40; ++i) {
        switch (random.below(4)) {
            case 0: (void)rec.launch(test::fill<>, part(), 1); break;
            case 1: (void)rec.launch(add<>, part(), part(), part()); break;
            case 2: (void)rec.launch(inc<>, part(), updates(token)); break;
            default: (void)rec.launch(inc<>, part(), reads(token)); break;
        }
    }
    return std::move(rec).finish().value();
}

TEST_CASE("Planner: an empty recording has an empty plan") {
    CpuRecorder rec;
    const CpuList list = std::move(rec).finish().value();
    gj::Planner planner;
    CHECK(planner.plan(list).value().size() == 0);
    CHECK(planner.plan(list).value().is_minimal());
}

TEST_CASE("Planner: a kept planner plans as a new one does, whatever it planned before") {
    std::vector<std::int32_t> memory(64);
    gj::Planner kept;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const CpuList list = random_list(seed, memory);
        gj::Planner fresh;
        const std::string expected = plan(fresh, list);
        CAPTURE(seed);
        CHECK(plan(kept, list) == expected);
        CHECK(plan(kept, list) == expected);
        CHECK(verdict(gj::verify(list, kept.plan(list).value())) == "right");
    }
}

TEST_CASE("Planner: where the memory is does not matter to the plan") {
    std::vector<std::int32_t> here(64);
    const std::vector<std::int32_t> between(1'000);
    std::vector<std::int32_t> there(64);
    gj::Planner planner;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CHECK(plan(planner, random_list(seed, here)) == plan(planner, random_list(seed, there)));
    }
}

TEST_CASE("Planner: inputs that may alias are ordered as if they did, others are not") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 8);
    const auto y = rec.input<std::int32_t>("y", 8);
    const auto z = rec.input<std::int32_t>("z", 8);
    rec.may_alias(x, y);
    (void)rec.launch(test::fill<>, x.slice(0, 4), 1);        // 0
    (void)rec.launch(test::fill<>, y.slice(4, 4), 2);        // 1: may be the bytes of 0
    (void)rec.launch(test::fill<>, z.slice(0, 4), 3);        // 2: apart
    (void)rec.launch(inc<>, x.slice(4, 4));                  // 3: bytes of x that nobody wrote, but maybe through y
    (void)rec.launch(slow<>, z.slice(4, 4), y.slice(0, 4));  // 4: reads what 0 and 3 may have written
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>3 3>4");
    CHECK(verdict(list) == "right");
}

TEST_CASE("Planner: readers through two names that may alias are not ordered") {
    std::int32_t out[8] = {};
    CpuRecorder rec;
    const auto x = rec.input<const std::int32_t>("x", 4);
    const auto y = rec.input<const std::int32_t>("y", 4);
    const auto result = rec.buffer("out", out);
    rec.may_alias(x, y);
    (void)rec.launch(slow<>, result.slice(0, 4), x);
    (void)rec.launch(slow<>, result.slice(4, 4), y);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "");
    CHECK(verdict(list) == "right");
}

TEST_CASE("Planner: an op that names both of two aliases does not wait for itself") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 4);
    const auto y = rec.input<std::int32_t>("y", 4);
    rec.may_alias(y, x);
    (void)rec.launch(mix<>, y, x, 1);
    (void)rec.launch(mix<>, x, y, 1);
    (void)rec.launch(mix<>, y, x, 1);
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");
    CHECK(verdict(list) == "right");
}

TEST_CASE("Planner: an input may alias recorded memory, and a token may, too") {
    std::int32_t memory[8] = {};
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 4);
    const auto all = rec.buffer("all", memory);
    const auto token = rec.token("t");
    const auto other = rec.token("u");
    rec.may_alias(x, all);
    rec.may_alias(token, other);
    (void)rec.launch(test::fill<>, all.slice(0, 4), 1, updates(token));
    (void)rec.launch(inc<>, x);
    (void)rec.launch(test::fill<>, all.slice(4, 4), 1, updates(other));
    const CpuList list = std::move(rec).finish().value();
    CHECK(edges(list) == "0>1 1>2");  // 0>2 over the tokens is implied
    CHECK(verdict(list) == "right");
}

TEST_CASE("Planner: a recording too wide for exact reduction has a plan that is right, and says so") {
    constexpr int width = 1'500;
    std::vector<std::int32_t> memory(4 * width);
    CpuRecorder rec;
    const auto all = rec.buffer("all", memory);
    for (int i = 0; i < width; ++i) (void)rec.launch(test::fill<>, all.slice(4 * i, 4), i);
    for (int i = 0; i < width; ++i) (void)rec.launch(inc<>, all.slice(4 * i, 4));
    (void)rec.launch(test::fill<4 * width>, all, 1);
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    CHECK(!dag.is_minimal());
    CHECK(verdict(gj::verify(list, dag, false)) == "right");
}

TEST_CASE("Planner: where memory runs out, whenever, it says so, and plans when there is some again") {
    std::vector<std::int32_t> memory(64);
    const CpuList list = random_list(1, memory);
    gj::Planner kept;
    CHECK(allocations_needed([&] {
              gj::Planner planner;
              const gj::Result<gj::Dag> dag = planner.plan(list);
              CHECK((dag.ok() || dag.code() == gj::ErrorCode::out_of_memory));
              return dag.ok();
          }) > 10);
    for (std::size_t allowed = 0; allowed < 20; ++allowed) {
        const FailingAllocations failing(allowed);
        (void)kept.plan(list);
    }
    gj::Planner fresh;
    CHECK(plan(kept, list) == plan(fresh, list));
}

}  // namespace
