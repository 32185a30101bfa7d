// When a part of a ring may be written again.
#pragma once

#include <graphjit/backend/cuda_devices.hpp>

namespace graphjit::inline v0::detail {

/// Counts the replays that change what launches in flight may still read. Each writes into a part of a ring of its own,
/// and one event for several of them says which parts nothing reads any more: most replays ask the driver nothing.
/// Pre: a context is current where it is built and released, the same one.
template <class Api>
class CudaChanges {
    static constexpr std::uint64_t group = 4;  // changes to an event

public:
    /// Parts of a ring that each change writes anew, and of one that only some changes write, which launches go on
    /// reading until the next one.
    static constexpr std::uint32_t slots = 2 * group;
    static constexpr std::uint32_t images = 3 * group;

    CudaChanges() noexcept = default;
    CudaChanges(const CudaChanges&) = delete;
    CudaChanges& operator=(const CudaChanges&) = delete;
    void release() noexcept {
        for (const CUevent event : events_) {
            if (event != nullptr) (void)Api::cuEventDestroy(event);
        }
    }

    [[nodiscard]] CUresult build() noexcept {
        CUresult result = CUDA_SUCCESS;
        for (CUevent& event : events_) {
            if (result == CUDA_SUCCESS) result = Api::cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        }
        return result;
    }

    /// Once a replay, however often it is called. `stream`: of the last launch, null where none is in flight. Waits
    /// only where the replays of a whole group before have not ended.
    template <class Here>
    [[nodiscard]] CUresult begin(CUstream stream, Here here) noexcept {
        if (is_begun_) return CUDA_SUCCESS;
        if (count_ % group == 0 && stream != nullptr) {
            const std::uint64_t now = count_ / group;
            CUresult result = here([&] { return Api::cuEventRecord(events_[now % 2], stream); });
            if (result == CUDA_SUCCESS && now > 0) {
                result = here([&] { return Api::cuEventSynchronize(events_[(now - 1) % 2]); });
            }
            // A stream of another context than the events'.
            if (result == CUDA_ERROR_INVALID_HANDLE) result = here([&] { return Api::cuStreamSynchronize(stream); });
            if (result != CUDA_SUCCESS) return result;
        }
        is_begun_ = true;
        ++count_;
        return CUDA_SUCCESS;
    }
    void end() noexcept { is_begun_ = false; }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    CUevent events_[2] = {};
    std::uint64_t count_ = 0;
    bool is_begun_ = false;
};

}  // namespace graphjit::inline v0::detail
