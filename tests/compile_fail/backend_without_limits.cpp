// expect: graphjit: backend lacks static constexpr BackendLimits limits\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    static constexpr int limits = 1024;
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
