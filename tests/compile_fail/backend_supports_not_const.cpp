// expect: graphjit: backend's supports\(\) must be supports\(const OpView&\) const noexcept -> Status
#include <graphjit/graph.hpp>

struct Backend : graphjit::CpuBackend {
#ifdef GRAPHJIT_FAIL
    graphjit::Status supports(const graphjit::OpView&) noexcept { return {}; }
#else
    graphjit::Status supports(const graphjit::OpView&) const noexcept { return {}; }
#endif
};

bool poll(graphjit::MultiGraphRunner<Backend>& graph) { return graph.poll(); }
