// expect: graphjit: backend lacks add_node\(NativeGraph&, const OpView&, Span<const OpIndex>\) -> Status\. See
// docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    void add_node() = delete;
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
