// Threads of the CPU: a token's query, key and value come from different ones, if that is worth the signals.
#pragma once

#include "backend_host.hpp"

#include <graphjit/backend/threads.hpp>

namespace decode {

using Backend = gj::ThreadBackend;
inline constexpr const char* backend_name = "threads";
inline constexpr bool returns_early = true;

class Device : public HostDevice {
public:
    [[nodiscard]] Backend backend() const { return Backend(devices_); }

private:
    gj::ThreadDevices devices_{{.compute_queues = 2}};
};

}  // namespace decode
