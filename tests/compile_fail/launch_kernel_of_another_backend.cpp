// expect: graphjit: this kernel belongs to another backend than the recorder
#include <graphjit/backend/cpu.hpp>
#include <graphjit/record/recorder.hpp>

struct GpuFamily {};
struct Kernel {
#ifdef GRAPHJIT_FAIL
    using family = GpuFamily;
#else
    using family = graphjit::HostFamily;
#endif
    using parameters = graphjit::detail::Types<>;
    static constexpr graphjit::KernelInfo info = {};
    std::uintptr_t handle() const { return 0; }
};

void record(graphjit::Recorder<graphjit::CpuBackend>& rec, Kernel kernel) { rec.launch(kernel); }
