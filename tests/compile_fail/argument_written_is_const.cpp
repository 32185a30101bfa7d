// expect: graphjit: kernel argument 3 is written, but the buffer given is const
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void gain(float, const float*, graphjit::Out<float>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<gain>, 2.0f, out, in);
#else
    rec.launch(graphjit::kernel<gain>, 2.0f, in, out);
#endif
}
