// The water, and what moves it: a grid of heights, and the kernel that works out one step of them.
#pragma once

#include <cstddef>
#include <vector>

namespace wave {

/// Heights in reading order: 0 is still water.
struct Grid {
    int width = 0;
    int height = 0;
    std::vector<float> cells;
};

struct Medium {
    float stiffness = 0.25f;  // (cells per step) squared: waves run half a cell a step. Beyond 0.5 they would blow up
    float keep = 0.9995f;     // of its speed, from step to step
};

/// Adding and subtracting it makes 0 of heights far below it. Where a wave has not quite come yet they would fade into
/// numbers so small that many a processor takes a hundred times as long for them.
inline constexpr float stillness = 1e-20f;

/// One step of some rows. Rows here are `width + 2` long, with a cell of still water at each end, and `now` has one
/// more row above and one below. `heights` holds them as they were a step before `now`, and then as they are a step
/// after.
inline void move_water(int rows, int width, Medium medium, const float* now, float* heights) noexcept {
    const std::ptrdiff_t line = width + 2;
    for (int row = 0; row < rows; ++row, now += line, heights += line) {
        const float* const above = now;
        const float* const here = now + line;
        const float* const below = now + 2 * line;
        for (int x = 1; x <= width; ++x) {
            const float pull = (above[x] + below[x]) + (here[x - 1] + here[x + 1]) - 4.0f * here[x];
            const float height = here[x] + medium.keep * (here[x] - heights[x]) + medium.stiffness * pull;
            heights[x] = (height + stillness) - stillness;
        }
    }
}

}  // namespace wave
