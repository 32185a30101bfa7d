// A CUDA graph and its executable: built once, told of what changed, launched.
#pragma once

#include <graphjit/backend/cuda_changes.hpp>
#include <graphjit/backend/cuda_nodes.hpp>
#include <graphjit/backend/profiling.hpp>
#include <graphjit/base/fixed_array.hpp>
#include <graphjit/plan/queues.hpp>

#include <ctime>

namespace graphjit::inline v0 {

/// What a graph did beside launching, since it was built.
struct CudaCounters {
    std::uint64_t reinstantiations = 0;  // the driver refused an update, and the graph was built again
    std::uint64_t eager_replays = 0;     // it refused that, too, and ops were launched one by one
    std::uint64_t block_writes = 0;      // of arguments that kernels read from memory of the graph
};

/// Lifetime: destruction waits for launches in flight. Threads: one at a time.
template <class Api, Profiling Profile>
class CudaExec {
    using Node = detail::CudaNode;
    using Current = detail::CudaCurrent<Api>;

public:
    explicit CudaExec(const BasicCudaDevices<Api>& devices) noexcept : devices_(devices) {}
    CudaExec(const CudaExec&) = delete;
    CudaExec& operator=(const CudaExec&) = delete;
    ~CudaExec() {
        (void)synchronize();
        const Current current(devices_.context(primary_));
        if (exec_ != nullptr) (void)Api::cuGraphExecDestroy(exec_);
        if (graph_ != nullptr) (void)Api::cuGraphDestroy(graph_);
        for (const CUevent event : ready_) (void)Api::cuEventDestroy(event);
        for (const CUevent event : stamps_) (void)Api::cuEventDestroy(event);
        if (done_ != nullptr) (void)Api::cuEventDestroy(done_);
        changes_.release();
        for (std::uint32_t d = 0; d < via_.size(); ++d) {
            const Current owner(devices_.context(static_cast<DeviceId>(d)));
            if (via_[d] != 0) (void)Api::cuMemFree(via_[d]);
        }
        if (ring_ != nullptr) (void)Api::cuMemFreeHost(ring_);
    }

    [[nodiscard]] std::byte* block(OpIndex op) noexcept { return blocks_.data() + nodes_[to_integer(op)].block; }
    [[nodiscard]] CUgraph graph() const noexcept { return graph_; }
    [[nodiscard]] CUgraphExec exec() const noexcept { return exec_; }
    [[nodiscard]] const CudaCounters& counters() const noexcept { return counters_; }

    /// An input lies here from now on.
    [[nodiscard]] Status place(const MemoryView& memory) noexcept {
        where_[to_integer(memory.index)] = memory.device;
        is_touched_known_ = false;
        return {};
    }

    /// Tells the executable what the op's block holds now.
    [[nodiscard]] Status update(const OpView& op) noexcept {
        Node& node = nodes_[to_integer(op.index)];
        if (op.record->kind == OpKind::captured) return {};
        if (node.is_host) return update_host(op, node);
        if (node.is_via_block) {
            note_block(node, *op.record->info);
            const auto dims = detail::load_block<LaunchDims>(op.block + op.record->info->dims_offset);
            if (std::memcmp(&dims, &node.dims, sizeof dims) == 0) return {};
        }
        if (needs_rebuild_) return {};  // the new one is made from the blocks
        const bool enable = detail::does_something(op);
        CUresult result = CUDA_SUCCESS;
        if (enable) result = here([&] { return set_params(exec_, op, node); });
        if (result == CUDA_SUCCESS && enable != node.is_enabled)
            result = here([&] { return set_enabled(node, enable); });
        if (result == CUDA_SUCCESS) {
            node.is_enabled = enable;
            if (op.record->kind == OpKind::kernel) {
                node.dims = detail::load_block<LaunchDims>(op.block + op.record->info->dims_offset);
            }
            return {};
        }
        if (detail::is_cuda_refusal(result)) {
            needs_rebuild_ = true;
            return {};
        }
        return op.error(detail::cuda_error<Api>(result, "an update of a CUDA graph failed"));
    }

    /// `run(const OpView&) -> Status` runs an op by itself; `stream`: null for the device's own.
    template <class Run>
    [[nodiscard]] Status launch(CUstream stream, Run run) noexcept {
        if (stream == nullptr) stream = devices_.stream(primary_);
        if (needs_rebuild_ && !rebuild()) return run_eagerly(run);
        if (devices_.count() == 1) return enqueue(stream, 0);
        const PassTurnstile alone(devices_.shared()->turnstile());
        return enqueue(stream, others());
    }

    [[nodiscard]] Status wait() noexcept {
        if (const CUresult result = synchronize(); result != CUDA_SUCCESS) {
            return detail::cuda_error<Api>(result, "a replay of a CUDA graph failed");
        }
        if (failed_.load(std::memory_order_relaxed) == detail::CudaHostCall::none) return {};
        Error error;
        error.code = ErrorCode::backend_failure;
        error.text = "a host kernel threw; what it writes is not to be used";
        error.op = static_cast<OpIndex>(failed_.exchange(detail::CudaHostCall::none));
        return error;
    }
    [[nodiscard]] bool poll() noexcept {
        if (!is_in_flight_) return true;
        return here([&] { return Api::cuStreamQuery(stream_); }) != CUDA_ERROR_NOT_READY;
    }

    // What the last replay left behind for a profile. Pre: it is over.

    static constexpr bool is_profiled = Profile == Profiling::on;
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }
    /// Lanes to draw ops in that may run at once: CUDA does not tell where they ran.
    [[nodiscard]] const QueuePlan& queues() const noexcept
        requires is_profiled
    {
        return lanes_;
    }
    [[nodiscard]] const std::byte* last_block(OpIndex op) noexcept { return block(op); }
    /// Units: nanoseconds since the graph began on the op's device, and one more.
    [[nodiscard]] OpStamps stamps(OpIndex op) noexcept {
        const DeviceId device = records_[to_integer(op)].device;
        const Current current(devices_.context(device));
        const CUevent root = stamps_[to_integer(device)];
        const CUevent* own = &stamps_[devices_.count() + 2 * std::size_t{to_integer(op)}];
        return {ticks(root, own[0]), ticks(root, own[1])};
    }
    /// Devices began when the host launched; that is as near as events of several devices can be put together.
    [[nodiscard]] ClockPoint first_clock(DeviceId) const noexcept { return {1, launched_ns_}; }
    [[nodiscard]] ClockPoint read_clock(DeviceId) const noexcept { return {1 + second, launched_ns_ + second}; }

private:
    static constexpr std::uint64_t second = 1'000'000'000;

    [[nodiscard]] static std::uint64_t ticks(CUevent from, CUevent to) noexcept {
        float milliseconds = 0;
        if (Api::cuEventElapsedTime(&milliseconds, from, to) != CUDA_SUCCESS || milliseconds < 0) return 0;
        return 1 + static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
    }
    void note_launch() noexcept {
        timespec now = {};
        clock_gettime(CLOCK_MONOTONIC, &now);
        launched_ns_ = static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec);
        ++launches_;
    }

    template <class, Profiling>
    friend class CudaBuilder;

    static constexpr std::uint32_t group = 4;  // changed replays between two events of the rings
    static constexpr std::uint32_t via_slots = 2 * group;
    static constexpr std::uint32_t host_images = 3 * group;

    /// Makes a call that needs no context of ours but, on a thread without any, one at all.
    template <class Call>
    [[nodiscard]] CUresult here(Call call) noexcept {
        const CUresult result = call();
        if (result != CUDA_ERROR_INVALID_CONTEXT) [[likely]]
            return result;
        const Current current(devices_.context(primary_));
        return call();
    }

    [[nodiscard]] CUresult synchronize() noexcept {
        if (!is_in_flight_) return CUDA_SUCCESS;
        is_in_flight_ = false;
        return here([&] { return Api::cuStreamSynchronize(stream_); });
    }

    [[nodiscard]] bool is_on_host(MemoryIndex memory) const noexcept {
        return memory != MemoryIndex::none && where_[to_integer(memory)] == cuda_host;
    }
    [[nodiscard]] CUdeviceptr via_place(const OpView& op, const Node& node) const noexcept {
        return via_[to_integer(op.record->device)] + node.via;
    }

    /// Into an executable, or into the graph where it is null.
    [[nodiscard]] CUresult set_params(CUgraphExec exec, const OpView& op, const Node& node) noexcept {
        const CUcontext context = devices_.context(op.record->device);
        if (op.record->kind == OpKind::kernel) {
            CUdeviceptr via = node.is_via_block ? via_place(op, node) : 0;
            detail::CudaArguments arguments(op, node.is_via_block ? &via : nullptr);
            const auto params = detail::kernel_params(op, context, arguments);
            return exec == nullptr ? Api::cuGraphKernelNodeSetParams(native_[node.first], &params)
                                   : Api::cuGraphExecKernelNodeSetParams(exec, native_[node.first], &params);
        }
        if (op.record->kind == OpKind::copy) {
            const auto params = detail::copy_params(detail::load_block<CopyBlock>(op.block), is_on_host(node.to),
                                                    is_on_host(node.from));
            return exec == nullptr ? Api::cuGraphMemcpyNodeSetParams(native_[node.first], &params)
                                   : Api::cuGraphExecMemcpyNodeSetParams(exec, native_[node.first], &params, context);
        }
        const auto fill = detail::load_block<FillBlock>(op.block);
        CUresult result = CUDA_SUCCESS;
        for (std::uint32_t lane = 0; lane < node.count && result == CUDA_SUCCESS; ++lane) {
            const auto params = detail::fill_params(fill, node, lane);
            const CUgraphNode native = native_[node.first + lane];
            result = exec == nullptr ? Api::cuGraphMemsetNodeSetParams(native, &params)
                                     : Api::cuGraphExecMemsetNodeSetParams(exec, native, &params, context);
        }
        return result;
    }
    [[nodiscard]] CUresult set_enabled(const Node& node, bool enable) noexcept {
        CUresult result = CUDA_SUCCESS;
        for (std::uint32_t i = 0; i < node.count && result == CUDA_SUCCESS; ++i) {
            result = Api::cuGraphNodeSetEnabled(exec_, native_[node.first + i], enable ? 1 : 0);
        }
        return result;
    }

    /// Before a replay writes what launches in flight must not see. Errors: the driver's.
    [[nodiscard]] CUresult begin_change() noexcept {
        return changes_.begin(is_in_flight_ ? stream_ : nullptr, [this](auto call) { return this->here(call); });
    }

    [[nodiscard]] Status update_host(const OpView& op, Node& node) noexcept {
        CUresult result = begin_change();
        if (result == CUDA_SUCCESS) {
            std::uint32_t& image = next_image_[node.via];
            image = image + 1 == host_images ? 0 : image + 1;
            const detail::CudaHostCall& call = host_call(node, image);
            std::memcpy(const_cast<std::byte*>(call.block), op.block, op.record->info->block_bytes);
            const CUDA_HOST_NODE_PARAMS params = host_params(call);
            if (!needs_rebuild_) {
                result = here([&] { return Api::cuGraphExecHostNodeSetParams(exec_, native_[node.first], &params); });
            }
        }
        if (result == CUDA_SUCCESS) return {};
        return op.error(detail::cuda_error<Api>(result, "an update of a CUDA graph failed"));
    }
    [[nodiscard]] detail::CudaHostCall& host_call(const Node& node, std::uint32_t image) noexcept {
        return host_calls_[std::size_t{node.via} * host_images + image];
    }
    [[nodiscard]] static CUDA_HOST_NODE_PARAMS host_params(const detail::CudaHostCall& call) noexcept {
        CUDA_HOST_NODE_PARAMS params = {};
        params.fn = &detail::CudaHostCall::run;
        params.userData = const_cast<detail::CudaHostCall*>(&call);
        return params;
    }

    void note_block(const Node& node, const KernelInfo& info) noexcept {
        if (node.via < dirty_begin_) dirty_begin_ = node.via;
        if (node.via + info.block_bytes > dirty_end_) dirty_end_ = node.via + info.block_bytes;
    }
    /// Blocks of kernels that read them stand in front, in the same order as in the graph's memory.
    [[nodiscard]] CUresult write_blocks(CUstream stream) noexcept {
        if (dirty_begin_ >= dirty_end_) return CUDA_SUCCESS;
        CUresult result = begin_change();
        if (result != CUDA_SUCCESS) return result;
        std::byte* slot = static_cast<std::byte*>(ring_) + (changes_.count() % via_slots) * via_bytes_;
        const std::size_t bytes = dirty_end_ - dirty_begin_;
        std::memcpy(slot + dirty_begin_, blocks_.data() + dirty_begin_, bytes);
        for (const CUdeviceptr memory : via_) {
            if (memory == 0 || result != CUDA_SUCCESS) continue;
            ++counters_.block_writes;
            result = here(
                [&] { return Api::cuMemcpyHtoDAsync(memory + dirty_begin_, slot + dirty_begin_, bytes, stream); });
        }
        if (result == CUDA_SUCCESS) {
            dirty_begin_ = via_bytes_;
            dirty_end_ = 0;
        }
        return result;
    }

    /// Devices other than the launch's that the graph touches, a bit each.
    [[nodiscard]] std::uint64_t others() noexcept {
        if (!is_touched_known_) {
            is_touched_known_ = true;
            touched_ = 0;
            for (const OpRecord& op : records_) touched_ |= std::uint64_t{1} << to_integer(op.device);
            for (const MemoryIndex memory : used_) {
                const DeviceId device = where_[to_integer(memory)];
                if (device != cuda_host) touched_ |= std::uint64_t{1} << to_integer(device);
            }
        }
        return touched_ & ~(std::uint64_t{1} << to_integer(primary_));
    }

    /// Pre: behind the turnstile if `others` is not 0.
    [[nodiscard]] Status enqueue(CUstream stream, std::uint64_t others) noexcept {
        CUresult result = CUDA_SUCCESS;
        // Launches of an executable follow each other wherever they are; what is written for them does not.
        if (stream != stream_ && is_in_flight_ && dirty_begin_ < dirty_end_) result = follow(stream_, stream);
        for (std::uint32_t d = 0; d < devices_.count() && result == CUDA_SUCCESS; ++d) {
            if ((others >> d & 1) == 0) continue;
            const CUstream other = devices_.stream(static_cast<DeviceId>(d));
            result = here([&] { return Api::cuEventRecord(ready_[d], other); });
            if (result == CUDA_SUCCESS) result = here([&] { return Api::cuStreamWaitEvent(stream, ready_[d], 0); });
        }
        if (result == CUDA_SUCCESS) result = write_blocks(stream);
        if (result == CUDA_SUCCESS) result = here([&] { return Api::cuGraphLaunch(exec_, stream); });
        if (result != CUDA_SUCCESS) return detail::cuda_error<Api>(result, "a CUDA graph could not be launched");
        if constexpr (is_profiled) note_launch();
        stream_ = stream;
        is_in_flight_ = true;
        changes_.end();
        if (others == 0) [[likely]]
            return {};
        result = here([&] { return Api::cuEventRecord(done_, stream); });
        for (std::uint32_t d = 0; d < devices_.count() && result == CUDA_SUCCESS; ++d) {
            if ((others >> d & 1) == 0) continue;
            const CUstream other = devices_.stream(static_cast<DeviceId>(d));
            result = here([&] { return Api::cuStreamWaitEvent(other, done_, 0); });
        }
        if (result != CUDA_SUCCESS) result = here([&] { return Api::cuStreamSynchronize(stream); });
        if (result != CUDA_SUCCESS) return detail::cuda_error<Api>(result, "a CUDA graph could not be followed");
        return {};
    }
    /// What was launched on a stream is over before what another gets next.
    [[nodiscard]] CUresult follow(CUstream before, CUstream after) noexcept {
        CUresult result = here([&] { return Api::cuEventRecord(done_, before); });
        if (result == CUDA_SUCCESS) result = here([&] { return Api::cuStreamWaitEvent(after, done_, 0); });
        if (result == CUDA_ERROR_INVALID_HANDLE) result = here([&] { return Api::cuStreamSynchronize(before); });
        return result;
    }

    /// Makes a new executable from the graph and what the blocks hold. False: the driver takes it for no graph at all.
    [[nodiscard]] GRAPHJIT_COLD bool rebuild() noexcept {
        const Current current(devices_.context(primary_));
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            Node& node = nodes_[i];
            const OpView view = this->view(static_cast<OpIndex>(i));
            if (view.record->kind == OpKind::captured) continue;
            if (node.is_host) {
                const CUDA_HOST_NODE_PARAMS params = host_params(host_call(node, next_image_[node.via]));
                if (Api::cuGraphHostNodeSetParams(native_[node.first], &params) != CUDA_SUCCESS) return false;
                continue;
            }
            node.is_enabled = detail::does_something(view);
            if (node.is_enabled && set_params(nullptr, view, node) != CUDA_SUCCESS) return false;
            if (view.record->kind == OpKind::kernel) {
                node.dims = detail::load_block<LaunchDims>(view.block + view.record->info->dims_offset);
            }
        }
        CUgraphExec made = nullptr;
        if (Api::cuGraphInstantiate(&made, graph_, 0) != CUDA_SUCCESS) return false;
        (void)synchronize();
        if (exec_ != nullptr) (void)Api::cuGraphExecDestroy(exec_);
        exec_ = made;
        for (const Node& node : nodes_) {
            if (!node.is_enabled && set_enabled(node, false) != CUDA_SUCCESS) return false;
        }
        needs_rebuild_ = false;
        ++counters_.reinstantiations;
        return true;
    }
    template <class Run>
    [[nodiscard]] GRAPHJIT_COLD Status run_eagerly(Run run) noexcept {
        ++counters_.eager_replays;
        (void)synchronize();
        changes_.end();
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            if (Status status = run(view(static_cast<OpIndex>(i))); !status.ok()) return status;
        }
        return {};
    }
    [[nodiscard]] OpView view(OpIndex op) noexcept { return {op, &records_[to_integer(op)], block(op), {}}; }

    BasicCudaDevices<Api> devices_;
    DeviceId primary_{};
    CUgraph graph_ = nullptr;  // kept: its nodes name those of the executable
    CUgraphExec exec_ = nullptr;
    CUstream stream_ = nullptr;  // of the last launch
    bool is_in_flight_ = false;
    bool needs_rebuild_ = false;
    bool is_touched_known_ = false;
    std::uint64_t touched_ = 0;
    detail::CudaChanges<Api> changes_;
    CUevent done_ = nullptr;
    void* ring_ = nullptr;  // via_slots x via_bytes_, pinned
    std::size_t via_bytes_ = 0;
    std::size_t dirty_begin_ = 0;
    std::size_t dirty_end_ = 0;
    CudaCounters counters_;
    detail::Array<OpRecord> records_;    // by op
    detail::Array<MemoryIndex> used_;    // memory that ops touch
    detail::Array<Node> nodes_;          // by op
    detail::Array<CUgraphNode> native_;  // of all ops
    detail::Array<std::byte> blocks_;
    detail::Array<DeviceId> where_;   // by memory
    detail::Array<CUevent> ready_;    // by device
    detail::Array<CUdeviceptr> via_;  // by device
    detail::Array<std::byte> host_blocks_;
    detail::FixedArray<detail::CudaHostCall> host_calls_;  // by host op and image
    std::atomic<std::uint32_t> failed_{detail::CudaHostCall::none};
    detail::Array<std::uint32_t> next_image_;  // by host op
    std::uint64_t launches_ = 0;
    std::uint64_t launched_ns_ = 0;
    QueuePlan lanes_;
    detail::Array<CUevent> stamps_;  // by device: the beginning; then by op: start and end
};

}  // namespace graphjit::inline v0
