// expect: graphjit: a fill is of a Buffer or Input \(memory is registered with Recorder::buffer\)
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

float memory[4];

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.fill("name", memory, 1.0f);
#else
    rec.fill("name", rec.buffer("memory", memory), 1.0f);
#endif
}
