// expect: graphjit: backend's reaches\(\) must be reaches\(DeviceId, DeviceId\) const noexcept -> bool\. See
// docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    bool reaches(graphjit::DeviceId, graphjit::DeviceId) noexcept { return true; }
#else
    bool reaches(graphjit::DeviceId, graphjit::DeviceId) const noexcept { return true; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
