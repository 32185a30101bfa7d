// expect: graphjit: what is launched is no kernel; write gj::kernel<f> for a host function f
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void gain(float, const float*, graphjit::Out<float>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(gain, 2.0f, in, out);
#else
    rec.launch(graphjit::kernel<gain>, 2.0f, in, out);
#endif
}
