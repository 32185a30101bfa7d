// What the nodes of a CUDA graph are made of: the driver's parameter structs, from the blocks of ops.
#pragma once

#include <graphjit/backend/cuda_module.hpp>
#include <graphjit/backend/host.hpp>
#include <graphjit/run/contract.hpp>

namespace graphjit::inline v0::detail {

/// An op in a CUDA graph. A fill of a pattern of more than four bytes is one node for each lane of it.
struct CudaNode {
    std::uint32_t first = 0;  // of the op's nodes among all
    std::uint32_t count = 0;
    std::uint32_t last = 0;                // what later ops wait for
    std::uint32_t block = 0;               // offset
    std::uint32_t via = 0;                 // offset in the graph's memory of arguments
    MemoryIndex to = MemoryIndex::none;    // of a copy or fill
    MemoryIndex from = MemoryIndex::none;  // of a copy
    std::uint8_t element = 0;              // bytes a fill writes at once
    std::uint8_t period = 0;               // bytes after which its pattern is the same again
    bool is_via_block = false;
    bool is_host = false;  // runs on the host: a host call, or a fill of the host's memory
    bool is_enabled = true;
    LaunchDims dims = {};  // that the executable has; of a kernel
};

/// The driver can not do this to an executable, but to a graph it can.
/// Source: Driver API, "Graph Management": cuGraphExecMemcpyNodeSetParams and its like.
[[nodiscard]] inline bool is_cuda_refusal(CUresult result) noexcept {
    return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ||
           result == CUDA_ERROR_NOT_SUPPORTED;
}

/// Whether the op does something. A node that does nothing is disabled and keeps its place in the order.
[[nodiscard]] inline bool does_something(const OpView& op) noexcept {
    switch (op.record->kind) {
        case OpKind::kernel: return !is_empty(load_block<LaunchDims>(op.block + op.record->info->dims_offset));
        case OpKind::copy: return load_block<CopyBlock>(op.block).bytes != 0;
        case OpKind::fill: return load_block<FillBlock>(op.block).bytes != 0;
        case OpKind::host_call:
        case OpKind::captured: break;
    }
    return true;
}

/// The arguments of a kernel as the driver takes them: where they lie and how many bytes they are. Stays where it is.
class CudaArguments {
public:
    /// `via`: where the arguments lie in memory of the graph, or null. Lifetime: of the block and of `via`.
    CudaArguments(const OpView& op, CUdeviceptr* via) noexcept : bytes_(via != nullptr ? sizeof *via : 0) {
        const KernelInfo& info = *op.record->info;
        if (via == nullptr && info.argument_count != 0) {
            const ArgumentInfo& last = info.arguments[info.argument_count - 1];
            bytes_ = std::size_t{last.offset} + last.bytes;
        }
        extra_[1] = via != nullptr ? static_cast<void*>(via) : const_cast<std::byte*>(op.block);  // it is only read
    }
    CudaArguments(const CudaArguments&) = delete;
    CudaArguments& operator=(const CudaArguments&) = delete;

    [[nodiscard]] void** extra() noexcept { return bytes_ == 0 ? nullptr : extra_; }

private:
    std::size_t bytes_;
    void* extra_[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, nullptr, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes_,
                       CU_LAUNCH_PARAM_END};
};

/// Lifetime: of `arguments`.
[[nodiscard]] inline CUDA_KERNEL_NODE_PARAMS kernel_params(const OpView& op, CUcontext context,
                                                           CudaArguments& arguments) noexcept {
    const auto& function = *reinterpret_cast<const CudaFunction*>(op.record->handle);
    auto dims = load_block<LaunchDims>(op.block + op.record->info->dims_offset);
    // What is not known yet is 0, and what is empty is disabled; the driver wants no empty launch even so.
    if (is_empty(dims)) dims.groups = {};
    if (dims.group_size.x == 0 || dims.group_size.y == 0 || dims.group_size.z == 0) dims.group_size = {};
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = function.functions[to_integer(op.record->device)];
    params.gridDimX = dims.groups.x;
    params.gridDimY = dims.groups.y;
    params.gridDimZ = dims.groups.z;
    params.blockDimX = dims.group_size.x;
    params.blockDimY = dims.group_size.y;
    params.blockDimZ = dims.group_size.z;
    params.sharedMemBytes = dims.shared_bytes;
    params.extra = arguments.extra();
    params.ctx = context;
    return params;
}

[[nodiscard]] inline CUdeviceptr device_pointer(const std::byte* pointer) noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

[[nodiscard]] inline CUDA_MEMCPY3D copy_params(const CopyBlock& copy, bool to_host, bool from_host) noexcept {
    CUDA_MEMCPY3D params = {};
    params.dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (to_host) {
        params.dstHost = copy.destination;
    } else {
        params.dstDevice = device_pointer(copy.destination);
    }
    params.srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (from_host) {
        params.srcHost = copy.source;
    } else {
        params.srcDevice = device_pointer(copy.source);
    }
    params.WidthInBytes = params.dstPitch = params.srcPitch = copy.bytes;
    params.Height = params.dstHeight = params.srcHeight = 1;
    params.Depth = 1;
    return params;
}

/// Of one lane of a fill.
[[nodiscard]] inline CUDA_MEMSET_NODE_PARAMS fill_params(const FillBlock& fill, const CudaNode& node,
                                                         std::uint32_t lane) noexcept {
    CUDA_MEMSET_NODE_PARAMS params = {};
    params.dst = device_pointer(fill.destination) + lane * node.element;
    std::memcpy(&params.value, fill.pattern + lane * node.element, node.element);  // little endian
    params.elementSize = node.element;
    if (node.count == 1) {
        params.width = fill.bytes / node.element;
        params.height = 1;
    } else {
        params.pitch = node.period;
        params.width = 1;
        params.height = fill.bytes / node.period;
    }
    return params;
}

/// How a fill is cut: bytes written at once, and after how many the pattern is the same again. The pattern may be
/// shortened only where no replay changes it.
inline void cut_fill(const FillBlock& fill, bool is_constant, std::uintptr_t alignment, CudaNode& node) noexcept {
    std::uint32_t period = fill.pattern_bytes;
    while (is_constant && period > 1 && period % 2 == 0 &&
           std::memcmp(fill.pattern, fill.pattern + period / 2, period / 2) == 0) {
        period /= 2;
    }
    std::uint32_t element = 4;
    while (period % element != 0 || alignment % element != 0) element /= 2;
    node.period = static_cast<std::uint8_t>(period);
    node.element = static_cast<std::uint8_t>(element);
    node.count = period / element;
}

/// What a host node needs when it runs: its own copy of the block, which no replay changes while it may be read.
struct CudaHostCall {
    HostEntry entry = nullptr;
    const std::byte* block = nullptr;
    std::atomic<std::uint32_t>* failed = nullptr;  // the first op that threw
    std::uint32_t op = 0;

    static constexpr std::uint32_t none = 0xffff'ffffu;

    static void CUDA_CB run(void* data) noexcept {
        const auto& call = *static_cast<const CudaHostCall*>(data);
#if GRAPHJIT_EXCEPTIONS
        try {
            (void)call.entry(call.block);
        } catch (...) {
            std::uint32_t first = none;
            call.failed->compare_exchange_strong(first, call.op);
        }
#else
        (void)call.entry(call.block);
#endif
    }
};

}  // namespace graphjit::inline v0::detail
