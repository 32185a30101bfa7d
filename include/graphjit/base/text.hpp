// Text handed over by the user: a literal, a std::string, a string_view.
#pragma once

#include <graphjit/base/span.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>

namespace graphjit::inline v0 {

/// Characters for the time of a call. Made from `const char*`, or from anything with `data()` and `size()` of chars, so
/// that no header of strings is needed here. Null stands for no text.
class Text {
public:
    constexpr Text() noexcept = default;
    Text(const char* text) noexcept : characters_(text, text == nullptr ? 0 : std::strlen(text)) {}
    template <class String>
        requires requires(const String& string) {
            { string.data() } -> std::same_as<const char*>;
            string.size();
        }
    constexpr Text(const String& string) noexcept : characters_(string.data(), string.size()) {}

    [[nodiscard]] constexpr Span<const char> characters() const noexcept { return characters_; }
    [[nodiscard]] constexpr bool is_null() const noexcept { return characters_.data() == nullptr; }

private:
    Span<const char> characters_;
};

/// A count given by the user in any integer type; what does not fit becomes negative, which every check refuses.
class Count {
public:
    template <std::integral T>
    constexpr Count(T count) noexcept : value_(static_cast<std::int64_t>(count)) {
        if constexpr (!std::signed_integral<T>) value_ = value_ < 0 ? -1 : value_;
    }
    [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

private:
    std::int64_t value_ = 0;
};

}  // namespace graphjit::inline v0
