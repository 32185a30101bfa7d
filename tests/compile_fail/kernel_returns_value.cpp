// expect: graphjit: a kernel returns void; give its result through an Out<T>
#include <graphjit/record/host_kernel.hpp>

#ifdef GRAPHJIT_FAIL
float sum(const float*) { return 0; }
#else
void sum(const float*, graphjit::Out<float>) {}
#endif

auto summed = graphjit::kernel<sum>;
