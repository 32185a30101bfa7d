// The machine that CUDA tests run on: the simulated driver, started anew for each test case, or a real one.
#pragma once

#include "cuda/kernels.hpp"

#include <graphjit/graph.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#if !defined(GRAPHJIT_TEST_REAL_CUDA)
#include "vendor/cuda/control.hpp"
#endif

namespace test {

using CudaRecorder = gj::Recorder<gj::CudaBackend>;
using CudaList = gj::OpListOf<gj::CudaBackend>;
using CudaGraph = gj::MultiGraphRunner<gj::CudaBackend>;

inline constexpr gj::DeviceId device(unsigned number) { return static_cast<gj::DeviceId>(number); }

class CudaMachine {
public:
    explicit CudaMachine(unsigned device_count = 1);

    gj::CudaDevices devices;
    gj::CudaModule module;
    CudaKernels kernels;

    [[nodiscard]] CudaRecorder recorder() const { return CudaRecorder(devices); }
    [[nodiscard]] static CudaGraph build(CudaRecorder&& recorder) {
        return gj::instantiate(std::move(recorder)).value();
    }
};

/// How many devices a test may ask for.
[[nodiscard]] unsigned device_count();

/// Numbers in a device's memory.
class DeviceInts {
public:
    DeviceInts(const CudaMachine& machine, std::size_t count, Int value = -7, unsigned device = 0)
        : context_(machine.devices.context(test::device(device))), count_(count) {
        const gj::detail::CudaCurrent<gj::LinkedCuda> current(context_);
        REQUIRE(cuMemAlloc(&memory_, bytes()) == CUDA_SUCCESS);
        set(value);
    }
    DeviceInts(DeviceInts&& other) noexcept
        : context_(other.context_), memory_(std::exchange(other.memory_, 0)), count_(other.count_) {}
    ~DeviceInts() {
        const gj::detail::CudaCurrent<gj::LinkedCuda> current(context_);
        if (memory_ != 0) (void)cuMemFree(memory_);
    }

    [[nodiscard]] Int* data() const { return reinterpret_cast<Int*>(static_cast<std::uintptr_t>(memory_)); }
    [[nodiscard]] std::size_t size() const { return count_; }

    void set(Int value) { set(std::vector<Int>(count_, value)); }
    void set(const std::vector<Int>& values) {
        const gj::detail::CudaCurrent<gj::LinkedCuda> current(context_);
        REQUIRE(cuMemcpyHtoD(memory_, values.data(), bytes()) == CUDA_SUCCESS);
        REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);  // or the bytes might still be on their way
    }
    [[nodiscard]] std::vector<Int> get() const {
        const gj::detail::CudaCurrent<gj::LinkedCuda> current(context_);
        std::vector<Int> values(count_);
        REQUIRE(cuMemcpyDtoH(values.data(), memory_, bytes()) == CUDA_SUCCESS);
        return values;
    }
    [[nodiscard]] std::string text() const {
        std::string line;
        for (const Int value : get()) line += (line.empty() ? "" : " ") + std::to_string(value);
        return line;
    }
    /// Whether all are this.
    [[nodiscard]] bool are(Int value) const { return get() == std::vector<Int>(count_, value); }

private:
    [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(Int); }

    CUcontext context_;
    CUdeviceptr memory_ = 0;
    std::size_t count_;
};

inline const gj::LaunchExprs one_block{.groups = {1}, .group_size = {32}};

/// Makes a device's context current, as an engine's thread has one.
class CurrentDevice : gj::detail::CudaCurrent<gj::LinkedCuda> {
public:
    explicit CurrentDevice(const CudaMachine& machine, unsigned number = 0)
        : CudaCurrent(machine.devices.context(device(number))) {}
};

[[nodiscard]] inline std::string replay_now(CudaGraph& graph) {
    gj::Status status = graph.replay();
    if (status.ok()) status = graph.wait();
    return status.ok() ? "ok" : status.message().c_str();
}

}  // namespace test
