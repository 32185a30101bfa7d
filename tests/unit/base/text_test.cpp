#include <graphjit/base/text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

namespace gj = graphjit;

std::string taken(gj::Text text) { return {text.characters().begin(), text.characters().end()}; }

TEST_CASE("Text: made of a literal, a pointer, a string or a part of one") {
    const std::string string = "a string, too long to be kept in place";
    const char* pointer = "pointer";
    CHECK(taken("literal") == "literal");
    CHECK(taken(pointer) == "pointer");
    CHECK(taken(string) == string);
    CHECK(taken(std::string_view(string).substr(2, 6)) == "string");
    CHECK(taken(std::string("temporary")) == "temporary");
    CHECK(taken(std::string("with\0null", 9)).size() == 9);
}

TEST_CASE("Text: null is no text, and an empty text is one") {
    CHECK(gj::Text().is_null());
    CHECK(gj::Text(nullptr).is_null());
    CHECK(gj::Text(static_cast<const char*>(nullptr)).is_null());
    CHECK(taken(nullptr) == "");
    CHECK(!gj::Text("").is_null());
    CHECK(!gj::Text(std::string()).is_null());
    CHECK(taken("") == "");
}

TEST_CASE("Text: made of nothing that is no text") {
    CHECK(!std::is_convertible_v<int, gj::Text>);
    CHECK(!std::is_convertible_v<std::vector<int>, gj::Text>);
    CHECK(!std::is_convertible_v<float*, gj::Text>);
    CHECK(std::is_convertible_v<const std::string&, gj::Text>);
    CHECK(std::is_convertible_v<char*, gj::Text>);
}

TEST_CASE("Count: an integer of any type, negative where 64 bits cannot hold it") {
    CHECK(gj::Count(7).value() == 7);
    CHECK(gj::Count(-7).value() == -7);
    CHECK(gj::Count(std::size_t{7}).value() == 7);
    CHECK(gj::Count(std::uint8_t{255}).value() == 255);
    CHECK(gj::Count(std::int8_t{-1}).value() == -1);
    CHECK(gj::Count(std::uint32_t{0xffff'ffffu}).value() == 0xffff'ffff);
    CHECK(gj::Count(INT64_MAX).value() == INT64_MAX);
    CHECK(gj::Count(INT64_MIN).value() == INT64_MIN);
    CHECK(gj::Count(std::uint64_t{INT64_MAX}).value() == INT64_MAX);
    CHECK(gj::Count(std::uint64_t{INT64_MAX} + 1).value() < 0);
    CHECK(gj::Count(UINT64_MAX).value() < 0);
    CHECK(!std::is_convertible_v<double, gj::Count>);
    CHECK(!std::is_convertible_v<void*, gj::Count>);
}

}  // namespace
