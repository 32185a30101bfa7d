// expect: graphjit: an input is set to a temporary; it would be gone by replay
#include <graphjit/backend/cpu.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

using Graph = graphjit::MultiGraphRunner<graphjit::CpuBackend>;

struct Floats {
    ~Floats() {}
    float* data() { return memory; }
    unsigned size() { return 4; }
    float memory[4];
};
void bind(Graph& graph, const graphjit::Input<float>& in) {
#ifdef GRAPHJIT_FAIL
    graph.set(in, Floats());
#else
    Floats floats;
    graph.set(in, floats);
#endif
}
