// expect: graphjit: a device must be a copyable handle
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    Device(Device&&) noexcept;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
