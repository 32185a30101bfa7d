// An NVIDIA GPU.
#pragma once

#include "kernels.hpp"

#include <graphjit/backend/cuda.hpp>
#include <graphjit/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decode {

namespace gj = graphjit;

using Backend = gj::CudaBackend;
inline constexpr const char* backend_name = "cuda";
inline constexpr bool returns_early = true;
inline constexpr gj::DeviceId host_memory = gj::cuda_host;

/// For the example's own calls, which it cannot go on without.
inline void must(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    const char* name = nullptr;
    (void)cuGetErrorName(result, &name);
    std::fprintf(stderr, "cuda_decode: %s: %s\n", what, name == nullptr ? "CUDA error" : name);
    std::exit(1);
}

/// The arguments of a kernel's body are those of the kernel.
template <class Body>
struct CudaForm;
template <class... P>
struct CudaForm<void (*)(Group, P...)> {
    using Kernel = gj::CudaKernel<P...>;
    [[nodiscard]] static gj::Result<Kernel> find(const gj::CudaModule& module, const char* name) {
        return module.kernel<P...>(name);
    }
};

class Device {
public:
    /// `kernels`: the file that nvcc made of kernels.cu.
    [[nodiscard]] gj::Status open(const std::string& kernels) {
        auto devices = gj::CudaDevices::primary();
        if (!devices) return devices.status();
        devices_ = *devices;
        must(cuCtxSetCurrent(devices_.context(gj::DeviceId{0})), "a CUDA context");
        auto module = gj::CudaModule::load(devices_, read(kernels).data());
        if (!module) return module.status();
        module_.emplace(*module);
        return {};
    }
    [[nodiscard]] Backend backend() const { return Backend(devices_); }
    template <auto body>
    [[nodiscard]] auto kernel(const char* name) const {
        return CudaForm<decltype(body)>::find(*module_, name).value();
    }

private:
    [[nodiscard]] static std::vector<char> read(const std::string& path) {
        std::FILE* file = std::fopen(path.c_str(), "rb");
        if (file == nullptr) {
            std::fprintf(stderr, "cuda_decode: %s cannot be read; nvcc makes it, see README.md\n", path.c_str());
            std::exit(2);
        }
        std::vector<char> image;
        char piece[4096];
        for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, file)) != 0;) {
            image.insert(image.end(), piece, piece + got);
        }
        std::fclose(file);
        image.push_back(0);  // where PTX ends
        return image;
    }

    gj::CudaDevices devices_;
    std::optional<gj::CudaModule> module_;
};

class DeviceArray {
public:
    explicit DeviceArray(std::int64_t count) : size_(static_cast<std::size_t>(count)) {
        must(cuMemAlloc(&address_, bytes()), "memory of the device");
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    DeviceArray(DeviceArray&& other) noexcept : address_(std::exchange(other.address_, 0)), size_(other.size_) {}
    ~DeviceArray() { (void)cuMemFree(address_); }

    [[nodiscard]] float* data() const { return reinterpret_cast<float*>(address_); }
    [[nodiscard]] std::size_t size() const { return size_; }

    void upload(const std::vector<float>& values) {
        must(cuMemcpyHtoD(address_, values.data(), bytes()), "a copy to the device");
        // The call may return while the last bytes are still under way, and the streams of graphs do not wait for it.
        // Source: Driver API, "API synchronization behavior", synchronous transfers from pageable memory.
        must(cuStreamSynchronize(nullptr), "a copy to the device");
    }
    [[nodiscard]] std::vector<float> download() const {
        std::vector<float> values(size_);
        must(cuMemcpyDtoH(values.data(), address_, bytes()), "a copy from the device");
        return values;
    }

private:
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(float); }

    CUdeviceptr address_ = 0;
    std::size_t size_;
};

/// Pinned, since only then do copies run by themselves.
class HostArray {
public:
    explicit HostArray(std::int64_t count) : size_(static_cast<std::size_t>(count)) {
        void* data = nullptr;
        must(cuMemHostAlloc(&data, size_ * sizeof(float), 0), "memory of the host");
        data_ = static_cast<float*>(data);
    }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;
    ~HostArray() { (void)cuMemFreeHost(data_); }

    [[nodiscard]] float* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    float* data_;
    std::size_t size_;
};

template <class Graph>
[[nodiscard]] std::string native_note(Graph& graph) {
    const gj::CudaCounters& counters = graph.native().counters();
    return ", instantiated anew " + std::to_string(counters.reinstantiations) + " times";
}

}  // namespace decode
