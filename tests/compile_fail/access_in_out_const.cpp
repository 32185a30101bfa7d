// expect: graphjit: InOut<const T> could not be written
#include <graphjit/record/access.hpp>

#ifdef GRAPHJIT_FAIL
using Parameter = graphjit::InOut<const float>;
#else
using Parameter = graphjit::InOut<float>;
#endif

void kernel(Parameter) {}
