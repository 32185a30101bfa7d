// expect: graphjit: backend lacks a nothrow-movable type NativeGraph\.
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    struct NativeGraph {
        NativeGraph(const NativeGraph&) noexcept(false) {}
    };
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
