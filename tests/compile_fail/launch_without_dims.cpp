// expect: graphjit: this kernel takes LaunchDims, but is launched without
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void iota(graphjit::LaunchDims, graphjit::Out<int>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<int>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<iota>, out);
#else
    rec.launch(graphjit::kernel<iota>, {.groups = {4}}, out);
#endif
}
