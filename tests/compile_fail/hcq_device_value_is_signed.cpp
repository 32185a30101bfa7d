// expect: graphjit: a device must be a copyable handle with nothrow-movable types Signal, Stream, Arguments and an
// expect: unsigned type Value\. See docs/adding_a_backend\.md
#include <graphjit/backend/threads.hpp>

struct Device : graphjit::ThreadDevice {
#ifdef GRAPHJIT_FAIL
    using Value = std::int32_t;
#else
    using Value = std::uint32_t;
#endif
};

static_assert(sizeof(graphjit::HcqBackend<Device>) != 0);
