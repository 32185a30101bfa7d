// expect: graphjit: kernel argument 1 has another type than the Slot given
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void gain(float, const float*, graphjit::Out<float>) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<const float>("in", 4);
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<gain>, rec.slot<double>("gain"), in, out);
#else
    rec.launch(graphjit::kernel<gain>, rec.slot<float>("gain"), in, out);
#endif
}
