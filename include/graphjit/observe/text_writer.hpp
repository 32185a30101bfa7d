// Text into a sink, a callable `(const char* data, std::size_t size)`.
#pragma once

#include <graphjit/base/error.hpp>
#include <graphjit/base/span.hpp>

namespace graphjit::inline v0::detail {

template <class Sink>
class TextWriter {
public:
    explicit TextWriter(Sink& sink) noexcept : sink_(sink) {}

    TextWriter& operator<<(const char* text) {
        std::size_t size = 0;
        while (text[size] != 0) ++size;
        sink_(text, size);
        return *this;
    }
    TextWriter& operator<<(std::int64_t value) { return *this << ErrorText().add(value).c_str(); }
    /// A name inside double quotes, for DOT and JSON alike: quotes are escaped, and what is neither printable nor UTF-8
    /// is left out.
    TextWriter& operator<<(Span<const char> name) {
        constexpr std::size_t most = 1000;  // Graphviz gives up on strings of 16 KiB
        const std::size_t end = name.size() < most ? name.size() : most;
        for (std::size_t i = 0; i < end;) {
            const std::size_t bytes = character_bytes(name, i);
            if (bytes == 0) {
                sink_(" ", 1);
                ++i;
                continue;
            }
            if (name[i] == '"' || name[i] == '\\') sink_("\\", 1);
            sink_(name.data() + i, bytes);
            i += bytes;
        }
        return *this;
    }

private:
    /// Of the character that begins at `i`; 0: nothing to print.
    [[nodiscard]] static std::size_t character_bytes(Span<const char> text, std::size_t i) noexcept {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
        const unsigned char first = byte(i);
        if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
        const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
        if (first < 0xc2 || first > 0xf4 || i + bytes > text.size()) return 0;
        for (std::size_t at = i + 1; at < i + bytes; ++at) {
            if ((byte(at) & 0xc0) != 0x80) return 0;
        }
        const unsigned char second = byte(i + 1);  // too long a form, a surrogate, or beyond Unicode
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
            (first == 0xf4 && second > 0x8f)) {
            return 0;
        }
        return bytes;
    }

    Sink& sink_;
};

}  // namespace graphjit::inline v0::detail
