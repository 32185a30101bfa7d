// A few objects that own something, made one after the other.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace graphjit::inline v0::detail {

/// Room for a number of objects that is known beforehand; their addresses never change. Unlike `Array` it runs
/// constructors and destructors.
template <class T>
class FixedArray {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

public:
    FixedArray() noexcept = default;
    FixedArray(FixedArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    FixedArray& operator=(FixedArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~FixedArray() {
        while (size_ > 0) data_[--size_].~T();
        ::operator delete(static_cast<void*>(data_));
    }

    /// Pre: once. Errors: false when memory ran out.
    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        if (count == 0) return true;
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) return false;
        data_ = static_cast<T*>(::operator new(count * sizeof(T), std::nothrow));
        return data_ != nullptr;
    }
    /// Pre: there is room.
    template <class... A>
    T& emplace(A&&... arguments) noexcept {
        T* made = new (static_cast<void*>(data_ + size_)) T{std::forward<A>(arguments)...};
        ++size_;
        return *made;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T* begin() noexcept { return data_; }
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace graphjit::inline v0::detail
