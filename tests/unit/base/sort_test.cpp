#include <graphjit/base/sort.hpp>

#include "support/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

struct Item {
    std::uint32_t key;
    std::uint32_t place;
    friend bool operator==(const Item&, const Item&) = default;
};

bool before(const Item& a, const Item& b) { return a.key < b.key; }

/// Items with these keys, numbered in the order they are in.
std::vector<Item> items(const std::vector<std::uint32_t>& keys) {
    std::vector<Item> made;
    for (const std::uint32_t key : keys) made.push_back({key, static_cast<std::uint32_t>(made.size())});
    return made;
}

/// Whether the order is that of the keys, and among equal keys as it was.
bool sorts(std::vector<Item> values) {
    std::vector<Item> expected = values;
    std::sort(expected.begin(), expected.end(),
              [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
    std::vector<Item> scratch(values.size());
    graphjit::detail::sort(values.data(), scratch.data(), values.size(), before);
    return values == expected;
}

/// How many comparisons it takes.
std::size_t comparisons(std::vector<std::uint32_t> values) {
    std::size_t count = 0;
    std::vector<std::uint32_t> scratch(values.size());
    graphjit::detail::sort(values.data(), scratch.data(), values.size(), [&](std::uint32_t a, std::uint32_t b) {
        ++count;
        return a < b;
    });
    REQUIRE(std::is_sorted(values.begin(), values.end()));
    return count;
}

TEST_CASE(
    "sort: orders as std::sort does and keeps the order of equals, for every length and few or many different keys") {
    test::Random random(1);
    for (std::size_t length = 0; length < 200; ++length) {
        for (const unsigned different : {1u, 2u, 10u, 1'000'000u}) {
            std::vector<std::uint32_t> keys(length);
            for (std::uint32_t& key : keys) key = random.below(different);
            CAPTURE(length);
            CAPTURE(different);
            REQUIRE(sorts(items(keys)));
        }
    }
}

TEST_CASE("sort: orders large random lists") {
    test::Random random(2);
    for (int round = 0; round < 20; ++round) {
        std::vector<std::uint32_t> keys(5'000 + random.below(5'000));
        for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random.next());
        REQUIRE(sorts(items(keys)));
    }
}

TEST_CASE("sort: orders lists made of sorted runs, rising and falling, of any length") {
    test::Random random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::uint32_t> keys;
        while (keys.size() < 400) {
            const std::size_t begin = keys.size();
            const unsigned length = 1 + random.below(100);
            for (unsigned i = 0; i < length; ++i) keys.push_back(random.below(500));
            std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin), keys.end());
            if (random.chance(30)) std::reverse(keys.begin() + static_cast<std::ptrdiff_t>(begin), keys.end());
        }
        REQUIRE(sorts(items(keys)));
    }
}

TEST_CASE("sort: one pass over what is sorted already, and few over what nearly is") {
    std::vector<std::uint32_t> keys(1'000);
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i;
    CHECK(comparisons(keys) < keys.size());
    std::swap(keys[200], keys[800]);
    CHECK(comparisons(keys) < 6 * keys.size());
    for (std::uint32_t& key : keys) key = 7;
    CHECK(comparisons(keys) < keys.size());
}

TEST_CASE("sort: count times log of the runs, at worst") {
    test::Random random(4);
    std::vector<std::uint32_t> keys(4'096);
    for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random.next());
    CHECK(comparisons(keys) < 4'096 * 2 * 12);
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = 4'096 - i;
    CHECK(comparisons(keys) < 4'096 * 2 * 13);
}

TEST_CASE("sort: works in constant evaluation") {
    constexpr auto sorted = [] {
        int values[40] = {};
        int scratch[40] = {};
        for (int i = 0; i < 40; ++i) values[i] = i * 17 % 41;
        graphjit::detail::sort(values, scratch, 40, [](int a, int b) { return a < b; });
        for (int i = 1; i < 40; ++i) {
            if (values[i - 1] >= values[i]) return false;
        }
        return true;
    };
    static_assert(sorted());
    CHECK(sorted());
}

}  // namespace
