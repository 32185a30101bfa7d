// Which core a thread runs on.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>

namespace graphjit::inline v0::detail {

[[nodiscard]] inline std::uint32_t usable_cores() noexcept {
#if defined(__linux__)
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<std::uint32_t>(CPU_COUNT(&cores));
#endif
    const long cores_online = sysconf(_SC_NPROCESSORS_ONLN);
    return cores_online < 1 ? 1 : static_cast<std::uint32_t>(cores_online);
}

/// -1 where the system does not tell.
[[nodiscard]] inline std::int32_t current_core() noexcept {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

/// A thread started with the attributes stays on the core; -1: wherever the system puts it.
/// Errors: the system's number.
[[nodiscard]] inline int stay_on([[maybe_unused]] pthread_attr_t& attributes, std::int32_t core) noexcept {
    if (core < 0) return 0;
#if defined(__linux__)
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<unsigned>(core) % CPU_SETSIZE, &cores);
    return pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
#else
    return -1;
#endif
}

/// Moves the calling thread to another of its cores, if it has one, without binding it there.
inline void leave_core([[maybe_unused]] std::int32_t core) noexcept {
#if defined(__linux__)
    cpu_set_t all;
    if (core < 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t others = all;
    CPU_CLR(static_cast<unsigned>(core) % CPU_SETSIZE, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    (void)sched_setaffinity(0, sizeof all, &all);
#endif
}

}  // namespace graphjit::inline v0::detail
