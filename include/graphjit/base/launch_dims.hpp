// How much of a kernel is launched.
#pragma once

#include <concepts>
#include <cstdint>

namespace graphjit::inline v0 {

template <class T>
struct Extent {
    T x = 1;
    T y = 1;
    T z = 1;
};

/// Size of a launch.
/// Units: `groups` counts groups per axis, `group_size` work-items per group and axis. Zero groups is legal: the op
///        does nothing and keeps its place in the order. `shared_bytes`: memory that a group's work-items share, beyond
///        what the kernel's code asks for by itself; host kernels are given none.
template <class T>
struct BasicLaunchDims {
    Extent<T> groups = {};
    Extent<T> group_size = {};
    T shared_bytes = 0;

    template <class U>
        requires(std::convertible_to<T, U> && !std::same_as<T, U>)
    constexpr operator BasicLaunchDims<U>() const {
        return {.groups = {groups.x, groups.y, groups.z},
                .group_size = {group_size.x, group_size.y, group_size.z},
                .shared_bytes = shared_bytes};
    }
};

/// The dims of one launch, as kernels and backends see them.
using LaunchDims = BasicLaunchDims<std::uint32_t>;

/// Work-items over all axes along x: what a one-dimensional kernel loops over.
[[nodiscard]] constexpr std::uint64_t work_items_x(const LaunchDims& dims) noexcept {
    return std::uint64_t{dims.groups.x} * dims.group_size.x;
}

[[nodiscard]] constexpr bool is_empty(const LaunchDims& dims) noexcept {
    return dims.groups.x == 0 || dims.groups.y == 0 || dims.groups.z == 0;
}

}  // namespace graphjit::inline v0
