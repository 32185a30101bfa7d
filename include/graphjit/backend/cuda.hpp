// NVIDIA GPUs: graphs of the CUDA driver.
//
// op = node, with exactly the edges of the plan; native graph = CUgraph; executable = CUgraphExec; launch =
// cuGraphLaunch. What a replay changes is set in the executable, node by node, or, for kernels that read their
// arguments from memory of the graph (`via_block`), written there at once.
#pragma once

#include <graphjit/backend/cuda_builder.hpp>
#include <graphjit/backend/cuda_captures.hpp>
#include <graphjit/backend/cuda_eager.hpp>

namespace graphjit::inline v0 {

/// `Api`: whether the driver is linked or loaded at run time.
template <class Api, Profiling Profile = Profiling::off>
class BasicCudaBackend {
public:
    using kernel_family = CudaFamily;
    /// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    static constexpr BackendLimits limits = {.groups = {2'147'483'647u, 65'535u, 65'535u},
                                             .group_size = {1024u, 1024u, 64u},
                                             .group_items = 1024u,
                                             .shared_bytes = 227u * 1024u};

    using NativeGraph = CudaBuilder<Api, Profile>;
    using NativeExec = detail::Owned<CudaExec<Api, Profile>>;

    BasicCudaBackend() noexcept = default;
    BasicCudaBackend(BasicCudaDevices<Api> devices) noexcept : devices_(std::move(devices)) {}

    [[nodiscard]] const BasicCudaDevices<Api>& devices() const noexcept { return devices_; }

    // Building.

    [[nodiscard]] Result<NativeGraph> create(const OpList& list) const noexcept {
        NativeGraph graph(list);
        if (Status status = graph.start(devices_); !status.ok()) return status;
        return graph;
    }
    [[nodiscard]] Status add_node(NativeGraph& graph, const OpView& op, Span<const OpIndex> after) const noexcept {
        return graph.add(op, after);
    }
    [[nodiscard]] Result<NativeExec> instantiate(NativeGraph&& graph) const noexcept {
        return std::move(graph).finish();
    }
    [[nodiscard]] std::byte* block(NativeExec& exec, OpIndex op) const noexcept { return exec->block(op); }

    // Replaying.

    [[nodiscard]] bool reaches(DeviceId recorded, DeviceId given) const noexcept {
        if (given == cuda_host || recorded == cuda_host)
            return given == cuda_host || to_integer(given) < devices_.count();
        return to_integer(given) < devices_.count() &&
               ((*devices_.shared())[recorded].reaches >> to_integer(given) & 1) != 0;
    }
    [[nodiscard]] Status bind_input(NativeExec& exec, const MemoryView& memory) const noexcept {
        return exec->place(memory);
    }
    [[nodiscard]] Status update(NativeExec& exec, const OpView& op) const noexcept { return exec->update(op); }
    /// On the stream of the graph's first device; behind all that graphs put there.
    [[nodiscard]] Status launch(NativeExec& exec) const noexcept { return launch(exec, nullptr); }
    /// On a stream of the graph's first device.
    [[nodiscard]] Status launch(NativeExec& exec, CUstream stream) const noexcept {
        return exec->launch(stream, [this](const OpView& op) noexcept { return run(op); });
    }
    [[nodiscard]] Status wait(NativeExec& exec) const noexcept { return exec->wait(); }
    [[nodiscard]] bool poll(NativeExec& exec) const noexcept { return exec->poll(); }

    /// One op, after all that the devices' own streams were given, over on return.
    [[nodiscard]] Status run(const OpView& op) const noexcept {
        if (to_integer(op.record->device) >= devices_.count()) {
            return op.error(ErrorCode::wrong_device, "an op uses a device that is not there");
        }
        const detail::CudaCurrent<Api> current(devices_.context(op.record->device));
        return detail::CudaEager<Api>(devices_, op).run();
    }

    // Recording.

    /// A graph of what `work(stream)` puts on a stream. It lives as long as the recordings that came of this one.
    template <class Work>
    [[nodiscard]] Result<std::uintptr_t> capture(DeviceId device, Work& work) {
        if (to_integer(device) >= devices_.count()) {
            return detail::cuda_error<Api>(CUDA_ERROR_INVALID_DEVICE,
                                           "work was captured for a device that is not there");
        }
        return captures_.capture(devices_.context(device), work);
    }

private:
    BasicCudaDevices<Api> devices_;
    detail::CudaCaptures<Api> captures_;
};

/// With the driver that the program is linked with; with `BasicCudaBackend<LoadedCuda>` and its like, one that is
/// looked for at run time.
using CudaDevices = BasicCudaDevices<LinkedCuda>;
using CudaModule = BasicCudaModule<LinkedCuda>;
using CudaBackend = BasicCudaBackend<LinkedCuda>;
/// The same, with a start and an end stamp of every op: see observe/profile.hpp.
using ProfiledCudaBackend = BasicCudaBackend<LinkedCuda, Profiling::on>;

}  // namespace graphjit::inline v0
