// What the images of a graph's blocks lack: a device that runs one replay while the next is prepared reads another
// image, and each must get every change once.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/run/contract.hpp>

#include <cstdint>

namespace graphjit::inline v0::detail {

/// Items are numbers of things that changed. Cost: of a change, one note for each other image.
class StaleImages {
public:
    /// Pre: `images` is 1 to `most_images`. Errors: false when memory ran out.
    [[nodiscard]] bool build(std::uint32_t images, std::size_t items) noexcept {
        images_ = images;
        if (images == 1) return true;
        for (std::uint32_t image = 0; image < images; ++image) {
            if (!stale_[image].reserve(items)) return false;
        }
        return lacking_.resize(items, 0);
    }

    /// The item was written into `image`, and nowhere else. Pre: `catch_up(image)` follows.
    void note(std::size_t item, std::uint32_t image) noexcept {
        if (images_ == 1) return;
        const std::uint32_t others = ((1u << images_) - 1) & ~(1u << image);
        std::uint32_t fresh = others & ~std::uint32_t{lacking_[item]};
        lacking_[item] = static_cast<std::uint8_t>(others);
        for (std::uint32_t other = 0; fresh != 0; ++other, fresh >>= 1) {
            if ((fresh & 1) != 0) stale_[other].push_reserved(static_cast<std::uint32_t>(item));
        }
    }

    [[nodiscard]] bool lacks(std::uint32_t image) const noexcept { return !stale_[image].empty(); }

    /// Calls `write(item)` for what the image still lacks.
    template <class Write>
    void catch_up(std::uint32_t image, Write write) noexcept {
        const auto bit = static_cast<std::uint8_t>(1u << image);
        for (const std::uint32_t item : stale_[image]) {
            if ((lacking_[item] & bit) == 0) continue;  // noted since
            lacking_[item] = static_cast<std::uint8_t>(lacking_[item] & ~bit);
            write(item);
        }
        stale_[image].clear();
    }

private:
    std::uint32_t images_ = 1;
    Array<std::uint32_t> stale_[most_images];  // by image: items to write
    Array<std::uint8_t> lacking_;              // by item: a bit per image that lacks it
};

}  // namespace graphjit::inline v0::detail
