// The kernels that cases and tests share: 32-bit integers, so that every result is exact.
#pragma once

#include <graphjit/base/launch_dims.hpp>
#include <graphjit/record/host_kernel.hpp>

#include <cstdint>

namespace test {

namespace gj = graphjit;

/// What outputs hold before a replay: no case computes it.
inline constexpr std::int32_t poison = -7;

/// Long enough for another thread to run into a missing edge.
inline void spin() noexcept {
    int turns = 0;
    volatile int* seen = &turns;
    while (*seen < 3000) *seen = *seen + 1;
}

namespace kernels {

template <int N>
void fill(gj::Out<std::int32_t> o, std::int32_t v) {
    for (int i = 0; i < N; ++i) o[i] = v;
}
template <int N>
void slow_fill(gj::Out<std::int32_t> o, std::int32_t v) {
    spin();
    for (int i = 0; i < N; ++i) o[i] = v;
}
/// Wraps around, so that it may be applied again and again.
template <int N>
void mix(gj::Out<std::int32_t> o, const std::int32_t* a, std::int32_t k) {
    for (int i = 0; i < N; ++i) {
        o[i] = static_cast<std::int32_t>(3u * static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(k));
    }
}
template <int N>
void add(gj::Out<std::int32_t> o, const std::int32_t* a, const std::int32_t* b) {
    for (int i = 0; i < N; ++i) o[i] = a[i] + b[i];
}
template <int N>
void inc(std::int32_t* x) {
    for (int i = 0; i < N; ++i) x[i] += 1;
}
template <int N>
void slow(gj::Out<std::int32_t> o, const std::int32_t* a) {
    spin();
    for (int i = 0; i < N; ++i) o[i] = a[i];
}
/// Every work-item writes its number, from 1 on.
inline void iota(const gj::LaunchDims& dims, gj::Out<std::int32_t> o) {
    for (std::uint64_t i = 0; i < work_items_x(dims); ++i) o[i] = static_cast<std::int32_t>(i + 1);
}

}  // namespace kernels

template <int N = 4>
inline constexpr gj::HostKernel<&kernels::fill<N>> fill{};
template <int N = 4>
inline constexpr gj::HostKernel<&kernels::slow_fill<N>> slow_fill{};
template <int N = 4>
inline constexpr gj::HostKernel<&kernels::mix<N>> mix{};
template <int N = 4>
inline constexpr gj::HostKernel<&kernels::add<N>> add{};
template <int N = 4>
inline constexpr gj::HostKernel<&kernels::inc<N>> inc{};
template <int N = 4>
inline constexpr gj::HostKernel<&kernels::slow<N>> slow{};
inline constexpr gj::HostKernel<&kernels::iota> iota{};

}  // namespace test
