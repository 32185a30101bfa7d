#include <graphjit/base/error.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

namespace gj = graphjit;

gj::ShortName short_name(const std::string& text) { return gj::ShortName({text.data(), text.size()}); }
std::string text_of(std::int64_t value) { return gj::ErrorText().add(value).c_str(); }
std::string message(const gj::Error& error) { return error.message().c_str(); }

TEST_CASE("ShortName: keeps what fits and ends there") {
    CHECK(gj::ShortName().empty());
    CHECK(std::string(gj::ShortName().c_str()) == "");
    CHECK(short_name("").empty());
    CHECK(std::string(short_name("gain").c_str()) == "gain");
    CHECK(!short_name("gain").empty());
    const std::string longest(39, 'x');
    CHECK(short_name(longest).c_str() == longest);
    CHECK(short_name(longest + 'y').c_str() == longest);
    CHECK(short_name(std::string(10'000, 'x')).c_str() == longest);
}

TEST_CASE("ShortName: takes part of a text, which need not end there") {
    const char text[] = "gain and more";
    CHECK(std::string(gj::ShortName({text, 4}).c_str()) == "gain");
}

TEST_CASE("ErrorText: numbers are decimal, to both ends") {
    CHECK(text_of(0) == "0");
    CHECK(text_of(7) == "7");
    CHECK(text_of(-7) == "-7");
    CHECK(text_of(1'234'567'890) == "1234567890");
    CHECK(text_of(INT64_MAX) == "9223372036854775807");
    CHECK(text_of(INT64_MIN) == "-9223372036854775808");
}

TEST_CASE("ErrorText: a text that does not fit is cut, and still ends") {
    gj::ErrorText text;
    std::string all;
    for (int i = 0; i < 100; ++i) {
        text.add("piece ").add(std::int64_t{i});
        all += "piece " + std::to_string(i);
    }
    const std::string kept = text.c_str();
    CHECK(kept.size() >= 300);
    CHECK(kept.size() < sizeof(gj::ErrorText));
    CHECK(kept == all.substr(0, kept.size()));
    text.add("more");
    CHECK(kept == text.c_str());
    CHECK(std::string(gj::ErrorText().add(nullptr).add("a").add("").c_str()) == "a");
}

TEST_CASE("ErrorText: a copy owns its text") {
    gj::ErrorText original;
    original.add("first");
    const gj::ErrorText copy = original;
    original.add(", second");
    CHECK(std::string(copy.c_str()) == "first");
}

TEST_CASE("Error: the message names op, slot, numbers and the vendor's code, as far as there are some") {
    gj::Error error;
    error.code = gj::ErrorCode::too_small;
    error.text = "an input is too small";
    CHECK(message(error) == "graphjit: an input is too small");

    error.slot_name = short_name("in");
    CHECK(message(error) == "graphjit: an input is too small: slot 'in'");

    error.op = gj::OpIndex{2};
    error.op_name = short_name("gain");
    CHECK(message(error) == "graphjit: an input is too small: op 2 'gain', slot 'in'");

    error.has_value = true;
    error.value = -64;
    error.limit = 512;
    CHECK(message(error) == "graphjit: an input is too small: op 2 'gain', slot 'in': given -64, limit 512");

    error.native_name = "CUDA_ERROR_INVALID_VALUE";
    error.native = 1;
    CHECK(
        message(error) ==
        "graphjit: an input is too small: op 2 'gain', slot 'in': given -64, limit 512: CUDA_ERROR_INVALID_VALUE (1)");

    error.slot_name = {};
    error.has_value = false;
    CHECK(message(error) == "graphjit: an input is too small: op 2 'gain': CUDA_ERROR_INVALID_VALUE (1)");
}

TEST_CASE("Error: op 0 is an op, and no op is not one") {
    gj::Error error;
    error.code = gj::ErrorCode::unbound;
    error.text = "text";
    error.op = gj::OpIndex{0};
    CHECK(message(error) == "graphjit: text: op 0 ''");
    error.op = gj::OpIndex::none;
    CHECK(message(error) == "graphjit: text");
}

TEST_CASE("Error: the two numbers can be called what they are") {
    gj::Error error;
    error.code = gj::ErrorCode::misaligned;
    error.text = "text";
    error.has_value = true;
    error.value = 6;
    error.limit = 4;
    CHECK(message(error) == "graphjit: text: given 6, limit 4");
    error.value_is = "address";
    error.limit_is = "alignment";
    CHECK(message(error) == "graphjit: text: address 6, alignment 4");
}

TEST_CASE("Error: none is ok, and says so") { CHECK(message(gj::Error()) == "graphjit: ok"); }

TEST_CASE("Error: the longest names still leave room for the numbers") {
    gj::Error error;
    error.code = gj::ErrorCode::overlap;
    const std::string longest(100, 'x');
    error.text = "an input shares memory with something the graph does not order it against; see may_alias";
    error.op = gj::OpIndex{4'294'967'294u};
    error.op_name = short_name(longest);
    error.slot_name = short_name(longest);
    error.has_value = true;
    error.value = INT64_MIN;
    error.limit = INT64_MIN;
    const std::string line = message(error);
    CHECK(line.find("given -9223372036854775808, limit -9223372036854775808") != std::string::npos);
}

TEST_CASE("Error: names outlive what they were taken from") {
    gj::Error error;
    error.code = gj::ErrorCode::unbound;
    error.text = "text";
    {
        std::string name = "a slot";
        error.slot_name = short_name(name);
        name.assign(name.size(), '#');
    }
    const gj::Error copy = error;
    CHECK(message(copy) == "graphjit: text: slot 'a slot'");
}

}  // namespace
