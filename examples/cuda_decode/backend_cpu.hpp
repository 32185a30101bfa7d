// The calling thread.
#pragma once

#include "backend_host.hpp"

namespace decode {

using Backend = gj::CpuBackend;
inline constexpr const char* backend_name = "cpu";
inline constexpr bool returns_early = false;

class Device : public HostDevice {
public:
    [[nodiscard]] Backend backend() const { return {}; }
};

}  // namespace decode
