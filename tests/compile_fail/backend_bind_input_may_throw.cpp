// expect: graphjit: backend's bind_input\(\) must be bind_input\(NativeExec&, const MemoryView&\) noexcept -> Status\.
// expect: See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status bind_input(NativeExec&, const graphjit::MemoryView&) { return {}; }
#else
    graphjit::Status bind_input(NativeExec&, const graphjit::MemoryView&) noexcept { return {}; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
