// The metrics that were asked for, and where they go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Report {
public:
    explicit Report(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {}

    /// Whether a metric of this name is wanted.
    [[nodiscard]] bool wants(std::string_view name) const;
    /// Whether metrics whose names begin like this may be wanted.
    [[nodiscard]] bool wants_any(std::string_view beginning) const;

    /// One line of standard output; scripts/bench_run.py reads it.
    void add(const std::string& name, double value, const char* unit) const;
    void add(const std::string& name, double value, const char* unit, double against) const;

private:
    std::vector<std::string> prefixes_;  // none: all
};

// One per source file.
void replay_benchmarks(const Report& report);
void tbb_benchmarks(const Report& report);
void patch_benchmarks(const Report& report);
void hcq_benchmarks(const Report& report);
void cuda_benchmarks(const Report& report);
void thread_benchmarks(const Report& report);
void plan_benchmarks(const Report& report);
void instantiate_benchmarks(const Report& report);

[[noreturn, gnu::cold]] void give_up(const char* what);

/// Ends the program when a benchmark does not compute what it should.
inline void require(bool right, const char* what) {
    if (!right) [[unlikely]]
        give_up(what);
}

}  // namespace bench
