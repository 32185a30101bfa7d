// expect: graphjit: a kernel parameter is a reference; take values by value and memory by pointer
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

#ifdef GRAPHJIT_FAIL
void scale(float& value, float*) { value = 1; }
#else
void scale(float, float*) {}
#endif

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) { rec.launch(graphjit::kernel<scale>, 1.0f, nullptr); }
