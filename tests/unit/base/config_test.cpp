#include <graphjit/base/config.hpp>

#include <graphjit/base/version.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

template <int N>
std::string own_name() {
    return GRAPHJIT_FUNCTION_NAME;
}

TEST_CASE("config: exceptions are on where the compiler has them on") {
#ifdef __cpp_exceptions
    CHECK(GRAPHJIT_EXCEPTIONS == 1);
#else
    CHECK(GRAPHJIT_EXCEPTIONS == 0);
#endif
}

TEST_CASE("config: a function's name tells its template arguments") {
    CHECK(own_name<3>() != own_name<4>());
    CHECK(own_name<3>().find("own_name") != std::string::npos);
}

TEST_CASE("version: three numbers that the preprocessor can compare") {
#if GRAPHJIT_VERSION_MAJOR * 10000 + GRAPHJIT_VERSION_MINOR * 100 + GRAPHJIT_VERSION_PATCH >= 100
    const bool at_least_0_1 = true;
#else
    const bool at_least_0_1 = false;
#endif
    CHECK(at_least_0_1);
}

}  // namespace
