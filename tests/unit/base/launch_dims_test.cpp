#include <graphjit/base/launch_dims.hpp>

#include <doctest/doctest.h>

namespace {

namespace gj = graphjit;

TEST_CASE("LaunchDims: what is not said is one") {
    const gj::LaunchDims dims{.groups = {4}, .group_size = {.y = 8}};
    CHECK(dims.groups.x == 4);
    CHECK(dims.groups.y == 1);
    CHECK(dims.groups.z == 1);
    CHECK(dims.group_size.x == 1);
    CHECK(dims.group_size.y == 8);
    CHECK(dims.group_size.z == 1);
}

TEST_CASE("LaunchDims: work-items along x are counted in 64 bits") {
    CHECK(gj::work_items_x({.groups = {3, 100, 100}, .group_size = {5, 100, 100}}) == 15);
    CHECK(gj::work_items_x({.groups = {0xffff'ffffu}, .group_size = {0xffff'ffffu}}) == 0xffff'fffe'0000'0001u);
    CHECK(gj::work_items_x({.groups = {0}, .group_size = {256}}) == 0);
}

TEST_CASE("LaunchDims: empty as soon as one axis has no group") {
    CHECK(!gj::is_empty({.groups = {1, 1, 1}}));
    CHECK(gj::is_empty({.groups = {0, 1, 1}}));
    CHECK(gj::is_empty({.groups = {1, 0, 1}}));
    CHECK(gj::is_empty({.groups = {1, 1, 0}}));
}

TEST_CASE("LaunchDims: each extent keeps its place when the type of all changes") {
    const gj::BasicLaunchDims<std::uint64_t> wide = gj::LaunchDims{.groups = {1, 2, 3}, .group_size = {4, 5, 6}};
    CHECK(wide.groups.x == 1);
    CHECK(wide.groups.y == 2);
    CHECK(wide.groups.z == 3);
    CHECK(wide.group_size.x == 4);
    CHECK(wide.group_size.y == 5);
    CHECK(wide.group_size.z == 6);
}

}  // namespace
