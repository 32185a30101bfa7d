// expect: graphjit: a fill value is at most 16 bytes that can be copied as such
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

struct Quad {
    float x, y, z, w;
#ifdef GRAPHJIT_FAIL
    float extra;
#endif
};

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.fill(rec.input<Quad>("out", 4), Quad{});
#else
    rec.fill(rec.input<Quad>("out", 4), Quad{});
#endif
}
