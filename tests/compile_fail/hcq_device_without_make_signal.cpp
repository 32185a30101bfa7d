// expect: graphjit: device lacks make_signal\(DeviceId\), make_stream\(const QueueRecord&, const StreamSize&\) or
// expect: make_arguments\(std::size_t\)\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void make_signal() = delete;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
