// Lists of lists in two arrays.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/span.hpp>

#include <cstdint>

namespace graphjit::inline v0::detail {

/// Values grouped by a small integer key, in the order they were counted and added.
/// Use: `start(keys)`, `count(key)` for every value, `place()`, `add(key, value)` for every value again.
template <class T>
class Csr {
public:
    [[nodiscard]] bool start(std::size_t keys) noexcept {
        ends_.clear();
        return ends_.resize(keys + 1, 0);
    }
    void count(std::uint32_t key) noexcept { ++ends_[key + 1]; }
    [[nodiscard]] bool place() noexcept {
        for (std::size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
        values_.clear();
        const bool placed = values_.append(ends_.back()) != nullptr || ends_.back() == 0;
        // While values are added, ends_[key] is where the key's next one goes; in the end it is where they end.
        return placed;
    }
    void add(std::uint32_t key, const T& value) noexcept { values_[ends_[key]++] = value; }

    [[nodiscard]] Span<const T> operator[](std::uint32_t key) const noexcept {
        const std::uint32_t begin = key == 0 ? 0 : ends_[key - 1];
        return {values_.data() + begin, ends_[key] - begin};
    }
    [[nodiscard]] std::size_t keys() const noexcept { return ends_.empty() ? 0 : ends_.size() - 1; }

private:
    Array<std::uint32_t> ends_;
    Array<T> values_;
};

}  // namespace graphjit::inline v0::detail
