// A merge sort that finds the runs already in order, and a search in what is sorted. `std::sort` costs 20,000 lines per
// include.
#pragma once

#include <cstddef>

namespace graphjit::inline v0::detail {

/// Sorts `values` in place; equal elements keep their order.
/// Pre:  `scratch` has room for `count` elements.
/// Cost: count x log(runs); one pass where the values are sorted already. No allocation.
template <class T, class Before>
constexpr void sort(T* values, T* scratch, std::size_t count, Before before) noexcept {
    constexpr std::size_t insertion_limit = 12;
    if (count <= insertion_limit) {
        for (std::size_t i = 1; i < count; ++i) {
            const T value = values[i];
            std::size_t j = i;
            for (; j > 0 && before(value, values[j - 1]); --j) values[j] = values[j - 1];
            values[j] = value;
        }
        return;
    }
    const auto run_end = [&](std::size_t from) {
        std::size_t end = from;
        while (++end < count && !before(values[end], values[end - 1])) {}
        return end < count ? end : count;
    };
    while (true) {
        std::size_t begin = 0;
        std::size_t runs = 0;
        while (begin < count) {
            const std::size_t middle = run_end(begin);
            ++runs;
            if (middle == count) break;
            const std::size_t end = run_end(middle);
            for (std::size_t i = begin; i < middle; ++i) scratch[i] = values[i];
            std::size_t left = begin;
            std::size_t right = middle;
            for (std::size_t out = begin; left < middle; ++out) {
                values[out] = right < end && before(values[right], scratch[left]) ? values[right++] : scratch[left++];
            }
            begin = end;
        }
        if (runs <= 1) return;
    }
}

/// The first of `count` sorted values for which `before` does not hold, or `count`.
template <class T, class Before>
[[nodiscard]] constexpr std::size_t first_not(const T* values, std::size_t count, Before before) noexcept {
    std::size_t low = 0;
    for (std::size_t high = count; low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (before(values[middle])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace graphjit::inline v0::detail
