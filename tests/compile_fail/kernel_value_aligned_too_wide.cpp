// expect: graphjit: a kernel value is aligned wider than an argument block; pass it through memory
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#ifdef GRAPHJIT_FAIL
struct alignas(64) Matrix {
#else
struct alignas(16) Matrix {
#endif
    float cells[16];
};
void transform(Matrix, float*) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
    rec.launch(graphjit::kernel<transform>, Matrix{}, nullptr);
}
