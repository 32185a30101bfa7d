// cuda.host: what graphjit itself costs the host beside the driver's own calls. The driver here only says yes.
#include "graphs.hpp"
#include "patching.hpp"

#include <graphjit/backend/cuda.hpp>

#include <cstdlib>
#include <cstring>

namespace bench {
namespace {

/// Calls that do nothing; those whose answers matter are written out.
struct YesBase {
#define GRAPHJIT_CUDA_CALL(name) static constexpr auto name = [](auto...) noexcept { return CUDA_SUCCESS; };
    GRAPHJIT_CUDA_CALLS(GRAPHJIT_CUDA_CALL)
#undef GRAPHJIT_CUDA_CALL
};
struct YesCuda : YesBase {
    static bool load() noexcept { return true; }
    static CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) noexcept {
        *context = handle<CUcontext>();
        return CUDA_SUCCESS;
    }
    static CUresult cuFuncGetParamInfo(CUfunction, std::size_t index, std::size_t* offset,
                                       std::size_t* bytes) noexcept {
        if (index >= asked->argument_count) return CUDA_ERROR_INVALID_VALUE;
        *offset = asked->arguments[index].offset;
        *bytes = asked->arguments[index].bytes;
        return CUDA_SUCCESS;
    }
    static CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr) noexcept {
        const unsigned answer = attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? unsigned{CU_MEMORYTYPE_DEVICE} : 0;
        std::memcpy(data, &answer, sizeof answer);
        return CUDA_SUCCESS;
    }
    static CUresult cuMemAlloc(CUdeviceptr* memory, std::size_t) noexcept {
        *memory = reinterpret_cast<std::uintptr_t>(handle<void*>());
        return CUDA_SUCCESS;
    }
    static CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) noexcept {
        *memory = std::malloc(bytes);
        return *memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    }
    static CUresult cuMemFreeHost(void* memory) noexcept {
        std::free(memory);
        return CUDA_SUCCESS;
    }
    static CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph, unsigned long long) noexcept {
        *exec = handle<CUgraphExec>();
        return CUDA_SUCCESS;
    }
    /// What is measured is beside this call, and it must not be optimised away.
    [[gnu::noinline]] static CUresult cuGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode,
                                                                     const CUDA_KERNEL_NODE_PARAMS* params) noexcept {
        asm volatile("" : : "r"(params) : "memory");
        return CUDA_SUCCESS;
    }

    static inline const gj::KernelInfo* asked = nullptr;

private:
    template <class Handle>
    static Handle handle() noexcept {
        static std::max_align_t something;
        return reinterpret_cast<Handle>(&something);
    }
};

using Backend = gj::BasicCudaBackend<YesCuda>;
using Runner = gj::MultiGraphRunner<Backend>;
template <class... Extra>
using Kernel = gj::CudaKernel<gj::In<Word>, gj::In<Word>, gj::Out<Word>, Word, Extra...>;

template <class... Extra>
void host_metrics(const Report& report, const std::string& name) {
    const bool touched = report.wants(name + "touched"), untouched = report.wants(name + "untouched");
    if (!touched && !untouched) return;
    static constexpr gj::ArgumentInfo pointer[] = {{0, sizeof(void*), gj::ArgumentRole::value}};
    static constexpr gj::KernelInfo by_pointer{"", 0, 8, 8, gj::KernelInfo::no_dims, 1, pointer};
    YesCuda::asked = Kernel<Extra...>::is_via_block ? &by_pointer : &Kernel<Extra...>::info;
    const auto devices = gj::BasicCudaDevices<YesCuda>::primary().value();
    const auto module = gj::BasicCudaModule<YesCuda>::load(devices, "").value();
    const auto kernel =
        module.template kernel<gj::In<Word>, gj::In<Word>, gj::Out<Word>, Word, Extra...>("step").value();
    const Memory memory(4);
    gj::Recorder<Backend> recorder{devices};
    const auto in = recorder.input<const Word>("in", words_per_buffer);
    const auto own = recorder.buffer("own", memory.buffer(0), std::int64_t{words_per_buffer});
    const auto out = recorder.buffer("out", memory.buffer(1), std::int64_t{words_per_buffer});
    for (Word i = 0; i < launches_count; ++i) {
        recorder.launch(kernel, {.groups = {1}, .group_size = {32}}, in, own, out, i);
    }
    Runner runner = gj::instantiate(std::move(recorder)).value();
    runner.set(in, memory.buffer(2), words_per_buffer);
    if (touched) {
        const double time = patch_time(runner,
                                       [&](bool odd) { runner.set(in, memory.buffer(odd ? 2 : 3), words_per_buffer); });
        report.add(name + "touched", time, "ns/node");
    }
    if (untouched) {
        const auto [time] = alternate(usual_rounds, usual_sample,
                                      [&] { require(runner.replay().ok(), "a replay was refused"); });
        report.add(name + "untouched", time / static_cast<double>(launches_count), "ns/node");
    }
}

}  // namespace

void cuda_benchmarks(const Report& report) {
    host_metrics(report, "cuda.host.");
    host_metrics<gj::via_block>(report, "cuda.host.via_block.");
}

}  // namespace bench
