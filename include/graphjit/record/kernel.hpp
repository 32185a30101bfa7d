// What a kernel's type says: how it uses each argument, and where each stands in its argument block.
#pragma once

#include <graphjit/base/launch_dims.hpp>
#include <graphjit/record/access.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

enum class ArgumentRole : std::uint8_t { in = 1, out = 2, in_out = 3, value = 4 };

struct ArgumentInfo {
    std::uint32_t offset = 0;  // bytes from the start of the block
    std::uint32_t bytes = 0;
    ArgumentRole role = ArgumentRole::value;
};

/// Layout of the argument block: the arguments at their natural alignment, as C lays out a struct of them; the launch
/// dims behind them where the kernel has some.
struct KernelInfo {
    static constexpr std::uint32_t no_dims = 0xffff'ffffu;

    const char* name = "";  // as in source; need not end where the string does
    std::uint32_t name_size = 0;
    std::uint32_t block_bytes = 0;
    std::uint32_t block_align = 1;
    std::uint32_t dims_offset = no_dims;
    std::uint32_t argument_count = 0;
    const ArgumentInfo* arguments = nullptr;
};

namespace detail {

/// `In<T>`, `Out<T>`, `InOut<T>`, `T*`, `const T*` are memory, `LaunchDims` is the launch itself, the rest are values.
template <class P>
struct parameter {
    static constexpr ArgumentRole role = ArgumentRole::value;
    using type = P;
};
template <class T>
struct parameter<In<T>> {
    static constexpr ArgumentRole role = ArgumentRole::in;
    using element = T;
    using type = const T*;
};
template <class T>
struct parameter<Out<T>> {
    static constexpr ArgumentRole role = ArgumentRole::out;
    using element = T;
    using type = T*;
};
template <class T>
struct parameter<InOut<T>> : parameter<Out<T>> {
    static constexpr ArgumentRole role = ArgumentRole::in_out;
};
template <class T>
struct parameter<T*> : parameter<InOut<T>> {};
template <class T>
struct parameter<const T*> : parameter<In<T>> {};

template <class P>
inline constexpr bool is_memory = parameter<P>::role != ArgumentRole::value;
template <class P>
inline constexpr bool is_dims = std::is_same_v<P, LaunchDims>;

template <class P>
constexpr bool check_parameter() {
    static_assert(!std::is_reference_v<P> || is_dims<std::remove_cvref_t<P>>,
                  "graphjit: a kernel parameter is a reference; take values by value and memory by pointer");
    static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<P>>,
                  "graphjit: a kernel parameter is not trivially copyable, so it cannot be kept in an argument block");
    return true;
}

template <class... P>
struct Types {
    static constexpr std::size_t size = sizeof...(P);
};

template <std::size_t N, class List>
struct type_at;
template <std::size_t N, class First, class... Rest>
struct type_at<N, Types<First, Rest...>> : type_at<N - 1, Types<Rest...>> {};
template <class First, class... Rest>
struct type_at<0, Types<First, Rest...>> {
    using type = First;
};

template <class T, class List>
struct prepend;
template <class T, class... Rest>
struct prepend<T, Types<Rest...>> {
    using type = Types<T, Rest...>;
};

/// The parameters that a launch names one by one.
template <class List>
struct without_dims {
    using type = Types<>;
};
template <class First, class... Rest>
struct without_dims<Types<First, Rest...>> : prepend<First, typename without_dims<Types<Rest...>>::type> {};
template <class... Rest>
struct without_dims<Types<LaunchDims, Rest...>> : without_dims<Types<Rest...>> {};

template <class... P>
struct BlockLayout {
    static constexpr std::size_t count = (std::size_t{0} + ... + (is_dims<P> ? 0u : 1u));
    static constexpr bool has_dims = (false || ... || is_dims<P>);
    static_assert((0 + ... + (is_dims<P> ? 1 : 0)) <= 1, "graphjit: a kernel takes LaunchDims at most once");

    struct Data {
        ArgumentInfo arguments[count == 0 ? 1 : count] = {};
        std::uint32_t parameter_offset[sizeof...(P) == 0 ? 1 : sizeof...(P)] = {};  // by position, dims included
        std::uint32_t bytes = 0;
        std::uint32_t align = 1;
        std::uint32_t dims_offset = KernelInfo::no_dims;
    };

    static constexpr Data make() {
        Data made;
        std::uint32_t place = 0;
        const auto next = [&](std::size_t bytes, std::size_t align) {
            place = static_cast<std::uint32_t>((place + align - 1) / align * align);
            const std::uint32_t offset = place;
            place += static_cast<std::uint32_t>(bytes);
            if (align > made.align) made.align = static_cast<std::uint32_t>(align);
            return offset;
        };
        std::size_t position = 0;
        std::size_t argument = 0;
        [[maybe_unused]] const auto add = [&]<class Q>(Types<Q>) {  // unused where a kernel has no parameters
            if constexpr (!is_dims<Q>) {
                using Stored = typename parameter<Q>::type;
                const std::uint32_t offset = next(sizeof(Stored), alignof(Stored));
                made.arguments[argument++] = {offset, sizeof(Stored), parameter<Q>::role};
                made.parameter_offset[position] = offset;
            }
            ++position;
        };
        (add(Types<P>{}), ...);
        if constexpr (has_dims) {
            made.dims_offset = next(sizeof(LaunchDims), alignof(LaunchDims));
            position = 0;
            ((made.parameter_offset[position] = is_dims<P> ? made.dims_offset : made.parameter_offset[position],
              ++position),
             ...);
        }
        made.bytes = place;
        return made;
    }
    static constexpr Data data = make();
    static_assert(data.align <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "graphjit: a kernel value is aligned wider than an argument block; pass it through memory");
};

}  // namespace detail

/// What makes a type launchable: its family says which backends run it.
template <class K>
concept kernel_type = requires(const K& kernel) {
    typename K::family;
    typename K::parameters;
    { K::info } -> std::convertible_to<const KernelInfo&>;
    { kernel.handle() } -> std::same_as<std::uintptr_t>;
};

}  // namespace graphjit::inline v0
