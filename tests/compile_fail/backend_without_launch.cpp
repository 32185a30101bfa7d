// expect: graphjit: backend lacks launch\(NativeExec&\) -> Status\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    void launch() = delete;
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
