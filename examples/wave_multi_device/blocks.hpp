// A grid as devices hold it: each has a block of its rows, and between blocks there are halo rows.
#pragma once

#include "water.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace wave {

/// Rows of the grid in the memory of one device. Two buffers take turns: one holds the heights now, the other those of
/// the step before, which the next ones replace.
///
/// Each buffer begins and ends with a halo row, for a copy of the neighbour's nearest row; where there is no neighbour
/// it stays still water, as do the first and the last cell of each row.
struct Block {
    int first_row = 0;  // in the grid
    int rows = 0;
    int width = 0;
    std::vector<float> buffers[2];

    [[nodiscard]] std::ptrdiff_t line() const { return std::ptrdiff_t{width} + 2; }
    [[nodiscard]] std::ptrdiff_t cells() const { return (std::ptrdiff_t{rows} + 2) * line(); }
};

/// The whole grid, row blocks of about the same size from top to bottom, one for each device.
class Blocks {
public:
    /// Pre: there are at least as many rows as devices.
    Blocks(int width, int height, int devices) {
        for (int device = 0; device < devices; ++device) {
            const int first = first_row(height, devices, device);
            Block block{first, first_row(height, devices, device + 1) - first, width, {}};
            for (std::vector<float>& buffer : block.buffers) buffer.resize(static_cast<std::size_t>(block.cells()));
            blocks_.push_back(std::move(block));
        }
    }

    [[nodiscard]] std::size_t size() const { return blocks_.size(); }
    [[nodiscard]] Block& operator[](std::size_t device) { return blocks_[device]; }
    [[nodiscard]] const Block& operator[](std::size_t device) const { return blocks_[device]; }

    /// The water of `grid`, at rest: it was the same a step before.
    void fill(const Grid& grid) {
        for (Block& block : blocks_) {
            for (std::vector<float>& buffer : block.buffers) {
                std::fill(buffer.begin(), buffer.end(), 0.0f);
                for (int row = 0; row < block.rows; ++row) {
                    std::copy_n(grid.cells.data() + std::ptrdiff_t{block.first_row + row} * grid.width, grid.width,
                                buffer.data() + (row + 1) * block.line() + 1);
                }
            }
        }
    }

    /// What the buffers numbered `which` hold.
    [[nodiscard]] Grid gather(int which) const {
        Grid grid{blocks_.front().width, blocks_.back().first_row + blocks_.back().rows, {}};
        grid.cells.reserve(static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height));
        for (const Block& block : blocks_) {
            for (int row = 0; row < block.rows; ++row) {
                const float* first = block.buffers[which].data() + (row + 1) * block.line() + 1;
                grid.cells.insert(grid.cells.end(), first, first + grid.width);
            }
        }
        return grid;
    }

private:
    static int first_row(int height, int devices, int device) {
        return static_cast<int>(std::int64_t{height} * device / devices);
    }

    std::vector<Block> blocks_;
};

}  // namespace wave
