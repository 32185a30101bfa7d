// expect: graphjit: profiles need a device with a clock: stamp and read_clock\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void stamp() = delete;
    void read_clock() = delete;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device, graphjit::Profiling::off>) != 0);
static_assert(sizeof(graphjit::HcqBackend<Device, graphjit::Profiling::on>) != 0);
