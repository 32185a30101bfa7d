// What the backends that run on the CPU have in common.
#pragma once

#include "kernels.hpp"

#include <graphjit/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace decode {

namespace gj = graphjit;

inline constexpr gj::DeviceId host_memory{0};

/// A kernel's body, called for each group.
template <class Body>
struct HostForm;
template <class... P>
struct HostForm<void (*)(Group, P...)> {
    template <auto body>
    static void run(gj::LaunchDims dims, P... arguments) {
        for (std::uint32_t y = 0; y < dims.groups.y; ++y) {
            for (std::uint32_t x = 0; x < dims.groups.x; ++x) body(Group(x, y), arguments...);
        }
    }
};

class HostDevice {
public:
    [[nodiscard]] gj::Status open(const std::string&) { return {}; }
    template <auto body>
    [[nodiscard]] auto kernel(const char*) const {
        return gj::kernel<&HostForm<decltype(body)>::template run<body>>;
    }
};

class HostArray {
public:
    explicit HostArray(std::int64_t count) : values_(static_cast<std::size_t>(count)) {}

    [[nodiscard]] float* data() { return values_.data(); }
    [[nodiscard]] const float* data() const { return values_.data(); }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

    void upload(const std::vector<float>& values) { values_ = values; }
    [[nodiscard]] std::vector<float> download() const { return values_; }

private:
    std::vector<float> values_;
};
using DeviceArray = HostArray;

template <class Graph>
[[nodiscard]] std::string native_note(Graph&) {
    return {};
}

}  // namespace decode
