// Recording, typed: the verbs a user writes.
#pragma once

#include <graphjit/record/argument_check.hpp>
#include <graphjit/record/host_kernel.hpp>
#include <graphjit/record/op_writer.hpp>

namespace graphjit::inline v0 {

/// Launch dims while recording: each may be an Expr.
using LaunchExprs = BasicLaunchDims<Expr>;

namespace detail {
template <class... A>
inline constexpr bool starts_with_dims = false;
template <class First, class... Rest>
inline constexpr bool starts_with_dims<First, Rest...> = std::is_convertible_v<First, LaunchExprs>;

/// Not a name: what stands where a kernel should, even if it is none, so that a sentence can say so.
template <class K>
concept in_place_of_kernel = !std::is_convertible_v<const K&, Text>;

/// Whether an integer is the same as a `T`. Not std::in_range, which takes no characters.
template <class T, class A>
constexpr bool keeps_value(A value) noexcept {
    const T converted = static_cast<T>(value);
    return static_cast<A>(converted) == value && (converted < T{}) == (value < A{});
}

template <class Backend>
struct kernel_family_of {
    using type = void;
};
template <class Backend>
    requires requires { typename Backend::kernel_family; }
struct kernel_family_of<Backend> {
    using type = typename Backend::kernel_family;
};
}  // namespace detail

/// The range of a Variable, both ends included.
struct VariableRange {
    std::int64_t min = 0;
    std::int64_t max = 0;
};

/// Writes ops down for one backend. Nothing runs; everything handed over is copied.
/// Errors: a verb that is given something wrong records nothing and returns `OpIndex::none`; `status()` says why, and
///         `finish()` refuses unless `clear_error()` was called.
/// Threads: one at a time; different recorders from any threads at once.
template <class Backend>
class Recorder : public OpWriter {
    using Family = typename detail::kernel_family_of<Backend>::type;
    static_assert(!std::is_void_v<Family>,
                  "graphjit: backend lacks the type kernel_family. See docs/adding_a_backend.md");

public:
    explicit Recorder(Backend backend = Backend{}) noexcept : backend_(std::move(backend)) {}

    // Memory. It stays the user's, and must live as long as graphs use it.

    /// Registers memory. Two registrations may overlap: ops are ordered by the bytes they touch, not by handle.
    template <class T>
    [[nodiscard]] Buffer<T> buffer(Text name, T* data, Count elements, DeviceId device = {}) {
        const std::int64_t count = elements.value();
        const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(data);
        if (count < 0 ||
            count > (INT64_MAX - static_cast<std::int64_t>(address)) / static_cast<std::int64_t>(sizeof(T)) ||
            (data == nullptr && count != 0)) {
            fail(ErrorCode::invalid_argument, "a buffer has no address, or a size that cannot be", name);
            return {};
        }
        if (address % alignof(T) != 0) {
            fail(ErrorCode::misaligned, "a buffer is not aligned for its elements", name);
            return {};
        }
        return detail::HandleAccess::buffer<T>(
            add_memory(name, {.is_const = std::is_const_v<T>,
                              .device = device,
                              .align = alignof(T),
                              .address = address,
                              .bytes = count * static_cast<std::int64_t>(sizeof(T))}));
    }
    template <class Range>
        requires requires(Range& range) { *range.data(), range.size(); }
    [[nodiscard]] auto buffer(Text name, Range&& range, DeviceId device = {}) {
        static_assert(detail::outlives_call<Range>,
                      "graphjit: a temporary is registered as a buffer; it would be gone by replay");
        return buffer(name, range.data(), range.size(), device);
    }
    template <class T, std::size_t N>
    [[nodiscard]] Buffer<T> buffer(Text name, T (&array)[N], DeviceId device = {}) {
        return buffer(name, array, N, device);
    }
    [[nodiscard]] Token token(Text name, DeviceId device = {}) {
        return detail::HandleAccess::buffer<TokenElement>(add_memory(name, {.device = device}));
    }

    // Slots: what a replay may change.

    /// A buffer that replays give. `count` bounds what ops may touch of it.
    template <class T>
    [[nodiscard]] Input<T> input(Text name, Count elements, DeviceId device = {}) {
        const std::int64_t count = elements.value();
        if (count < 0 || count > INT64_MAX / static_cast<std::int64_t>(sizeof(T))) {
            fail(ErrorCode::invalid_argument, "an input has a negative size", name);
            return {};
        }
        SlotIndex slot = SlotIndex::none;
        const detail::ConstantView view = add_input(name,
                                                    {.is_input = true,
                                                     .is_const = std::is_const_v<T>,
                                                     .device = device,
                                                     .align = alignof(T),
                                                     .bytes = count * static_cast<std::int64_t>(sizeof(T))},
                                                    slot);
        return detail::HandleAccess::input<T>(view, slot);
    }
    [[nodiscard]] Variable variable(Text name, VariableRange range) {
        return detail::HandleAccess::variable(owner(), add_variable(name, {range.min, range.max}, nullptr));
    }
    [[nodiscard]] Variable variable(Text name, VariableRange range, std::int64_t initial) {
        return detail::HandleAccess::variable(owner(), add_variable(name, {range.min, range.max}, &initial));
    }
    template <class T>
    [[nodiscard]] Slot<T> slot(Text name) {
        return detail::HandleAccess::slot<T>(owner(), add_value(name, nullptr, sizeof(T), alignof(T)));
    }
    template <class T>
    [[nodiscard]] Slot<T> slot(Text name, std::type_identity_t<T> initial) {
        return detail::HandleAccess::slot<T>(owner(), add_value(name, &initial, sizeof(T), alignof(T)));
    }
    /// Keeps an expression, so that longer ones can be built of it. One that is refused spoils what is built of it.
    [[nodiscard]] Expr let(const Expr& expr) {
        if (expr.is_constant()) return expr;
        const ExprIndex index = intern(expr);
        return index == ExprIndex::none ? Expr::refused() : Expr::leaf(owner(), ExprOp::shared, to_integer(index));
    }
    /// Allows the two to overlap at replay: their ops are ordered as if they always did.
    template <class A, class B>
    void may_alias(const Buffer<A>& a, const Buffer<B>& b) {
        add_alias(detail::HandleAccess::view(a), detail::HandleAccess::view(b));
    }

    // Ops. A leading text names the op in errors and pictures.

    /// Launches a kernel: `launch([name,] kernel, [dims,] arguments…, [reads(x), writes(y), updates(z)…])`.
    template <detail::in_place_of_kernel K, class... A>
        requires(!detail::starts_with_dims<A...>)
    OpIndex launch(const K& kernel, const A&... arguments) {
        return record<Family, false>(OpKind::kernel, Text{}, kernel, nullptr, arguments...);
    }
    template <detail::in_place_of_kernel K, class... A>
    OpIndex launch(const K& kernel, const LaunchExprs& dims, const A&... arguments) {
        return record<Family, true>(OpKind::kernel, Text{}, kernel, &dims, arguments...);
    }
    template <detail::in_place_of_kernel K, class... A>
        requires(!detail::starts_with_dims<A...>)
    OpIndex launch(Text name, const K& kernel, const A&... arguments) {
        return record<Family, false>(OpKind::kernel, name, kernel, nullptr, arguments...);
    }
    template <detail::in_place_of_kernel K, class... A>
    OpIndex launch(Text name, const K& kernel, const LaunchExprs& dims, const A&... arguments) {
        return record<Family, true>(OpKind::kernel, name, kernel, &dims, arguments...);
    }

    /// Calls a host kernel at this place of the order, whatever the backend.
    template <detail::in_place_of_kernel K, class... A>
    OpIndex host_call(const K& kernel, const A&... arguments) {
        return record<HostFamily, false>(OpKind::host_call, Text{}, kernel, nullptr, arguments...);
    }
    template <detail::in_place_of_kernel K, class... A>
    OpIndex host_call(Text name, const K& kernel, const A&... arguments) {
        return record<HostFamily, false>(OpKind::host_call, name, kernel, nullptr, arguments...);
    }

    /// Records what `work(stream)` puts on a stream of the current device, a library's or your own launches, as one op:
    /// it is only captured now. It uses what the accesses say: `capture("gemm", [&](auto stream) { … }, reads(a),
    /// writes(b))`. Nothing in it can be changed by a replay. Errors: unsupported by the backend at compile time; the
    /// vendor's.
    template <class Work, class... A>
    OpIndex capture(Text name, Work&& work, const A&... accesses) {
        static_assert((true && ... && detail::is_extra_access<A>),
                      "graphjit: captured work takes accesses only: reads(x), writes(y), updates(z)");
        constexpr bool captures = requires { backend_.capture(this->current_device(), work); };
        static_assert(captures, "graphjit: this backend captures no work from streams");
        if constexpr (captures && (true && ... && detail::is_extra_access<A>)) {
            Result<std::uintptr_t> handle = backend_.capture(this->current_device(), work);
            if (!handle) {
                Error error = handle.error();
                error.op_name = ShortName(name.characters());
                fail(error);
                return OpIndex::none;
            }
            if (begin_op(OpKind::captured, detail::captured_info, *handle, name, sizeof...(A)) == nullptr) {
                return OpIndex::none;
            }
            (add_view(nullptr, 0, accesses.access, View::view(accesses.view)), ...);
            return end_op();
        }
        return OpIndex::none;
    }

    /// Copies all of `source` to `destination`; both have the same size and do not overlap.
    template <class Destination, class Source>
    OpIndex copy(const Destination& destination, const Source& source) {
        return copy(Text{}, destination, source);
    }
    template <class Destination, class Source>
    OpIndex copy(Text name, const Destination& destination, const Source& source);

    /// Fills all of `destination` with a value: a constant, a Slot, or for integers an Expr.
    template <class Destination, class Value>
    OpIndex fill(const Destination& destination, const Value& value) {
        return fill(Text{}, destination, value);
    }
    template <class Destination, class Value>
    OpIndex fill(Text name, const Destination& destination, const Value& value);

    /// Ends the recording. Errors: the first one since `clear_error`.
    [[nodiscard]] Result<OpListOf<Backend>> finish() && noexcept {
        Result<OpList> list = take();
        if (!list) return list.status();
        return OpListOf<Backend>(std::move(*list), backend_);
    }

private:
    using View = detail::HandleAccess;

    template <class Family, bool HasDims, class K, class... A>
    OpIndex record(OpKind kind, Text name, const K& kernel, const LaunchExprs* dims, const A&... arguments) {
        static_assert(kernel_type<K>,
                      "graphjit: what is launched is no kernel; write gj::kernel<f> for a host function f");
        if constexpr (kernel_type<K>) {
            constexpr bool same_family = std::is_same_v<typename K::family, Family>;
            static_assert(same_family, "graphjit: this kernel belongs to another backend than the recorder");
            if constexpr (same_family && detail::launch_check<K, HasDims, A...>::holds()) {
                return write<K>(kind, name, kernel, dims, std::index_sequence_for<A...>{}, arguments...);
            }
        }
        return OpIndex::none;
    }

    template <class K, std::size_t... N, class... A>
    OpIndex write(OpKind kind, Text name, const K& kernel, const LaunchExprs* dims, std::index_sequence<N...>,
                  const A&... arguments);

    /// Argument `N`, or an access behind the last argument.
    template <class K, std::size_t N, class A>
    void put(std::byte* block, const A& argument) {
        if constexpr (detail::is_extra_access<A>) {
            add_view(nullptr, 0, argument.access, View::view(argument.view));
        } else {
            using Parameter =
                typename detail::type_at<N, typename detail::without_dims<typename K::parameters>::type>::type;
            put_argument<Parameter>(block, K::info.arguments[N].offset, argument);
        }
    }

    template <class Parameter, class A>
    void put_argument(std::byte* block, std::uint32_t offset, const A& argument) {
        if constexpr (std::is_same_v<A, std::nullptr_t>) {
            // stays zero, touches nothing
        } else if constexpr (detail::is_memory<Parameter>) {
            constexpr auto access = static_cast<Access>(detail::parameter<Parameter>::role);
            add_view(block, offset, access, View::view(argument));
            if constexpr (!std::is_void_v<typename detail::parameter<Parameter>::element>) {
                align_view(View::view(argument), alignof(typename detail::parameter<Parameter>::element));
            }
        } else {
            put_value<Parameter>(block, offset, argument);
        }
    }

    template <class T, class A>
    void put_value(std::byte* block, std::uint32_t offset, const A& value) {
        if constexpr (detail::slot_traits<A>::is_slot) {
            add_slot_use(offset, View::owner(value), value.slot());
        } else if constexpr (detail::is_integer_expr<A>) {
            add_integer(block, offset, sizeof(T), std::is_signed_v<T>, value);
        } else {
            if constexpr (std::is_integral_v<T> && std::is_integral_v<A> && !std::is_same_v<T, bool>) {
                if (!detail::keeps_value<T>(value))
                    return fail(ErrorCode::out_of_range, "a value does not fit its argument");
            }
            const T converted = static_cast<T>(value);
            std::memcpy(block + offset, &converted, sizeof(T));
        }
    }

    [[no_unique_address]] Backend backend_;
};

template <class Backend>
template <class K, std::size_t... N, class... A>
OpIndex Recorder<Backend>::write(OpKind kind, Text name, const K& kernel, const LaunchExprs* dims,
                                 [[maybe_unused]] std::index_sequence<N...>, const A&... arguments) {
    if constexpr (requires {
                      { kernel.name() } -> std::same_as<Text>;
                  }) {
        if (name.is_null()) name = kernel.name();  // known at run time only
    }
    std::byte* block = begin_op(kind, K::info, kernel.handle(), name, sizeof...(A));
    if (block == nullptr) return OpIndex::none;
    (put<K, N>(block, arguments), ...);
    if constexpr (K::info.dims_offset != KernelInfo::no_dims) {
        const Expr* extents[dim_count] = {&dims->groups.x,     &dims->groups.y,     &dims->groups.z,
                                          &dims->group_size.x, &dims->group_size.y, &dims->group_size.z,
                                          &dims->shared_bytes};
        for (std::uint8_t i = 0; i < dim_count; ++i) add_dim(block, K::info.dims_offset + 4u * i, i, *extents[i]);
    }
    return end_op();
}

template <class Backend>
template <class Destination, class Source>
OpIndex Recorder<Backend>::copy(Text name, const Destination& destination, const Source& source) {
    using To = detail::view_traits<Destination>;
    using From = detail::view_traits<Source>;
    static_assert(To::is_view && From::is_view, "graphjit: a copy is from a Buffer or Input to a Buffer or Input "
                                                "(memory is registered with Recorder::buffer)");
    if constexpr (To::is_view && From::is_view) {
        static_assert(!std::is_const_v<typename To::element>, "graphjit: the destination of a copy is const");
        static_assert(
            std::is_same_v<std::remove_const_t<typename To::element>, std::remove_const_t<typename From::element>>,
            "graphjit: the two ends of a copy have different element types; use Buffer::as<T>()");
        return copy_views(name, View::view(destination), View::view(source));
    }
    return OpIndex::none;
}

template <class Backend>
template <class Destination, class Value>
OpIndex Recorder<Backend>::fill(Text name, const Destination& destination, const Value& value) {
    using To = detail::view_traits<Destination>;
    static_assert(To::is_view, "graphjit: a fill is of a Buffer or Input (memory is registered with Recorder::buffer)");
    if constexpr (To::is_view) {
        using T = typename To::element;
        static_assert(!std::is_const_v<T>, "graphjit: the destination of a fill is const");
        constexpr bool fits = std::is_trivially_copyable_v<T> && sizeof(T) <= FillBlock::max_pattern;
        static_assert(fits, "graphjit: a fill value is at most 16 bytes that can be copied as such");
        if constexpr (!std::is_const_v<T> && fits && detail::argument_check<0, T, Value>::holds()) {
            std::byte* block = begin_fill(name, sizeof(T), View::view(destination));
            if (block == nullptr) return OpIndex::none;
            put_value<T>(block, offsetof(FillBlock, pattern), value);
            return end_op();
        }
    }
    return OpIndex::none;
}

}  // namespace graphjit::inline v0
