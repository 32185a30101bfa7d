#include <graphjit/observe/text_writer.hpp>

#include "support/random.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace {

using graphjit::detail::TextWriter;
using graphjit::Span;

struct Sink {
    std::string text;
    void operator()(const char* data, std::size_t size) { text.append(data, size); }
};

template <class... Parts>
std::string written(const Parts&... parts) {
    Sink sink;
    TextWriter<Sink> writer(sink);
    (void)(writer << ... << parts);
    return sink.text;
}
std::string name(const std::string& text) { return written(Span<const char>(text.data(), text.size())); }

/// The bytes of a number in 1 to 4 bytes, also where fewer would do or no character has that number.
std::string encoded(std::uint32_t number, unsigned bytes) {
    if (bytes == 1) return {static_cast<char>(number)};
    std::string text;
    for (unsigned i = 0; i + 1 < bytes; ++i, number >>= 6) {
        text.insert(text.begin(), static_cast<char>(0x80 | (number & 0x3f)));
    }
    const unsigned mark = 0xf00u >> bytes & 0xff;
    text.insert(text.begin(), static_cast<char>(mark | number));
    return text;
}
unsigned bytes_needed(std::uint32_t number) {
    return number < 0x80 ? 1u : number < 0x800 ? 2u : number < 0x1'0000 ? 3u : 4u;
}
bool is_character(std::uint32_t number) { return number <= 0x10'ffff && (number < 0xd800 || number > 0xdfff); }

TEST_CASE("TextWriter: texts as they are, numbers in full") {
    CHECK(written("a \"b\"\n", std::int64_t{0}, "", std::int64_t{-12}) == "a \"b\"\n0-12");
    CHECK(written(INT64_MIN) == "-9223372036854775808");
    CHECK(written(INT64_MAX) == "9223372036854775807");
}

TEST_CASE("TextWriter: every character of Unicode is kept, and nothing else that looks like one") {
    unsigned wrong = 0;
    for (std::uint32_t number = 0x80; number < 0x20'0000; ++number) {
        // Beyond Unicode only some: they are all alike.
        if (number > 0x11'0000) number += 0xfff;
        const std::string text = encoded(number, bytes_needed(number));
        const std::string expected = is_character(number) ? text : std::string(text.size(), ' ');
        wrong += name(text) == expected ? 0u : 1u;
    }
    CHECK(wrong == 0);
    for (unsigned bytes = 2; bytes <= 4; ++bytes) {
        const std::uint32_t first_that_needs_it = bytes == 2 ? 0x80u : bytes == 3 ? 0x800u : 0x1'0000u;
        for (std::uint32_t number = 0; number < first_that_needs_it; ++number) {
            wrong += name(encoded(number, bytes)) == std::string(bytes, ' ') ? 0u : 1u;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("TextWriter: a character that ends too soon is left out, what follows it is not") {
    for (unsigned bytes = 2; bytes <= 4; ++bytes) {
        const std::string whole = encoded(bytes == 2 ? 0xe9u : bytes == 3 ? 0x20acu : 0x1'f3b5u, bytes);
        for (unsigned size = 1; size < bytes; ++size) {
            const std::string part = whole.substr(0, size);
            const std::string blank(size, ' ');
            CHECK(name(part) == blank);
            CHECK(name(part + "x") == blank + "x");
            CHECK(name(part + whole) == blank + whole);
            CHECK(name(part + "\"") == blank + "\\\"");
        }
        CHECK(name(whole.substr(1)) == std::string(bytes - 1, ' '));
    }
}

TEST_CASE("TextWriter: of a long name the first thousand bytes, and no part of a character") {
    CHECK(name(std::string(1'000, 'a')).size() == 1'000);
    CHECK(name(std::string(5'000, 'a')).size() == 1'000);
    CHECK(name(std::string(5'000, '"')).size() == 2'000);
    const std::string euro = encoded(0x20ac, 3);
    CHECK(name(std::string(999, 'a') + euro + "b") == std::string(999, 'a') + euro);
    CHECK(name(std::string(1'000, 'a') + euro) == std::string(1'000, 'a'));
    CHECK(name("").empty());
}

TEST_CASE("TextWriter: whatever the bytes, a name cannot leave its quotes") {
    test::Random random(1);
    unsigned wrong = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (unsigned i = random.below(12); i > 0; --i) {
            const char common[] = {'"', '\\', '\n', 0, 'a', static_cast<char>(0xe2), static_cast<char>(0x82)};
            text += random.chance(50) ? common[random.below(sizeof common)] : static_cast<char>(random.below(256));
        }
        std::string plain;  // with its escapes taken back
        const std::string out = name(text);
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (out[i] == '"') ++wrong;
            if (out[i] == '\\' && ++i == out.size()) {
                ++wrong;
                break;
            }
            if (static_cast<unsigned char>(out[i]) < 0x20 || out[i] == 0x7f) ++wrong;
            plain += out[i];
        }
        // Byte for byte what came in, or a blank.
        if (plain.size() != text.size()) ++wrong;
        for (std::size_t i = 0; i < plain.size() && i < text.size(); ++i) {
            if (plain[i] != text[i] && plain[i] != ' ') ++wrong;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace
