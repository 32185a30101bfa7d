// expect: graphjit: device lacks one of barrier, wait, signal, exec, finish, each on a Stream& and returning Status\.
// expect: See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void exec(Stream&, const graphjit::OpView&) {}
#else
    graphjit::Status exec(Stream&, const graphjit::OpView&) { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
