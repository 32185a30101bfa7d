// expect: graphjit: Array moves its elements as bytes
#include <graphjit/base/array.hpp>

struct Name {
#ifdef GRAPHJIT_FAIL
    ~Name() {}
#endif
    char text[8];
};

graphjit::detail::Array<Name> names;
