// The command line.
#pragma once

#include <string>

namespace wave {

struct Options {
    int devices = 2;
    int steps = 600;
    int width = 0;  // 0: as the picture
    int height = 0;
    std::string image;
    std::string output;
    std::string trace;
    bool flip_bit = false;
    bool help = false;
};

inline constexpr const char* usage =
    "usage: wave_multi_device [--devices N] [--steps N] [--size WxH] [--image FILE] [--output FILE] [--trace FILE]\n"
    "                         [--flip-bit]\n"
    "\n"
    "Lets waves run over a picture, taken for water: what is grey is still, bright points are crests, dark ones are\n"
    "troughs. Each device of a few has a block of the rows. One step is recorded as a graph, which copies the rows at\n"
    "the seams to the neighbours, and is replayed again and again with two buffers that take turns. However many "
    "devices\n"
    "there are, the heights must be the same, bit for bit. The devices are threads of the CPU.\n"
    "\n"
    "  --devices N    1 to 8; 2 unless given\n"
    "  --steps N      600 unless given\n"
    "  --size WxH     the picture is scaled to this size; the built-in one is 512x512 otherwise\n"
    "  --image FILE   a PNG file; three drops unless given\n"
    "  --output FILE  where the result goes, as PNG; wave_multi_device.png beside this program unless given\n"
    "  --trace FILE   writes when each op of one step ran, for https://ui.perfetto.dev\n"
    "  --flip-bit     changes one bit of the devices' result, to show that the comparison sees it\n"
    "  --help         prints this\n"
    "\n"
    "Exit status: 0, or 1 where results differ, or 2 where an option or a file is no good.\n";

/// Returns what is wrong, in one line; empty: nothing.
[[nodiscard]] std::string parse(int count, const char* const* words, Options& options);

}  // namespace wave
