// expect: graphjit: device lacks kernel_family, limits, compute_order or max_value\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void max_value() = delete;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
