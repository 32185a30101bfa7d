// A whole plan at compile time: byte ranges in, reduced edges out.
#include <graphjit/plan/dag.hpp>

#include <graphjit/plan/dependency.hpp>
#include <graphjit/plan/reduction.hpp>

#include <cstdint>
#include <initializer_list>

namespace gj = graphjit;

namespace test {

struct Access {
    gj::Access how;
    gj::ByteRange range;
};
constexpr Access in(std::uint32_t region, std::int64_t begin, std::int64_t end) {
    return {gj::Access::in, {region, begin, end}};
}
constexpr Access out(std::uint32_t region, std::int64_t begin, std::int64_t end) {
    return {gj::Access::out, {region, begin, end}};
}
constexpr Access in_out(std::uint32_t region, std::int64_t begin, std::int64_t end) {
    return {gj::Access::in_out, {region, begin, end}};
}

using Op = std::initializer_list<Access>;
using Row = std::initializer_list<std::uint32_t>;

/// Plans ops over regions of 64 bytes each, and compares what each op waits for with the row expected of it.
constexpr bool edges_are(std::uint32_t regions, std::initializer_list<Op> ops, std::initializer_list<Row> expected) {
    gj::DependencyTracker tracker;
    gj::Reduction reduction;
    gj::Dag dag;
    if (!tracker.reset(ops.size()) || !reduction.reset(ops.size()) || !dag.reserve(ops.size())) return false;
    for (std::uint32_t i = 0; i < regions; ++i) {
        if (!tracker.add_region(64)) return false;
    }
    std::uint32_t index = 0;
    for (const Op& op : ops) {
        tracker.start(static_cast<gj::OpIndex>(index++));
        for (const Access& access : op) {
            if (gj::reads(access.how)) tracker.read(access.range);
        }
        for (const Access& access : op) {
            if (gj::writes(access.how)) tracker.write(access.range);
        }
        const gj::Span<std::uint32_t> found = tracker.found();
        std::size_t kept = 0;
        if (!reduction.add_op(found, gj::to_integer(tracker.overwritten()), kept)) return false;
        if (!dag.add_op({found.data(), kept})) return false;
    }
    if (tracker.failed() || !reduction.exact() || dag.size() != expected.size()) return false;
    index = 0;
    for (const Row& row : expected) {
        const gj::Span<const gj::OpIndex> edges = dag.dependencies(static_cast<gj::OpIndex>(index++));
        if (edges.size() != row.size()) return false;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (gj::to_integer(edges[i]) != row.begin()[i]) return false;
        }
    }
    return true;
}

static_assert(edges_are(0, {}, {}));
static_assert(edges_are(1, {{}, {in(0, 0, 64)}, {}}, {{}, {}, {}}), "nobody wrote anything");

// One hazard each, and none between readers.
static_assert(edges_are(1, {{out(0, 0, 64)}, {in(0, 0, 64)}}, {{}, {0}}), "RAW");
static_assert(edges_are(1, {{in(0, 0, 64)}, {out(0, 0, 64)}}, {{}, {0}}), "WAR");
static_assert(edges_are(1, {{out(0, 0, 64)}, {out(0, 0, 64)}}, {{}, {0}}), "WAW");
static_assert(edges_are(1, {{in(0, 0, 64)}, {in(0, 0, 64)}, {out(0, 0, 64)}}, {{}, {}, {0, 1}}));
static_assert(edges_are(2, {{out(0, 0, 64)}, {in(1, 0, 64)}}, {{}, {}}), "regions are apart");

// Partial overlaps: bytes count, and what a write leaves over stays on record.
static_assert(edges_are(1, {{out(0, 0, 16)}, {out(0, 16, 32)}, {in(0, 15, 17)}, {in(0, 31, 40)}},
                        {{}, {}, {0, 1}, {1}}));
static_assert(edges_are(1, {{out(0, 0, 64)}, {out(0, 16, 32)}, {in(0, 0, 16)}, {in(0, 16, 32)}, {in(0, 32, 64)}},
                        {{}, {0}, {0}, {1}, {0}}));
static_assert(edges_are(1, {{in(0, 0, 40)}, {in(0, 24, 64)}, {out(0, 0, 24)}, {out(0, 24, 40)}, {out(0, 40, 64)}},
                        {{}, {}, {0}, {0, 1}, {1}}));

// Reduced edges: op 3 conflicts with 0, 1 and 2, and waiting for 2 is enough.
static_assert(edges_are(
    2,
    {{out(0, 0, 64)}, {in(0, 0, 64), out(1, 0, 64)}, {in_out(1, 0, 64), in(0, 0, 64)}, {in(1, 0, 64), out(0, 0, 64)}},
    {{}, {0}, {1}, {2}}));
// A diamond keeps both sides, and not the way around them.
static_assert(edges_are(3,
                        {{out(0, 0, 64)},
                         {in(0, 0, 64), out(1, 0, 64)},
                         {in(0, 0, 64), out(2, 0, 64)},
                         {in(0, 0, 64), in(1, 0, 64), in(2, 0, 64)}},
                        {{}, {0}, {0}, {1, 2}}));

// No op waits for itself, whatever it names twice and in which order.
static_assert(edges_are(1, {{in_out(0, 0, 64)}, {out(0, 0, 64), in(0, 0, 32), in_out(0, 16, 48)}, {in(0, 20, 21)}},
                        {{}, {0}, {1}}));

// A longer one: a window that moves over a buffer which is then taken as a whole.
static_assert(edges_are(2,
                        {{out(0, 0, 8), in(1, 0, 8)},
                         {out(0, 8, 16), in(0, 0, 8)},
                         {out(0, 16, 24), in(0, 8, 16)},
                         {out(0, 0, 8), in(0, 16, 24)},
                         {in(0, 0, 24), out(1, 0, 64)},
                         {out(0, 4, 12)}},
                        {{}, {0}, {1}, {2}, {3}, {4}}));

}  // namespace test
