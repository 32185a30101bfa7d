#include <graphjit/base/span.hpp>

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using graphjit::Span;

int sum(Span<const int> values) {
    int total = 0;
    for (const int value : values) total += value;
    return total;
}

TEST_CASE("Span: made of whatever has data() and size()") {
    std::vector<int> vector{1, 2, 3};
    const std::array<int, 3> array{4, 5, 6};
    int plain[] = {7, 8};
    CHECK(sum(vector) == 6);
    CHECK(sum(array) == 15);
    CHECK(sum(plain) == 15);
    CHECK(sum(std::span(vector).subspan(1)) == 5);
    CHECK(sum({plain, 1}) == 7);
    CHECK(sum(Span<int>(vector)) == 6);
    CHECK(sum(std::vector<int>{1, 1}) == 2);
    CHECK(sum({}) == 0);
}

TEST_CASE("Span: sees the elements themselves") {
    std::vector<int> vector{1, 2, 3};
    const Span<int> span = vector;
    CHECK(span.data() == vector.data());
    CHECK(span.size() == 3);
    CHECK(!span.empty());
    span[1] = 20;
    *span.begin() = 10;
    *(span.end() - 1) = 30;
    CHECK(vector == std::vector<int>{10, 20, 30});
    CHECK(Span<int>().empty());
    CHECK(Span<int>().data() == nullptr);
}

TEST_CASE("Span: adds const, and never drops it or changes the type") {
    CHECK(std::is_convertible_v<Span<int>, Span<const int>>);
    CHECK(!std::is_convertible_v<Span<const int>, Span<int>>);
    CHECK(std::is_convertible_v<const std::vector<int>&, Span<const int>>);
    CHECK(!std::is_convertible_v<const std::vector<int>&, Span<int>>);
    CHECK(!std::is_convertible_v<std::vector<short>&, Span<int>>);
    CHECK(std::is_trivially_copyable_v<Span<std::string>>);
}

TEST_CASE("Span: works in constant evaluation") {
    constexpr auto total = [] {
        const int values[] = {1, 2, 3};
        int found = 0;
        for (const int value : Span<const int>(values)) found += value;
        return found;
    };
    static_assert(total() == 6);
    CHECK(total() == 6);
}

}  // namespace
