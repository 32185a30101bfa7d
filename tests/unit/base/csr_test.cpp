#include <graphjit/base/csr.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace {

using graphjit::detail::Csr;

TEST_CASE("Csr: gives each key its values, in the order they were added") {
    test::Random random(1);
    Csr<int> csr;  // the same one again and again: each start forgets what was there
    for (int round = 0; round < 300; ++round) {
        const unsigned keys = 1 + random.below(20);
        std::vector<std::vector<int>> expected(keys);
        std::vector<std::pair<std::uint32_t, int>> pairs;
        for (unsigned i = random.below(60); i > 0; --i) {
            const unsigned key = random.below(keys);
            pairs.emplace_back(key, static_cast<int>(random.below(1'000)));
            expected[key].push_back(pairs.back().second);
        }
        REQUIRE(csr.start(keys));
        for (const auto& [key, value] : pairs) csr.count(key);
        REQUIRE(csr.place());
        for (const auto& [key, value] : pairs) csr.add(key, value);
        REQUIRE(csr.keys() == keys);
        for (unsigned key = 0; key < keys; ++key) {
            REQUIRE(std::vector<int>(csr[key].begin(), csr[key].end()) == expected[key]);
        }
    }
}

TEST_CASE("Csr: without keys or values it is empty, and that is no failure") {
    Csr<int> csr;
    CHECK(csr.keys() == 0);
    REQUIRE(csr.start(0));
    CHECK(csr.place());
    CHECK(csr.keys() == 0);
    REQUIRE(csr.start(3));
    REQUIRE(csr.place());
    CHECK(csr.keys() == 3);
    for (std::uint32_t key = 0; key < 3; ++key) CHECK(csr[key].empty());
}

TEST_CASE("Csr: where memory runs out it says so") {
    CHECK(test::allocations_needed([] {
              Csr<int> csr;
              if (!csr.start(1'000)) return false;
              for (std::uint32_t key = 0; key < 1'000; ++key) csr.count(key);
              return csr.place();
          }) == 2);
}

}  // namespace
