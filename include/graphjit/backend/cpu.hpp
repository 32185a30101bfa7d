// The CPU: ops one after another on the calling thread, in recorded order, which is a topological one.
//
// The executable is a tape: an op's function, then its arguments, then the next op. Each function returns where its
// arguments end, so a replay is a loop of one indirect call per op. Devices are only labels.
#pragma once

#include <graphjit/backend/host.hpp>
#include <graphjit/run/contract.hpp>

namespace graphjit::inline v0 {

struct CpuBackend {
    using kernel_family = HostFamily;
    static constexpr const char* name = "cpu";
    static constexpr BackendLimits limits = {};

    struct NativeGraph {
        detail::Array<std::byte> tape;
        detail::Array<std::uint32_t> blocks;  // by op: offset of its block in the tape
    };
    using NativeExec = NativeGraph;

    [[nodiscard]] Result<NativeGraph> create(const OpList& list) const noexcept {
        NativeGraph graph;
        const std::size_t per_op = sizeof(HostEntry) + host_block_round + max_align;
        if (list.blocks().size() + list.size() * per_op > 0xffff'ffffu) {
            return list.error(ErrorCode::unsupported, "the arguments of a CPU graph exceed 4 GiB");
        }
        if (!graph.tape.reserve(list.blocks().size() + list.size() * per_op) || !graph.blocks.reserve(list.size())) {
            return list.error(ErrorCode::out_of_memory, "no memory for the tape of a CPU graph");
        }
        return graph;
    }

    [[nodiscard]] Status add_node(NativeGraph& graph, const OpView& op, Span<const OpIndex>) const noexcept {
        const KernelInfo& info = *op.record->info;
        while ((graph.tape.size() + sizeof(HostEntry)) % info.block_align != 0) append(graph.tape, &skip);
        append(graph.tape, host_entry(*op.record));
        const auto place = static_cast<std::uint32_t>(graph.tape.size());
        const std::size_t stride = host_block_stride(info.block_bytes);
        std::byte* block = graph.tape.append(stride);
        if (block == nullptr || !graph.blocks.push(place))
            return op.error(ErrorCode::out_of_memory,
                            "no memory for the tape of a CPU graph");               // not after create's reserve
        if (info.block_bytes != 0) std::memcpy(block, op.block, info.block_bytes);  // else there may be no address
        return {};
    }

    [[nodiscard]] Result<NativeExec> instantiate(NativeGraph&& graph) const noexcept { return std::move(graph); }

    [[nodiscard]] std::byte* block(NativeExec& exec, OpIndex op) const noexcept {
        return exec.tape.data() + exec.blocks[to_integer(op)];
    }

    [[nodiscard]] Status launch(NativeExec& exec) const noexcept {
        (void)run_tape(exec.tape.data(), exec.tape.data() + exec.tape.size());
        return {};
    }
    [[nodiscard]] Status wait(NativeExec&) const noexcept { return {}; }

    [[nodiscard]] Status run(const OpView& op) const noexcept {
        (void)host_entry (*op.record)(op.block);
        return {};
    }

private:
    static constexpr std::size_t max_align = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

    /// Stands between two ops where the second one's arguments need a wider alignment.
    static const std::byte* skip(const std::byte* block) noexcept { return block; }

    static void append(detail::Array<std::byte>& tape, HostEntry entry) noexcept {
        std::byte* place = tape.append(sizeof entry);
        if (place != nullptr) std::memcpy(place, &entry, sizeof entry);
    }
};
static_assert(graph_backend<CpuBackend>);

}  // namespace graphjit::inline v0
