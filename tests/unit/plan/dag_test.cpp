#include <graphjit/plan/dag.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

namespace gj = graphjit;

bool add(gj::Dag& dag, const std::vector<std::uint32_t>& dependencies) {
    std::vector<std::uint32_t> copy = dependencies;
    return dag.add_op({copy.data(), copy.size()});
}
std::string row(const gj::Dag& dag, unsigned op) {
    std::string line;
    for (const gj::OpIndex before : dag.dependencies(static_cast<gj::OpIndex>(op))) {
        line += (line.empty() ? "" : " ") + std::to_string(to_integer(before));
    }
    return line;
}

TEST_CASE("Dag: every op has the dependencies it was added with") {
    gj::Dag dag;
    CHECK(dag.size() == 0);
    CHECK(dag.edge_count() == 0);
    REQUIRE(add(dag, {}));
    REQUIRE(add(dag, {0}));
    REQUIRE(add(dag, {}));
    REQUIRE(add(dag, {0, 1, 2}));
    REQUIRE(add(dag, {3}));
    CHECK(dag.size() == 5);
    CHECK(dag.edge_count() == 5);
    CHECK(row(dag, 0) == "");
    CHECK(row(dag, 1) == "0");
    CHECK(row(dag, 2) == "");
    CHECK(row(dag, 3) == "0 1 2");
    CHECK(row(dag, 4) == "3");
}

TEST_CASE("Dag: minimal unless said otherwise") {
    gj::Dag dag;
    CHECK(dag.is_minimal());
    dag.set_minimal(false);
    CHECK(!dag.is_minimal());
}

TEST_CASE("Dag: a copy is its own") {
    gj::Dag original;
    REQUIRE(add(original, {}));
    REQUIRE(add(original, {0}));
    original.set_minimal(false);
    gj::Dag copy;
    REQUIRE(add(copy, {}));
    REQUIRE(copy.copy_from(original));
    REQUIRE(add(copy, {0, 1}));
    CHECK(copy.size() == 3);
    CHECK(row(copy, 1) == "0");
    CHECK(row(copy, 2) == "0 1");
    CHECK(!copy.is_minimal());
    CHECK(original.size() == 2);
}

TEST_CASE("Dag: where memory runs out it says so") {
    const int needed = test::allocations_needed([] {
        gj::Dag dag;
        bool enough = dag.reserve(10);
        for (std::uint32_t i = 0; i < 2'000 && enough; ++i) enough = i == 0 ? add(dag, {}) : add(dag, {i - 1});
        gj::Dag copy;
        return enough && copy.copy_from(dag);
    });
    CHECK(needed >= 4);
}

}  // namespace
