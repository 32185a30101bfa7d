// expect: graphjit: device lacks run\(const OpView&\) noexcept -> Status or read_clock\(DeviceId\) noexcept ->
// expect: ClockPoint\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void read_clock() = delete;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
