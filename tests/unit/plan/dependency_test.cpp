#include <graphjit/plan/dependency.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace {

namespace gj = graphjit;
using test::Random;

constexpr std::uint32_t none = 0xffff'ffffu;

/// The same rules, byte by byte, without segments: what the tracker is measured against.
class ByteMap {
public:
    explicit ByteMap(const std::vector<std::int64_t>& regions) {
        for (const std::int64_t bytes : regions) bytes_.emplace_back(static_cast<std::size_t>(bytes));
    }

    void start(std::uint32_t op) {
        op_ = op;
        found_.clear();
        overwritten_.clear();
    }
    void read(const gj::ByteRange& range) {
        each(range, [&](Byte& byte) {
            wait_for(byte.writer);
            byte.readers.insert(op_);
        });
    }
    void write(const gj::ByteRange& range) {
        look(range, true);
        each(range, [&](Byte& byte) { byte = {op_, {}}; });
    }
    void look(const gj::ByteRange& range, bool as_write) {
        each(range, [&](Byte& byte) {
            if (as_write && byte.writer != op_ && byte.writer != none) overwritten_.insert(byte.writer);
            if (!as_write || byte.readers.empty()) wait_for(byte.writer);
            if (!as_write) return;
            for (const std::uint32_t reader : byte.readers) wait_for(reader);
        });
    }

    [[nodiscard]] const std::set<std::uint32_t>& found() const { return found_; }
    [[nodiscard]] const std::set<std::uint32_t>& overwritten() const { return overwritten_; }

private:
    struct Byte {
        std::uint32_t writer = none;
        std::set<std::uint32_t> readers;
    };

    template <class Visit>
    void each(const gj::ByteRange& range, Visit visit) {
        for (std::int64_t i = range.begin; i < range.end; ++i) visit(bytes_[range.region][static_cast<std::size_t>(i)]);
    }
    void wait_for(std::uint32_t op) {
        if (op != none && op != op_) found_.insert(op);
    }

    std::vector<std::vector<Byte>> bytes_;
    std::set<std::uint32_t> found_;
    std::set<std::uint32_t> overwritten_;
    std::uint32_t op_ = none;
};

struct Shape {
    unsigned ops;
    std::vector<std::int64_t> regions;
    unsigned most_accesses;
    std::int64_t longest;  // access; 0: as long as its region
    unsigned alignment;    // of both ends
};

gj::ByteRange random_range(Random& random, const Shape& shape) {
    const std::uint32_t region = random.below(static_cast<unsigned>(shape.regions.size()));
    const std::int64_t bytes = shape.regions[region];
    if (random.chance(10)) return {region, 0, bytes};
    const std::int64_t units = bytes / shape.alignment;
    const std::int64_t longest = shape.longest == 0 ? units : std::min(units, shape.longest);
    const std::int64_t count = random.between(1, longest);
    const std::int64_t first = random.between(0, units - count);
    return {region, first * shape.alignment, (first + count) * shape.alignment};
}

/// Plays one random sequence of ops to both; whether they agreed all along.
bool agree(gj::DependencyTracker& tracker, Random& random, const Shape& shape) {
    ByteMap map(shape.regions);
    if (!tracker.reset(shape.ops)) return false;
    for (const std::int64_t bytes : shape.regions) {
        if (!tracker.add_region(bytes)) return false;
    }
    for (std::uint32_t op = 0; op < shape.ops; ++op) {
        tracker.start(static_cast<gj::OpIndex>(op));
        map.start(op);
        const unsigned reads = random.below(shape.most_accesses + 1);
        const unsigned writes = random.below(shape.most_accesses + 1);
        for (unsigned i = 0; i < reads; ++i) {
            const gj::ByteRange range = random_range(random, shape);
            tracker.read(range);
            map.read(range);
            if (random.chance(10)) {
                const gj::ByteRange other = random_range(random, shape);
                tracker.look(other, false);
                map.look(other, false);
            }
        }
        for (unsigned i = 0; i < writes; ++i) {
            const gj::ByteRange range = random_range(random, shape);
            tracker.write(range);
            map.write(range);
            if (random.chance(10)) {
                const gj::ByteRange other = random_range(random, shape);
                tracker.look(other, true);
                map.look(other, true);
            }
        }
        std::vector<std::uint32_t> found(tracker.found().begin(), tracker.found().end());
        std::sort(found.begin(), found.end());
        if (found != std::vector<std::uint32_t>(map.found().begin(), map.found().end())) return false;
        const std::uint32_t overwritten = to_integer(tracker.overwritten());
        if (overwritten != none && !map.overwritten().contains(overwritten)) return false;
    }
    return !tracker.failed();
}

void check_rounds(std::uint64_t seed, int rounds, const Shape& shape) {
    gj::DependencyTracker tracker;  // the same one: what an earlier round left behind must not matter
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        REQUIRE(agree(tracker, random, shape));
    }
}

TEST_CASE("DependencyTracker: finds what a map of bytes finds, over thousands of short recordings") {
    check_rounds(1, 4'000, {.ops = 12, .regions = {16}, .most_accesses = 2, .longest = 0, .alignment = 1});
}
TEST_CASE("DependencyTracker: finds what a map of bytes finds, where ops touch whole regions or halves of them") {
    check_rounds(2, 2'000, {.ops = 20, .regions = {8, 8, 1, 8}, .most_accesses = 3, .longest = 0, .alignment = 1});
    check_rounds(3, 2'000, {.ops = 20, .regions = {8, 8, 8}, .most_accesses = 2, .longest = 0, .alignment = 4});
}
TEST_CASE("DependencyTracker: finds what a map of bytes finds, where regions are cut into many parts") {
    check_rounds(4, 60, {.ops = 150, .regions = {200, 100}, .most_accesses = 3, .longest = 12, .alignment = 1});
    check_rounds(5, 10, {.ops = 600, .regions = {1'500}, .most_accesses = 2, .longest = 40, .alignment = 1});
}

/// The ops that op `op` must wait for, sorted, as text.
std::vector<std::uint32_t> sorted(gj::DependencyTracker& tracker) {
    std::vector<std::uint32_t> found(tracker.found().begin(), tracker.found().end());
    std::sort(found.begin(), found.end());
    return found;
}
using Ops = std::vector<std::uint32_t>;

TEST_CASE("DependencyTracker: RAW, WAR and WAW, and none between readers") {
    gj::DependencyTracker tracker;
    REQUIRE(tracker.reset(5));
    REQUIRE(tracker.add_region(8));
    const gj::ByteRange all{0, 0, 8};
    tracker.start(gj::OpIndex{0});
    tracker.write(all);
    CHECK(sorted(tracker) == Ops{});
    CHECK(tracker.overwritten() == gj::OpIndex::none);
    tracker.start(gj::OpIndex{1});
    tracker.write(all);
    CHECK(sorted(tracker) == Ops{0});
    CHECK(tracker.overwritten() == gj::OpIndex{0});
    tracker.start(gj::OpIndex{2});
    tracker.read(all);
    CHECK(sorted(tracker) == Ops{1});
    CHECK(tracker.overwritten() == gj::OpIndex::none);
    tracker.start(gj::OpIndex{3});
    tracker.read(all);
    CHECK(sorted(tracker) == Ops{1});
    tracker.start(gj::OpIndex{4});
    tracker.write(all);
    CHECK(sorted(tracker) == Ops{2, 3});
    CHECK(tracker.overwritten() == gj::OpIndex{1});
}

TEST_CASE("DependencyTracker: an op never waits for itself, and each other op is found once") {
    gj::DependencyTracker tracker;
    REQUIRE(tracker.reset(2));
    REQUIRE(tracker.add_region(8));
    tracker.start(gj::OpIndex{0});
    for (std::int64_t i = 0; i < 8; ++i) tracker.write({0, i, i + 1});
    tracker.start(gj::OpIndex{1});
    tracker.read({0, 0, 8});
    tracker.read({0, 2, 6});
    tracker.write({0, 1, 7});
    tracker.write({0, 0, 8});
    tracker.write({0, 3, 4});
    CHECK(tracker.found().size() == 1);
    CHECK(sorted(tracker) == Ops{0});
}

TEST_CASE("DependencyTracker: a look leaves no trace") {
    gj::DependencyTracker tracker;
    REQUIRE(tracker.reset(3));
    REQUIRE(tracker.add_region(8));
    tracker.start(gj::OpIndex{0});
    tracker.write({0, 0, 8});
    tracker.start(gj::OpIndex{1});
    tracker.look({0, 0, 4}, true);
    CHECK(sorted(tracker) == Ops{0});
    tracker.start(gj::OpIndex{2});
    tracker.write({0, 0, 8});
    CHECK(sorted(tracker) == Ops{0});
}

TEST_CASE("DependencyTracker: an allocation cut in order into many parts stays shallow") {
    // Written one part after another, as an arena is filled; a tree without balance would be this deep.
    constexpr std::uint32_t parts = 200'000;
    gj::DependencyTracker tracker;
    REQUIRE(tracker.reset(parts + 1));
    REQUIRE(tracker.add_region(parts));
    for (std::uint32_t i = 0; i < parts; ++i) {
        tracker.start(static_cast<gj::OpIndex>(i));
        tracker.write({0, i, i + 1});
        REQUIRE(tracker.found().empty());
    }
    tracker.start(static_cast<gj::OpIndex>(parts));
    tracker.write({0, 0, parts});
    CHECK(tracker.found().size() == parts);
    CHECK(!tracker.failed());
}

TEST_CASE("DependencyTracker: where memory runs out it says so, and does not crash") {
    const int needed = test::allocations_needed([] {
        gj::DependencyTracker tracker;
        if (!tracker.reset(2'000) || !tracker.add_region(4'000) || !tracker.add_region(4'000)) return false;
        Random random(1);
        for (std::uint32_t op = 0; op < 2'000; ++op) {
            tracker.start(static_cast<gj::OpIndex>(op));
            const std::int64_t begin = random.between(0, 3'900);
            tracker.read({0, begin, begin + 50});
            tracker.write({1, begin, begin + 7});
        }
        return !tracker.failed();
    });
    CHECK(needed > 5);
}

}  // namespace
