#include <graphjit/plan/regions.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

namespace gj = graphjit;
using test::Random;

gj::MemoryRecord allocation(std::uintptr_t address, std::int64_t bytes) { return {.address = address, .bytes = bytes}; }
gj::MemoryRecord input(std::int64_t bytes) { return {.is_input = true, .bytes = bytes}; }

gj::ByteRange range(const gj::Regions& regions, std::uint32_t memory, std::int64_t begin, std::int64_t end) {
    return regions.range({static_cast<gj::MemoryIndex>(memory), gj::Access::in, begin, end});
}
bool meet(const gj::ByteRange& a, const gj::ByteRange& b) {
    return a.region == b.region && a.begin < b.end && b.begin < a.end;
}

TEST_CASE("Regions: allocations apart are regions apart, numbered as they were registered") {
    gj::Regions regions;
    const gj::MemoryRecord memories[] = {allocation(0x3000, 16), allocation(0x1000, 32), allocation(0x2000, 8)};
    REQUIRE(regions.build(memories));
    REQUIRE(regions.bytes().size() == 3);
    CHECK(regions.bytes()[0] == 16);
    CHECK(regions.bytes()[1] == 32);
    CHECK(regions.bytes()[2] == 8);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(range(regions, i, 4, 8).region == i);
        CHECK(range(regions, i, 4, 8).begin == 4);
        CHECK(range(regions, i, 4, 8).end == 8);
    }
}

TEST_CASE("Regions: registrations that overlap are one region, in which each keeps its place") {
    gj::Regions regions;
    // The first lies inside the others' union; the third touches the second, but shares no byte with it.
    const gj::MemoryRecord memories[] = {allocation(0x1010, 16), allocation(0x1000, 32), allocation(0x1020, 16),
                                         allocation(0x1018, 4)};
    REQUIRE(regions.build(memories));
    REQUIRE(regions.bytes().size() == 2);
    CHECK(regions.bytes()[0] == 32);
    CHECK(regions.bytes()[1] == 16);
    CHECK(range(regions, 0, 0, 16).begin == 16);
    CHECK(range(regions, 0, 0, 16).end == 32);
    CHECK(range(regions, 1, 0, 32).begin == 0);
    CHECK(range(regions, 2, 0, 16).region == 1);
    CHECK(range(regions, 2, 0, 16).begin == 0);
    CHECK(range(regions, 3, 0, 4).begin == 24);
}

TEST_CASE("Regions: a chain of overlaps is one region, though its ends are far apart") {
    gj::Regions regions;
    std::vector<gj::MemoryRecord> memories;
    for (std::uintptr_t i = 0; i < 100; ++i) memories.push_back(allocation(0x1000 + 10 * i, 11));
    std::reverse(memories.begin(), memories.end());
    REQUIRE(regions.build(memories));
    REQUIRE(regions.bytes().size() == 1);
    CHECK(regions.bytes()[0] == 1'001);
    CHECK(range(regions, 99, 0, 1).begin == 0);
    CHECK(range(regions, 0, 0, 1).begin == 990);
}

TEST_CASE("Regions: inputs and memory without bytes are regions of their own, wherever they are") {
    gj::Regions regions;
    const gj::MemoryRecord memories[] = {allocation(0x1000, 16), input(16), allocation(0, 0),
                                         allocation(0x1004, 0),  input(0),  allocation(0, 0)};
    REQUIRE(regions.build(memories));
    REQUIRE(regions.bytes().size() == 6);
    for (std::uint32_t i = 0; i < 6; ++i) CHECK(range(regions, i, 0, 0).region == i);
    CHECK(regions.bytes()[1] == 16);
    for (const std::uint32_t empty : {2u, 3u, 4u, 5u}) {
        CHECK(regions.bytes()[empty] == 1);  // a byte that stands for it, so that its users are ordered
        CHECK(range(regions, empty, 0, 0).begin == 0);
        CHECK(range(regions, empty, 0, 0).end == 1);
    }
}

TEST_CASE("Regions: two accesses meet in a region where they meet in memory, and nowhere else") {
    Random random(1);
    gj::Regions regions;
    for (int round = 0; round < 2'000; ++round) {
        std::vector<gj::MemoryRecord> memories;
        const unsigned count = 1 + random.below(12);
        for (unsigned i = 0; i < count; ++i) {
            const auto address = static_cast<std::uintptr_t>(0x1000 + random.between(0, 120));
            memories.push_back(random.chance(10) ? input(16) : allocation(address, random.between(0, 20)));
        }
        REQUIRE(regions.build(memories));
        for (int pair = 0; pair < 50; ++pair) {
            const unsigned a = random.below(count);
            const unsigned b = random.below(count);
            const gj::MemoryRecord& first = memories[a];
            const gj::MemoryRecord& second = memories[b];
            if (first.bytes == 0 || second.bytes == 0) continue;
            const std::int64_t a_begin = random.between(0, first.bytes - 1);
            const std::int64_t b_begin = random.between(0, second.bytes - 1);
            const std::int64_t a_end = random.between(a_begin + 1, first.bytes);
            const std::int64_t b_end = random.between(b_begin + 1, second.bytes);
            const auto place = [](const gj::MemoryRecord& memory, std::int64_t at) {
                return static_cast<std::int64_t>(memory.address) + at;
            };
            const bool comparable = a == b || (!first.is_input && !second.is_input);
            const bool expected = comparable && place(first, a_begin) < place(second, b_end) &&
                                  place(second, b_begin) < place(first, a_end);
            REQUIRE(meet(range(regions, a, a_begin, a_end), range(regions, b, b_begin, b_end)) == expected);
            REQUIRE(range(regions, a, a_begin, a_end).end <= regions.bytes()[range(regions, a, 0, 1).region]);
        }
    }
}

TEST_CASE("Regions: do not depend on where the allocations are, as long as they overlap alike") {
    Random random(2);
    for (int round = 0; round < 500; ++round) {
        const unsigned clusters = 1 + random.below(5);
        struct Member {
            unsigned cluster;
            std::uintptr_t offset;
            std::int64_t bytes;
        };
        std::vector<Member> members;
        for (unsigned i = 0; i < 10; ++i) {
            members.push_back({random.below(clusters), random.below(60), random.between(1, 30)});
        }
        const auto build = [&](const std::vector<std::uintptr_t>& bases) {
            std::vector<gj::MemoryRecord> memories;
            for (const Member& member : members) {
                memories.push_back(allocation(bases[member.cluster] + member.offset, member.bytes));
            }
            gj::Regions regions;
            REQUIRE(regions.build(memories));
            std::vector<std::int64_t> all(regions.bytes().begin(), regions.bytes().end());
            for (std::uint32_t i = 0; i < members.size(); ++i) {
                const gj::ByteRange place = range(regions, i, 0, members[i].bytes);
                all.insert(all.end(), {place.region, place.begin, place.end});
            }
            return all;
        };
        std::vector<std::uintptr_t> bases(clusters);
        for (std::size_t i = 0; i < clusters; ++i) bases[i] = 0x1'0000 * (i + 1);
        const std::vector<std::int64_t> expected = build(bases);
        std::reverse(bases.begin(), bases.end());
        REQUIRE(build(bases) == expected);
        for (std::uintptr_t& base : bases) base = 0x10'0000 * random.below(1'000) + base;
        REQUIRE(build(bases) == expected);
    }
}

TEST_CASE("Regions: reach up to the last address there is") {
    gj::Regions regions;
    const std::uintptr_t last = ~std::uintptr_t{0};
    const gj::MemoryRecord memories[] = {allocation(last - 63, 32), allocation(last - 47, 32)};
    REQUIRE(regions.build(memories));
    REQUIRE(regions.bytes().size() == 1);
    CHECK(regions.bytes()[0] == 48);
}

TEST_CASE("Regions: all of a memory is one range") {
    gj::Regions regions;
    const gj::MemoryRecord memories[] = {allocation(0x1000, 16), allocation(0x1008, 16)};
    REQUIRE(regions.build(memories));
    CHECK(regions.range(gj::MemoryIndex{1}, 16).begin == 8);
    CHECK(regions.range(gj::MemoryIndex{1}, 16).end == 24);
}

TEST_CASE("Regions: where memory runs out it says so, and can be built again") {
    std::vector<gj::MemoryRecord> memories;
    for (std::uintptr_t i = 0; i < 500; ++i) memories.push_back(allocation(0x1000 + 16 * (i * 7 % 500), 16));
    CHECK(test::allocations_needed([&] {
              gj::Regions regions;
              return regions.build(memories);
          }) >= 4);
    gj::Regions regions;
    {
        const test::FailingAllocations failing(1);
        CHECK(!regions.build(memories));
    }
    REQUIRE(regions.build(memories));
    CHECK(regions.bytes().size() == 500);
}

}  // namespace
