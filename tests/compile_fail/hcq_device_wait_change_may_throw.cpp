// expect: graphjit: device lacks one of value, set_value, wait_change, each noexcept\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    graphjit::Status wait_change(const Signal&, Value) { return {}; }
#else
    graphjit::Status wait_change(const Signal&, Value) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
