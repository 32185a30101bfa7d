// expect: graphjit: a temporary is registered as a buffer; it would be gone by replay
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

struct Floats {
    ~Floats() {}
    float* data() { return memory; }
    unsigned size() { return 4; }
    float memory[4];
};

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    (void)rec.buffer("floats", Floats());
#else
    Floats floats;
    (void)rec.buffer("floats", floats);
#endif
}
