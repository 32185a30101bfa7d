// expect: graphjit: the value of a fill cannot be made from the value given
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.fill(out, nullptr);
#else
    rec.fill(out, 1);
#endif
}
