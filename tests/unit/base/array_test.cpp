#include <graphjit/base/array.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace {

using graphjit::detail::Array;

Array<int> counted(int count) {
    Array<int> array;
    for (int i = 0; i < count; ++i) REQUIRE(array.push(i));
    return array;
}
bool holds_counted(const Array<int>& array, int count) {
    if (array.size() != static_cast<std::size_t>(count)) return false;
    int expected = 0;
    for (const int value : array) {
        if (value != expected++) return false;
    }
    return expected == count;
}

TEST_CASE("Array: what was pushed stays, over every growth") {
    CHECK(Array<int>().empty());
    CHECK(Array<int>().size() == 0);
    const Array<int> array = counted(100'000);
    CHECK(holds_counted(array, 100'000));
    CHECK(array.end() - array.begin() == 100'000);
    CHECK(array.data() == array.begin());
    CHECK(array[99'999] == 99'999);
    CHECK(!array.empty());
}

TEST_CASE("Array: an element may be pushed onto its own array while that grows") {
    struct Wide {
        int value;
        char rest[60];
    };
    Array<Wide> array;
    REQUIRE(array.push({42, {}}));
    for (int i = 0; i < 5'000; ++i) {
        REQUIRE(array.push(array[0]));  // the storage is replaced many times on the way
    }
    for (const Wide& wide : array) REQUIRE(wide.value == 42);

    Array<int> numbers = counted(1);
    for (int i = 0; i < 100'000; ++i) {
        numbers[0] = i;
        REQUIRE(numbers.push(numbers[0]));
        REQUIRE(numbers.back() == i);
    }
}

TEST_CASE("Array: growing takes few steps, and reserving makes it take none") {
    const int needed = test::allocations_needed([] {
        Array<int> array;
        for (int i = 0; i < 1'000'000; ++i) {
            if (!array.push(i)) return false;
        }
        return true;
    });
    CHECK(needed > 0);
    CHECK(needed < 30);

    Array<int> array;
    REQUIRE(array.reserve(1'000));
    const int* const place = array.data();
    const test::FailingAllocations none_allowed(0);
    for (int i = 0; i < 1'000; ++i) CHECK(array.push(i));
    CHECK(array.data() == place);
    CHECK(holds_counted(array, 1'000));
    array.clear();
    for (int i = 0; i < 1'000; ++i) array.push_reserved(i);
    CHECK(holds_counted(array, 1'000));
}

TEST_CASE("Array: reserving less than there is room for changes nothing") {
    Array<int> array = counted(100);
    const int* const place = array.data();
    REQUIRE(array.reserve(1));
    CHECK(array.data() == place);
    CHECK(holds_counted(array, 100));
}

TEST_CASE("Array: make_room has room for as many more") {
    Array<int> array = counted(10);
    REQUIRE(array.make_room(5'000));
    const test::FailingAllocations none_allowed(0);
    for (int i = 10; i < 5'010; ++i) REQUIRE(array.push(i));
    CHECK(holds_counted(array, 5'010));
}

TEST_CASE("Array: append gives the place behind the last element") {
    Array<int> array = counted(3);
    int* const place = array.append(2);
    REQUIRE(place == array.data() + 3);
    place[0] = 3;
    place[1] = 4;
    CHECK(holds_counted(array, 5));

    CHECK(array.append(0) == array.data() + 5);
    CHECK(array.size() == 5);
    const int more[] = {5, 6, 7};
    REQUIRE(array.append_copy(more, 3));
    CHECK(holds_counted(array, 8));
}

TEST_CASE("Array: nothing can be appended to nothing") {
    Array<int> array;
    CHECK(array.append_copy(nullptr, 0));
    CHECK(array.copy_from(Array<int>()));
    CHECK(array.empty());
}

TEST_CASE("Array: resize fills what is new, and only that") {
    Array<int> array = counted(3);
    REQUIRE(array.resize(6, 9));
    CHECK(array.size() == 6);
    CHECK(array[2] == 2);
    CHECK(array[3] == 9);
    CHECK(array[5] == 9);
    REQUIRE(array.resize(2, 7));
    CHECK(holds_counted(array, 2));
    REQUIRE(array.resize(4, 8));
    CHECK(array[1] == 1);
    CHECK(array[2] == 8);
    CHECK(array[3] == 8);
    Array<int> empty;
    REQUIRE(empty.resize(10'000, 1));
    for (const int value : empty) REQUIRE(value == 1);
}

TEST_CASE("Array: truncate and clear keep the storage") {
    Array<int> array = counted(100);
    const int* const place = array.data();
    array.truncate(40);
    CHECK(holds_counted(array, 40));
    array.clear();
    CHECK(array.empty());
    CHECK(array.data() == place);
}

TEST_CASE("Array: a copy is its own, and replaces what was there") {
    Array<int> copy = counted(500);
    {
        Array<int> original = counted(20);
        REQUIRE(copy.copy_from(original));
        original[0] = 99;
    }
    CHECK(holds_counted(copy, 20));
    CHECK(copy.copy_from(counted(100'000)));
    CHECK(holds_counted(copy, 100'000));
}

TEST_CASE("Array: a moved-from array is empty, or has what the other had, and both can be used") {
    Array<int> first = counted(20);
    Array<int> second = std::move(first);
    CHECK(holds_counted(second, 20));
    CHECK(first.empty());  // NOLINT(bugprone-use-after-move)
    REQUIRE(first.push(0));
    CHECK(holds_counted(first, 1));
    first = std::move(second);
    CHECK(holds_counted(first, 20));
    second.clear();
    REQUIRE(second.push(0));
    CHECK(holds_counted(second, 1));
    CHECK(holds_counted(first, 20));
}

TEST_CASE("Array: where memory runs out, it says so and keeps what it has") {
    Array<int> array = counted(10);
    while (array.make_room(1) && array.size() < 5'000) {
        // fill up to where the next push must grow
        const test::FailingAllocations none_allowed(0);
        if (!array.push(static_cast<int>(array.size()))) break;
    }
    const int size = static_cast<int>(array.size());
    const std::vector<int> many(1'000'000);
    {
        const test::FailingAllocations none_allowed(0);
        CHECK(!array.reserve(1'000'000));
        CHECK(!array.make_room(1'000'000));
        CHECK(array.append(1'000'000) == nullptr);
        CHECK(!array.resize(1'000'000, 7));
        CHECK(!array.append_copy(many.data(), many.size()));
    }
    CHECK(holds_counted(array, size));
    REQUIRE(array.push(size));
    CHECK(holds_counted(array, size + 1));

    Array<int> empty;
    const test::FailingAllocations none_allowed(0);
    CHECK(!empty.push(1));
    CHECK(!empty.copy_from(array));
    CHECK(empty.empty());
}

TEST_CASE("Array: a size that no memory can have is refused, not computed") {
    Array<std::uint64_t> array;
    CHECK(!array.reserve(static_cast<std::size_t>(-1) / sizeof(std::uint64_t) + 2));  // times eight it would be eight
    CHECK(!array.reserve(static_cast<std::size_t>(-1)));
    CHECK(array.empty());
    CHECK(array.push(1));
}

TEST_CASE("Array: works in constant evaluation") {
    constexpr auto sum = [] {
        Array<int> array;
        for (int i = 0; i < 100; ++i) {
            if (!array.push(i)) return -1;
        }
        Array<int> copy;
        if (!copy.copy_from(array) || !copy.push(array[1]) || !copy.resize(103, 2)) return -1;
        Array<int> moved = std::move(copy);
        int total = 0;
        for (const int value : moved) total += value;
        return total;
    };
    static_assert(sum() == 4950 + 1 + 2 + 2);
    CHECK(sum() == 4955);
}

}  // namespace
