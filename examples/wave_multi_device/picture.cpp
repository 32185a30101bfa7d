#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numbers>

namespace wave {
namespace {

constexpr std::uint8_t still = 128;

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// libpng's simplified interface: what it holds is freed whatever happens.
struct Png : png_image {
    Png() : png_image() { version = PNG_IMAGE_VERSION; }
    Png(const Png&) = delete;
    Png& operator=(const Png&) = delete;
    ~Png() { png_image_free(this); }
};

std::size_t cell_count(int width, int height) {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

}  // namespace

std::string read_png(const std::string& path, Picture& picture) {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) return std::string("cannot be opened: ") + std::strerror(errno);
    Png png;
    if (png_image_begin_read_from_stdio(&png, file.get()) == 0) {
        return std::string("cannot be read as a PNG file: ") + png.message;
    }
    if (png.width > longest_side || png.height > longest_side || std::int64_t{png.width} * png.height > most_cells) {
        return "is too large: " + std::to_string(png.width) + "x" + std::to_string(png.height) + ", at most " +
               std::to_string(longest_side) + " a side and " + std::to_string(most_cells) + " points are supported";
    }
    png.format = PNG_FORMAT_GRAY;
    picture.width = static_cast<int>(png.width);
    picture.height = static_cast<int>(png.height);
    picture.greys.assign(cell_count(picture.width, picture.height), still);
    // Without a background, transparent points are laid over what is there.
    if (png_image_finish_read(&png, nullptr, picture.greys.data(), 0, nullptr) == 0) {
        return std::string("cannot be read to the end: ") + png.message;
    }
    return {};
}

std::string write_png(const std::string& path, const Picture& picture) {
    File file(std::fopen(path.c_str(), "wb"));
    if (!file) return std::string("cannot be written: ") + std::strerror(errno);
    Png png;
    png.width = static_cast<png_uint_32>(picture.width);
    png.height = static_cast<png_uint_32>(picture.height);
    png.format = PNG_FORMAT_GRAY;
    if (png_image_write_to_stdio(&png, file.get(), 0, picture.greys.data(), 0, nullptr) == 0) {
        return std::string("cannot be written: ") + png.message;
    }
    return std::fclose(file.release()) == 0 ? "" : "cannot be written to the end";
}

Picture draw_drops(int width, int height) {
    struct Drop {
        float x, y, radius;  // parts of the width, of the height, of the shorter side
        float crest;
    };
    constexpr Drop drops[] = {{0.3f, 0.35f, 0.06f, 127.0f}, {0.7f, 0.55f, 0.04f, 127.0f}, {0.4f, 0.8f, 0.1f, -127.0f}};
    const auto w = static_cast<float>(width), h = static_cast<float>(height);

    Picture picture{width, height, {}};
    picture.greys.reserve(cell_count(width, height));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float grey = still;
            for (const Drop& drop : drops) {
                const float from = std::hypot(static_cast<float>(x) + 0.5f - drop.x * w,
                                              static_cast<float>(y) + 0.5f - drop.y * h);
                const float part = from / (drop.radius * std::min(w, h));
                if (part < 1.0f) grey += drop.crest * (0.5f + 0.5f * std::cos(part * std::numbers::pi_v<float>));
            }
            picture.greys.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(grey, 1.0f, 255.0f))));
        }
    }
    return picture;
}

Picture scaled(const Picture& picture, int width, int height) {
    Picture result{width, height, {}};
    result.greys.reserve(cell_count(width, height));
    for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t row = y * picture.height / height * picture.width;
        for (std::int64_t x = 0; x < width; ++x) {
            result.greys.push_back(picture.greys[static_cast<std::size_t>(row + x * picture.width / width)]);
        }
    }
    return result;
}

Grid to_water(const Picture& picture) {
    Grid grid{picture.width, picture.height, {}};
    grid.cells.reserve(picture.greys.size());
    for (const std::uint8_t grey : picture.greys) grid.cells.push_back(static_cast<float>(grey - still) / 127.0f);
    return grid;
}

Picture to_picture(const Grid& grid) {
    float most = 0.0f;
    for (const float height : grid.cells) most = std::max(most, std::abs(height));
    const float scale = most > 0.0f ? 127.0f / most : 0.0f;

    Picture picture{grid.width, grid.height, {}};
    picture.greys.reserve(grid.cells.size());
    for (const float height : grid.cells) {
        picture.greys.push_back(static_cast<std::uint8_t>(still + std::lround(height * scale)));
    }
    return picture;
}

}  // namespace wave
