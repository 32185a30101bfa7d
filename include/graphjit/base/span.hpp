// A pointer and a count. `std::span` does the same for 11,000 more lines per include (g++ 12).
#pragma once

#include <concepts>
#include <cstddef>

namespace graphjit::inline v0 {

/// A view of consecutive elements, made from anything that has `data()` and `size()`.
template <class T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

    template <std::size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}

    template <class Range>
        requires requires(Range& range) {
            { range.data() } -> std::convertible_to<T*>;
            range.size();
        }
    constexpr Span(Range&& range) noexcept : data_(range.data()), size_(static_cast<std::size_t>(range.size())) {}

    [[nodiscard]] constexpr T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace graphjit::inline v0
