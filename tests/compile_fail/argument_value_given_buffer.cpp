// expect: graphjit: kernel argument 1 is a value, given a buffer
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void gain(float, const float*, graphjit::Out<float>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<gain>, in, in, out);
#else
    rec.launch(graphjit::kernel<gain>, 2.0f, in, out);
#endif
}
