// expect: graphjit: backend lacks a nothrow-movable type NativeExec\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
private:
    struct NativeExec {};

public:
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
