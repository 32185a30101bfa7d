// expect: graphjit: a backend must be copyable: each runner has its own\. See docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
#ifdef GRAPHJIT_FAIL
    Backend(Backend&&) noexcept = default;
#else
    Backend(const Backend&) noexcept = default;
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
