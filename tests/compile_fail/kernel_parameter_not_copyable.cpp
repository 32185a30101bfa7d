// expect: graphjit: a kernel parameter is not trivially copyable, so it cannot be kept in an argument block
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

struct Setting {
#ifdef GRAPHJIT_FAIL
    ~Setting() {}
#endif
    int value;
};
void apply(Setting, float*) {}

void record(graphjit::Recorder<graphjit::CpuBackend>& rec) { rec.launch(graphjit::kernel<apply>, Setting(), nullptr); }
