// How long tokens took.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace decode {

class Timing {
public:
    static void print_head() { std::printf("  %-8s %10s %20s\n", "", "tokens/s", "host us, median"); }

    /// Times one token: `start` begins it, `wait` returns when it is there.
    template <class Start, class Wait>
    auto token(Start start, Wait wait) {
        const auto begin = Clock::now();
        auto status = start();
        const auto started = Clock::now();
        if (status.ok()) status = wait();
        seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
        host_us_.push_back(std::chrono::duration<double, std::micro>(started - begin).count());
        return status;
    }

    void print(const char* name, const char* remark) {
        const auto middle = host_us_.begin() + static_cast<std::ptrdiff_t>(host_us_.size() / 2);
        std::nth_element(host_us_.begin(), middle, host_us_.end());
        std::printf("  %-8s %10.0f %20.2f  %s\n", name, static_cast<double>(host_us_.size()) / seconds_, *middle,
                    remark);
    }

private:
    using Clock = std::chrono::steady_clock;

    std::vector<double> host_us_;
    double seconds_ = 0.0;
};

}  // namespace decode
