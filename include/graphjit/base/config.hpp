// What the compiler offers, and the two switches a user may set before the first include.
#pragma once

#include <graphjit/base/version.hpp>

/// Defined by the user as a statement taking a `const char*`: called instead of `__builtin_trap` when `.value()` has
/// no value to give and exceptions are off. It must not return.
#if !defined(GRAPHJIT_FATAL)
#if defined(_MSC_VER)
#define GRAPHJIT_FATAL(text) (static_cast<void>(text), __debugbreak())
#else
#define GRAPHJIT_FATAL(text) (static_cast<void>(text), __builtin_trap())
#endif
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define GRAPHJIT_EXCEPTIONS 1
#else
#define GRAPHJIT_EXCEPTIONS 0
#endif

// Error construction is kept out of the loops that may fail, so that they stay small enough to be inlined.
#if defined(_MSC_VER) && !defined(__clang__)
#define GRAPHJIT_COLD __declspec(noinline)
#define GRAPHJIT_NOINLINE __declspec(noinline)
#define GRAPHJIT_ALWAYS_INLINE __forceinline
#define GRAPHJIT_FUNCTION_NAME __FUNCSIG__
#else
#define GRAPHJIT_COLD [[gnu::cold, gnu::noinline]]
#define GRAPHJIT_NOINLINE [[gnu::noinline]]
#define GRAPHJIT_ALWAYS_INLINE [[gnu::always_inline]] inline
#define GRAPHJIT_FUNCTION_NAME __PRETTY_FUNCTION__
#endif

// Sixteen-byte integer vectors, where the compiler has them as a language extension. Constant evaluation never uses
// them.
#if defined(__GNUC__)
#define GRAPHJIT_VECTORS 1
#else
#define GRAPHJIT_VECTORS 0
#endif
