// expect: graphjit: a backend must be nothrow-movable\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    Backend() = default;
    Backend(const Backend&) noexcept(false) {}
#else
    Backend() = default;
    Backend(const Backend&) noexcept {}
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
