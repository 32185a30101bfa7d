// expect: graphjit: backend lacks create\(const OpList&\) -> Result<NativeGraph>\.
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    NativeGraph create(const graphjit::OpList&) const { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
