// expect: graphjit: device lacks kernel_family
// expect: graphjit: device lacks one of barrier, wait, signal
// expect: graphjit: device lacks run\(const OpView&\)
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void limits() = delete;
    void finish() = delete;
    void run() = delete;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
