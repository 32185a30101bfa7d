// expect: graphjit: the destination of a copy is const
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.copy(in, out);
#else
    rec.copy(out, in);
#endif
}
