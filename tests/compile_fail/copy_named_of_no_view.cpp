// expect: graphjit: a copy is from a Buffer or Input to a Buffer or Input
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

float memory[4];

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto in = rec.input<float>("in", 4);
#ifdef GRAPHJIT_FAIL
    rec.copy("name", memory, in);
#else
    rec.copy("name", rec.buffer("memory", memory), in);
#endif
}
