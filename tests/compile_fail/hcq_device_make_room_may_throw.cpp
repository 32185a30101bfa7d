// expect: graphjit: device lacks one of turnstile, timeline, make_room, has_room, submit, take_failure, each
// expect: noexcept\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    graphjit::Status make_room(Stream&) { return {}; }
#else
    graphjit::Status make_room(Stream&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
