// expect: graphjit: backend's supports\(\) must be supports\(const OpView&\) const noexcept -> Status\. See
// docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status supports(const graphjit::OpView&) const { return {}; }
#else
    graphjit::Status supports(const graphjit::OpView&) const noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
