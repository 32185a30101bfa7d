// expect: graphjit: Out<const T> could not be written
#include <graphjit/record/access.hpp>

#ifdef GRAPHJIT_FAIL
using Parameter = graphjit::Out<const float>;
#else
using Parameter = graphjit::Out<float>;
#endif

void kernel(Parameter) {}
