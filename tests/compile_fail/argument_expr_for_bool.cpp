// expect: graphjit: kernel argument 1 is no integer, given a Variable or Expr
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void mute(bool, float*) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<mute>, rec.variable("at", {.max = 1}) + 1, out);
#else
    rec.launch(graphjit::kernel<mute>, true, out);
#endif
}
