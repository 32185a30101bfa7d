// expect: graphjit: a copy is from a Buffer or Input to a Buffer or Input \(memory is registered with
// Recorder::buffer\)
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

float memory[4];

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.copy(out, memory);
#else
    rec.copy(out, rec.buffer("memory", memory));
#endif
}
