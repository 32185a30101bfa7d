// One step of the water as a graph over several devices, and a simulation that replays it.
//
//     device 0  kernels  [ inner rows of 0            ][ last row of 0  ]   waits for `halo 1 to 0`
//               copies   [ halo 0 to 1 ]
//     device 1  copies   [ halo 1 to 0 ]
//               kernels  [ inner rows of 1            ][ first row of 1 ]   waits for `halo 0 to 1`
//
// The copies cross while the inner rows are being worked out; only a row beside a halo row waits for one. None of this
// is written down below: it follows from which rows each op touches. Where devices have no copy queues, a copy comes
// first among its device's kernels.
#pragma once

#include "blocks.hpp"

#include <graphjit/backend/threads.hpp>
#include <graphjit/graph.hpp>

#include <string>
#include <utility>
#include <vector>

namespace wave {

namespace gj = graphjit;

/// What each replay gives anew for a block. The two change places from step to step.
struct BlockSlots {
    gj::Input<float> now;      // halo rows are written, all else is read
    gj::Input<float> heights;  // a step before `now`; after the replay, a step after it
};

/// Records some rows of a block, counted without its halo rows.
template <class Backend>
void record_rows(gj::Recorder<Backend>& rec, const std::string& name, const Block& block, const BlockSlots& slots,
                 int first, int end) {
    const int rows = end - first;
    if (rows <= 0) return;
    const std::ptrdiff_t line = block.line();
    rec.launch(name.c_str(), gj::kernel<move_water>, rows, block.width, Medium{},
               slots.now.slice(first * line, (rows + 2) * line), slots.heights.slice((first + 1) * line, rows * line));
}

/// Of the blocks only the sizes go into the recording.
template <class Backend>
[[nodiscard]] gj::Result<gj::OpListOf<Backend>> record_step(const Backend& backend, const Blocks& blocks,
                                                            std::vector<BlockSlots>& slots) {
    gj::Recorder<Backend> rec(backend);
    std::vector<std::string> names;
    for (std::size_t d = 0; d < blocks.size(); ++d) {
        const auto device = static_cast<gj::DeviceId>(d);
        names.push_back(std::to_string(d));
        slots.push_back({rec.template input<float>(("now " + names[d]).c_str(), blocks[d].cells(), device),
                         rec.template input<float>(("heights " + names[d]).c_str(), blocks[d].cells(), device)});
    }

    // The nearest rows of neighbours. A copy runs on the device that holds what is copied.
    for (std::size_t d = 0; d + 1 < blocks.size(); ++d) {
        const auto &upper = slots[d].now, &lower = slots[d + 1].now;
        const std::ptrdiff_t line = blocks[d].line(), rows = blocks[d].rows;
        rec.on(static_cast<gj::DeviceId>(d));
        rec.copy(("halo " + names[d] + " to " + names[d + 1]).c_str(), lower.slice(0, line),
                 upper.slice(rows * line, line));
        rec.on(static_cast<gj::DeviceId>(d + 1));
        rec.copy(("halo " + names[d + 1] + " to " + names[d]).c_str(), upper.slice((rows + 1) * line, line),
                 lower.slice(line, line));
    }

    // A row beside a neighbour is an op of its own. A block of a single row may have neighbours on both sides.
    for (std::size_t d = 0; d < blocks.size(); ++d) {
        const Block& block = blocks[d];
        const int inner = d > 0 ? 1 : 0;
        const int inner_end = d + 1 < blocks.size() ? block.rows - 1 : block.rows;
        rec.on(static_cast<gj::DeviceId>(d));
        record_rows(rec, "inner rows of " + names[d], block, slots[d], inner, inner_end);
        record_rows(rec, "first row of " + names[d], block, slots[d], 0, inner);
        record_rows(rec, "last row of " + names[d], block, slots[d], std::max(inner, inner_end), block.rows);
    }
    return std::move(rec).finish();
}

/// Water on devices, and what runs its step: a gj::MultiGraphRunner or a gj::EagerRunner.
template <class Runner>
class Simulation {
public:
    Simulation(Blocks&& blocks, std::vector<BlockSlots>&& slots, Runner&& runner) noexcept
        : blocks_(std::move(blocks)), slots_(std::move(slots)), runner_(std::move(runner)) {}

    void start(const Grid& grid) {
        blocks_.fill(grid);
        now_ = 0;
    }
    /// Waits once, at the end: up to then the devices work on one step while the host prepares the next.
    [[nodiscard]] gj::Status run(int steps) {
        for (int i = 0; i < steps; ++i) {
            for (std::size_t d = 0; d < blocks_.size(); ++d) {
                auto& buffers = blocks_[d].buffers;
                runner_.set(slots_[d].now, buffers[now_]).set(slots_[d].heights, buffers[1 - now_]);
            }
            if (gj::Status status = runner_.replay(); !status) return status;
            now_ = 1 - now_;
        }
        return runner_.wait();
    }
    [[nodiscard]] Grid result() const { return blocks_.gather(now_); }

    [[nodiscard]] Runner& runner() { return runner_; }

private:
    Blocks blocks_;
    std::vector<BlockSlots> slots_;
    int now_ = 0;  // which of each block's buffers
    Runner runner_;
};

/// Cuts a grid into blocks for some devices and records their step: `simulate<gj::MultiGraphRunner>(backend, grid, 2)`.
template <template <class> class Runner, class Backend>
[[nodiscard]] gj::Result<Simulation<Runner<Backend>>> simulate(const Backend& backend, const Grid& grid, int devices) {
    Blocks blocks(grid.width, grid.height, devices);
    std::vector<BlockSlots> slots;
    auto list = record_step(backend, blocks, slots);
    if (!list) return list.status();
    auto runner = [&] {
        if constexpr (requires { Runner<Backend>::create(std::move(*list)); }) {
            return Runner<Backend>::create(std::move(*list));
        } else {
            return gj::instantiate(std::move(*list));
        }
    }();
    if (!runner) return runner.status();
    return Simulation(std::move(blocks), std::move(slots), std::move(*runner));
}

}  // namespace wave
