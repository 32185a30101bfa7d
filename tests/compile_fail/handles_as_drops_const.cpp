// expect: graphjit: as<U>\(\) cannot drop const
#include <graphjit/record/handles.hpp>

#ifdef GRAPHJIT_FAIL
using Element = int;
#else
using Element = const int;
#endif

auto cast(const graphjit::Buffer<const float>& buffer) { return buffer.as<Element>(); }
