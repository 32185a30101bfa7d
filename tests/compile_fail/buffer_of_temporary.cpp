// expect: graphjit: a temporary is registered as a buffer; it would be gone by replay
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#include <vector>

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.fill(rec.buffer("memory", std::vector<float>(4)), 0.0f);
#else
    static std::vector<float> memory(4);
    rec.fill(rec.buffer("memory", memory), 0.0f);
#endif
}
