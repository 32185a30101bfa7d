// expect: graphjit: kernel<F> takes a function or a captureless lambda
#include <graphjit/record/host_kernel.hpp>

#ifdef GRAPHJIT_FAIL
constexpr int gain = 4;
#else
void gain(float*) {}
#endif

auto gained = graphjit::kernel<gain>;
