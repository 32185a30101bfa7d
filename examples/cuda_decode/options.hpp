// The command line.
#pragma once

#include <string>

namespace decode {

struct Options {
    int layers = 4;
    int width = 256;
    int tokens = 64;
    std::string kernels;  // of CUDA
    bool flip_bit = false;
    bool help = false;
};

inline constexpr const char* usage =
    "usage: cuda_decode [--layers N] [--width N] [--tokens N] [--kernels FILE] [--flip-bit]\n"
    "\n"
    "Makes up a small transformer and lets it write: one token through the decoder is recorded once and then replayed\n"
    "with another token and position. Each token's logits must be the same, bit for bit, replayed as a graph and run "
    "op\n"
    "by op, and those of the first tokens must be near to what a plain loop in double comes to.\n"
    "\n"
    "  --layers N      1 to 64; 4 unless given\n"
    "  --width N       a multiple of 32 up to 4096; 256 unless given\n"
    "  --tokens N      2 to 4096; 64 unless given\n"
    "  --kernels FILE  what nvcc made of kernels.cu; kernels.fatbin beside this program unless given. Only for CUDA\n"
    "  --flip-bit      changes one bit of the last replay's logits, to show that the comparison sees it\n"
    "  --help          prints this\n"
    "\n"
    "Exit status: 0, or 1 where numbers differ or a device fails, or 2 where an option or a file is no good.\n";

/// Returns what is wrong, in one line; empty: nothing.
[[nodiscard]] std::string parse(int count, const char* const* words, Options& options);

}  // namespace decode
