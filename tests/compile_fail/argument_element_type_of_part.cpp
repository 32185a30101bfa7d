// expect: graphjit: kernel argument 2 has another element type than the buffer given
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void gain(float, const float*, graphjit::Out<float>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
    auto at = rec.variable("at", {.min = 0, .max = 1});
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<gain>, 2.0f, in.as<const int>().slice(at, 4), out);
#else
    rec.launch(graphjit::kernel<gain>, 2.0f, in.slice(at, 4), out);
#endif
}
