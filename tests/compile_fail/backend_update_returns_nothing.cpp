// expect: graphjit: update\(\) is on the replay path and must be noexcept and return Status\. See
// docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    void update(NativeExec&, const graphjit::OpView&) noexcept {}
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
