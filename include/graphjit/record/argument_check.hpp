// Checks a launch against the kernel's type: each fault is one sentence, and the types stand in its template
// arguments.
#pragma once

#include <graphjit/record/handles.hpp>
#include <graphjit/record/kernel.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace graphjit::inline v0::detail {

template <class A>
inline constexpr bool is_integer_expr = std::is_same_v<A, Expr> || std::is_same_v<A, Variable>;

template <class Parameter, class Given>
constexpr bool element_matches() {
    using Wanted = typename parameter<Parameter>::element;
    return std::is_void_v<Wanted> || std::is_same_v<Wanted, std::remove_const_t<typename view_traits<Given>::element>>;
}

/// Checks argument `Position` (counted from 1).
template <std::size_t Position, class Parameter, class Given>
struct argument_check {
    static constexpr bool holds() {
        if constexpr (is_memory<Parameter>) {
            constexpr bool is_null = std::is_same_v<Given, std::nullptr_t>;
            constexpr bool is_view = view_traits<Given>::is_view;
            static_assert(is_null || is_view,
                          "graphjit: this kernel argument is memory; give it a Buffer, an Input or nullptr "
                          "(memory is registered with Recorder::buffer)");
            if constexpr (is_view) {
                static_assert(element_matches<Parameter, Given>(),
                              "graphjit: this kernel argument has another element type than the buffer given");
                static_assert(!std::is_const_v<typename view_traits<Given>::element> ||
                                  parameter<Parameter>::role == ArgumentRole::in,
                              "graphjit: this kernel argument is written, but the buffer given is const");
            }
        } else if constexpr (slot_traits<Given>::is_slot) {
            static_assert(std::is_same_v<typename slot_traits<Given>::value, Parameter>,
                          "graphjit: this kernel argument has another type than the Slot given");
        } else if constexpr (is_integer_expr<Given>) {
            static_assert(std::is_integral_v<Parameter> && !std::is_same_v<Parameter, bool>,
                          "graphjit: a Variable or Expr can only be given for an integer argument");
        } else {
            static_assert(!view_traits<Given>::is_view, "graphjit: this kernel argument is a value, given a buffer");
            static_assert(std::is_convertible_v<Given, Parameter>,
                          "graphjit: this kernel argument cannot be made from the value given");
            static_assert(!(std::is_floating_point_v<Given> && std::is_integral_v<Parameter>),
                          "graphjit: this kernel argument is an integer, given a floating-point value");
        }
        return true;
    }
};

template <class List>
struct without_accesses {
    using type = Types<>;
};
template <class First, class... Rest>
struct without_accesses<Types<First, Rest...>> : prepend<First, typename without_accesses<Types<Rest...>>::type> {};
template <class View, class... Rest>
struct without_accesses<Types<ExtraAccess<View>, Rest...>> : without_accesses<Types<Rest...>> {};

/// Checks a launch; what follows the arguments must be accesses.
template <class K, bool HasDims, class... A>
struct launch_check {
    template <class... P, class... G, std::size_t... N>
    static constexpr bool arguments(Types<P...>, Types<G...>, std::index_sequence<N...>) {
        return (true && ... && argument_check<N + 1, P, G>::holds());
    }
    static constexpr bool accesses_come_last() {
        bool last = true;
        [[maybe_unused]] bool seen = false;  // not used where there are no arguments
        ((seen = seen || is_extra_access<A>, last = last && seen == is_extra_access<A>), ...);
        return last;
    }

    static constexpr bool holds() {
        constexpr bool takes_dims = K::info.dims_offset != KernelInfo::no_dims;
        static_assert(takes_dims || !HasDims, "graphjit: this kernel takes no LaunchDims, but is launched with some");
        static_assert(HasDims || !takes_dims, "graphjit: this kernel takes LaunchDims, but is launched without");
        static_assert(accesses_come_last(), "graphjit: reads(), writes() and updates() come after the arguments");
        using Given = typename without_accesses<Types<A...>>::type;
        static_assert(Given::size == K::info.argument_count,
                      "graphjit: a kernel is launched with the wrong number of arguments");
        if constexpr (Given::size == K::info.argument_count && accesses_come_last() && takes_dims == HasDims) {
            return arguments(typename without_dims<typename K::parameters>::type{}, Given{},
                             std::make_index_sequence<Given::size>{});
        } else {
            return false;
        }
    }
};

}  // namespace graphjit::inline v0::detail
