// expect: graphjit: what is launched is no kernel; write gj::kernel<f> for a host function f
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch("clear", [](float* x) { *x = 0; }, out);
#else
    rec.launch("clear", graphjit::kernel<[](float* x) { *x = 0; }>, out);
#endif
}
