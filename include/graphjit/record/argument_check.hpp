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

// C++20 cannot put a number into a sentence, so there is a sentence for each place.
#define GRAPHJIT_ARGUMENT(holds, text)                                                                                 \
    static_assert(Position != 0 || (holds), "graphjit: the value of a fill " text);                                    \
    static_assert(Position != 1 || (holds), "graphjit: kernel argument 1 " text);                                      \
    static_assert(Position != 2 || (holds), "graphjit: kernel argument 2 " text);                                      \
    static_assert(Position != 3 || (holds), "graphjit: kernel argument 3 " text);                                      \
    static_assert(Position != 4 || (holds), "graphjit: kernel argument 4 " text);                                      \
    static_assert(Position != 5 || (holds), "graphjit: kernel argument 5 " text);                                      \
    static_assert(Position != 6 || (holds), "graphjit: kernel argument 6 " text);                                      \
    static_assert(Position != 7 || (holds), "graphjit: kernel argument 7 " text);                                      \
    static_assert(Position != 8 || (holds), "graphjit: kernel argument 8 " text);                                      \
    static_assert(Position <= 8 || (holds), "graphjit: a kernel argument behind the eighth " text)

/// Checks argument `Position`, counted from 1; 0 is the value of a fill. Each fault is named once, and what would only
/// repeat it is not instantiated.
template <std::size_t Position, class Parameter, class Given>
struct argument_check {
    static constexpr bool holds() {
        if constexpr (is_memory<Parameter>) {
            constexpr bool is_null = std::is_same_v<Given, std::nullptr_t>;
            constexpr bool is_view = view_traits<Given>::is_view;
            GRAPHJIT_ARGUMENT(is_null || is_view, "is memory; give it a Buffer, an Input or nullptr "
                                                  "(memory is registered with Recorder::buffer)");
            if constexpr (is_view) {
                constexpr bool matches = element_matches<Parameter, Given>();
                constexpr bool writable = !std::is_const_v<typename view_traits<Given>::element> ||
                                          parameter<Parameter>::role == ArgumentRole::in;
                GRAPHJIT_ARGUMENT(matches, "has another element type than the buffer given");
                GRAPHJIT_ARGUMENT(writable, "is written, but the buffer given is const");
                return matches && writable;
            }
            return is_null;
        } else if constexpr (slot_traits<Given>::is_slot) {
            constexpr bool same = std::is_same_v<typename slot_traits<Given>::value, Parameter>;
            GRAPHJIT_ARGUMENT(same, "has another type than the Slot given");
            return same;
        } else if constexpr (is_integer_expr<Given>) {
            constexpr bool integer = std::is_integral_v<Parameter> && !std::is_same_v<Parameter, bool>;
            GRAPHJIT_ARGUMENT(integer, "is no integer, given a Variable or Expr");
            return integer;
        } else if constexpr (view_traits<Given>::is_view) {
            GRAPHJIT_ARGUMENT(sizeof(Given) == 0, "is a value, given a buffer");
            return false;
        } else {
            constexpr bool convertible = std::is_convertible_v<Given, Parameter>;
            constexpr bool exact = !(std::is_floating_point_v<Given> && std::is_integral_v<Parameter>);
            GRAPHJIT_ARGUMENT(convertible, "cannot be made from the value given");
            GRAPHJIT_ARGUMENT(exact, "is an integer, given a floating-point value");
            return convertible && exact;
        }
    }
};

#undef GRAPHJIT_ARGUMENT

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
