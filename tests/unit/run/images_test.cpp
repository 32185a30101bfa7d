#include <graphjit/run/images.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using graphjit::detail::StaleImages;

/// What `StaleImages` is for, without it: which version of each item each image has.
class Model {
public:
    Model(unsigned images, unsigned items) : held_(images, std::vector<unsigned>(items, 0)), newest_(items, 0) {}

    void change(unsigned item, unsigned image) { held_[image][item] = ++newest_[item]; }
    /// False: the image had it already.
    [[nodiscard]] bool write(unsigned item, unsigned image) {
        return std::exchange(held_[image][item], newest_[item]) != newest_[item];
    }
    [[nodiscard]] bool lacks(unsigned image) const { return held_[image] != newest_; }

private:
    std::vector<std::vector<unsigned>> held_;  // by image and item
    std::vector<unsigned> newest_;             // by item
};

/// A replay of `image` before which some items changed, perhaps more than once. Returns what was wrong with it.
const char* replay(StaleImages& stale, Model& model, unsigned image, test::Random& random, unsigned items,
                   unsigned percent) {
    if (stale.lacks(image) != model.lacks(image)) return "lacks() is wrong";
    for (unsigned item = 0; item < items; ++item) {
        for (int times = 0; times < 2 && random.chance(percent); ++times) {
            model.change(item, image);
            stale.note(item, image);
        }
    }
    bool needless = false;
    stale.catch_up(image, [&](std::uint32_t item) { needless = needless || !model.write(item, image); });
    if (needless) return "something was written that was there already";
    if (model.lacks(image)) return "the image still lacks something";
    if (stale.lacks(image)) return "the image is said to lack something";
    return "";
}

TEST_CASE("StaleImages: every image gets every change exactly once, in any order of replays") {
    for (unsigned seed = 0; seed < 400; ++seed) {
        INFO("seed ", seed);
        test::Random random(seed);
        const unsigned images = 1 + seed % 8;
        const unsigned items = 1 + random.below(20);
        const bool in_turn = random.chance(50);
        StaleImages stale;
        REQUIRE(stale.build(images, items));
        Model model(images, items);
        for (unsigned i = 0; i < 200; ++i) {
            const unsigned image = in_turn ? i % images : random.below(images);
            const unsigned percent = i % 50 < 25 ? 100 : random.below(101);  // all, many times over: lists have room
            const std::string wrong = replay(stale, model, image, random, items, percent);
            REQUIRE(wrong == "");
        }
    }
}

TEST_CASE("StaleImages: one image never lacks anything, and costs nothing") {
    StaleImages stale;
    CHECK(test::allocations_needed([&] { return stale.build(1, 1'000); }) == 0);
    for (unsigned item = 0; item < 1'000; ++item) stale.note(item, 0);
    CHECK(!stale.lacks(0));
    unsigned written = 0;
    stale.catch_up(0, [&](std::uint32_t) { ++written; });
    CHECK(written == 0);
}

TEST_CASE("StaleImages: a change goes to all eight images, the latest in the place of the ones before") {
    StaleImages stale;
    REQUIRE(stale.build(graphjit::most_images, 3));
    for (const unsigned image : {5u, 5u, 2u}) {
        stale.note(1, image);
        stale.catch_up(image, [](std::uint32_t item) { CHECK(item == 1); });
    }
    for (unsigned image = 0; image < 8; ++image) {
        CHECK(stale.lacks(image) == (image != 2));
        unsigned written = 0;
        stale.catch_up(image, [&](std::uint32_t item) { written += item == 1 ? 1u : 100u; });
        CHECK(written == (image == 2 ? 0u : 1u));
    }
}

TEST_CASE("StaleImages: what is lacking moves along") {
    StaleImages first;
    REQUIRE(first.build(2, 4));
    first.note(3, 0);
    first.catch_up(0, [](std::uint32_t) {});
    StaleImages second = std::move(first);
    std::vector<std::uint32_t> written;
    second.catch_up(1, [&](std::uint32_t item) { written.push_back(item); });
    CHECK(written == std::vector<std::uint32_t>{3});
    second.note(2, 1);
    CHECK(second.lacks(0));
}

TEST_CASE("StaleImages: without items there is nothing to lack") {
    StaleImages stale;
    REQUIRE(stale.build(8, 0));
    for (unsigned image = 0; image < 8; ++image) CHECK(!stale.lacks(image));
}

TEST_CASE("StaleImages: where memory runs out it says so") {
    CHECK(test::allocations_needed([] {
              StaleImages stale;
              return stale.build(8, 1'000);
          }) == 9);
    CHECK(test::allocations_needed([] {
              StaleImages stale;
              return stale.build(2, 1'000);
          }) == 3);
}

}  // namespace
