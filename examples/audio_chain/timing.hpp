// How long blocks took.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace audio {

class Timing {
public:
    static void print_head() {
        std::printf("  %-12s %8s %8s %8s %8s %8s %10s\n", "", "p50", "p99", "p99.9", "worst", "missed", "preempted");
    }

    void reserve(std::int64_t blocks) { nanoseconds_.reserve(static_cast<std::size_t>(blocks)); }

    /// Times one block.
    template <class Call>
    auto block(Call call) {
        const auto start = std::chrono::steady_clock::now();
        auto result = call();
        const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
        nanoseconds_.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(took.count(), UINT32_MAX)));
        return result;
    }

    /// Stands around many blocks, to count how often the machine gave their processor to somebody else meanwhile: an
    /// ordinary thread on a busy machine misses deadlines for that alone.
    template <class Call>
    auto blocks(Call call) {
        const std::int64_t before = preemptions();
        auto result = call();
        preempted_ += preemptions() - before;
        return result;
    }

    /// A line of the table: percentiles and the worst block in microseconds, and how many took longer than the
    /// deadline.
    void print(const char* name, double deadline_us) {
        std::sort(nanoseconds_.begin(), nanoseconds_.end());
        const auto us = [&](double part) {
            const auto last = static_cast<double>(nanoseconds_.size() - 1);
            return nanoseconds_[static_cast<std::size_t>(part * last)] / 1000.0;
        };
        const auto missed = std::count_if(nanoseconds_.begin(), nanoseconds_.end(),
                                          [&](std::uint32_t ns) { return ns / 1000.0 > deadline_us; });
        std::printf("  %-12s %8.2f %8.2f %8.2f %8.2f %8d %10d\n", name, us(0.5), us(0.99), us(0.999), us(1.0),
                    static_cast<int>(missed), static_cast<int>(preempted_));
    }

private:
    static std::int64_t preemptions() {
        rusage used = {};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_nivcsw;
    }

    std::vector<std::uint32_t> nanoseconds_;
    std::int64_t preempted_ = 0;
};

}  // namespace audio
