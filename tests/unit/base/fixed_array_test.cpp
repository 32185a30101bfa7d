#include <graphjit/base/fixed_array.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using graphjit::detail::FixedArray;

/// Neither copied nor moved; writes down its end.
class Owner {
public:
    Owner(std::string& ends, char name) : ends_(ends), name_(name) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() { ends_ += name_; }
    [[nodiscard]] char name() const { return name_; }

private:
    std::string& ends_;
    char name_;
};

FixedArray<Owner> made(std::string& ends, const char* names) {
    FixedArray<Owner> array;
    REQUIRE(array.reserve(10));
    for (; *names != 0; ++names) CHECK(array.emplace(ends, *names).name() == *names);
    return array;
}
std::string names(FixedArray<Owner>& array) {
    std::string all;
    for (const Owner& owner : array) all += owner.name();
    return all;
}

TEST_CASE("FixedArray: what was made stays where it is, and ends once, the last one first") {
    std::string ends;
    {
        FixedArray<Owner> array;
        CHECK(array.empty());
        REQUIRE(array.reserve(3));
        CHECK(array.empty());
        const Owner* const a = &array.emplace(ends, 'a');
        array.emplace(ends, 'b');
        CHECK(array.size() == 2);  // fewer than there is room for
        CHECK(&array[0] == a);
        CHECK(&std::as_const(array)[0] == a);
        CHECK(array.begin() == a);
        CHECK(array.end() == a + 2);
        CHECK(names(array) == "ab");
        CHECK(ends.empty());
    }
    CHECK(ends == "ba");
}

TEST_CASE("FixedArray: moves take the objects along, and nothing of them ends or moves") {
    std::string ends;
    {
        FixedArray<Owner> first = made(ends, "ab");
        const Owner* const a = &first[0];
        FixedArray<Owner> second = std::move(first);
        CHECK(&second[0] == a);
        CHECK(names(second) == "ab");
        CHECK(ends.empty());
        second.emplace(ends, 'c');
        FixedArray<Owner> third;
        third = std::move(second);
        CHECK(names(third) == "abc");
        CHECK(&third[0] == a);
        FixedArray<Owner>& same = third;
        third = std::move(same);
        CHECK(names(third) == "abc");
        CHECK(ends.empty());
    }
    CHECK(ends == "cba");
}

TEST_CASE("FixedArray: what an assignment replaces ends, and is not lost") {
    std::string ends;
    FixedArray<Owner> array = made(ends, "ab");
    array = made(ends, "xy");
    CHECK(ends == "ba");
    CHECK(names(array) == "xy");
    array = {};
    CHECK(ends == "bayx");
    CHECK(array.empty());
}

TEST_CASE("FixedArray: aggregates and what they own") {
    struct Pair {
        std::vector<int> values;
        std::uint64_t number = 7;
    };
    const std::int64_t before = test::FailingAllocations::alive();
    {
        FixedArray<Pair> array;
        REQUIRE(array.reserve(2));
        array.emplace(std::vector<int>(100, 3));
        array.emplace(std::vector<int>(100, 4), std::uint64_t{8});
        CHECK(array[0].values[99] == 3);
        CHECK(array[0].number == 7);
        CHECK(array[1].number == 8);
        CHECK(test::FailingAllocations::alive() >= before + 3);
    }
    CHECK(test::FailingAllocations::alive() == before);
}

TEST_CASE("FixedArray: where memory runs out, or no memory would do, it says so and is empty") {
    CHECK(test::allocations_needed([] {
              FixedArray<std::uint64_t> array;
              return array.reserve(10);
          }) == 1);
    CHECK(test::allocations_needed([] {
              FixedArray<std::uint64_t> array;
              return array.reserve(0);
          }) == 0);
    FixedArray<std::uint64_t> array;
    for (const std::size_t count : {~std::size_t{0}, ~std::size_t{0} / 8 + 1}) {
        CHECK(!array.reserve(count));
        CHECK(array.empty());
    }
    REQUIRE(array.reserve(2));
    CHECK(array.emplace(5u) == 5);
}

}  // namespace
