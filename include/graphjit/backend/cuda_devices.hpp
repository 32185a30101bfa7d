// CUDA devices: their contexts, and what all graphs on them share.
#pragma once

#include <graphjit/backend/detail/cuda_api.hpp>
#include <graphjit/backend/hcq_timeline.hpp>
#include <graphjit/base/array.hpp>
#include <graphjit/base/ids.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/base/span.hpp>

#include <atomic>
#include <utility>

namespace graphjit::inline v0 {

/// Where memory lies that is the host's and not a device's: `rec.buffer("in", pinned, cuda_host)`.
inline constexpr DeviceId cuda_host{0xffff};

namespace detail {

/// Makes a context current for a while; the caller's comes back.
template <class Api>
class CudaCurrent {
public:
    explicit CudaCurrent(CUcontext context) noexcept : is_pushed_(Api::cuCtxPushCurrent(context) == CUDA_SUCCESS) {}
    CudaCurrent(const CudaCurrent&) = delete;
    CudaCurrent& operator=(const CudaCurrent&) = delete;
    ~CudaCurrent() {
        CUcontext popped = nullptr;
        if (is_pushed_) (void)Api::cuCtxPopCurrent(&popped);
    }

private:
    bool is_pushed_;
};

template <class Api>
struct CudaDevice {
    CUcontext context = nullptr;
    CUdevice device = 0;
    bool is_primary = false;    // retained here
    CUstream stream = nullptr;  // of graphs that are given no other
    CUdeviceptr scratch = 0;    // stands for inputs that have no buffer yet; nothing ever runs on it
    std::uint64_t reaches = 0;  // a bit per device whose memory its kernels may use
};

/// Lives as long as the last handle.
template <class Api>
class CudaShared {
public:
    static constexpr std::uint32_t most_devices = 64;
    static constexpr std::size_t scratch_bytes = 256;

    CudaShared() noexcept = default;
    CudaShared(const CudaShared&) = delete;
    CudaShared& operator=(const CudaShared&) = delete;

    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void let_go() noexcept {
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    [[nodiscard]] Status add(CUcontext context, CUdevice device, bool is_primary) noexcept {
        CudaDevice<Api> added{.context = context, .device = device, .is_primary = is_primary};
        const CudaCurrent<Api> current(context);
        CUresult result = Api::cuStreamCreate(&added.stream, CU_STREAM_NON_BLOCKING);
        if (result == CUDA_SUCCESS) result = Api::cuMemAlloc(&added.scratch, scratch_bytes);
        if (result == CUDA_SUCCESS && host_scratch_ == nullptr) {
            result = Api::cuMemHostAlloc(&host_scratch_, scratch_bytes, CU_MEMHOSTALLOC_PORTABLE);
        }
        if (result == CUDA_SUCCESS && devices_.push(added)) return {};
        if (added.scratch != 0) (void)Api::cuMemFree(added.scratch);
        if (added.stream != nullptr) (void)Api::cuStreamDestroy(added.stream);
        if (is_primary) (void)Api::cuDevicePrimaryCtxRelease(device);
        if (result == CUDA_SUCCESS) result = CUDA_ERROR_OUT_OF_MEMORY;
        return cuda_error<Api>(result, "a CUDA device could not be prepared");
    }
    /// Lets every device use the memory of every other one, where the hardware can.
    [[nodiscard]] Status connect() noexcept {
        for (std::uint32_t a = 0; a < devices_.size(); ++a) {
            const CudaCurrent<Api> current(devices_[a].context);
            devices_[a].reaches = std::uint64_t{1} << a;
            for (std::uint32_t b = 0; b < devices_.size(); ++b) {
                int can = devices_[a].device == devices_[b].device ? 1 : 0;
                if (a == b) continue;
                if (can == 0) {
                    CUresult result = Api::cuDeviceCanAccessPeer(&can, devices_[a].device, devices_[b].device);
                    if (result == CUDA_SUCCESS && can != 0) result = Api::cuCtxEnablePeerAccess(devices_[b].context, 0);
                    if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
                        return cuda_error<Api>(result, "access to the memory of another CUDA device failed");
                    }
                }
                if (can != 0) devices_[a].reaches |= std::uint64_t{1} << b;
            }
        }
        return {};
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(devices_.size()); }
    [[nodiscard]] const CudaDevice<Api>& operator[](DeviceId device) const noexcept {
        return devices_[to_integer(device)];
    }
    [[nodiscard]] void* host_scratch() const noexcept { return host_scratch_; }
    /// Passed by each submission where there are several devices.
    [[nodiscard]] Turnstile& turnstile() noexcept { return turnstile_; }

private:
    ~CudaShared() {
        for (CudaDevice<Api>& device : devices_) {
            {
                const CudaCurrent<Api> current(device.context);
                (void)Api::cuStreamSynchronize(device.stream);
                (void)Api::cuMemFree(device.scratch);
                (void)Api::cuStreamDestroy(device.stream);
                if (&device == devices_.begin()) (void)Api::cuMemFreeHost(host_scratch_);
            }
            if (device.is_primary) (void)Api::cuDevicePrimaryCtxRelease(device.device);
        }
    }

    std::atomic<std::uint32_t> holders_{1};
    Turnstile turnstile_;
    Array<CudaDevice<Api>> devices_;
    void* host_scratch_ = nullptr;
};

}  // namespace detail

/// The devices of graphs, `DeviceId{0}` and on. A handle: copies share them.
/// Lifetime: contexts that were given must outlive all graphs; the primary ones are retained.
template <class Api>
class BasicCudaDevices {
public:
    BasicCudaDevices() noexcept = default;
    BasicCudaDevices(const BasicCudaDevices& other) noexcept : shared_(other.shared_) {
        if (shared_ != nullptr) shared_->hold();
    }
    BasicCudaDevices(BasicCudaDevices&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    BasicCudaDevices& operator=(BasicCudaDevices other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~BasicCudaDevices() {
        if (shared_ != nullptr) shared_->let_go();
    }

    /// One device: that of the context which is current on the calling thread.
    [[nodiscard]] static Result<BasicCudaDevices> current() noexcept {
        return make([](detail::CudaShared<Api>& shared) -> Status {
            CUcontext context = nullptr;
            const CUresult result = Api::cuCtxGetCurrent(&context);
            if (result != CUDA_SUCCESS) return detail::cuda_error<Api>(result, "no CUDA context");
            if (context == nullptr) {
                return detail::cuda_error<Api>(CUDA_ERROR_INVALID_CONTEXT, "no CUDA context is current");
            }
            return add(shared, context);
        });
    }
    /// These contexts, of one device or several.
    [[nodiscard]] static Result<BasicCudaDevices> of(Span<const CUcontext> contexts) noexcept {
        return make([&](detail::CudaShared<Api>& shared) {
            Status status;
            for (const CUcontext context : contexts) {
                if (status.ok()) status = add(shared, context);
            }
            return status;
        });
    }
    /// The primary contexts of the machine's first `count` devices: those that the CUDA runtime uses.
    [[nodiscard]] static Result<BasicCudaDevices> primary(std::uint32_t count = 1) noexcept {
        return make([&](detail::CudaShared<Api>& shared) {
            for (std::uint32_t i = 0; i < count; ++i) {
                CUdevice device = 0;
                CUcontext context = nullptr;
                CUresult result = Api::cuDeviceGet(&device, static_cast<int>(i));
                if (result == CUDA_SUCCESS) result = Api::cuDevicePrimaryCtxRetain(&context, device);
                if (result != CUDA_SUCCESS) {
                    return Status(detail::cuda_error<Api>(result, "a CUDA device could not be opened"));
                }
                if (Status status = shared.add(context, device, true); !status.ok()) return status;
            }
            return Status();
        });
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return shared_ == nullptr ? 0 : shared_->count(); }
    [[nodiscard]] CUcontext context(DeviceId device) const noexcept { return (*shared_)[device].context; }
    /// The stream of graphs that are given no other.
    [[nodiscard]] CUstream stream(DeviceId device) const noexcept { return (*shared_)[device].stream; }
    [[nodiscard]] detail::CudaShared<Api>* shared() const noexcept { return shared_; }

private:
    template <class Fill>
    [[nodiscard]] static Result<BasicCudaDevices> make(Fill fill) noexcept {
        Error none;
        none.code = ErrorCode::unsupported;
        none.text = "there is no CUDA driver, or it is older than 12.4";
        if (!Api::load()) return none;
        if (const CUresult result = Api::cuInit(0); result != CUDA_SUCCESS) {
            return detail::cuda_error<Api>(result, "the CUDA driver could not be started");
        }
        BasicCudaDevices devices;
        devices.shared_ = new (std::nothrow) detail::CudaShared<Api>;
        if (devices.shared_ == nullptr) return detail::cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory");
        Status status = fill(*devices.shared_);
        if (status.ok() && devices.count() == 0) {
            status = detail::cuda_error<Api>(CUDA_ERROR_INVALID_VALUE, "no CUDA device was asked for");
        }
        if (status.ok()) status = devices.shared_->connect();
        if (!status.ok()) return status;
        return devices;
    }
    [[nodiscard]] static Status add(detail::CudaShared<Api>& shared, CUcontext context) noexcept {
        if (shared.count() == detail::CudaShared<Api>::most_devices) {
            return detail::cuda_error<Api>(CUDA_ERROR_INVALID_VALUE, "more than 64 CUDA devices");
        }
        CUdevice device = 0;
        CUresult result = CUDA_SUCCESS;
        {
            const detail::CudaCurrent<Api> current(context);
            result = Api::cuCtxGetDevice(&device);
        }
        if (result != CUDA_SUCCESS) return detail::cuda_error<Api>(result, "a CUDA context is not usable");
        return shared.add(context, device, false);
    }

    detail::CudaShared<Api>* shared_ = nullptr;
};

}  // namespace graphjit::inline v0
