// Execution control: what a launch may be, the copy of its arguments, and launches into streams.
#include "graph.hpp"

using namespace test::cuda;

namespace test::cuda {

namespace {

constexpr unsigned max_grid_x = 2147483647, max_grid_yz = 65535;
constexpr unsigned max_block_xy = 1024, max_block_z = 64, max_threads = 1024;

bool is_grid(const Extent& e) {
    return e.x > 0 && e.y > 0 && e.z > 0 && e.x <= max_grid_x && e.y <= max_grid_yz && e.z <= max_grid_yz;
}

bool is_block(const Extent& e) {
    return e.x > 0 && e.y > 0 && e.z > 0 && e.x <= max_block_xy && e.y <= max_block_xy && e.z <= max_block_z &&
           std::uint64_t{e.x} * e.y * e.z <= max_threads;
}

struct Layout {
    std::size_t bytes = 0;
    std::size_t with_padding = 0;  // as sizeof a struct of the parameters would say
};

Layout layout_of(const Kernel& kernel) {
    Layout layout;
    std::size_t alignment = 1;
    for (const Parameter& p : kernel.parameters) {
        layout.bytes = std::max(layout.bytes, p.offset + p.size);
        std::size_t own = 1;
        while (own < 16 && p.size % (2 * own) == 0) own *= 2;
        alignment = std::max(alignment, own);
    }
    layout.with_padding = (layout.bytes + alignment - 1) / alignment * alignment;
    return layout;
}

CUresult read_extra(const Layout& layout, void** extra, std::vector<std::byte>& out) {
    const void* buffer = nullptr;
    std::size_t size = 0;
    for (void** next = extra; *next != CU_LAUNCH_PARAM_END; next += 2) {
        if (next[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = next[1];
        } else if (next[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && next[1] != nullptr) {
            std::memcpy(&size, next[1], sizeof size);
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (size < layout.bytes || (buffer == nullptr && size > 0)) return CUDA_ERROR_INVALID_VALUE;
    if (size > layout.with_padding) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;  // "too many arguments"
    out.resize(layout.bytes);
    if (layout.bytes > 0) std::memcpy(out.data(), buffer, layout.bytes);
    return CUDA_SUCCESS;
}

}  // namespace

CUresult read_launch(const FunctionPtr& function, const GivenLaunch& given, KernelParams& out) {
    const Kernel& kernel = *function->kernel;
    if (!is_grid(given.grid) || !is_block(given.block)) return CUDA_ERROR_INVALID_VALUE;
    if (given.block.x * given.block.y * given.block.z > static_cast<unsigned>(kernel.max_threads))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (given.shared > static_cast<unsigned>(function->max_dynamic_shared)) return CUDA_ERROR_INVALID_VALUE;
    if (given.arguments != nullptr && given.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    out = {function, given.grid, given.block, given.shared, {}, given.extra != nullptr};
    const Layout layout = layout_of(kernel);
    if (given.extra != nullptr) return read_extra(layout, given.extra, out.arguments);
    if (kernel.parameters.empty()) return CUDA_SUCCESS;
    if (given.arguments == nullptr) return CUDA_ERROR_INVALID_VALUE;
    out.arguments.resize(layout.bytes);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        if (given.arguments[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
        std::memcpy(out.arguments.data() + kernel.parameters[i].offset, given.arguments[i], kernel.parameters[i].size);
    }
    return CUDA_SUCCESS;
}

}  // namespace test::cuda

namespace {

CUresult launch_kernel(CUfunction f, const GivenLaunch& given, CUstream hStream) {
    const FunctionPtr function = state().functions.find(f);
    const StreamPtr stream = find_stream(hStream);
    if (!function || !stream) return CUDA_ERROR_INVALID_HANDLE;
    // "The CUDA context associated with this stream must match that associated with function f."
    if (stream->context.lock() != function->context) return CUDA_ERROR_INVALID_HANDLE;
    KernelParams params;
    if (const CUresult error = read_launch(function, given, params); error != CUDA_SUCCESS) return error;
    return enqueue(stream, params);
}

}  // namespace

CUDA_CALL cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                         unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                         unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
    const Call call("cuLaunchKernel");
    if (call.refused()) return call.error;
    return launch_kernel(
        f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, kernelParams, extra},
        hStream);
}

CUDA_CALL cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
    const Call call("cuLaunchKernelEx");
    if (call.refused()) return call.error;
    if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const CUlaunchAttributeID id = config->attrs[i].id;
        // Those that only hint. The others would change what runs when.
        const bool hint = id == CU_LAUNCH_ATTRIBUTE_IGNORE || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
                          id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
                          id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        if (!hint) return CUDA_ERROR_NOT_SUPPORTED;
    }
    return launch_kernel(f,
                         {{config->gridDimX, config->gridDimY, config->gridDimZ},
                          {config->blockDimX, config->blockDimY, config->blockDimZ},
                          config->sharedMemBytes,
                          kernelParams,
                          extra},
                         config->hStream);
}
