// A device that does nothing, at the cost of nothing: what graphjit itself costs, and the shortest backend to read.
#pragma once

#include <graphjit/record/host_kernel.hpp>
#include <graphjit/run/contract.hpp>

namespace graphjit::inline v0 {

struct NullBackend {
    using kernel_family = HostFamily;
    static constexpr const char* name = "null";
    static constexpr BackendLimits limits = {};

    struct NativeGraph {
        detail::Array<std::byte> blocks;
        detail::Array<std::uint32_t> offsets;  // by op
    };
    using NativeExec = NativeGraph;

    [[nodiscard]] Result<NativeGraph> create(const OpList& list) const noexcept {
        NativeGraph graph;
        if (!graph.offsets.reserve(list.size()) ||
            !graph.blocks.append_copy(list.blocks().data(), list.blocks().size())) {
            return list.error(ErrorCode::out_of_memory, "no memory for a null graph");
        }
        return graph;
    }
    [[nodiscard]] Status add_node(NativeGraph& graph, const OpView& op, Span<const OpIndex>) const noexcept {
        graph.offsets.push_reserved(op.record->block);
        return {};
    }
    [[nodiscard]] Result<NativeExec> instantiate(NativeGraph&& graph) const noexcept { return std::move(graph); }
    [[nodiscard]] std::byte* block(NativeExec& exec, OpIndex op) const noexcept {
        return exec.blocks.data() + exec.offsets[to_integer(op)];
    }
    [[nodiscard]] Status launch(NativeExec&) const noexcept { return {}; }
    [[nodiscard]] Status wait(NativeExec&) const noexcept { return {}; }
    [[nodiscard]] Status run(const OpView&) const noexcept { return {}; }
};
static_assert(graph_backend<NullBackend>);

}  // namespace graphjit::inline v0
