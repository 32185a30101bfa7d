#include <graphjit/plan/explain.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <string>

namespace {

using namespace test;
using Array4 = std::array<std::int32_t, 4>;

/// All reasons, as "RAW name 0-16".
std::string reasons(const gj::OpList& list, unsigned before, unsigned after) {
    std::string line;
    gj::for_each_reason(list, op(before), op(after), [&](const gj::Reason& reason) {
        if (!line.empty()) line += ", ";
        const gj::Span<const char> name = list.name(reason.memory);
        line += std::string(gj::to_text(reason.hazard)) + ' ' + std::string(name.begin(), name.end());
        line += reason.may_alias ? " may alias" : " " + std::to_string(reason.begin) + "-" + std::to_string(reason.end);
    });
    return line;
}

TEST_CASE("explain: each hazard by name, with the bytes that both touch") {
    std::int32_t memory[8] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    Array4 out{};
    const auto result = rec.buffer("out", out);
    (void)rec.launch(fill<>, all.slice(0, 4), 1);       // 0 writes 0-16
    (void)rec.launch(slow<>, result, all.slice(2, 4));  // 1 reads 8-24
    (void)rec.launch(fill<>, all.slice(3, 4), 2);       // 2 writes 12-28
    (void)rec.launch(inc<>, all.slice(0, 4));           // 3 updates 0-16
    const CpuList list = std::move(rec).finish().value();
    CHECK(reasons(list, 0, 1) == "RAW m 8-16");
    CHECK(reasons(list, 1, 2) == "WAR m 12-24");
    CHECK(reasons(list, 0, 2) == "WAW m 12-16");
    CHECK(reasons(list, 0, 3) == "RAW m 0-16, WAW m 0-16");
    CHECK(reasons(list, 1, 3) == "WAR m 8-16");
    CHECK(reasons(list, 2, 3) == "RAW m 12-16, WAW m 12-16");
}

TEST_CASE("explain: two updates conflict in every way") {
    Array4 a{};
    CpuRecorder rec;
    const auto buffer = rec.buffer("a", a);
    (void)rec.launch(inc<>, buffer);
    (void)rec.launch(inc<>, buffer);
    const CpuList list = std::move(rec).finish().value();
    CHECK(reasons(list, 0, 1) == "RAW a 0-16, WAR a 0-16, WAW a 0-16");
}

TEST_CASE("explain: no reason where ops do not conflict") {
    Array4 a{}, b{}, c{};
    CpuRecorder rec;
    const auto buffer_a = rec.buffer("a", a);
    (void)rec.launch(slow<>, rec.buffer("b", b), buffer_a);
    (void)rec.launch(slow<>, rec.buffer("c", c), buffer_a);
    (void)rec.launch(fill<>, nullptr, 1);
    const CpuList list = std::move(rec).finish().value();
    CHECK(reasons(list, 0, 1) == "");
    CHECK(reasons(list, 1, 2) == "");
}

TEST_CASE("explain: bytes shared under two names are told as the earlier op names them") {
    std::int32_t memory[12] = {};
    CpuRecorder rec;
    const auto low = rec.buffer("low", memory, 8);
    const auto high = rec.buffer("high", memory + 4, 8);
    (void)rec.launch(fill<8>, low, 1);
    (void)rec.launch(fill<8>, high, 2);
    (void)rec.launch(fill<8>, low, 3);
    (void)rec.launch(fill<>, high.slice(4, 4), 3);
    const CpuList list = std::move(rec).finish().value();
    CHECK(reasons(list, 0, 1) == "WAW low 16-32");
    CHECK(reasons(list, 1, 2) == "WAW high 0-16");
    CHECK(reasons(list, 2, 3) == "");
}

TEST_CASE("explain: a token and an alias are reasons without bytes") {
    CpuRecorder rec;
    const auto x = rec.input<std::int32_t>("x", 4);
    const auto y = rec.input<std::int32_t>("y", 4);
    const auto z = rec.input<std::int32_t>("z", 4);
    const auto token = rec.token("t");
    rec.may_alias(y, x);
    (void)rec.launch(fill<>, x, 1, writes(token));
    (void)rec.launch(fill<>, y, 2);
    (void)rec.launch(fill<>, z, 3, reads(token));
    (void)rec.launch(fill<>, x, 4);
    const CpuList list = std::move(rec).finish().value();
    CHECK(reasons(list, 0, 1) == "WAW x may alias");
    CHECK(reasons(list, 0, 2) == "RAW t 0-0");
    CHECK(reasons(list, 1, 2) == "");
    CHECK(reasons(list, 1, 3) == "WAW y may alias");
}

TEST_CASE("explain: every edge of a plan has a reason, and every conflict an edge or a path") {
    std::int32_t memory[32] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    const auto again = rec.buffer("again", memory + 8, 16);
    for (int i = 0; i < 20; ++i) { (void)rec.launch(mix<>, all.slice(i * 7 % 28, 4), again.slice(i * 5 % 12, 4), 1); }
    const CpuList list = std::move(rec).finish().value();
    const gj::Dag dag = plan_of(list);
    for (unsigned after = 0; after < 20; ++after) {
        for (const gj::OpIndex before : dag.dependencies(op(after))) {
            CHECK(reasons(list, to_integer(before), after) != "");
        }
        for (unsigned before = 0; before < after; ++before) {
            if (reasons(list, before, after).empty()) continue;
            CHECK(gj::Path::find(dag, op(before), op(after)).value().ops().size() >= 2);
        }
    }
}

std::string path(const gj::Dag& dag, unsigned from, unsigned to) {
    gj::Result<gj::Path> found = gj::Path::find(dag, op(from), op(to));
    std::string line;
    for (const gj::OpIndex at : found.value().ops()) line += (line.empty() ? "" : " ") + std::to_string(to_integer(at));
    return line;
}
gj::Dag dag_of(std::initializer_list<std::initializer_list<std::uint32_t>> rows) {
    gj::Dag dag;
    for (const auto& row : rows) {
        std::vector<std::uint32_t> copy = row;
        REQUIRE(dag.add_op({copy.data(), copy.size()}));
    }
    return dag;
}

TEST_CASE("Path: the shortest way along edges, both ends included") {
    const gj::Dag dag = dag_of({{}, {0}, {1}, {2}, {0, 3}, {}, {4, 5}});
    CHECK(path(dag, 0, 1) == "0 1");
    CHECK(path(dag, 0, 3) == "0 1 2 3");
    CHECK(path(dag, 0, 4) == "0 4");
    CHECK(path(dag, 1, 6) == "1 2 3 4 6");
    CHECK(path(dag, 0, 6) == "0 4 6");
    CHECK(path(dag, 5, 6) == "5 6");
}

TEST_CASE("Path: empty where no order leads from one to the other") {
    const gj::Dag dag = dag_of({{}, {0}, {0}, {1}});
    CHECK(path(dag, 1, 2) == "");
    CHECK(path(dag, 2, 3) == "");
    CHECK(path(dag, 3, 0) == "");  // edges have one direction
    CHECK(path(dag, 1, 0) == "");
    CHECK(path(dag, 2, 2) == "2");
}

TEST_CASE("Path: without memory to search in there is an error, not an answer") {
    const gj::Dag dag = dag_of({{}, {0}, {1}});
    CHECK(allocations_needed([&] {
              gj::Result<gj::Path> found = gj::Path::find(dag, op(0), op(2));
              CHECK((found.ok() ? found->ops().size() == 3 : found.code() == gj::ErrorCode::out_of_memory));
              return found.ok();
          }) == 3);
}

}  // namespace
