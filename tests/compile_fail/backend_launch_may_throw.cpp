// expect: graphjit: launch\(\) is on the replay path and must be noexcept\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status launch(NativeExec&) { return {}; }
#else
    graphjit::Status launch(NativeExec&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
