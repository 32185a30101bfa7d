// Random recordings for several devices: the oracle finds every signal plan right, and no wait too many.
//
// GRAPHJIT_RANDOM_SIGNALS sets how many recordings; GRAPHJIT_RANDOM_SEED the first seed, to run one of them again.
#include "support/random_devices.hpp"
#include "support/signal_plans.hpp"

#include <graphjit/plan/balanced.hpp>

#include <cstdlib>

namespace {

using namespace test;

unsigned setting(const char* name, unsigned otherwise) {
    const char* given = std::getenv(name);
    return given == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

unsigned recording_count() { return setting("GRAPHJIT_RANDOM_SIGNALS", 2000); }

/// Most have 2 to 40 ops, some up to 120, which the oracle takes a second for.
RandomDevices random_devices(unsigned seed) {
    Random random(seed + 7000);
    const unsigned ops = seed % 200 == 0 ? 41 + random.below(80) : 2 + random.below(39);
    return {seed, ops, 1 + random.below(6)};
}

/// Calls `body(seed)` for each recording, and says which seed failed.
template <class Body>
void for_each_seed(Body body) {
    const unsigned first = setting("GRAPHJIT_RANDOM_SEED", 1);
    for (unsigned i = 0, count = recording_count(); i < count; ++i) {
        INFO("seed ", first + i);
        body(first + i);
    }
}

TEST_CASE("random signals: one queue a device, whatever queues keep of the order") {
    std::vector<std::int32_t> words;
    for_each_seed([&](unsigned seed) {
        const CpuList list = random_devices(seed).record(words);
        for (const gj::QueueOrder order : queue_orders) CHECK(Signalled(list, order).verdict() == "right");
    });
}

TEST_CASE("random signals: several equal queues a device, whatever queues keep of the order") {
    std::vector<std::int32_t> words;
    unsigned spread = 0;
    for_each_seed([&](unsigned seed) {
        const CpuList list = random_devices(seed).record(words);
        const gj::Balanced policy{.queues = 1 + seed % 4, .hop_cost = 0.1f, .switch_cost = 0.5f};
        for (const gj::QueueOrder order : queue_orders) {
            const Signalled signalled(list, policy(list, plan_of(list)).value(), order);
            CHECK(signalled.verdict() == "right");
            if (signalled.queues().queues().size() > signalled.plan().devices().size()) ++spread;
        }
    });
    CHECK(spread >= recording_count() / 2);
}

TEST_CASE("random signals: neither addresses nor former plans change a plan") {
    std::vector<std::int32_t> words, elsewhere;
    gj::SignalPlanner kept;
    for_each_seed([&](unsigned seed) {
        const RandomDevices program = random_devices(seed);
        const CpuList list = program.record(words);
        const CpuList moved = program.record(elsewhere, RandomDevices::Layout::backwards);
        const gj::QueueOrder order = queue_orders[seed % 3];
        CHECK(Signalled(list, order).text() == Signalled(moved, order).text());
        CHECK(Signalled(list, order).text() == Signalled(list, queues_by_device(list), order, kept).text());
        const gj::Balanced policy{.queues = 1 + seed % 4, .hop_cost = 0.1f, .switch_cost = 0.5f};
        CHECK(Signalled(list, policy(list, plan_of(list)).value(), order).text() ==
              Signalled(moved, policy(moved, plan_of(moved)).value(), order).text());
    });
}

}  // namespace
