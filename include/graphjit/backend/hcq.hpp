// Graphs on devices with command queues of their own: ops are spread over compute and copy queues, ordered by signals,
// and encoded once; a replay writes the values that this submission waits for and signals, and submits.
//
// Every device has a timeline. A graph takes the next number of each device that it touches: it starts when the number
// before is reached, and reaches its own when it is over. Replays of one graph follow each other like any two graphs,
// so that one counter per queue, which only grows, serves them all.
#pragma once

#include <graphjit/backend/hcq_encoder.hpp>

namespace graphjit::inline v0 {

/// A backend for the devices of `Device`; see hcq_device.hpp for what it must have.
template <class Device, Profiling Profile = Profiling::off>
class HcqBackend {
    static_assert(detail::check_hcq_device<Device>());
    static_assert(Profile == Profiling::off || hcq_stamps<Device>,
                  "graphjit: profiles need a device with a clock: stamp and read_clock. See docs/adding_a_backend.md");

public:
    using kernel_family = typename Device::kernel_family;
    using Value = typename Device::Value;
    static constexpr BackendLimits limits = Device::limits;
    static constexpr bool arguments_in_memory = true;

    using NativeGraph = HcqGraph;
    using NativeExec = HcqExec<Device, Profile>;

    HcqBackend() noexcept = default;
    template <class D>
        requires std::convertible_to<D, Device>
    HcqBackend(D&& device, HcqOptions options = {}) noexcept : device_(std::forward<D>(device)), options_(options) {}

    [[nodiscard]] Device& device() noexcept { return device_; }
    [[nodiscard]] HcqOptions& options() noexcept { return options_; }

    // Building.

    [[nodiscard]] Result<NativeGraph> create(const OpList& list) const noexcept {
        NativeGraph graph{&list, {}};
        if (!graph.dag.reserve(list.size())) return list.error(ErrorCode::out_of_memory, "no memory for a graph");
        return graph;
    }
    [[nodiscard]] Status add_node(NativeGraph& graph, const OpView& op, Span<const OpIndex> after) const noexcept {
        if (!graph.dag.copy_op(after)) return op.error(ErrorCode::out_of_memory, "no memory for a graph");
        return {};
    }
    [[nodiscard]] Result<NativeExec> instantiate(NativeGraph&& graph) {
        return HcqEncoder<Device, Profile>(device_, options_, *graph.list, graph.dag).encode();
    }

    [[nodiscard]] std::byte* block(NativeExec& exec, OpIndex op) const noexcept { return exec.block(op); }

    // Replaying.

    [[nodiscard]] std::uint32_t image_count(NativeExec& exec) const noexcept { return exec.image_count(); }
    [[nodiscard]] std::size_t image_stride(NativeExec& exec) const noexcept { return exec.image_stride(); }
    [[nodiscard]] std::uint32_t next_image(NativeExec& exec) const noexcept { return exec.next_image(); }
    [[nodiscard]] Status bind_input(NativeExec& exec, const MemoryView& memory) const noexcept {
        return exec.map(memory);
    }
    [[nodiscard]] Status update(NativeExec& exec, const OpView& op) const noexcept
        requires hcq_patches<Device>
    {
        return exec.patch(op);
    }
    [[nodiscard]] Status launch(NativeExec& exec) const noexcept { return exec.submit(false); }
    [[nodiscard]] Status launch_and_wait(NativeExec& exec) const noexcept {
        if (Status status = exec.submit(true); !status.ok()) return status;
        return exec.wait();
    }
    [[nodiscard]] Status wait(NativeExec& exec) const noexcept { return exec.wait(); }
    [[nodiscard]] bool poll(NativeExec& exec) const noexcept { return exec.is_over(); }
    [[nodiscard]] Status run(const OpView& op) noexcept { return device_.run(op); }

private:
    Device device_;
    HcqOptions options_;
};

}  // namespace graphjit::inline v0
