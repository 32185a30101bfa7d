#include <graphjit/run/slot_state.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <vector>

namespace {

using namespace test;

struct Pair {
    float a;
    std::int32_t b;
};

struct Slots {
    gj::SlotIndex in, at, started, number, pair;
    CpuList list;
};
/// An input, a Variable without and one with a start, and two values, the second with a start.
Slots slots() {
    CpuRecorder rec;
    const auto in = rec.input<std::int32_t>("in", 4).slot();
    const auto at = rec.variable("at", {.min = 0, .max = 9}).slot();
    const auto started = rec.variable("started", {.min = 0, .max = 9}, 5).slot();
    const auto number = rec.slot<std::int32_t>("number").slot();
    const auto pair = rec.slot<Pair>("pair", {1.5f, 7}).slot();
    return {in, at, started, number, pair, std::move(rec).finish().value()};
}

std::vector<gj::SlotIndex> dirty(const gj::SlotState& state) {
    std::vector<gj::SlotIndex> all;
    for (const std::uint32_t slot : state.dirty()) all.push_back(static_cast<gj::SlotIndex>(slot));
    return all;
}
using List = std::vector<gj::SlotIndex>;

/// What a replay does that accepts everything.
void accept(gj::SlotState& state, const gj::OpList& list) {
    for (const std::uint32_t slot : state.dirty()) {
        state.commit(static_cast<gj::SlotIndex>(slot), list.slots()[slot].bytes);
    }
    state.clear_dirty();
}

TEST_CASE("SlotState: starts with what the recording has, and with nothing else") {
    const Slots s = slots();
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    CHECK(dirty(state) == List{s.started, s.pair});
    CHECK(!state.is_bound(s.in));
    CHECK(!state.is_bound(s.at));
    CHECK(!state.is_bound(s.number));
    CHECK(state.is_bound(s.started));
    CHECK(state.is_bound(s.pair));
    CHECK(state.pending(s.started).value == 5);
    Pair pair{};
    std::memcpy(&pair, state.pending_bytes(s.pair), sizeof pair);
    CHECK(pair.a == 1.5f);
    CHECK(pair.b == 7);
    CHECK(state.has(s.pair));
    CHECK(!state.has(gj::SlotIndex{5}));
    CHECK(!state.has(gj::SlotIndex::none));
}

TEST_CASE("SlotState: what is set is noted once, and no more when it is there already") {
    const Slots s = slots();
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    accept(state, s.list);
    CHECK(dirty(state).empty());

    state.set(s.at, {.value = 3});
    state.set(s.at, {.value = 4});
    state.set_bytes(s.number, std::int32_t{8});
    CHECK(dirty(state) == List{s.at, s.number});
    CHECK(state.pending(s.at).value == 4);
    CHECK(state.changed(s.at, 0));
    CHECK(state.changed(s.number, 4));
    accept(state, s.list);
    CHECK(!state.changed(s.at, 0));
    CHECK(!state.changed(s.number, 4));

    state.set(s.at, {.value = 4});
    state.set_bytes(s.number, std::int32_t{8});
    CHECK(dirty(state).empty());
    state.set_bytes(s.pair, Pair{1.5f, 7});
    CHECK(dirty(state).empty());
    state.set_bytes(s.pair, Pair{1.5f, 8});
    CHECK(dirty(state) == List{s.pair});
}

TEST_CASE("SlotState: set back to what is there, a slot stays noted, but has not changed") {
    const Slots s = slots();
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    state.set(s.at, {.value = 1});
    state.set_bytes(s.number, std::int32_t{1});
    accept(state, s.list);
    state.set(s.at, {.value = 2});
    state.set_bytes(s.number, std::int32_t{2});
    state.set(s.at, {.value = 1});
    state.set_bytes(s.number, std::int32_t{1});
    CHECK(dirty(state) == List{s.at, s.number});
    CHECK(!state.changed(s.at, 0));
    CHECK(!state.changed(s.number, 4));
}

TEST_CASE("SlotState: an input is its address, its size and its device") {
    const Slots s = slots();
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    state.set(s.in, {.value = 0x1000, .bytes = 16, .device = 0});
    accept(state, s.list);
    const gj::SlotValue others[] = {{.value = 0x2000, .bytes = 16, .device = 0},
                                    {.value = 0x1000, .bytes = 12, .device = 0},
                                    {.value = 0x1000, .bytes = gj::SlotValue::unknown_bytes, .device = 0},
                                    {.value = 0x1000, .bytes = 16, .device = gj::SlotValue::recorded_device}};
    for (const gj::SlotValue& other : others) {
        state.set(s.in, {.value = 0x1000, .bytes = 16, .device = 0});
        CHECK(!state.changed(s.in, 0));
        state.set(s.in, other);
        CHECK(state.changed(s.in, 0));
    }
    CHECK(gj::SlotValue::unknown_bytes < -1'000'000);  // no count that a user could give
}

TEST_CASE("SlotState: once forgotten, all that was ever set is sent again") {
    const Slots s = slots();
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    state.set(s.in, {.value = 0x1000});
    accept(state, s.list);
    CHECK(dirty(state).empty());
    state.forget();
    CHECK(dirty(state) == List{s.in, s.started, s.pair});
    CHECK(state.changed(s.in, 0));
    CHECK(state.changed(s.pair, sizeof(Pair)));
    CHECK(state.pending(s.in).value == 0x1000);
    CHECK(!state.is_bound(s.at));
    state.set(s.in, {.value = 0x1000});  // the same value is news now
    CHECK(state.changed(s.in, 0));
    accept(state, s.list);
    state.set(s.in, {.value = 0x1000});
    CHECK(dirty(state).empty());
}

TEST_CASE("SlotState: allocates when it is built and never again") {
    const Slots s = slots();
    CHECK(allocations_needed([&] {
              gj::SlotState state;
              return state.build(s.list);
          }) >= 3);
    gj::SlotState state;
    REQUIRE(state.build(s.list));
    const FailingAllocations failing(0);
    for (int i = 0; i < 100; ++i) {
        state.set(s.in, {.value = i});
        state.set(s.at, {.value = i});
        state.set(s.started, {.value = i});
        state.set_bytes(s.number, i);
        state.set_bytes(s.pair, Pair{0, i});
        if (i % 3 == 0) accept(state, s.list);
        if (i % 7 == 0) state.forget();
    }
    CHECK(failing.refused() == 0);
    CHECK(dirty(state).size() <= 5);
}

}  // namespace
