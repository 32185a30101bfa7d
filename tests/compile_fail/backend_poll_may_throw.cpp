// expect: graphjit: backend's poll\(\) must be poll\(NativeExec&\) noexcept -> bool\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    bool poll(NativeExec&) { return true; }
#else
    bool poll(NativeExec&) noexcept { return true; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
