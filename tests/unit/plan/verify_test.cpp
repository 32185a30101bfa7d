#include <graphjit/plan/verify.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace test;
using Rows = std::vector<std::vector<std::uint32_t>>;

// The oracle judges all other tests, so what matters here is that it can say no.

gj::Dag dag_of(const Rows& rows) {
    gj::Dag dag;
    for (std::vector<std::uint32_t> row : rows) REQUIRE(dag.add_op({row.data(), row.size()}));
    return dag;
}
std::string verdict(const gj::OpList& list, const Rows& rows, bool minimal = true) {
    return test::verdict(gj::verify(list, dag_of(rows), minimal));
}

std::int32_t memory[16] = {};

/// 0 writes a; 1 and 2 read it, 1 writes b, 2 writes c; 3 reads a, b and c; 4 touches nothing of theirs.
CpuList diamond() {
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory, 4);
    const auto b = rec.buffer("b", memory + 4, 4);
    const auto c = rec.buffer("c", memory + 8, 4);
    const auto d = rec.buffer("d", memory + 12, 4);
    (void)rec.launch(fill<>, a, 1);
    (void)rec.launch(slow<>, b, a);
    (void)rec.launch(slow<>, c, a);
    (void)rec.launch(add<>, b, a, c);
    (void)rec.launch(fill<>, d, 1);
    return std::move(rec).finish().value();
}
const Rows right = {{}, {0}, {0}, {1, 2}, {}};

TEST_CASE("verify: accepts the right order, and only with all its edges") {
    const CpuList list = diamond();
    CHECK(verdict(list, right) == "right");
    CHECK(static_cast<bool>(gj::verify(list, dag_of(right))));
    CHECK(verdict(list, {{}, {}, {0}, {1, 2}, {}}) == "not ordered: 0 1");
    CHECK(verdict(list, {{}, {0}, {}, {1, 2}, {}}) == "not ordered: 0 2");
    CHECK(verdict(list, {{}, {0}, {0}, {2}, {}}) == "not ordered: 1 3");
    CHECK(verdict(list, {{}, {0}, {0}, {1}, {}}) == "not ordered: 2 3");
    CHECK(verdict(list, {{}, {0}, {0}, {}, {}}) == "not ordered: 0 3");
    CHECK(verdict(list, {{}, {}, {}, {}, {}}) == "not ordered: 0 1");
    CHECK(!static_cast<bool>(gj::verify(list, dag_of({{}, {}, {0}, {1, 2}, {}}))));
}

TEST_CASE("verify: an order over other ops counts") {
    const CpuList list = diamond();
    CHECK(verdict(list, {{}, {0}, {1}, {2}, {}}, false) == "right");  // 1 before 2 is not needed, but orders all
    CHECK(verdict(list, {{}, {0}, {1}, {2}, {}}) == "needless edge: 1 2");
}

TEST_CASE("verify: an edge that others imply, or between ops that do not conflict, is needless") {
    const CpuList list = diamond();
    CHECK(verdict(list, {{}, {0}, {0}, {0, 1, 2}, {}}) == "needless edge: 0 3");
    CHECK(verdict(list, {{}, {0}, {0}, {1, 2}, {3}}) == "needless edge: 3 4");
    CHECK(verdict(list, {{}, {0}, {0, 1}, {1, 2}, {}}) == "needless edge: 0 2");  // needed itself, but implied over 1
    CHECK(verdict(list, {{}, {0}, {0}, {0, 1, 2}, {0, 3}}, false) == "right");
}

TEST_CASE("verify: an edge to itself, forwards, twice or out of order is bad, minimal or not") {
    const CpuList list = diamond();
    for (const bool minimal : {true, false}) {
        CHECK(verdict(list, {{}, {0}, {0}, {1, 2}, {4}}, minimal) == "bad edge: 4 4");
        CHECK(verdict(list, {{}, {0}, {0}, {1, 2, 4}, {}}, minimal) == "bad edge: 4 3");
        CHECK(verdict(list, {{}, {0}, {0, 0}, {1, 2}, {}}, minimal) == "bad edge: 0 2");
        CHECK(verdict(list, {{}, {0}, {0}, {2, 1}, {}}, minimal) == "bad edge: 1 3");
        CHECK(verdict(list, {{}, {0}, {0}, {1, 2}, {1'000'000}}, minimal) == "bad edge: 1000000 4");
        CHECK(verdict(list, {{}, {0}, {0}, {1, 2}}, minimal) == "bad edge");  // an op is missing
        CHECK(verdict(list, {{}, {0}, {0}, {1, 2}, {}, {}}, minimal) == "bad edge");
    }
}

/// Whether two ops, the first writing, conflict by the oracle.
bool conflict(const CpuList& list) { return verdict(list, {{}, {}}) == "not ordered: 0 1"; }

TEST_CASE("verify: judges by bytes, whatever the buffers are called") {
    const auto write_two = [](std::int64_t first, std::int64_t second, std::int64_t bytes) {
        CpuRecorder rec;
        const auto low = rec.buffer("low", memory, 8).as<std::int8_t>();
        const auto high = rec.buffer("high", memory + 4, 8).as<std::int8_t>();
        (void)rec.fill(low.slice(first, bytes), 1);
        (void)rec.fill(high.slice(second, bytes), 1);
        return std::move(rec).finish().value();
    };
    CHECK(!conflict(write_two(0, 0, 16)));
    CHECK(conflict(write_two(1, 0, 16)));
    CHECK(conflict(write_two(16, 0, 1)));
    CHECK(!conflict(write_two(16, 1, 1)));
    CHECK(conflict(write_two(31, 15, 1)));
    CHECK(!conflict(write_two(16, 16, 16)));
}

TEST_CASE("verify: judges inputs, tokens and aliases as they are recorded") {
    enum class Second { same, apart, aliased, token, other_token };
    const auto two = [](Second second) {
        CpuRecorder rec;
        const auto x = rec.input<std::int32_t>("x", 8);
        const auto y = rec.input<std::int32_t>("y", 8);
        const auto z = rec.input<std::int32_t>("z", 8);
        const auto token = rec.token("t");
        const auto other = rec.token("u");
        rec.may_alias(y, x);
        (void)rec.launch(fill<>, x.slice(0, 4), 1, writes(token));
        switch (second) {
            case Second::same: (void)rec.launch(fill<>, x.slice(3, 4), 1); break;
            case Second::apart: (void)rec.launch(fill<>, x.slice(4, 4), 1); break;
            case Second::aliased: (void)rec.launch(fill<>, y.slice(4, 4), 1); break;
            case Second::token: (void)rec.launch(fill<>, z.slice(0, 4), 1, reads(token)); break;
            case Second::other_token: (void)rec.launch(fill<>, z.slice(0, 4), 1, reads(other)); break;
        }
        return std::move(rec).finish().value();
    };
    CHECK(conflict(two(Second::same)));
    CHECK(!conflict(two(Second::apart)));
    CHECK(conflict(two(Second::aliased)));
    CHECK(conflict(two(Second::token)));
    CHECK(!conflict(two(Second::other_token)));
}

TEST_CASE("verify: two readers need no order") {
    CpuRecorder rec;
    const auto a = rec.buffer("a", memory, 4);
    (void)rec.launch(slow<>, rec.buffer("b", memory + 4, 4), a);
    (void)rec.launch(slow<>, rec.buffer("c", memory + 8, 4), a);
    const CpuList list = std::move(rec).finish().value();
    CHECK(verdict(list, {{}, {}}) == "right");
    CHECK(verdict(list, {{}, {0}}) == "needless edge: 0 1");
}

TEST_CASE("verify: finds every edge taken out of a plan, and every one put in") {
    CpuRecorder rec;
    std::vector<std::int32_t> buffer(64);
    const auto all = rec.buffer("all", buffer);
    for (int i = 0; i < 30; ++i) (void)rec.launch(mix<>, all.slice(i * 11 % 60, 4), all.slice(i * 17 % 60, 4), 1);
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    Rows rows(30);
    for (unsigned i = 0; i < 30; ++i) {
        for (const gj::OpIndex before : dag.dependencies(op(i))) rows[i].push_back(to_integer(before));
    }
    REQUIRE(verdict(list, rows) == "right");
    int edges = 0;
    for (unsigned i = 0; i < 30; ++i) {
        for (std::size_t e = 0; e < rows[i].size(); ++e) {
            Rows fewer = rows;
            fewer[i].erase(fewer[i].begin() + static_cast<std::ptrdiff_t>(e));
            CHECK(verdict(list, fewer, false).starts_with("not ordered"));
            ++edges;
        }
        for (std::uint32_t before = 0; before < i; ++before) {
            Rows more = rows;
            std::vector<std::uint32_t>& row = more[i];
            if (std::find(row.begin(), row.end(), before) != row.end()) continue;
            row.insert(std::lower_bound(row.begin(), row.end(), before), before);
            // A new edge is needless itself, or makes an older one so.
            CHECK(verdict(list, more).starts_with("needless edge"));
        }
    }
    CHECK(edges > 20);
}

TEST_CASE("verify: without memory it judges nothing") {
    const CpuList list = diamond();
    const gj::Dag dag = dag_of(right);
    CHECK(allocations_needed([&] {
              const gj::Verdict given = gj::verify(list, dag);
              CHECK((given || given.kind == gj::Verdict::Kind::out_of_memory));
              return static_cast<bool>(given);
          }) >= 1);
}

}  // namespace
