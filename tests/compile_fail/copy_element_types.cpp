// expect: graphjit: the two ends of a copy have different element types; use Buffer::as<T>\(\)
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.copy(out, in.as<const int>());
#else
    rec.copy(out, in);
#endif
}
