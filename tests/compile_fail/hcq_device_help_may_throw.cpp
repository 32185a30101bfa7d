// expect: graphjit: a device that helps has take\(Stream&\) -> bool, submit\(Stream&, bool wakes\) and
// expect: help\(Stream&\), each noexcept\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void help(Stream&) {}
#else
    void help(Stream&) noexcept {}
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
