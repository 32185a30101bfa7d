// The growing array behind recordings and plans.
// Why not std::vector: it costs 15,000 lines per include, and it can only report a failed allocation by throwing,
// which builds without exceptions cannot catch.
#pragma once

#include <graphjit/base/config.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace graphjit::inline v0::detail {

/// Consecutive plain values. Growing may fail and says so; it never throws. Usable in constant evaluation.
/// New elements are unset until written.
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T>, "graphjit: Array moves its elements as bytes");
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

public:
    constexpr Array() noexcept = default;
    constexpr Array(Array&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    constexpr Array& operator=(Array&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    constexpr ~Array() {
        if (data_ != nullptr) free(data_);  // most arrays of a moved-from graph are empty
    }

    [[nodiscard]] constexpr bool reserve(std::size_t capacity) noexcept {
        return capacity <= capacity_ || reallocate(capacity);
    }

    /// Room for `count` more, growing as `push` does.
    [[nodiscard]] constexpr bool make_room(std::size_t count) noexcept {
        if (capacity_ - size_ >= count) return true;
        return grow(size_ + count);
    }

    [[nodiscard]] constexpr bool push(const T& value) noexcept {
        if (size_ == capacity_) [[unlikely]]
            return push_grown(value);
        data_[size_++] = value;
        return true;
    }
    /// Pre: there is room, by `reserve`.
    constexpr void push_reserved(const T& value) noexcept { data_[size_++] = value; }

    /// Adds `count` unset elements and returns the first, or null when memory ran out (then nothing changed).
    [[nodiscard]] constexpr T* append(std::size_t count) noexcept {
        if (capacity_ - size_ < count) [[unlikely]] {
            if (!grow(size_ + count)) return nullptr;
        }
        T* first = data_ + size_;
        size_ += count;
        return first;
    }

    [[nodiscard]] constexpr bool resize(std::size_t size, const T& value) noexcept {
        const std::size_t old = size_;
        if (size > old) {
            if (capacity_ == 0 && !reserve(size)) return false;
            if (append(size - old) == nullptr) return false;
            for (std::size_t i = old; i < size; ++i) data_[i] = value;
        }
        size_ = size;
        return true;
    }

    [[nodiscard]] constexpr bool append_copy(const T* values, std::size_t count) noexcept {
        T* first = append(count);
        if (first == nullptr && count != 0) return false;
        copy(first, values, count);
        return true;
    }

    [[nodiscard]] constexpr bool copy_from(const Array& other) noexcept {
        size_ = 0;
        return reserve(other.size_) && append_copy(other.data_, other.size_);
    }

    constexpr void truncate(std::size_t size) noexcept { size_ = size; }
    constexpr void clear() noexcept { size_ = 0; }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T* data() noexcept { return data_; }
    [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr T& operator[](std::size_t i) noexcept { return data_[i]; }
    [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] constexpr T& back() noexcept { return data_[size_ - 1]; }
    [[nodiscard]] constexpr T* begin() noexcept { return data_; }
    [[nodiscard]] constexpr T* end() noexcept { return data_ + size_; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }

private:
    [[nodiscard]] GRAPHJIT_NOINLINE constexpr bool push_grown(
        const T value) noexcept {  // may be an element of this array
        if (!grow(size_ + 1)) return false;
        data_[size_++] = value;
        return true;
    }

    [[nodiscard]] GRAPHJIT_NOINLINE constexpr bool grow(std::size_t needed) noexcept {
        constexpr std::size_t first = sizeof(T) < 64 ? 1024 / sizeof(T) : 16;
        constexpr std::size_t few = 65536 / sizeof(T);  // up to here memory is cheaper than copying again and again
        std::size_t capacity = capacity_ == 0 ? first : capacity_ < few ? capacity_ * 4 : capacity_ * 2;
        if (capacity < needed) capacity = needed;
        return reallocate(capacity);
    }

    [[nodiscard]] constexpr bool reallocate(std::size_t capacity) noexcept {
        if (capacity > static_cast<std::size_t>(-1) / 2 / sizeof(T)) return false;
        T* data = nullptr;
        if (std::is_constant_evaluated()) {
            data = new T[capacity]{};
        } else {
            data = static_cast<T*>(::operator new(capacity * sizeof(T), std::nothrow));
            if (data == nullptr) return false;
        }
        copy(data, data_, size_);
        free(data_);
        data_ = data;
        capacity_ = capacity;
        return true;
    }

    static constexpr void copy(T* to, const T* from, std::size_t count) noexcept {
        if (std::is_constant_evaluated()) {
            for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
        } else if (count != 0) {
            std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
        }
    }

    static constexpr void free(T* data) noexcept {
        if (std::is_constant_evaluated()) {
            delete[] data;
        } else {
            ::operator delete(static_cast<void*>(data));
        }
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace graphjit::inline v0::detail
