// What a user holds while recording: views of memory, inputs, variables, slots.
// All are small values that name a place in one recording; none owns anything or points into the recorder.
#pragma once

#include <graphjit/base/ids.hpp>
#include <graphjit/base/text.hpp>
#include <graphjit/record/access.hpp>
#include <graphjit/record/expr.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

template <class T>
class SymbolicBuffer;

namespace detail {

template <class T>
inline constexpr std::int64_t element_bytes = static_cast<std::int64_t>(sizeof(T));
template <>
inline constexpr std::int64_t element_bytes<TokenElement> = 0;
template <>
inline constexpr std::int64_t element_bytes<const TokenElement> = 0;

/// Whether `count` from `first` on lie among `whole`. No sum that could overflow.
[[nodiscard]] constexpr bool lies_inside(std::int64_t first, std::int64_t count, std::int64_t whole) noexcept {
    return first >= 0 && count >= 0 && first <= whole && count <= whole - first;
}

/// Whether a range handed over may be used after the call: an lvalue, or a view such as std::span.
template <class Range>
inline constexpr bool outlives_call = std::is_lvalue_reference_v<Range> || std::is_trivially_copyable_v<Range>;

/// A part of memory, in bytes.
struct ConstantView {
    std::uint32_t owner = 0;
    MemoryIndex memory = MemoryIndex::none;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  // negative: a view that lies outside its parent
};

/// A part of a part, whose place or size depends on Variables.
struct SymbolicView {
    ConstantView within;
    Expr offset;  // bytes, from the start of `within`
    Expr bytes;
};

struct HandleAccess;  // lets the recorder make handles and look into them

}  // namespace detail

/// A typed view of memory: a registered buffer, an input, or a part of one. Views of views are views of the memory.
/// Units: `slice` counts elements from the start of this view.
template <class T>
class Buffer {
public:
    using element_type = T;

    constexpr Buffer() noexcept = default;

    /// A `Buffer<T>` can be used where a `Buffer<const T>` can.
    template <class U>
        requires(std::is_same_v<U, const T> && !std::is_const_v<T>)
    constexpr operator Buffer<U>() const noexcept {
        return Buffer<U>(view_);
    }

    /// Errors: a part that does not lie inside this view is refused by the op that uses it.
    template <std::integral First, std::integral Size>
    [[nodiscard]] constexpr Buffer slice(First first_element, Size elements) const noexcept {
        const std::int64_t first = Count(first_element).value();
        const std::int64_t count = Count(elements).value();
        detail::ConstantView part = view_;
        const bool inside = view_.bytes >= 0 && detail::lies_inside(first, count, size());
        part.bytes = inside ? count * detail::element_bytes<T> : -1;
        if (inside) part.offset += first * detail::element_bytes<T>;
        return Buffer(part);
    }

    /// Errors: as far as the Variables' ranges decide, refused when an op uses it; else at replay.
    [[nodiscard]] constexpr SymbolicBuffer<T> slice(const Expr& first, const Expr& count) const noexcept {
        return SymbolicBuffer<T>(
            {view_, first * Expr(detail::element_bytes<T>), count * Expr(detail::element_bytes<T>)});
    }

    /// The same bytes as elements of another type.
    /// Errors: bytes that are no whole number of them are refused by the op that uses the view.
    template <class U>
    [[nodiscard]] constexpr Buffer<U> as() const noexcept {
        static_assert(std::is_const_v<U> || !std::is_const_v<T>, "graphjit: as<U>() cannot drop const");
        detail::ConstantView view = view_;
        if (detail::element_bytes<U> != 0 && view.bytes % detail::element_bytes<U> != 0) view.bytes = -1;
        return Buffer<U>(view);
    }

    /// Units: elements.
    [[nodiscard]] constexpr std::int64_t size() const noexcept {
        return detail::element_bytes<T> == 0 ? 0 : view_.bytes / detail::element_bytes<T>;
    }

protected:
    friend struct detail::HandleAccess;
    template <class U>
    friend class Buffer;
    constexpr explicit Buffer(const detail::ConstantView& view) noexcept : view_(view) {}

    detail::ConstantView view_;
};

/// A view whose offset or size is an `Expr`.
template <class T>
class SymbolicBuffer {
public:
    using element_type = T;

    constexpr operator SymbolicBuffer<const T>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return SymbolicBuffer<const T>(view_);
    }

    /// Units: elements, from the start of this view.
    /// Errors: where all is constant but this view's place, a part outside this view is refused by the op that uses it;
    ///         else the part is held to the buffer that this view was taken from.
    [[nodiscard]] constexpr SymbolicBuffer slice(const Expr& first, const Expr& count) const noexcept {
        if (first.is_constant() && count.is_constant() && view_.bytes.is_constant()) {
            const std::int64_t elements = detail::element_bytes<T> == 0
                                              ? 0
                                              : view_.bytes.constant() / detail::element_bytes<T>;
            if (!detail::lies_inside(first.constant(), count.constant(), elements)) {
                SymbolicBuffer outside = *this;
                outside.view_.within.bytes = -1;
                return outside;
            }
        }
        return SymbolicBuffer({view_.within, view_.offset + first * Expr(detail::element_bytes<T>),
                               count * Expr(detail::element_bytes<T>)});
    }

    /// The same bytes as elements of another type.
    template <class U>
    [[nodiscard]] constexpr SymbolicBuffer<U> as() const noexcept {
        static_assert(std::is_const_v<U> || !std::is_const_v<T>, "graphjit: as<U>() cannot drop const");
        return SymbolicBuffer<U>(view_);
    }

private:
    friend struct detail::HandleAccess;
    template <class U>
    friend class Buffer;
    template <class U>
    friend class SymbolicBuffer;
    constexpr explicit SymbolicBuffer(const detail::SymbolicView& view) noexcept : view_(view) {}

    detail::SymbolicView view_;
};

/// Memory of zero bytes: orders the ops that name it, in place of something graphjit cannot see.
using Token = Buffer<TokenElement>;

/// A slot for a buffer that each replay may give anew.
template <class T>
class Input : public Buffer<T> {
public:
    constexpr Input() noexcept = default;
    [[nodiscard]] constexpr SlotIndex slot() const noexcept { return slot_; }

private:
    friend struct detail::HandleAccess;
    constexpr Input(const detail::ConstantView& view, SlotIndex slot) noexcept : Buffer<T>(view), slot_(slot) {}

    SlotIndex slot_ = SlotIndex::none;
};

/// A slot for an integer within a recorded range; may stand in an `Expr`.
class Variable {
public:
    constexpr Variable() noexcept = default;
    constexpr operator Expr() const noexcept { return Expr::leaf(owner_, ExprOp::variable, to_integer(slot_)); }
    [[nodiscard]] constexpr SlotIndex slot() const noexcept { return slot_; }

private:
    friend struct detail::HandleAccess;
    constexpr Variable(std::uint32_t owner, SlotIndex slot) noexcept : owner_(owner), slot_(slot) {}

    std::uint32_t owner_ = 0;
    SlotIndex slot_ = SlotIndex::none;
};

/// A slot for any other by-value argument.
template <class T>
class Slot {
    static_assert(std::is_trivially_copyable_v<T>, "graphjit: Slot<T> is copied as bytes");

public:
    constexpr Slot() noexcept = default;
    [[nodiscard]] constexpr SlotIndex slot() const noexcept { return slot_; }

private:
    friend struct detail::HandleAccess;
    constexpr Slot(std::uint32_t owner, SlotIndex slot) noexcept : owner_(owner), slot_(slot) {}

    std::uint32_t owner_ = 0;
    SlotIndex slot_ = SlotIndex::none;
};

namespace detail {
template <class V>
struct view_traits {
    static constexpr bool is_view = false;
};
template <class T>
struct view_traits<Buffer<T>> {
    static constexpr bool is_view = true;
    using element = T;
};
template <class T>
struct view_traits<SymbolicBuffer<T>> : view_traits<Buffer<T>> {};
template <class T>
struct view_traits<Input<T>> : view_traits<Buffer<T>> {};

template <class View>
constexpr void check_view() noexcept {
    static_assert(view_traits<View>::is_view,
                  "graphjit: reads(), writes() and updates() name a Buffer, Input or Token");
}
}  // namespace detail

/// An access of an op to memory that is none of its arguments (a pointer inside a struct, a token).
template <class View>
struct ExtraAccess {
    View view;
    Access access;
};
template <class View>
[[nodiscard]] constexpr ExtraAccess<View> reads(const View& view) noexcept {
    detail::check_view<View>();
    return {view, Access::in};
}
template <class View>
[[nodiscard]] constexpr ExtraAccess<View> writes(const View& view) noexcept {
    detail::check_view<View>();
    return {view, Access::out};
}
template <class View>
[[nodiscard]] constexpr ExtraAccess<View> updates(const View& view) noexcept {
    detail::check_view<View>();
    return {view, Access::in_out};
}

namespace detail {

struct HandleAccess {
    template <class T>
    static constexpr const ConstantView& view(const Buffer<T>& buffer) noexcept {
        return buffer.view_;
    }
    template <class T>
    static constexpr const SymbolicView& view(const SymbolicBuffer<T>& buffer) noexcept {
        return buffer.view_;
    }
    template <class T>
    static constexpr Buffer<T> buffer(const ConstantView& view) noexcept {
        return Buffer<T>(view);
    }
    template <class T>
    static constexpr Input<T> input(const ConstantView& view, SlotIndex slot) noexcept {
        return Input<T>(view, slot);
    }
    static constexpr Variable variable(std::uint32_t owner, SlotIndex slot) noexcept { return {owner, slot}; }
    template <class T>
    static constexpr Slot<T> slot(std::uint32_t owner, SlotIndex slot) noexcept {
        return {owner, slot};
    }
    template <class Handle>
    static constexpr std::uint32_t owner(const Handle& handle) noexcept {
        if constexpr (requires { handle.view_; }) {
            return handle.view_.owner;
        } else {
            return handle.owner_;
        }
    }
};

template <class V>
struct slot_traits {
    static constexpr bool is_slot = false;
};
template <class T>
struct slot_traits<Slot<T>> {
    static constexpr bool is_slot = true;
    using value = T;
};

template <class V>
inline constexpr bool is_extra_access = false;
template <class V>
inline constexpr bool is_extra_access<ExtraAccess<V>> = true;

}  // namespace detail
}  // namespace graphjit::inline v0
