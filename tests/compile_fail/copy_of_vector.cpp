// expect: graphjit: a copy is from a Buffer or Input to a Buffer or Input
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#include <vector>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec, std::vector<float>& memory) {
    auto out = rec.input<float>("out", 4);
#ifdef GRAPHJIT_FAIL
    rec.copy(out, memory);
#else
    rec.copy(out, rec.buffer("memory", memory));
#endif
}
