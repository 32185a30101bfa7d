// expect: graphjit: an input is set to something that is no memory of its element type
#include <graphjit/backend/cpu.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

using Graph = graphjit::MultiGraphRunner<graphjit::CpuBackend>;

void bind(Graph& graph, const graphjit::Input<float>& in) {
#ifdef GRAPHJIT_FAIL
    const float memory[4] = {};
    graph.set(in, memory);
#else
    float memory[4] = {};
    graph.set(in, memory);
#endif
}
