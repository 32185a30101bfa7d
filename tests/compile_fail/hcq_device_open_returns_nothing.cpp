// expect: graphjit: device lacks open\(const OpList&\) const -> Status or assign\(const OpList&, const Dag&, const
// expect: HcqOptions&\) const -> Result<QueuePlan>\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    void open(const graphjit::OpList&) const {}
#else
    graphjit::Status open(const graphjit::OpList&) const { return {}; }
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
