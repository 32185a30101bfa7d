// expect: graphjit: an input is set to something that is no memory of its element type
#include <graphjit/graph.hpp>

void set(graphjit::MultiGraphRunner<graphjit::CpuBackend>& graph, graphjit::Input<float> in, int* integers,
         float* numbers) {
#ifdef GRAPHJIT_FAIL
    graph.set(in, integers);
#else
    graph.set(in, numbers);
    (void)integers;
#endif
}
