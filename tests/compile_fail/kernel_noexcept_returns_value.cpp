// expect: graphjit: a kernel returns void; give its result through an Out<T>
#include <graphjit/record/host_kernel.hpp>

#ifdef GRAPHJIT_FAIL
int sum(const float*) noexcept { return 0; }
#else
void sum(const float*, graphjit::Out<float>) noexcept {}
#endif

auto summed = graphjit::kernel<sum>;
