// expect: graphjit: a fill is of a Buffer or Input
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#include <vector>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec, std::vector<float>& memory) {
#ifdef GRAPHJIT_FAIL
    rec.fill(memory, 0.0f);
#else
    rec.fill(rec.buffer("memory", memory), 0.0f);
#endif
}
