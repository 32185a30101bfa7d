// expect: graphjit: reads\(\), writes\(\) and updates\(\) name a Buffer, Input or Token
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void nothing() {}

float memory[4];

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<nothing>, graphjit::writes(memory));
#else
    rec.launch(graphjit::kernel<nothing>, graphjit::writes(rec.buffer("memory", memory)));
#endif
}
