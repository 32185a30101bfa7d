// expect: graphjit: an input is set to a temporary; it would be gone by replay
#include <graphjit/graph.hpp>

#include <vector>

void set(graphjit::MultiGraphRunner<graphjit::CpuBackend>& graph, graphjit::Input<float> in) {
#ifdef GRAPHJIT_FAIL
    graph.set(in, std::vector<float>(4));
#else
    static std::vector<float> memory(4);
    graph.set(in, memory);
#endif
}
