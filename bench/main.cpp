// graphjit_bench [--seed N] [--count CONTESTANT] [NAME…]: measures the metrics whose names begin with a NAME, or all.
// A line is: name, value, unit, and what it is measured against, with tabs between.
// One process is not a measurement: see scripts/bench_run.py.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bench {

bool Report::wants(std::string_view name) const {
    for (const std::string& prefix : prefixes_) {
        // Instructions are counted for one metric at a time.
        if (counted_contestant < 0 ? name.starts_with(prefix) : name == prefix) return true;
    }
    return prefixes_.empty();
}

bool Report::wants_any(std::string_view beginning) const {
    for (const std::string& prefix : prefixes_) {
        if (prefix.starts_with(beginning)) return true;
        if (counted_contestant < 0 && beginning.starts_with(prefix)) return true;
    }
    return prefixes_.empty();
}

void Report::add(const std::string& name, double value, const char* unit) const {
    if (wants(name)) std::printf("%s\t%.6g\t%s\t\n", name.c_str(), value, unit);
    std::fflush(stdout);
}

void Report::add(const std::string& name, double value, const char* unit, double against) const {
    if (wants(name)) std::printf("%s\t%.6g\t%s\t%.6g\n", name.c_str(), value, unit, against);
    std::fflush(stdout);
}

void give_up(const char* what) {
    std::fprintf(stderr, "graphjit_bench: %s\n", what);
    std::exit(1);
}

namespace {

/// A compiler that folds equal functions would make the indirect calls of all loops easy to predict.
void require_distinct_kernels() {
    std::set<Step> bare(steps.begin(), steps.end());
    std::set<std::uintptr_t> entries;
    for (const std::uintptr_t entry : for_each_kernel([]<std::size_t I>() { return gj::kernel<step<I>>.handle(); })) {
        entries.insert(entry);
    }
    require(bare.size() == kernel_count && entries.size() == kernel_count, "the kernels were folded into one");
}

}  // namespace
}  // namespace bench

extern "C" [[gnu::noinline]] void graphjit_bench_counted(void (*run)(void*), void* body) { run(body); }

int main(int argc, char** argv) {
#if defined(__GLIBC__)
    // What is freed stays with the process: the first touch of a page costs more than most of what is measured here.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    std::vector<std::string> names;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--seed" && i + 1 < argc) {
            bench::seed = static_cast<std::uint32_t>(std::atoi(argv[++i]));
        } else if (argument == "--count" && i + 1 < argc) {
            bench::counted_contestant = std::atoi(argv[++i]);
        } else {
            names.emplace_back(argument);
        }
    }
    bench::require_distinct_kernels();
    const bench::Report report(std::move(names));
    bench::replay_benchmarks(report);
#if defined(GRAPHJIT_BENCH_TBB)
    bench::tbb_benchmarks(report);
#endif
    bench::patch_benchmarks(report);
    bench::hcq_benchmarks(report);
#if defined(GRAPHJIT_BENCH_CUDA)
    bench::cuda_benchmarks(report);
#endif
    bench::thread_benchmarks(report);
    bench::plan_benchmarks(report);
    bench::instantiate_benchmarks(report);
}
