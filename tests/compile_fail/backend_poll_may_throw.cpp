// expect: graphjit: backend's poll\(\) must be poll\(NativeExec&\) noexcept -> bool
#include <graphjit/graph.hpp>

struct Backend : graphjit::CpuBackend {
#ifdef GRAPHJIT_FAIL
    bool poll(NativeExec&) const { return false; }
#else
    bool poll(NativeExec&) const noexcept { return false; }
#endif
};

bool poll(graphjit::MultiGraphRunner<Backend>& graph) { return graph.poll(); }
