// The command line.
#pragma once

#include <cstdint>
#include <string>

namespace audio {

struct Options {
    std::string wav;
    std::string out;
    std::string dot;
    std::int64_t repeat = 0;  // 0: as often as percentiles need
    bool in_place = false;
    bool flip_bit = false;
    bool help = false;
};

inline constexpr const char* usage =
    "usage: audio_chain [--wav] FILE [--out FILE] [--dot FILE] [--repeat N] [--in-place] [--flip-bit]\n"
    "\n"
    "Sends a WAV file (16-bit PCM or 32-bit float, mono or stereo) block by block through a chain of effects: as a\n"
    "plain loop over the kernels, op by op with graphjit's EagerRunner, and as a replayed graph. All three must give\n"
    "the same samples, bit for bit.\n"
    "\n"
    "  --wav FILE   the recording; may also be given without --wav\n"
    "  --out FILE   where the result goes; audio_chain_out.wav beside this program unless given\n"
    "  --dot FILE   writes the graph for Graphviz\n"
    "  --repeat N   plays the file N times in a row; without it until 20000 blocks are reached\n"
    "  --in-place   the replayed graph gets each block as input and output at once\n"
    "  --flip-bit   changes one bit of the replayed samples, to show that the comparison sees it\n"
    "  --help       prints this\n"
    "\n"
    "Exit status: 0, or 1 where samples differ, or 2 where an option or a file is no good.\n";

/// Returns what is wrong, in one line; empty: nothing.
[[nodiscard]] std::string parse(int count, const char* const* words, Options& options);

}  // namespace audio
