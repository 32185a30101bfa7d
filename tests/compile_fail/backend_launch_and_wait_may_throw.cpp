// expect: graphjit: backend's launch_and_wait\(\) must be launch_and_wait\(NativeExec&\) noexcept -> Status\. See
// expect: docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status launch_and_wait(NativeExec&) { return {}; }
#else
    graphjit::Status launch_and_wait(NativeExec&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
