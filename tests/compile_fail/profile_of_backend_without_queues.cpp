// expect: graphjit: only a backend with Profiling::on keeps stamps
#include <graphjit/backend/cpu.hpp>
#include <graphjit/backend/threads.hpp>
#include <graphjit/observe/profile.hpp>

#ifdef GRAPHJIT_FAIL
using Backend = graphjit::CpuBackend;
#else
using Backend = graphjit::ProfiledThreadBackend;
#endif

graphjit::Result<graphjit::Profile> profile(graphjit::MultiGraphRunner<Backend>& graph) {
    return graphjit::collect_profile(graph);
}
