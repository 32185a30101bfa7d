// What a change costs a replay.
#pragma once

#include "report.hpp"
#include "sampling.hpp"

#include <cstdint>

namespace bench {

inline constexpr std::int64_t launches_count = 1000;

/// Times what `flip` adds to a replay in which nothing changes, by place that it patches.
template <class Runner, class Flip>
double patch_time(Runner& runner, Flip flip) {
    const auto replay = [&] { require(runner.replay().ok(), "a replay was refused"); };
    for (int i = 0; i < 4; ++i) {
        flip(i % 2 == 0);
        replay();
    }
    const std::uint64_t before = runner.counters().patches;
    flip(true);
    replay();
    const auto places = static_cast<double>(runner.counters().patches - before);
    require(places == launches_count, "not every place was patched");
    bool odd = true;
    const auto [with, without] = alternate(
        usual_rounds, usual_sample,
        [&] {
            flip(odd = !odd);
            replay();
        },
        replay);
    return (with - without) / places;
}

}  // namespace bench
