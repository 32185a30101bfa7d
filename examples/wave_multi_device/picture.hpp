// Pictures: as PNG files, and as water.
#pragma once

#include "water.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace wave {

/// 128 is still water; darker is a trough, brighter a crest.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> greys;
};

inline constexpr int longest_side = 8192;
inline constexpr std::int64_t most_cells = std::int64_t{1} << 24;  // some simulations of them are kept at once

/// Reads any PNG file; colours become their brightness, and what is transparent is still. Returns why it can not, in
/// one line; empty: done.
[[nodiscard]] std::string read_png(const std::string& path, Picture& picture);
/// Returns why it can not, in one line; empty: done.
[[nodiscard]] std::string write_png(const std::string& path, const Picture& picture);

/// A few drops, just fallen.
[[nodiscard]] Picture draw_drops(int width, int height);
/// The same in another size: each point is the nearest one of the original.
[[nodiscard]] Picture scaled(const Picture& picture, int width, int height);

[[nodiscard]] Grid to_water(const Picture& picture);
/// The highest crest or the deepest trough becomes white or black.
[[nodiscard]] Picture to_picture(const Grid& grid);

}  // namespace wave
