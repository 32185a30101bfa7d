// expect: graphjit: the value of a fill is no integer, given a Variable or Expr
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto at = rec.variable("at", {.min = 0, .max = 1});
#ifdef GRAPHJIT_FAIL
    rec.fill(rec.input<float>("out", 4), at);
#else
    rec.fill(rec.input<int>("out", 4), at);
#endif
}
