// How a kernel uses its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

/// How an op uses a piece of memory.
enum class Access : std::uint8_t { in = 1, out = 2, in_out = 3 };

[[nodiscard]] constexpr bool reads(Access access) noexcept { return (static_cast<unsigned>(access) & 1u) != 0; }
[[nodiscard]] constexpr bool writes(Access access) noexcept { return (static_cast<unsigned>(access) & 2u) != 0; }

/// A kernel parameter that is only read. In a host kernel, `const T*` says the same.
template <class T>
struct In {
    static_assert(!std::is_const_v<T>, "graphjit: write In<T>, it is read-only by itself");
    const T* pointer;
    operator const T*() const noexcept { return pointer; }
    const T* data() const noexcept { return pointer; }
};

/// A kernel parameter that is only written: what it held before does not matter.
template <class T>
struct Out {
    static_assert(!std::is_const_v<T>, "graphjit: Out<const T> could not be written");
    T* pointer;
    operator T*() const noexcept { return pointer; }
    T* data() const noexcept { return pointer; }
};

/// A kernel parameter that is read and written. In a host kernel, `T*` says the same.
template <class T>
struct InOut {
    static_assert(!std::is_const_v<T>, "graphjit: InOut<const T> could not be written");
    T* pointer;
    operator T*() const noexcept { return pointer; }
    T* data() const noexcept { return pointer; }
};

/// The element of a `Token`: memory of zero bytes that still orders its users.
struct TokenElement {};

}  // namespace graphjit::inline v0
