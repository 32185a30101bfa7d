// expect: graphjit: backend lacks add_node
// expect: graphjit: backend lacks static constexpr BackendLimits limits
// expect: graphjit: wait\(\) is on the replay path
#include <graphjit/backend/null.hpp>
#include <graphjit/run/adversarial_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    static constexpr int limits = 1024;
    void add_node() = delete;
    graphjit::Status wait(NativeExec&) { return {}; }
#endif
};

static_assert(sizeof(graphjit::AdversarialRunner<Backend>) != 0);
