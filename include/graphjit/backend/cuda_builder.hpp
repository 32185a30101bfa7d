// Building a CUDA graph, op by op.
#pragma once

#include <graphjit/backend/cuda_exec.hpp>
#include <graphjit/base/owned.hpp>
#include <graphjit/plan/balanced.hpp>

namespace graphjit::inline v0 {

/// A CUDA graph while it is built.
template <class Api, Profiling Profile>
class CudaBuilder {
    using Exec = CudaExec<Api, Profile>;
    using Node = detail::CudaNode;

public:
    explicit CudaBuilder(const OpList& list) noexcept : list_(&list) {}
    CudaBuilder(CudaBuilder&&) noexcept = default;

    /// Makes all but nodes. Errors: wrong_device, unsupported, out_of_memory, and the driver's.
    [[nodiscard]] Status start(const BasicCudaDevices<Api>& devices) noexcept {
        if (devices.count() == 0) {
            return list_->error(ErrorCode::invalid_argument, "a CUDA graph needs CudaDevices to run on");
        }
        if (!exec_.make(devices)) return out_of_memory();
        const detail::CudaCurrent<Api> current(devices.context(DeviceId{0}));
        if (Status status = check_devices(devices); !status.ok()) return status;
        if (!lay_out()) return out_of_memory();
        const detail::CudaCurrent<Api> own(devices.context(exec_->primary_));
        CUresult result = Api::cuGraphCreate(&exec_->graph_, 0);
        if (result == CUDA_SUCCESS && devices.count() > 1) result = make_events(devices);
        if (result == CUDA_SUCCESS) result = Api::cuEventCreate(&exec_->done_, CU_EVENT_DISABLE_TIMING);
        if (result == CUDA_SUCCESS) result = exec_->changes_.build();
        if (result == CUDA_SUCCESS && exec_->via_bytes_ != 0) result = make_argument_memory(devices);
        if constexpr (Exec::is_profiled) {
            if (result == CUDA_SUCCESS) result = add_roots(devices);
        }
        if (result != CUDA_SUCCESS) return failed(result);
        return {};
    }

    [[nodiscard]] Status add(const OpView& op, Span<const OpIndex> after) noexcept {
        dependencies_.clear();
        for (const OpIndex before : after) {
            const Node& node = exec_->nodes_[to_integer(before)];
            if (!dependencies_.push(exec_->native_[node.last])) return out_of_memory();
        }
        Node& node = exec_->nodes_[to_integer(op.index)];
        const OpView own = exec_->view(op.index);
        node.is_enabled = detail::does_something(own);
        const detail::CudaCurrent<Api> current(exec_->devices_.context(op.record->device));
        CUresult result = CUDA_SUCCESS;
        if constexpr (Exec::is_profiled) {
            if (!dag_.copy_op(after)) return out_of_memory();
            result = add_start_stamp(op);
        }
        node.first = static_cast<std::uint32_t>(exec_->native_.size());
        if (result != CUDA_SUCCESS) {
            // said below
        } else if (node.is_host) {
            result = add_host(node);
        } else if (op.record->kind == OpKind::kernel) {
            result = add_kernel(own, node);
        } else if (op.record->kind == OpKind::copy) {
            result = add_copy(own, node);
        } else if (op.record->kind == OpKind::fill) {
            result = add_fill(own, node);
        } else {
            result = push_node([&](CUgraphNode* made) {
                return Api::cuGraphAddChildGraphNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(),
                                                     reinterpret_cast<CUgraph>(op.record->handle));
            });
            node.count = 1;
        }
        if constexpr (Exec::is_profiled) {
            if (result == CUDA_SUCCESS) result = add_stamp(exec_->native_.back());
        }
        node.last = static_cast<std::uint32_t>(exec_->native_.size() - 1);
        if (result != CUDA_SUCCESS) {
            return op.error(detail::cuda_error<Api>(result, "an op could not be added to a CUDA graph"));
        }
        return {};
    }

    [[nodiscard]] Result<detail::Owned<Exec>> finish() && noexcept {
        const detail::CudaCurrent<Api> current(exec_->devices_.context(exec_->primary_));
        CUresult result = Api::cuGraphInstantiate(&exec_->exec_, exec_->graph_, 0);
        for (const Node& node : exec_->nodes_) {
            if (result == CUDA_SUCCESS && !node.is_enabled) result = exec_->set_enabled(node, false);
        }
        if (result != CUDA_SUCCESS) return failed(result);
        exec_->dirty_end_ = exec_->via_bytes_;  // the first replay writes all of it
        if constexpr (Exec::is_profiled) {
            Result<QueuePlan> lanes = Balanced{.queues = 16, .hop_cost = 0}(*list_, dag_);
            if (!lanes) return lanes.status();
            exec_->lanes_ = std::move(*lanes);
        }
        return std::move(exec_);
    }

private:
    [[nodiscard]] Error out_of_memory() const noexcept {
        return list_->error(ErrorCode::out_of_memory, "no memory for a CUDA graph");
    }
    [[nodiscard]] static Error failed(CUresult result) noexcept {
        return detail::cuda_error<Api>(result, "a CUDA graph could not be built");
    }

    // What runs where.

    [[nodiscard]] Status check_devices(const BasicCudaDevices<Api>& devices) noexcept {
        if (!exec_->records_.append_copy(list_->ops().data(), list_->size())) return out_of_memory();
        detail::Array<bool> is_used;
        if (!is_used.resize(list_->memories().size(), false)) return out_of_memory();
        if (list_->size() != 0) exec_->primary_ = list_->ops()[0].device;
        for (std::uint32_t i = 0; i < list_->size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const OpRecord& record = list_->op(op);
            if (to_integer(record.device) >= devices.count()) return no_device(op);
            for (const AccessRecord& access : list_->accesses(op)) {
                const DeviceId device = list_->memory(access.memory).device;
                is_used[to_integer(access.memory)] = true;
                if (device == cuda_host) continue;
                if (to_integer(device) >= devices.count()) return no_device(op);
                const bool reaches = ((*devices.shared())[record.device].reaches >> to_integer(device) & 1) != 0;
                if (record.kind == OpKind::kernel && !reaches) {
                    return list_->error(ErrorCode::unsupported,
                                        "a kernel's device has no peer access to memory of another one", op);
                }
            }
        }
        for (std::uint32_t i = 0; i < list_->memories().size(); ++i) {
            const auto index = static_cast<MemoryIndex>(i);
            const MemoryRecord& memory = list_->memory(index);
            if (!exec_->where_.push(memory.device)) return out_of_memory();
            if (!is_used[i]) continue;
            if (!exec_->used_.push(index)) return out_of_memory();
            if (memory.is_input || memory.bytes == 0) continue;
            if (Status status = check_memory(devices, memory, index); !status.ok()) return status;
        }
        return {};
    }
    [[nodiscard]] Error no_device(OpIndex op) const noexcept {
        return list_->error(ErrorCode::wrong_device, "an op uses a device that is not there", op);
    }
    /// Whether registered memory lies where it was said to.
    [[nodiscard]] Status check_memory(const BasicCudaDevices<Api>& devices, const MemoryRecord& memory,
                                      MemoryIndex index) const noexcept {
        unsigned kind = CU_MEMORYTYPE_HOST;  // the driver knows nothing of memory that malloc gave
        int ordinal = -1;
        const auto address = static_cast<CUdeviceptr>(memory.address);
        if (Api::cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) {
            kind = CU_MEMORYTYPE_HOST;
        }
        const bool is_device = kind == CU_MEMORYTYPE_DEVICE;
        bool right = is_device == (memory.device != cuda_host);
        if (right && is_device &&
            Api::cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS) {
            right = ordinal == (*devices.shared())[memory.device].device;
        }
        if (right) return {};
        Error error = list_->error(ErrorCode::wrong_device,
                                   is_device ? "a buffer lies on another CUDA device than it was registered for"
                                             : "a buffer of the host was registered for a CUDA device; see cuda_host",
                                   user_of(index));
        error.other_memory = ShortName(list_->name(index));
        return error;
    }
    [[nodiscard]] OpIndex user_of(MemoryIndex memory) const noexcept {
        for (std::uint32_t i = 0; i < list_->size(); ++i) {
            for (const AccessRecord& access : list_->accesses(static_cast<OpIndex>(i))) {
                if (access.memory == memory) return static_cast<OpIndex>(i);
            }
        }
        return OpIndex::none;
    }

    // Where blocks lie: first those that kernels read from memory of the graph, then the others, then, several times,
    // those of host ops.

    [[nodiscard]] bool lay_out() noexcept {
        const std::uint32_t count = list_->size();
        if (!exec_->nodes_.resize(count, {}) || !constant_.resize(count, true)) return false;
        for (const Use& use : list_->uses()) {
            const bool is_pattern = list_->op(use.op).kind == OpKind::fill &&
                                    use.offset >= offsetof(FillBlock, pattern);
            if (is_pattern) constant_[to_integer(use.op)] = false;
        }
        std::size_t bytes = 0;
        std::uint32_t host_ops = 0;
        std::size_t host_bytes = 0;
        for (const bool via : {true, false}) {
            for (std::uint32_t i = 0; i < count; ++i) {
                const OpRecord& op = list_->ops()[i];
                Node& node = exec_->nodes_[i];
                node.is_via_block = op.kind == OpKind::kernel &&
                                    reinterpret_cast<const detail::CudaFunction*>(op.handle)->is_via_block;
                if (node.is_via_block != via) continue;
                node.block = static_cast<std::uint32_t>(bytes);
                bytes = round_up(bytes + op.info->block_bytes);
                if (bytes > 0xffff'ffffu) return false;
                if (via) {
                    node.via = node.block;
                    continue;
                }
                const Span<const AccessRecord> accesses = list_->accesses(static_cast<OpIndex>(i));
                if (op.kind == OpKind::copy || op.kind == OpKind::fill) {
                    if (!accesses.empty()) node.to = accesses[0].memory;
                    if (accesses.size() > 1) node.from = accesses[1].memory;
                }
                node.is_host = op.kind == OpKind::host_call || (op.kind == OpKind::fill && exec_->is_on_host(node.to));
                if (!node.is_host) continue;
                node.via = host_ops++;
                host_bytes += round_up(op.info->block_bytes);
            }
            if (via) exec_->via_bytes_ = bytes;
        }
        exec_->dirty_begin_ = 0;
        if (!exec_->blocks_.resize(bytes + 1, std::byte{}) ||
            !exec_->host_blocks_.resize(host_bytes * Exec::host_images + 1, std::byte{}) ||
            !exec_->host_calls_.reserve(std::size_t{host_ops} * Exec::host_images) ||
            !exec_->next_image_.resize(host_ops, 0)) {
            return false;
        }
        std::size_t place = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto op = static_cast<OpIndex>(i);
            const OpRecord& record = list_->op(op);
            const Node& node = exec_->nodes_[i];
            const std::size_t own_bytes = record.info->block_bytes;
            if (own_bytes != 0) std::memcpy(exec_->blocks_.data() + node.block, list_->block(op), own_bytes);
            if (!node.is_host) continue;
            for (std::uint32_t image = 0; image < Exec::host_images; ++image) {
                std::byte* block = exec_->host_blocks_.data() + image * host_bytes + place;
                if (own_bytes != 0) std::memcpy(block, list_->block(op), own_bytes);
                exec_->host_calls_.emplace(host_entry(record), block, &exec_->failed_, i);
            }
            place += round_up(record.info->block_bytes);
        }
        return true;
    }
    [[nodiscard]] static constexpr std::size_t round_up(std::size_t bytes) noexcept {
        constexpr std::size_t align = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
        return (bytes + align - 1) / align * align;
    }

    [[nodiscard]] CUresult make_events(const BasicCudaDevices<Api>& devices) noexcept {
        for (std::uint32_t d = 0; d < devices.count(); ++d) {
            const detail::CudaCurrent<Api> current(devices.context(static_cast<DeviceId>(d)));
            CUevent event = nullptr;
            const CUresult result = Api::cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
            if (result != CUDA_SUCCESS) return result;
            if (exec_->ready_.push(event)) continue;
            (void)Api::cuEventDestroy(event);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        return CUDA_SUCCESS;
    }
    [[nodiscard]] CUresult make_argument_memory(const BasicCudaDevices<Api>& devices) noexcept {
        if (!exec_->via_.resize(devices.count(), 0)) return CUDA_ERROR_OUT_OF_MEMORY;
        for (std::uint32_t i = 0; i < list_->size(); ++i) {
            CUdeviceptr& memory = exec_->via_[to_integer(list_->ops()[i].device)];
            if (!exec_->nodes_[i].is_via_block || memory != 0) continue;
            const detail::CudaCurrent<Api> current(devices.context(list_->ops()[i].device));
            if (const CUresult result = Api::cuMemAlloc(&memory, exec_->via_bytes_); result != CUDA_SUCCESS)
                return result;
        }
        return Api::cuMemHostAlloc(&exec_->ring_, exec_->via_bytes_ * Exec::via_slots, CU_MEMHOSTALLOC_PORTABLE);
    }

    // Stamps: an event where the graph begins on each device, and two for each op.

    /// An event record node behind `before`, or, for null, behind all that the next op waits for.
    [[nodiscard]] CUresult add_stamp(CUgraphNode before) noexcept {
        CUevent event = nullptr;
        if (!exec_->stamps_.make_room(1)) return CUDA_ERROR_OUT_OF_MEMORY;
        const CUresult result = Api::cuEventCreate(&event, CU_EVENT_DEFAULT);
        if (result != CUDA_SUCCESS) return result;
        exec_->stamps_.push_reserved(event);
        if (before != nullptr) {
            dependencies_.clear();
            if (!dependencies_.push(before)) return CUDA_ERROR_OUT_OF_MEMORY;
        }
        return push_node([&](CUgraphNode* made) {
            return Api::cuGraphAddEventRecordNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(),
                                                  event);
        });
    }
    [[nodiscard]] CUresult add_roots(const BasicCudaDevices<Api>& devices) noexcept {
        dependencies_.clear();
        CUresult result = CUDA_SUCCESS;
        for (std::uint32_t d = 0; d < devices.count() && result == CUDA_SUCCESS; ++d) {
            const detail::CudaCurrent<Api> current(devices.context(static_cast<DeviceId>(d)));
            result = add_stamp(nullptr);
        }
        return result;
    }
    [[nodiscard]] CUresult add_start_stamp(const OpView& op) noexcept {
        const CUgraphNode root = exec_->native_[to_integer(op.record->device)];
        CUresult result = add_stamp(dependencies_.empty() ? root : nullptr);
        if (result != CUDA_SUCCESS) return result;
        dependencies_.clear();
        if (!dependencies_.push(exec_->native_.back())) result = CUDA_ERROR_OUT_OF_MEMORY;
        return result;
    }

    // Nodes.

    template <class Make>
    [[nodiscard]] CUresult push_node(Make make) noexcept {
        CUgraphNode made = nullptr;
        if (!exec_->native_.make_room(1)) return CUDA_ERROR_OUT_OF_MEMORY;
        const CUresult result = make(&made);
        if (result == CUDA_SUCCESS) exec_->native_.push_reserved(made);
        return result;
    }
    [[nodiscard]] CUresult add_kernel(const OpView& op, Node& node) noexcept {
        node.count = 1;
        node.dims = detail::load_block<LaunchDims>(op.block + op.record->info->dims_offset);
        CUdeviceptr via = node.is_via_block ? exec_->via_place(op, node) : 0;
        detail::CudaArguments arguments(op, node.is_via_block ? &via : nullptr);
        const auto params = detail::kernel_params(op, exec_->devices_.context(op.record->device), arguments);
        return push_node([&](CUgraphNode* made) {
            return Api::cuGraphAddKernelNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(), &params);
        });
    }
    /// Memory that stands for an input until it is known: the driver wants to see which context it will be of.
    [[nodiscard]] std::byte* stand_in(MemoryIndex memory) const noexcept {
        detail::CudaShared<Api>& shared = *exec_->devices_.shared();
        const DeviceId device = memory == MemoryIndex::none ? exec_->primary_ : exec_->where_[to_integer(memory)];
        if (device == cuda_host) return static_cast<std::byte*>(shared.host_scratch());
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(shared[device].scratch));
    }
    [[nodiscard]] CUresult add_copy(const OpView& op, Node& node) noexcept {
        node.count = 1;
        auto copy = detail::load_block<CopyBlock>(op.block);
        const bool is_known = copy.destination != nullptr && copy.source != nullptr && copy.bytes != 0;
        if (copy.destination == nullptr) copy.destination = stand_in(node.to);
        if (copy.source == nullptr) copy.source = stand_in(node.from) + detail::CudaShared<Api>::scratch_bytes / 2;
        if (!is_known) copy.bytes = 1;
        const auto params = detail::copy_params(copy, exec_->is_on_host(node.to), exec_->is_on_host(node.from));
        const CUcontext context = exec_->devices_.context(op.record->device);
        return push_node([&](CUgraphNode* made) {
            return Api::cuGraphAddMemcpyNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(), &params,
                                             context);
        });
    }
    [[nodiscard]] CUresult add_fill(const OpView& op, Node& node) noexcept {
        auto fill = detail::load_block<FillBlock>(op.block);
        std::uintptr_t alignment = reinterpret_cast<std::uintptr_t>(fill.destination);
        for (const Use& use : list_->uses()) {
            if (use.op != op.index || use.memory == MemoryIndex::none) continue;
            const MemoryRecord& memory = list_->memory(use.memory);
            alignment = memory.is_input ? memory.align : memory.address;
            alignment |= static_cast<std::uintptr_t>(use.add);
            if (use.kind == UseKind::symbolic_pointer) alignment |= fill.pattern_bytes;
        }
        detail::cut_fill(fill, constant_[to_integer(op.index)], alignment, node);
        if (fill.destination == nullptr) fill.destination = stand_in(node.to);
        if (fill.bytes == 0) fill.bytes = fill.pattern_bytes;
        const CUcontext context = exec_->devices_.context(op.record->device);
        CUresult result = CUDA_SUCCESS;
        for (std::uint32_t lane = 0; lane < node.count && result == CUDA_SUCCESS; ++lane) {
            const auto params = detail::fill_params(fill, node, lane);
            if (lane != 0) {  // behind the lane before, so that the last one stands for all
                dependencies_.clear();
                if (!dependencies_.push(exec_->native_.back())) return CUDA_ERROR_OUT_OF_MEMORY;
            }
            result = push_node([&](CUgraphNode* made) {
                return Api::cuGraphAddMemsetNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(),
                                                 &params, context);
            });
        }
        return result;
    }
    [[nodiscard]] CUresult add_host(Node& node) noexcept {
        node.count = 1;
        node.is_enabled = true;
        const CUDA_HOST_NODE_PARAMS params = Exec::host_params(exec_->host_call(node, 0));
        return push_node([&](CUgraphNode* made) {
            return Api::cuGraphAddHostNode(made, exec_->graph_, dependencies_.data(), dependencies_.size(), &params);
        });
    }

    const OpList* list_;
    detail::Owned<Exec> exec_;
    detail::Array<bool> constant_;  // by op: a fill whose pattern no replay changes
    detail::Array<CUgraphNode> dependencies_;
    Dag dag_;  // for profiles
};

}  // namespace graphjit::inline v0
