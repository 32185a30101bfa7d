// expect: graphjit: backend lacks the type kernel_family\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/record/recorder.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
private:
    using kernel_family = void;
#endif
};

graphjit::Recorder<Backend> rec;
