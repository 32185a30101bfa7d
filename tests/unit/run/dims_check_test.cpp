#include <graphjit/run/dims_check.hpp>

#include "support/kernels.hpp"
#include "support/ways.hpp"

namespace {

using namespace test;

constexpr gj::BackendLimits limits{.groups = {100, 10, 5}, .group_size = {64, 8, 4}, .group_items = 128};

gj::Status check(const gj::LaunchExprs& dims, const gj::BackendLimits& against = limits) {
    CpuRecorder rec;
    (void)rec.launch("op", iota, dims, nullptr);
    const CpuList list = std::move(rec).finish().value();
    return gj::detail::check_recorded_dims(list, op(0), against);
}

TEST_CASE("dims: each axis up to its limit, and a group up to its own") {
    CHECK(check({.groups = {100, 10, 5}, .group_size = {64, 2, 1}}).ok());
    CHECK(check({.groups = {0, 0, 0}}).ok());
    CHECK(check({.groups = {1}, .group_size = {4, 8, 4}}).ok());
    const struct {
        gj::LaunchExprs dims;
        std::int64_t value, limit;
    } refused[] = {
        {{.groups = {101}}, 101, 100},
        {{.groups = {1, 11}}, 11, 10},
        {{.groups = {1, 1, 6}}, 6, 5},
        {{.group_size = {65}}, 65, 64},
        {{.group_size = {1, 9}}, 9, 8},
        {{.group_size = {1, 1, 5}}, 5, 4},
        {{.group_size = {64, 3}}, 3, 128},
        {{.group_size = {43, 1, 3}}, 3, 128},
        {{.groups = {0xffff'ffffu}}, 0xffff'ffffu, 100},
    };
    for (const auto& one : refused) {
        const gj::Status status = check(one.dims);
        CAPTURE(one.value);
        REQUIRE(!status.ok());
        CHECK(status.code() == gj::ErrorCode::dims_limit);
        CHECK(status.error().has_value);
        CHECK(status.error().value == one.value);
        CHECK(status.error().limit == one.limit);
        CHECK(status.error().op == op(0));
        CHECK(std::string(status.error().op_name.c_str()) == "op");
    }
}

TEST_CASE("dims: shared memory up to its limit, in words of its own") {
    constexpr gj::BackendLimits small_limits{.shared_bytes = 1000};
    CHECK(check({.shared_bytes = 1000}, small_limits).ok());
    const gj::Status status = check({.shared_bytes = 1001}, small_limits);
    CHECK(status.code() == gj::ErrorCode::dims_limit);
    CHECK(std::string(status.message().c_str()) ==
          "graphjit: a launch asks for more shared memory than the backend's limit: op 0 'op': given 1001, limit 1000");
    CHECK(check({.shared_bytes = 0xffff'ffffu}, {}).ok());
}

TEST_CASE("dims: the largest there are fit where nothing is limited") {
    CHECK(check({.groups = {0xffff'ffffu, 0xffff'ffffu, 0xffff'ffffu}, .group_size = {0xffff'ffffu, 0xffff'ffffu}}, {})
              .ok());
    // Their product leaves 64 bits, and still is more than the limit.
    CHECK(!check({.group_size = {0xffff'ffffu, 0xffff'ffffu, 0xffff'ffffu}}, {.group_items = 1u << 30}).ok());
    const std::uint64_t half = std::uint64_t{1} << 63;
    CHECK(check({.group_size = {0x8000'0000u, 0x8000'0000u, 2}}, {.group_items = half}).ok());
    CHECK(!check({.group_size = {0x8000'0000u, 0x8000'0000u, 4}}, {.group_items = half}).ok());
}

TEST_CASE("dims: those that depend on a Variable are left to the replay") {
    CpuRecorder rec;
    const auto n = rec.variable("n", {.min = 1, .max = 1'000});
    (void)rec.launch(iota, {.groups = {n}, .group_size = {n, n}}, nullptr);
    (void)rec.launch(iota, {.groups = {n}, .group_size = {n, 9}}, nullptr);
    (void)rec.launch(iota, {.groups = {n}, .group_size = {n, 8, 4}}, nullptr);
    const CpuList list = std::move(rec).finish().value();
    CHECK(gj::detail::check_recorded_dims(list, op(0), limits).ok());
    CHECK(!gj::detail::check_recorded_dims(list, op(1), limits).ok());
    CHECK(gj::detail::check_recorded_dims(list, op(2), limits).ok());
}

TEST_CASE("dims: a kernel without any has none to check") {
    CpuRecorder rec;
    (void)rec.launch(inc<>, nullptr);
    const CpuList list = std::move(rec).finish().value();
    CHECK(gj::detail::check_recorded_dims(list, op(0), {.groups = {0, 0, 0}, .group_items = 0}).ok());
}

}  // namespace
