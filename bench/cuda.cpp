// cuda.host: what graphjit itself costs the host beside the driver's own calls. The driver here only says yes.
#include "graphs.hpp"
#include "patching.hpp"
#include "support/yes_cuda.hpp"

#include <graphjit/backend/cuda.hpp>

namespace bench {
namespace {

using test::YesCuda;
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
