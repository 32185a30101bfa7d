// How time is taken: many short samples, the contestants in turn, and the median of each.
//
// Nothing may be read into a difference that another placement of the code would turn around, so meson.build aligns
// functions and loops alike for all contestants, and scripts/bench_run.py takes medians over processes.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// The compiler must take memory for read and written here.
inline void keep() { asm volatile("" ::: "memory"); }
template <class T>
void keep(const T& value) {
    asm volatile("" ::"r"(&value) : "memory");
}

/// `optional.emplace(InPlace{make})` keeps what `make()` returns, without one more move.
template <class Make>
struct InPlace {
    Make make;
    operator decltype(std::declval<Make>()())() { return make(); }
};
template <class Make>
InPlace(Make) -> InPlace<Make>;

using Clock = std::chrono::steady_clock;

inline double nanoseconds(Clock::duration duration) {
    return std::chrono::duration<double, std::nano>(duration).count();
}

inline double quantile(std::vector<double>& samples, double part) {
    const auto place = static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1) + 0.5);
    std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(place), samples.end());
    return samples[place];
}
inline double median(std::vector<double>& samples) { return quantile(samples, 0.5); }

// In place of time, instructions can be counted: then the program runs under callgrind, which counts only inside of
// `graphjit_bench_counted`, and the contestant of this number goes through it once. Every time is 1 then, so that what
// is reported is the factor from instructions to the metric.
inline int counted_contestant = -1;  // none: time is taken
inline bool counts_now = false;
extern "C" void graphjit_bench_counted(void (*run)(void*), void* body);

/// Runs `section` and returns how many nanoseconds that took.
template <class Section>
double timed(Section&& section) {
    if (counts_now) {
        graphjit_bench_counted([](void* body) { (*static_cast<std::remove_reference_t<Section>*>(body))(); }, &section);
        return 1;
    }
    const Clock::time_point start = Clock::now();
    section();
    keep();
    const double time = nanoseconds(Clock::now() - start);
    return counted_contestant < 0 ? time : 1;
}

/// Each contestant prepares, runs one `timed` section and returns its time. Returns their medians.
template <class... Contestants>
std::array<double, sizeof...(Contestants)> alternate_timed(int rounds, Contestants&&... contestants) {
    constexpr int warm_up = 2;
    if (counted_contestant >= 0) rounds = 1;
    std::array<std::vector<double>, sizeof...(Contestants)> samples;
    for (int round = -warm_up; round < rounds; ++round) {
        std::size_t i = 0;
        const auto sample = [&](auto& contestant) {
            counts_now = round >= 0 && counted_contestant == static_cast<int>(i);
            const double time = contestant();
            counts_now = false;
            if (round >= 0) samples[i].push_back(time);
            ++i;
        };
        (sample(contestants), ...);
    }
    std::array<double, sizeof...(Contestants)> medians;
    for (std::size_t i = 0; i < medians.size(); ++i) medians[i] = median(samples[i]);
    return medians;
}

/// Nanoseconds per call of each contestant. A sample is as many calls as last about `sample_ns`.
template <class... Contestants>
std::array<double, sizeof...(Contestants)> alternate(int rounds, double sample_ns, Contestants&&... contestants) {
    const auto time_of = [](auto& contestant, int times) {
        return timed([&] {
                   for (int i = 0; i < times; ++i) {
                       contestant();
                       keep();
                   }
               }) /
               (counted_contestant < 0 ? times : 1);
    };
    const auto repeated = [&](auto& contestant) {
        int times = 1;
        while (counted_contestant < 0 && times < 1 << 20 && time_of(contestant, times) * times < sample_ns / 2)
            times *= 2;
        return [&contestant, times, &time_of] { return time_of(contestant, times); };
    };
    return alternate_timed(rounds, repeated(contestants)...);
}

inline constexpr int usual_rounds = 101;
inline constexpr double usual_sample = 200'000;  // long enough for the processor to learn the calls of a graph again

}  // namespace bench
