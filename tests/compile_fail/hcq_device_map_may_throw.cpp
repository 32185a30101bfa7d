// expect: graphjit: device lacks map\(DeviceId, const MemoryView&\) noexcept -> Status\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    graphjit::Status map(graphjit::DeviceId, const graphjit::MemoryView&) { return {}; }
#else
    graphjit::Status map(graphjit::DeviceId, const graphjit::MemoryView&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
