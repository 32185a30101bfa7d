// Kernels that run on the host: a C++ function, typed by its own signature.
#pragma once

#include <graphjit/base/config.hpp>
#include <graphjit/record/kernel.hpp>

#include <utility>

namespace graphjit::inline v0 {

/// The kernels of the CPU backend, of thread devices, and of host calls in any backend.
struct HostFamily {};

/// Runs a kernel on the arguments at `block` and returns the end of the block, rounded up to `host_block_round`.
/// Why the end: replay walks blocks of different sizes, and only the kernel's type knows this one's.
using HostEntry = const std::byte* (*)(const std::byte* block);

inline constexpr std::size_t host_block_round = alignof(void*);
[[nodiscard]] constexpr std::size_t host_block_stride(std::size_t bytes) noexcept {
    return (bytes + host_block_round - 1) / host_block_round * host_block_round;
}

namespace detail {

template <class P>
GRAPHJIT_ALWAYS_INLINE P load_argument(const std::byte* place) noexcept {
    using Value = std::remove_cvref_t<P>;
    if constexpr (is_memory<Value> && !std::is_pointer_v<Value>) {
        return Value{*reinterpret_cast<const typename parameter<Value>::type*>(place)};
    } else {
        return *reinterpret_cast<const Value*>(place);
    }
}

/// The function's name as the compiler spells template argument `F`: only the last part, without its namespace.
template <auto F>
consteval auto host_kernel_name() {
    struct Name {
        const char* text;
        std::uint32_t size;
    };
    const char* text = GRAPHJIT_FUNCTION_NAME;
    std::uint32_t end = 0;
    while (text[end] != 0) ++end;
    std::uint32_t begin = 0;
    while (begin < end && !(text[begin] == 'F' && text[begin + 1] == ' ' && text[begin + 2] == '=')) ++begin;
    if (begin == end) return Name{"kernel", 6};
    begin += 4;
    // g++ ends the list with "; ..." or "]", clang with "]"; both may put '&' first and a type in parentheses.
    std::uint32_t stop = begin;
    int depth = 0;
    std::uint32_t name = begin;
    for (; stop < end; ++stop) {
        const char c = text[stop];
        if (c == '<' || c == '(' || c == '[') ++depth;
        if (depth == 0 && (c == ']' || c == ';')) break;
        if (c == '>' || c == ')' || c == ']') --depth;
        if (depth == 0 && (c == ':' || c == '&' || c == ' ')) name = stop + 1;
    }
    for (std::uint32_t i = name; i < stop && (i == name || text[i] != '<'); ++i) {  // not in template arguments
        if (text[i] == '(' || text[i] == '{') return Name{"lambda", 6};
    }
    return name == stop ? Name{"kernel", 6} : Name{text + name, stop - name};
}

template <class Signature>
struct host_signature {
    static_assert(sizeof(Signature) == 0, "graphjit: kernel<F> takes a function or a captureless lambda");
};
template <class... P>
struct host_signature<void (*)(P...)> {
    static_assert((true && ... && check_parameter<P>()));
    using parameters = Types<std::remove_cvref_t<P>...>;
    using layout = BlockLayout<std::remove_cvref_t<P>...>;

    template <auto F>
    static const std::byte* enter(const std::byte* block) {
        if constexpr (layout::has_dims) {
            const std::byte* end = block + host_block_stride(layout::data.bytes);
            if (is_empty(load_argument<LaunchDims>(block + layout::data.dims_offset))) return end;
        }
        call<F>(block, std::index_sequence_for<P...>{});
        return block + host_block_stride(layout::data.bytes);
    }

private:
    template <auto F, std::size_t... N>
    GRAPHJIT_ALWAYS_INLINE static void call([[maybe_unused]] const std::byte* block, std::index_sequence<N...>) {
        F(load_argument<std::remove_cvref_t<P>>(block + layout::data.parameter_offset[N])...);
    }
};
template <class R, class... P>
struct host_signature<R (*)(P...)> : host_signature<void (*)(P...)> {
    static_assert(sizeof(R*) == 0, "graphjit: a kernel returns void; give its result through an Out<T>");
};
template <class R, class... P>
struct host_signature<R (*)(P...) noexcept> : host_signature<R (*)(P...)> {};

template <auto F>
struct host_function {
    using type = decltype(F);
};
template <auto F>
    requires requires { +F; }
struct host_function<F> {
    using type = decltype(+F);  // a captureless lambda decays to a function
};

}  // namespace detail

/// A host function as a kernel. `const T*` is read, `T*` read and written, `Out<T>` only written; a parameter of type
/// `LaunchDims` receives the dims of the launch; all else are values. Zero groups: the function is not called.
/// Pre: `F` does not throw; it runs inside a `noexcept` replay.
template <auto F>
struct HostKernel {
    using family = HostFamily;
    using signature = detail::host_signature<typename detail::host_function<F>::type>;
    using parameters = typename signature::parameters;
    using layout = typename signature::layout;

    static constexpr auto name = detail::host_kernel_name<F>();
    static constexpr KernelInfo info{name.text,
                                     name.size,
                                     layout::data.bytes,
                                     layout::data.align,
                                     layout::data.dims_offset,
                                     static_cast<std::uint32_t>(layout::count),
                                     layout::data.arguments};

    [[nodiscard]] std::uintptr_t handle() const noexcept {
        const HostEntry entry = &signature::template enter<F>;
        return reinterpret_cast<std::uintptr_t>(entry);
    }
};

/// A host function as a kernel: `kernel<gain>`, or `kernel<[](const float* in, Out<float> out) { … }>`.
template <auto F>
inline constexpr HostKernel<F> kernel{};

}  // namespace graphjit::inline v0
