// Random recordings: the oracle finds every plan right and minimal, and a graph, an eager run, random orders and a
// plain executor of the same program agree in every replay.
//
// GRAPHJIT_RANDOM_LISTS sets how many lists; GRAPHJIT_RANDOM_SEED the first seed, to run one list again.
#include "support/random_ops.hpp"

#include <cstdlib>

namespace {

using namespace test;

unsigned setting(const char* name, unsigned otherwise) {
    const char* given = std::getenv(name);
    return given == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}
unsigned list_count() { return setting("GRAPHJIT_RANDOM_LISTS", 300); }
unsigned first_seed() { return setting("GRAPHJIT_RANDOM_SEED", 1); }

/// Calls `body(seed)` for each list, and says which seed failed.
template <class Body>
void for_each_seed(unsigned count, Body body) {
    for (unsigned i = 0; i < count; ++i) {
        const unsigned seed = first_seed() + i;
        INFO("seed ", seed);
        body(seed);
    }
}

TEST_CASE("random lists: every plan is right and minimal, and every way to run them gives the same values") {
    for_each_seed(list_count(), [&](unsigned seed) {
        const RandomProgram program({.seed = seed});
        World world = program.world();
        const RandomProgram::Recorded recorded = program.record(world);
        REQUIRE(recorded.list.size() == program.size());
        CHECK(verdict(recorded.list) == "right");

        std::vector<CpuRunner> runners;
        runners.push_back(as_graph(recorded.list));
        runners.push_back(eagerly(recorded.list));
        runners.push_back(in_random_order(recorded.list, seed, 1));
        if (seed % 16 == 0) runners.push_back(in_random_order(recorded.list, seed, 3));

        Random random(seed + 1000);
        World start = world;
        RandomProgram::Values values;
        for (int replay = 0; replay < 3; ++replay) {
            values = program.values(random, replay == 0 ? nullptr : &values);
            World expected = start;
            program.run(expected, values);
            for (CpuRunner& runner : runners) {
                INFO(runner.way());
                INFO("replay ", replay);
                program.restore(world, start);
                program.set(runner, recorded, values, world);
                REQUIRE(replay_error(runner) == "");
                if (!(world == expected)) FAIL_CHECK("other values than one after another");
            }
            start = expected;
        }
    });
}

TEST_CASE("random lists: the reduction is the one that looking at every pair gives") {
    for_each_seed(list_count() / 2, [&](unsigned seed) {
        const RandomProgram program({.seed = seed, .most_ops = 200});
        World world = program.world();
        CHECK(edges(program.record(world).list) == program.reduced_edges());
    });
}

TEST_CASE("random lists: neither addresses, nor former plans, nor the order of accesses change a plan") {
    gj::Planner kept;
    for_each_seed(list_count() / 2, [&](unsigned seed) {
        const RandomProgram program({.seed = seed, .most_ops = 100});
        World world = program.world();
        World other = world;
        const std::string plan = edges(program.record(world).list);
        CHECK(edges(program.record(other).list) == plan);
        CHECK(edges(kept.plan(program.record(world).list).value()) == plan);
        CHECK(edges(program.record_accesses(world, seed)) == plan);
        CHECK(edges(program.record_accesses(other, seed + 1)) == plan);
    });
}

TEST_CASE("random lists: inputs bound over each other are refused, or give what one after another gives") {
    unsigned accepted = 0, refused = 0;
    for_each_seed(list_count(), [&](unsigned seed) {
        const RandomProgram program({.seed = seed, .most_ops = 40});
        World world = program.world();
        const RandomProgram::Recorded recorded = program.record(world);
        const gj::Dag dag = plan_of(recorded.list);
        std::vector<CpuRunner> runners;
        runners.push_back(as_graph(recorded.list));
        runners.push_back(in_random_order(recorded.list, seed, 1));
        Random random(seed);
        RandomProgram::Values values, last_accepted;
        for (int replay = 0; replay < 8; ++replay) {
            // Back to what was accepted last is where a refused replay that left something behind would show.
            const bool back = !last_accepted.inputs.empty() && random.chance(30);
            values = back ? last_accepted
                          : program.anywhere(random, last_accepted.inputs.empty() ? nullptr : &last_accepted);
            const unsigned spoiled = !back && random.chance(20) ? program.spoil(values, random) : 0;
            const bool is_new_overlap = program.is_new_overlap(dag, values);
            const bool is_refused = is_new_overlap || spoiled != 0;
            const World start = program.world();
            World expected = start;
            if (!is_refused) {
                program.run(expected, values);
                last_accepted = values;
            }
            (is_refused ? refused : accepted) += 1;
            for (CpuRunner& runner : runners) {
                program.restore(world, start);
                INFO(runner.way());
                program.set(runner, recorded, values, world);
                const gj::Status status = runner.replay();
                CHECK(status.ok() == !is_refused);
                if (is_new_overlap && spoiled == 0) CHECK(status.code() == gj::ErrorCode::overlap);
                if (!(world == expected)) FAIL_CHECK("other values than one after another");
            }
        }
    });
    CHECK(accepted > list_count());
    CHECK(refused > list_count());
}

void join(gj::Out<std::uint32_t> out, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t k) {
    out[0] = 3 * a[0] + 5 * b[0] + k;
}

TEST_CASE("more independent ops than the exact reduction has chains for: perhaps an edge too many, never one too few") {
    constexpr unsigned width = 1300;
    std::vector<std::uint32_t> memory(2 * width);
    CpuRecorder rec;
    const auto buffer = rec.buffer("memory", memory);
    Random random(5);
    const auto cell = [&](unsigned i) { return buffer.slice(i, 1); };
    for (unsigned i = 0; i < width; ++i) rec.fill(cell(i), i);
    for (unsigned i = 0; i < 900; ++i) {
        const unsigned a = random.below(2 * width), b = random.below(2 * width), out = random.below(2 * width);
        rec.launch(gj::kernel<join>, cell(out), cell(a), cell(b), i);
    }
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    CHECK(!dag.is_minimal());
    CHECK(verdict(gj::verify(list, dag, false)) == "right");
    std::vector<std::uint32_t> expected;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        std::fill(memory.begin(), memory.end(), 1);
        CpuRunner runner = seed == 0 ? eagerly(list) : seed == 1 ? as_graph(list) : in_random_order(list, seed, 1);
        REQUIRE(replay_error(runner) == "");
        if (seed == 0) expected = memory;
        CHECK(memory == expected);
    }
}

TEST_CASE("just as many as there are chains for is still exact") {
    constexpr unsigned width = 1000;
    std::vector<std::uint32_t> memory(width);
    CpuRecorder rec;
    const auto buffer = rec.buffer("memory", memory);
    for (unsigned i = 0; i < width; ++i) rec.fill(buffer.slice(i, 1), i);
    for (unsigned i = 0; i + 1 < width; i += 2) {
        rec.launch(gj::kernel<join>, buffer.slice(i, 1), buffer.slice(i, 1), buffer.slice(i + 1, 1), 0u);
    }
    const CpuList list = std::move(rec).finish().value();
    CHECK(plan_of(list).is_minimal());
    CHECK(verdict(list) == "right");
}

}  // namespace
