// expect: graphjit: kernel argument 1 is an integer, given a floating-point value
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void shift(int, float*) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<shift>, 2.5, out);
#else
    rec.launch(graphjit::kernel<shift>, 2, out);
#endif
}
