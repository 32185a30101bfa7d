// expect: graphjit: the destination of a fill is const
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.fill(rec.input<const float>("out", 4), 1.0f);
#else
    rec.fill(rec.input<float>("out", 4), 1.0f);
#endif
}
