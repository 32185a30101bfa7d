// expect: graphjit: device's patch\(\) must be patch\(Stream&, const OpView&\) noexcept -> Status\. See
// expect: docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void patch(Stream&, const graphjit::OpView&) noexcept {}
#else
    graphjit::Status patch(Stream&, const graphjit::OpView&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
