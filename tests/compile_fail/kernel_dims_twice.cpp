// expect: graphjit: a kernel takes LaunchDims at most once
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#ifdef GRAPHJIT_FAIL
void iota(graphjit::LaunchDims, const graphjit::LaunchDims&, int*) {}
#else
void iota(const graphjit::LaunchDims&, int*) {}
#endif

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    rec.launch(graphjit::kernel<iota>, {.groups = {4}}, nullptr);
}
