// One op of a CUDA graph by itself: for eager runs, and for graphs that the driver takes no longer.
#pragma once

#include <graphjit/backend/cuda_nodes.hpp>

namespace graphjit::inline v0::detail {

/// Runs ops one by one, each over on return. Pre: the device's context is current.
template <class Api>
class CudaEager {
public:
    CudaEager(const BasicCudaDevices<Api>& devices, const OpView& op) noexcept
        : devices_(devices), op_(op), stream_(devices.stream(op.record->device)) {}

    [[nodiscard]] Status run() noexcept {
        CUresult result = CUDA_SUCCESS;
        for (std::uint32_t d = 0; d < devices_.count() && result == CUDA_SUCCESS; ++d) {
            result = Api::cuStreamSynchronize(devices_.stream(static_cast<DeviceId>(d)));
        }
        Status thrown;
        if (result == CUDA_SUCCESS && does_something(op_)) result = start(thrown);
        if (result == CUDA_SUCCESS) result = Api::cuStreamSynchronize(stream_);
        if (result != CUDA_SUCCESS) return op_.error(cuda_error<Api>(result, "a CUDA op failed"));
        return thrown;
    }

private:
    [[nodiscard]] CUresult start(Status& thrown) noexcept {
        switch (op_.record->kind) {
            case OpKind::kernel: return launch();
            case OpKind::copy: {
                const auto copy = load_block<CopyBlock>(op_.block);
                return Api::cuMemcpyAsync(device_pointer(copy.destination), device_pointer(copy.source), copy.bytes,
                                          stream_);
            }
            case OpKind::fill: return fill();
            case OpKind::captured: return replay_captured();
            case OpKind::host_call: break;
        }
        call_host(thrown);
        return CUDA_SUCCESS;
    }

    [[nodiscard]] CUresult launch() noexcept {
        const bool is_via_block = reinterpret_cast<const CudaFunction*>(op_.record->handle)->is_via_block;
        const std::size_t bytes = op_.record->info->block_bytes;
        CUdeviceptr via = 0;
        CUresult result = is_via_block ? Api::cuMemAlloc(&via, bytes) : CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) return result;
        if (is_via_block) result = Api::cuMemcpyHtoDAsync(via, op_.block, bytes, stream_);
        if (result == CUDA_SUCCESS) {
            CudaArguments arguments(op_, is_via_block ? &via : nullptr);
            const auto params = kernel_params(op_, devices_.context(op_.record->device), arguments);
            result = Api::cuLaunchKernel(params.func, params.gridDimX, params.gridDimY, params.gridDimZ,
                                         params.blockDimX, params.blockDimY, params.blockDimZ, params.sharedMemBytes,
                                         stream_, nullptr, params.extra);
        }
        if (is_via_block) {
            const CUresult over = Api::cuStreamSynchronize(stream_);
            (void)Api::cuMemFree(via);
            if (result == CUDA_SUCCESS) result = over;
        }
        return result;
    }

    [[nodiscard]] CUresult fill() noexcept {
        const auto fill = load_block<FillBlock>(op_.block);
        const CUdeviceptr to = device_pointer(fill.destination);
        unsigned kind = CU_MEMORYTYPE_HOST;
        if (Api::cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, to) != CUDA_SUCCESS ||
            kind == CU_MEMORYTYPE_HOST) {
            (void)run_host_fill(op_.block);
            return CUDA_SUCCESS;
        }
        CudaNode node;
        cut_fill(fill, true, to, node);
        std::uint32_t value = 0;
        std::memcpy(&value, fill.pattern, node.element);
        if (node.count == 1) {
            if (node.element == 1)
                return Api::cuMemsetD8Async(to, static_cast<unsigned char>(value), fill.bytes, stream_);
            if (node.element == 2) {
                return Api::cuMemsetD16Async(to, static_cast<unsigned short>(value), fill.bytes / 2, stream_);
            }
            return Api::cuMemsetD32Async(to, value, fill.bytes / 4, stream_);
        }
        // The filled part is doubled until it is the whole.
        std::uint64_t done = fill.pattern_bytes < fill.bytes ? fill.pattern_bytes : fill.bytes;
        CUresult result = Api::cuMemcpyHtoDAsync(to, op_.block + offsetof(FillBlock, pattern), done, stream_);
        while (done < fill.bytes && result == CUDA_SUCCESS) {
            const std::uint64_t more = done < fill.bytes - done ? done : fill.bytes - done;
            result = Api::cuMemcpyAsync(to + done, to, more, stream_);
            done += more;
        }
        return result;
    }

    [[nodiscard]] CUresult replay_captured() noexcept {
        CUgraphExec exec = nullptr;
        CUresult result = Api::cuGraphInstantiate(&exec, reinterpret_cast<CUgraph>(op_.record->handle), 0);
        if (result != CUDA_SUCCESS) return result;
        result = Api::cuGraphLaunch(exec, stream_);
        if (result == CUDA_SUCCESS) result = Api::cuStreamSynchronize(stream_);
        (void)Api::cuGraphExecDestroy(exec);
        return result;
    }

    void call_host([[maybe_unused]] Status& thrown) noexcept {
        const HostEntry entry = host_entry(*op_.record);
#if GRAPHJIT_EXCEPTIONS
        try {
            (void)entry(op_.block);
        } catch (...) {
            thrown = op_.error(ErrorCode::backend_failure, "a host kernel threw; what it writes is not to be used");
        }
#else
        (void)entry(op_.block);
#endif
    }

    const BasicCudaDevices<Api>& devices_;
    const OpView& op_;
    CUstream stream_;
};

}  // namespace graphjit::inline v0::detail
