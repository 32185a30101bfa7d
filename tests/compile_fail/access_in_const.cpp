// expect: graphjit: write In<T>, it is read-only by itself
#include <graphjit/record/access.hpp>

#ifdef GRAPHJIT_FAIL
using Parameter = graphjit::In<const float>;
#else
using Parameter = graphjit::In<float>;
#endif

void kernel(Parameter) {}
