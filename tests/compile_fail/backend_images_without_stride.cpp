// expect: graphjit: images need image_count\(NativeExec&\) noexcept -> std::uint32_t, image_stride\(NativeExec&\)
// expect: noexcept -> std::size_t and next_image\(NativeExec&\) noexcept -> std::uint32_t\. See
// expect: docs/adding_a_backend\.md
#include <graphjit/backend/null.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

struct Backend : graphjit::NullBackend {
    std::uint32_t image_count(NativeExec&) noexcept { return 1; }
    std::uint32_t next_image(NativeExec&) noexcept { return 0; }
#ifndef GRAPHJIT_FAIL
    std::size_t image_stride(NativeExec&) noexcept { return 0; }
#endif
};

static_assert(sizeof(graphjit::MultiGraphRunner<Backend>) != 0);
