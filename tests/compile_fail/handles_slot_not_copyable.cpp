// expect: graphjit: Slot<T> is copied as bytes
#include <graphjit/record/handles.hpp>

struct Name {
#ifdef GRAPHJIT_FAIL
    ~Name() {}
#endif
    char text[8];
};

graphjit::Slot<Name> slot;
