// What backends with profiles have in common.
#pragma once

#include <cstdint>

namespace graphjit::inline v0 {

enum class Profiling : std::uint8_t { off, on };

/// Start and end of an op, in ticks of the device that ran it; 0: not stamped.
struct OpStamps {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

/// One moment on two clocks.
struct ClockPoint {
    std::uint64_t ticks = 0;  // the device's
    std::uint64_t ns = 0;     // the host's
};

}  // namespace graphjit::inline v0
