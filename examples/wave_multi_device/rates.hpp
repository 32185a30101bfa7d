// How fast something went, time after time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace wave {

/// Steps per second of each run.
class Rates {
public:
    /// Times one run.
    template <class Call>
    auto run(int steps, Call call) {
        const auto start = std::chrono::steady_clock::now();
        auto result = call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        rates_.push_back(steps / took.count());
        return result;
    }

    [[nodiscard]] double median() const {
        std::vector<double> sorted = rates_;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }

    static void print_head() { std::printf("  %-20s %10s %10s %10s\n", "", "median", "slowest", "fastest"); }
    void print(const char* name) const {
        const auto [slowest, fastest] = std::minmax_element(rates_.begin(), rates_.end());
        std::printf("  %-20s %10.0f %10.0f %10.0f\n", name, median(), *slowest, *fastest);
    }

private:
    std::vector<double> rates_;
};

}  // namespace wave
