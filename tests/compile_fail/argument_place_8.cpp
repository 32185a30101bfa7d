// expect: graphjit: kernel argument 8 cannot be made from the value given
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

void many(int, int, int, int, int, int, int, int, int, int) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) {
#ifdef GRAPHJIT_FAIL
    rec.launch(graphjit::kernel<many>, 1, 2, 3, 4, 5, 6, 7, nullptr, 9, 10);
#else
    rec.launch(graphjit::kernel<many>, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
#endif
}
