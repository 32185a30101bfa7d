// expect: graphjit: backend's update\(\) must be update\(NativeExec&, const OpView&\) noexcept -> Status\. See
// docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status update(NativeExec&, graphjit::OpIndex) noexcept { return {}; }
#else
    graphjit::Status update(NativeExec&, const graphjit::OpView&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
