// Work of libraries, captured from a stream.
#pragma once

#include <graphjit/backend/cuda_devices.hpp>

namespace graphjit::inline v0::detail {

/// Captured graphs, shared by a recording, its copies and the graphs made of them.
template <class Api>
class CudaCaptures {
public:
    CudaCaptures() noexcept = default;
    CudaCaptures(const CudaCaptures& other) noexcept : list_(other.list_) {
        if (list_ != nullptr) list_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    CudaCaptures(CudaCaptures&& other) noexcept : list_(std::exchange(other.list_, nullptr)) {}
    CudaCaptures& operator=(CudaCaptures other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~CudaCaptures() {
        if (list_ == nullptr || list_->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        for (const CUgraph graph : list_->graphs) (void)Api::cuGraphDestroy(graph);
        delete list_;
    }

    template <class Work>
    [[nodiscard]] Result<std::uintptr_t> capture(CUcontext context, Work& work) {
        if (list_ == nullptr) list_ = new (std::nothrow) List;
        if (list_ == nullptr || !list_->graphs.make_room(1)) return failed(CUDA_ERROR_OUT_OF_MEMORY);
        const CudaCurrent<Api> current(context);
        Stream stream;
        CUresult result = Api::cuStreamCreate(&stream.stream, CU_STREAM_NON_BLOCKING);
        // Other threads may do what they like meanwhile.
        if (result == CUDA_SUCCESS) {
            result = Api::cuStreamBeginCapture(stream.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        }
        if (result != CUDA_SUCCESS) return failed(result);
        stream.is_capturing = true;
        work(stream.stream);
        CUgraph graph = nullptr;
        result = stream.end(graph);
        if (result != CUDA_SUCCESS) return failed(result);
        list_->graphs.push_reserved(graph);
        return reinterpret_cast<std::uintptr_t>(graph);
    }

private:
    struct List {
        std::atomic<std::uint32_t> holders{1};
        Array<CUgraph> graphs;
    };
    /// Ends the capture also where the work throws.
    struct Stream {
        CUstream stream = nullptr;
        bool is_capturing = false;

        [[nodiscard]] CUresult end(CUgraph& graph) noexcept {
            is_capturing = false;
            return Api::cuStreamEndCapture(stream, &graph);
        }
        ~Stream() {
            CUgraph graph = nullptr;
            if (is_capturing && end(graph) == CUDA_SUCCESS) (void)Api::cuGraphDestroy(graph);
            if (stream != nullptr) (void)Api::cuStreamDestroy(stream);
        }
    };

    [[nodiscard]] static Error failed(CUresult result) noexcept {
        return cuda_error<Api>(result, "work could not be captured from a CUDA stream");
    }

    List* list_ = nullptr;
};

}  // namespace graphjit::inline v0::detail
