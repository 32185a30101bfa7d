#include <graphjit/run/overlap.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace test;

/// The rule, pair by pair: shared bytes must be read through one name before they are written through the other, in an
/// order that the graph has. Knows nothing of what was checked before.
class Reference {
public:
    Reference(const gj::OpList& list, const gj::Dag& dag) : list_(list), uses_(list.memories().size()) {
        for (unsigned i = 0; i < list.size(); ++i) {
            for (const gj::AccessRecord& access : list.accesses(op(i))) {
                uses_[to_integer(access.memory)].push_back({i, access});
            }
            after_.emplace_back(list.size());
            for (const gj::OpIndex before : dag.dependencies(op(i))) {
                after_[i][to_integer(before)] = true;
                for (unsigned k = 0; k < i; ++k) after_[i][k] = after_[i][k] || after_[to_integer(before)][k];
            }
        }
    }

    [[nodiscard]] bool conflict(const std::vector<gj::BoundRange>& bound) const {
        for (unsigned a = 0; a < uses_.size(); ++a) {
            for (unsigned b = 0; b < uses_.size(); ++b) {
                if (a != b && list_.memories()[a].is_input && conflict(a, b, bound)) return true;
            }
        }
        return false;
    }

private:
    struct Use {
        unsigned op;
        gj::AccessRecord access;
    };

    [[nodiscard]] bool conflict(unsigned a, unsigned b, const std::vector<gj::BoundRange>& bound) const {
        for (const Use& mine : uses_[a]) {
            for (const Use& theirs : uses_[b]) {
                if (shares(bound[a], mine.access, bound[b], theirs.access) && !ordered(mine, theirs)) {
                    return !may_alias(a, b);
                }
            }
        }
        return false;
    }
    [[nodiscard]] bool may_alias(unsigned a, unsigned b) const {
        for (const gj::AliasRecord& alias : list_.aliases()) {
            const unsigned x = to_integer(alias.a);
            const unsigned y = to_integer(alias.b);
            if ((x == a && y == b) || (x == b && y == a)) return true;
        }
        return false;
    }
    /// Whether there is a byte that both touch, one of them writing, and that both memories have.
    static bool shares(const gj::BoundRange& a, const gj::AccessRecord& mine, const gj::BoundRange& b,
                       const gj::AccessRecord& theirs) {
        if (!gj::writes(mine.access) && !gj::writes(theirs.access)) return false;
        const auto begin = [](const gj::BoundRange& range, const gj::AccessRecord& access) {
            return range.begin + static_cast<std::uintptr_t>(access.begin);
        };
        const auto end = [](const gj::BoundRange& range, const gj::AccessRecord& access) {
            return std::min(range.end, range.begin + static_cast<std::uintptr_t>(access.end));
        };
        return std::max(begin(a, mine), begin(b, theirs)) < std::min(end(a, mine), end(b, theirs));
    }
    [[nodiscard]] bool ordered(const Use& mine, const Use& theirs) const {
        if (mine.op == theirs.op) return false;
        const Use& first = mine.op < theirs.op ? mine : theirs;
        const Use& second = mine.op < theirs.op ? theirs : mine;
        if (gj::writes(first.access.access) && gj::reads(second.access.access)) return false;  // would see too much
        return after_[second.op][first.op];
    }

    const gj::OpList& list_;
    std::vector<std::vector<Use>> uses_;    // by memory
    std::vector<std::vector<bool>> after_;  // [second][first]
};

struct Shape {
    unsigned inputs, allocations, ops;
    unsigned written;       // percent of the inputs that some op writes
    std::int64_t elements;  // of an input, at most
    std::uintptr_t spread;  // elements over which inputs are bound
    unsigned chained;       // percent of ops that are ordered behind the one before
    int steps;
};

struct Outcome {
    int conflicts = 0;
    int accepted = 0;
};

std::int32_t arena[4'096];

/// Binds inputs at random, few or many at a time, and compares every verdict with the reference.
Outcome compare_with_reference(std::uint64_t seed, const Shape& shape) {
    Random random(seed);
    CpuRecorder rec;
    std::vector<gj::Input<std::int32_t>> inputs;
    std::vector<std::int64_t> sizes;
    std::vector<bool> written;
    std::vector<gj::Buffer<std::int32_t>> allocations;
    for (unsigned i = 0; i < shape.inputs; ++i) {
        sizes.push_back(random.between(random.chance(5) ? 0 : 1, shape.elements));
        inputs.push_back(rec.input<std::int32_t>("in", sizes.back()));
        written.push_back(random.chance(shape.written));
    }
    for (unsigned i = 0; i < shape.allocations; ++i) {
        const std::int64_t elements = random.between(1, shape.elements);
        allocations.push_back(rec.buffer("m", arena + random.below(static_cast<unsigned>(shape.spread)), elements));
    }
    const auto token = rec.token("order");
    for (int i = 0; i < 3; ++i) {
        if (random.chance(30)) {
            rec.may_alias(inputs[random.below(shape.inputs)], inputs[random.below(shape.inputs)]);
        }
        if (shape.allocations != 0 && random.chance(30)) {
            rec.may_alias(allocations[random.below(shape.allocations)], inputs[random.below(shape.inputs)]);
        }
    }
    for (unsigned i = 0; i < shape.ops; ++i) {
        const bool from_allocations = shape.allocations != 0 && random.chance(20);
        const unsigned which = random.below(from_allocations ? shape.allocations : shape.inputs);
        const gj::Buffer<std::int32_t> whole = from_allocations ? allocations[which]
                                                                : gj::Buffer<std::int32_t>(inputs[which]);
        const std::int64_t first = random.between(0, whole.size());
        const auto part = whole.slice(first, random.between(0, whole.size() - first));
        const bool writes = (from_allocations || written[which]) && random.chance(60);
        const auto access = !writes ? gj::reads(part) : random.chance(50) ? gj::writes(part) : gj::updates(part);
        if (random.chance(shape.chained)) {
            (void)rec.launch(test::fill<1>, nullptr, 1, access, gj::updates(token));
        } else {
            (void)rec.launch(test::fill<1>, nullptr, 1, access);
        }
    }
    const CpuList list = std::move(rec).finish().value();
    REQUIRE(list.size() == shape.ops);
    const gj::Dag dag = plan_of(list);
    const Reference reference(list, dag);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));

    std::vector<gj::BoundRange> bound(list.memories().size());
    for (unsigned m = 0; m < bound.size(); ++m) {
        const gj::MemoryRecord& memory = list.memories()[m];
        if (!memory.is_input) bound[m] = {memory.address, memory.address + static_cast<std::uintptr_t>(memory.bytes)};
    }
    const auto place = [&](unsigned input, std::uintptr_t element) {
        const auto begin = reinterpret_cast<std::uintptr_t>(arena + element);
        return gj::BoundRange{begin, begin + static_cast<std::uintptr_t>(4 * sizes[input])};
    };
    // Apart from each other to begin with, as in a first replay that is accepted.
    std::vector<gj::MemoryIndex> changed;
    for (unsigned i = 0; i < shape.inputs; ++i) {
        bound[i] = place(i, 2'048 + i * static_cast<std::uintptr_t>(shape.elements));
        if (!check.uses(gj::MemoryIndex{i})) continue;
        check.bind(gj::MemoryIndex{i}, bound[i]);
        changed.push_back(gj::MemoryIndex{i});
    }
    REQUIRE(!reference.conflict(bound));
    REQUIRE(!check.find_conflict(list, dag, changed).found);

    Outcome outcome;
    for (int step = 0; step < shape.steps; ++step) {
        std::vector<gj::BoundRange> next = bound;
        changed.clear();
        const unsigned percent = random.chance(50) ? 100 : random.chance(50) ? 5 : 40;
        for (unsigned i = 0; i < shape.inputs; ++i) {
            if (!random.chance(percent) || !check.uses(gj::MemoryIndex{i})) continue;
            const bool far = random.chance(60);
            next[i] = place(i, far ? 2'048 + (random.below(8) * shape.inputs + i) *
                                                 static_cast<std::uintptr_t>(shape.elements) % 2'000
                                   : random.below(static_cast<unsigned>(shape.spread)));
            check.bind(gj::MemoryIndex{i}, next[i]);
            changed.push_back(gj::MemoryIndex{i});
        }
        const gj::OverlapCheck::Conflict conflict = check.find_conflict(list, dag, changed);
        CAPTURE(seed);
        CAPTURE(step);
        CAPTURE(changed.size());
        REQUIRE(conflict.found == reference.conflict(next));
        if (conflict.found) {
            REQUIRE(conflict.op < op(list.size()));
            REQUIRE(list.memory(conflict.input).is_input);
            ++outcome.conflicts;
            // Refused: the slots are set back, as a user does.
            for (const gj::MemoryIndex input : changed) check.bind(input, bound[to_integer(input)]);
        } else {
            ++outcome.accepted;
            bound = next;
        }
    }
    return outcome;
}

void compare_rounds(std::uint64_t first_seed, int rounds, const Shape& shape) {
    Outcome all;
    for (int round = 0; round < rounds; ++round) {
        const Outcome one = compare_with_reference(first_seed + static_cast<std::uint64_t>(round), shape);
        all.conflicts += one.conflicts;
        all.accepted += one.accepted;
    }
    CHECK(all.conflicts > rounds);  // both answers were asked for
    CHECK(all.accepted > rounds);
}

TEST_CASE("OverlapCheck: agrees with the rule for few inputs") {
    compare_rounds(1, 150,
                   {.inputs = 3,
                    .allocations = 2,
                    .ops = 10,
                    .written = 60,
                    .elements = 8,
                    .spread = 20,
                    .chained = 50,
                    .steps = 40});
}
TEST_CASE("OverlapCheck: agrees with the rule where ops are in one order, so that only what is read counts") {
    compare_rounds(1'000, 100,
                   {.inputs = 4,
                    .allocations = 1,
                    .ops = 10,
                    .written = 80,
                    .elements = 5,
                    .spread = 20,
                    .chained = 100,
                    .steps = 40});
}
TEST_CASE("OverlapCheck: agrees with the rule for many inputs, few and many of them changed") {
    compare_rounds(2'000, 12,
                   {.inputs = 60,
                    .allocations = 5,
                    .ops = 90,
                    .written = 70,
                    .elements = 6,
                    .spread = 1'500,
                    .chained = 50,
                    .steps = 40});
}
TEST_CASE("OverlapCheck: agrees with the rule for many inputs of which most are only read") {
    compare_rounds(3'000, 12,
                   {.inputs = 80,
                    .allocations = 5,
                    .ops = 100,
                    .written = 10,
                    .elements = 8,
                    .spread = 400,
                    .chained = 50,
                    .steps = 40});
}

// --- The rule itself, one case each ----------------------------------------------------------------------------------

/// Binds x and y and asks; `record` is given x, y and memory of 8 elements each.
template <class Record>
gj::OverlapCheck::Conflict conflict_of(Record record, std::int64_t x_at, std::int64_t y_at) {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 8);
    const auto y = rec.input<std::int32_t>("y", 8);
    const auto m = rec.buffer("m", arena, 8);
    record(rec, x, y, m);
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));
    std::vector<gj::MemoryIndex> changed;
    const auto bind = [&](gj::MemoryIndex input, std::int64_t at) {
        if (!check.uses(input)) return;
        const auto begin = reinterpret_cast<std::uintptr_t>(arena + at);
        check.bind(input, {begin, begin + 32});
        changed.push_back(input);
    };
    bind(gj::MemoryIndex{0}, x_at);
    bind(gj::MemoryIndex{1}, y_at);
    return check.find_conflict(list, dag, changed);
}

TEST_CASE("OverlapCheck: what was written through one name must not be read through the other") {
    const auto record = [](CpuRecorder& rec, auto x, auto y, auto m) {
        (void)rec.launch("writes x", fill<8>, x, 1);
        (void)rec.launch("reads y", slow<8>, m, y);
    };
    CHECK(!conflict_of(record, 100, 200).found);
    CHECK(!conflict_of(record, 100, 108).found);
    CHECK(conflict_of(record, 100, 107).found);
    CHECK(conflict_of(record, 107, 100).found);
    CHECK(conflict_of(record, 100, 100).found);
    CHECK(conflict_of(record, 100, 100).op != gj::OpIndex::none);
}

TEST_CASE("OverlapCheck: read before written through another name is right where the graph orders the two") {
    const auto in_order = [](CpuRecorder& rec, auto x, auto y, auto m) {
        (void)rec.launch("reads x", slow<8>, m, x);
        (void)rec.launch("writes y", slow<8>, y, m);  // behind it, because of m
    };
    CHECK(!conflict_of(in_order, 100, 100).found);
    const auto free = [](CpuRecorder& rec, auto x, auto y, auto m) {
        (void)rec.launch("reads x", slow<8>, m, x);
        (void)rec.launch("writes y", fill<8>, y, 1);  // in any order
    };
    CHECK(conflict_of(free, 100, 100).found);
    CHECK(!conflict_of(free, 100, 108).found);
}

TEST_CASE("OverlapCheck: one op that reads x and writes y cannot have both in one place") {
    const auto record = [](CpuRecorder& rec, auto x, auto y, auto) { (void)rec.launch(slow<8>, y, x); };
    CHECK(conflict_of(record, 100, 100).found);
    CHECK(conflict_of(record, 100, 107).found);
    CHECK(!conflict_of(record, 100, 108).found);
}

TEST_CASE("OverlapCheck: two that are only read may lie as they like") {
    const auto record = [](CpuRecorder& rec, auto x, auto y, auto m) { (void)rec.launch(add<8>, m, x, y); };
    CHECK(!conflict_of(record, 100, 100).found);
    CHECK(!conflict_of(record, 100, 104).found);
}

TEST_CASE("OverlapCheck: recorded memory counts as much as another input") {
    const auto record = [](CpuRecorder& rec, auto x, auto, auto m) { (void)rec.launch(slow<8>, m, x); };
    CHECK(conflict_of(record, 0, 100).found);
    CHECK(conflict_of(record, 7, 100).found);
    CHECK(!conflict_of(record, 8, 100).found);
    CHECK(conflict_of(record, 0, 100).input == gj::MemoryIndex{0});
}

TEST_CASE("OverlapCheck: recorded memory that lies around other memory is found behind it") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 4);
    (void)rec.launch(inc<4>, x);
    (void)rec.launch(inc<100>, rec.buffer("large", arena, 100));
    for (int i = 0; i < 5; ++i) (void)rec.launch(inc<4>, rec.buffer("small", arena + 10 * i, 4));
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));
    const gj::MemoryIndex changed[] = {gj::MemoryIndex{0}};
    const auto conflict_at = [&](int element) {
        const auto begin = reinterpret_cast<std::uintptr_t>(arena + element);
        check.bind(gj::MemoryIndex{0}, {begin, begin + 16});
        return check.find_conflict(list, dag, changed).found;
    };
    for (int element = 0; element < 100; ++element) CHECK(conflict_at(element));
    CHECK(!conflict_at(100));
}

TEST_CASE("OverlapCheck: an input that lies around others is found behind them, however many changed") {
    CpuRecorder rec;
    const auto large = rec.input<std::int32_t>("large", 100);
    const auto small = rec.input<std::int32_t>("small", 4);
    const auto late = rec.input<std::int32_t>("late", 4);
    (void)rec.launch(inc<4>, large.slice(50, 4));  // only here does it share anything
    (void)rec.launch(inc<4>, small);
    (void)rec.launch(inc<4>, late);
    std::vector<gj::MemoryIndex> changed{gj::MemoryIndex{0}, gj::MemoryIndex{1}, gj::MemoryIndex{2}};
    for (unsigned i = 0; i < 100; ++i) {
        (void)rec.launch(inc<4>, rec.input<std::int32_t>("apart", 4));
        changed.push_back(gj::MemoryIndex{3 + i});
    }
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    for (const std::size_t how_many : {std::size_t{3}, changed.size()}) {
        gj::OverlapCheck check;
        REQUIRE(check.build(list, dag.size()));
        const auto bind = [&](unsigned input, int element, std::uintptr_t elements) {
            const auto begin = reinterpret_cast<std::uintptr_t>(arena + element);
            check.bind(gj::MemoryIndex{input}, {begin, begin + 4 * elements});
        };
        for (unsigned i = 0; i < 100; ++i) bind(3 + i, 200 + 4 * static_cast<int>(i), 4);
        bind(0, 0, 100);
        bind(1, 10, 4);
        for (int element = 40; element < 60; ++element) {
            bind(2, element, 4);
            const bool shares = element > 46 && element < 54;
            CHECK(check.find_conflict(list, dag, {changed.data(), how_many}).found == shares);
        }
    }
}

TEST_CASE("OverlapCheck: what is harmless in one place is looked at again where the two lie otherwise") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 8);
    const auto y = rec.input<std::int32_t>("y", 8);
    (void)rec.launch(inc<2>, x.slice(0, 2));
    (void)rec.launch(inc<2>, y.slice(6, 2));
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));
    const gj::MemoryIndex changed[] = {gj::MemoryIndex{0}, gj::MemoryIndex{1}};
    const auto conflict_at = [&](int x_at, int y_at, std::uintptr_t y_elements) {
        const auto x_begin = reinterpret_cast<std::uintptr_t>(arena + x_at);
        const auto y_begin = reinterpret_cast<std::uintptr_t>(arena + y_at);
        check.bind(gj::MemoryIndex{0}, {x_begin, x_begin + 32});
        check.bind(gj::MemoryIndex{1}, {y_begin, y_begin + 4 * y_elements});
        return check.find_conflict(list, dag, changed).found;
    };
    CHECK(!conflict_at(100, 100, 8));
    CHECK(!conflict_at(100, 100, 8));
    CHECK(!conflict_at(300, 300, 8));  // the same, elsewhere
    CHECK(conflict_at(106, 100, 8));
    CHECK(!conflict_at(100, 100, 8));
    CHECK(conflict_at(306, 300, 8));
    CHECK(conflict_at(107, 100, 8));
    CHECK(!conflict_at(108, 100, 8));
}

TEST_CASE("OverlapCheck: only bytes that ops touch count") {
    const auto record = [](CpuRecorder& rec, auto x, auto y, auto m) {
        (void)rec.launch(fill<4>, x.slice(0, 4), 1);
        (void)rec.launch(slow<4>, m.slice(0, 4), y.slice(4, 4));
    };
    CHECK(!conflict_of(record, 100, 100).found);
    CHECK(conflict_of(record, 100, 96).found);
}

TEST_CASE("OverlapCheck: what may alias, may") {
    const auto record = [](CpuRecorder& rec, auto x, auto y, auto m) {
        rec.may_alias(y, x);
        rec.may_alias(m, x);
        (void)rec.launch(fill<8>, x, 1);
        (void)rec.launch(slow<8>, m, y);
    };
    CHECK(!conflict_of(record, 100, 100).found);
    CHECK(!conflict_of(record, 0, 100).found);
    CHECK(conflict_of(record, 100, 0).found);  // y and m: nobody said so
}

TEST_CASE("OverlapCheck: an input without bytes shares none") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 0);
    const auto m = rec.buffer("m", arena, 8);
    (void)rec.launch(fill<8>, m, 1);
    (void)rec.launch(fill<1>, nullptr, 1, reads(x));
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));
    const auto inside = reinterpret_cast<std::uintptr_t>(arena + 4);
    check.bind(gj::MemoryIndex{0}, {inside, inside});
    const gj::MemoryIndex changed[] = {gj::MemoryIndex{0}};
    CHECK(!check.find_conflict(list, dag, changed).found);
}

TEST_CASE("BoundRange: meets where there is a byte in both") {
    const auto meets = [](gj::BoundRange a, gj::BoundRange b) {
        const bool given = a.meets(b);
        CHECK(b.meets(a) == given);
        return given;
    };
    CHECK(meets({10, 20}, {19, 30}));
    CHECK(!meets({10, 20}, {20, 30}));
    CHECK(meets({10, 20}, {12, 13}));
    CHECK(meets({10, 20}, {10, 20}));
    CHECK(!meets({10, 20}, {15, 15}));
    CHECK(!meets({15, 15}, {15, 15}));
}

TEST_CASE("OverlapCheck: allocates when it is built and never again") {
    CpuRecorder rec;
    std::vector<gj::Input<std::int32_t>> inputs;
    for (int i = 0; i < 50; ++i) {
        inputs.push_back(rec.input<std::int32_t>("x", 8));
        (void)rec.launch(inc<8>, inputs.back());
    }
    (void)rec.launch(inc<8>, rec.buffer("m", arena, 8));
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    CHECK(allocations_needed([&] {
              gj::OverlapCheck check;
              return check.build(list, dag.size());
          }) > 8);
    gj::OverlapCheck check;
    REQUIRE(check.build(list, dag.size()));
    std::vector<gj::MemoryIndex> changed;
    for (unsigned i = 0; i < 50; ++i) changed.push_back(gj::MemoryIndex{i});
    const FailingAllocations failing(0);
    for (unsigned round = 0; round < 50; ++round) {
        for (unsigned i = 0; i < 50; ++i) {
            const auto begin = reinterpret_cast<std::uintptr_t>(arena + 100 + (i * (round + 7) % 50) * 8);
            check.bind(gj::MemoryIndex{i}, {begin, begin + 32});
        }
        (void)check.find_conflict(list, dag, changed);
        (void)check.find_conflict(list, dag, {changed.data(), 2});
    }
    CHECK(failing.refused() == 0);
}

}  // namespace
