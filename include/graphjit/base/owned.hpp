// One object on the heap, for what must not move.
#pragma once

#include <new>
#include <utility>

namespace graphjit::inline v0::detail {

/// Owns one `T`, or none. Moving moves the ownership.
template <class T>
class Owned {
public:
    Owned() noexcept = default;
    Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owned() { delete object_; }

    /// Errors: false when memory ran out.
    template <class... A>
    [[nodiscard]] bool make(A&&... arguments) noexcept {
        delete std::exchange(object_, new (std::nothrow) T(std::forward<A>(arguments)...));
        return object_ != nullptr;
    }

    [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
    [[nodiscard]] T& operator*() const noexcept { return *object_; }
    [[nodiscard]] T* operator->() const noexcept { return object_; }

private:
    T* object_ = nullptr;
};

}  // namespace graphjit::inline v0::detail
