#include <graphjit/plan/reduction.hpp>

#include <graphjit/plan/dependency.hpp>

#include "support/failing_allocations.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

namespace gj = graphjit;
using test::Random;

constexpr std::uint32_t none = 0xffff'ffffu;
using Ops = std::vector<std::uint32_t>;

/// Reachability by the definition: a bit for every pair of ops.
class Closure {
public:
    explicit Closure(std::size_t ops) : words_((ops + 63) / 64), bits_(ops * words_) {}

    /// `op` comes after these, and after all that they come after.
    void add(std::uint32_t op, const Ops& dependencies) {
        for (const std::uint32_t before : dependencies) {
            for (std::size_t w = 0; w < words_; ++w) bits_[op * words_ + w] |= bits_[before * words_ + w];
            bits_[op * words_ + before / 64] |= std::uint64_t{1} << (before % 64);
        }
    }
    [[nodiscard]] bool reaches(std::uint32_t before, std::uint32_t op) const {
        return (bits_[op * words_ + before / 64] >> (before % 64) & 1) != 0;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// What is left of the dependencies when all that others imply are dropped.
Ops reduced(const Closure& closure, const Ops& dependencies) {
    Ops left;
    for (const std::uint32_t candidate : dependencies) {
        const bool implied = std::any_of(dependencies.begin(), dependencies.end(),
                                         [&](std::uint32_t other) { return closure.reaches(candidate, other); });
        if (!implied) left.push_back(candidate);
    }
    std::sort(left.begin(), left.end());
    return left;
}

/// Adds ops with dependencies chosen by `choose(op) -> Ops`, in any order, and compares each with the definition.
/// `must_be_exact`: else more dependencies may stay, but never fewer.
template <class Choose>
void compare(gj::Reduction& reduction, Random& random, std::uint32_t ops, std::size_t announced, bool must_be_exact,
             Choose choose) {
    REQUIRE(reduction.reset(announced));
    Closure closure(ops);
    std::size_t more = 0;
    for (std::uint32_t op = 0; op < ops; ++op) {
        Ops candidates = choose(op);
        const Ops expected = reduced(closure, candidates);
        // An op that it comes after anyway: one of them, or one that those come after.
        std::uint32_t overwritten = none;
        if (!candidates.empty() && random.chance(50)) {
            overwritten = candidates[random.below(static_cast<unsigned>(candidates.size()))];
            for (std::uint32_t at = overwritten; at-- > 0 && random.chance(70);) {
                if (closure.reaches(at, overwritten)) overwritten = at;
            }
        }
        closure.add(op, candidates);
        std::size_t kept = 0;
        REQUIRE(reduction.add_op({candidates.data(), candidates.size()}, overwritten, kept));
        candidates.resize(kept);
        CAPTURE(op);
        REQUIRE(std::is_sorted(candidates.begin(), candidates.end()));
        if (must_be_exact) {
            REQUIRE(candidates == expected);
        } else {
            REQUIRE(std::includes(candidates.begin(), candidates.end(), expected.begin(), expected.end()));
            more += candidates.size() - expected.size();
        }
    }
    if (must_be_exact) CHECK(reduction.exact());
    if (more != 0) CHECK(!reduction.exact());
}

void shuffle(Random& random, Ops& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
        std::swap(values[i - 1], values[random.below(static_cast<unsigned>(i))]);
    }
}

/// Up to `most` earlier ops, each once, mostly of the last `window`.
Ops some_earlier(Random& random, std::uint32_t op, unsigned most, std::uint32_t window) {
    Ops chosen;
    if (op == 0) return chosen;
    const std::uint32_t near = std::min(op, window);
    for (unsigned i = random.below(most + 1); i > 0; --i) {
        const std::uint32_t from = random.chance(90) ? op - near : 0;
        chosen.push_back(from + random.below(op - from));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    shuffle(random, chosen);
    return chosen;
}

TEST_CASE("Reduction: leaves what the definition leaves, over random graphs of every density") {
    gj::Reduction reduction;
    Random random(1);
    for (int round = 0; round < 400; ++round) {
        const std::uint32_t ops = 2 + random.below(120);
        const unsigned most = 1 + random.below(8);
        const std::uint32_t window = 1 + random.below(60);
        CAPTURE(round);
        compare(reduction, random, ops, ops, true,
                [&](std::uint32_t op) { return some_earlier(random, op, most, window); });
    }
}

TEST_CASE("Reduction: leaves what the definition leaves, where graphs are wider than one slab of chains") {
    gj::Reduction reduction;
    Random random(2);
    for (const std::uint32_t width : {63u, 64u, 65u, 130u, 200u, 300u}) {
        CAPTURE(width);
        const std::uint32_t ops = 3 * width + 400;
        compare(reduction, random, ops, ops, true, [&](std::uint32_t op) {
            if (op < width) return Ops{};
            // few dependencies, so that the graph stays wide, and single ones, which share a clock
            return some_earlier(random, op, random.chance(60) ? 1 : 4, width);
        });
        CHECK(reduction.chains() >= width);
    }
}

TEST_CASE("Reduction: leaves what the definition leaves, in wide graphs of long single steps") {
    // Above one slab, ops with one dependency have no clock of their own, up to eight in a row.
    gj::Reduction reduction;
    Random random(3);
    constexpr std::uint32_t width = 100;
    constexpr std::uint32_t ops = 3'000;
    compare(reduction, random, ops, ops, true, [&](std::uint32_t op) {
        if (op < width) return Ops{};
        if (random.chance(85)) return Ops{op - width};
        Ops chosen{op - 1 - random.below(width), op - 1 - random.below(std::min(op - 1, 3 * width))};
        if (chosen[0] == chosen[1]) chosen.pop_back();
        return chosen;
    });
}

TEST_CASE("Reduction: dropping is exact up to the most chains, and never wrong beyond") {
    gj::Reduction reduction;
    Random random(4);
    constexpr std::uint32_t most = gj::Reduction::max_chains;
    const auto wide = [&](std::uint32_t width) {
        return [&random, width](std::uint32_t op) {
            if (op < width) return Ops{};
            return some_earlier(random, op, 3, width);
        };
    };
    compare(reduction, random, 2'000, 2'000, false, wide(most + 200));
    CHECK(!reduction.exact());
    CHECK(reduction.chains() == most);
    // And the next graph, of the same object, is exact again.
    compare(reduction, random, 300, 300, true, wide(50));
}

TEST_CASE("Reduction: fewer chains where there are more ops, so that clocks do not fill the memory") {
    gj::Reduction reduction;
    Random random(5);
    constexpr std::size_t announced = gj::Reduction::max_clock_entries / 64;
    compare(reduction, random, 600, announced, false, [&](std::uint32_t op) {
        if (op < 100) return Ops{};
        return some_earlier(random, op, 3, 100);
    });
    CHECK(reduction.chains() == 64);
    CHECK(!reduction.exact());
    compare(reduction, random, 600, announced, true, [&](std::uint32_t op) {
        if (op < 60) return Ops{};
        return Ops{op - 60};
    });
    CHECK(reduction.chains() == 60);
}

TEST_CASE("Reduction: a chain longer than sixteen bits can count goes on as another one") {
    gj::Reduction reduction;
    constexpr std::uint32_t ops = 100'000;
    REQUIRE(reduction.reset(ops));
    Random random(6);
    for (std::uint32_t op = 0; op < ops; ++op) {
        Ops candidates;
        if (op > 0) candidates = {op - 1};
        // whatever else it depends on, the last op comes after it
        if (op > 1) {
            const std::uint32_t other = random.chance(50) ? random.below(op - 1)
                                                          : op - 2 - random.below(std::min(op - 1, 9u));
            candidates.push_back(other);
        }
        if (op > 40'000) {
            for (const std::uint32_t at : {32'765u, 32'766u, 32'767u, 32'768u, 0u}) {
                if (std::find(candidates.begin(), candidates.end(), at) == candidates.end()) candidates.push_back(at);
            }
        }
        shuffle(random, candidates);
        std::size_t kept = 0;
        REQUIRE(reduction.add_op({candidates.data(), candidates.size()}, none, kept));
        REQUIRE(kept == (op == 0 ? 0 : 1));
        if (op > 0) REQUIRE(candidates[0] == op - 1);
    }
    CHECK(reduction.exact());
    CHECK(reduction.chains() == 4);  // 32,767 ops each
}

TEST_CASE("Reduction: two long chains that cross now and then are reduced to their crossings") {
    gj::Reduction reduction;
    constexpr std::uint32_t ops = 80'000;
    REQUIRE(reduction.reset(ops));
    Random random(7);
    // Even ops are one chain, odd ones the other; `last[k]` is the last op of the other chain that chain k waited for.
    std::uint32_t crossed[2] = {none, none};
    for (std::uint32_t op = 0; op < ops; ++op) {
        const std::uint32_t side = op % 2;
        Ops candidates;
        if (op >= 2) candidates.push_back(op - 2);
        Ops expected = candidates;
        if (op >= 3 && random.chance(20)) {
            const std::uint32_t other = op - 1 - 2 * random.below(op / 2);  // of the other side
            candidates.push_back(other);
            const bool known = crossed[side] != none && other <= crossed[side];
            if (!known) {
                expected.push_back(other);
                crossed[side] = other;
                // what the other side had waited for is now known here, too: all of this side, which is older
            }
        }
        std::sort(expected.begin(), expected.end());
        std::size_t kept = 0;
        REQUIRE(reduction.add_op({candidates.data(), candidates.size()}, none, kept));
        candidates.resize(kept);
        CAPTURE(op);
        REQUIRE(candidates == expected);
    }
    CHECK(reduction.exact());
}

TEST_CASE("Reduction: an op continues the chain whose memory it overwrites, so chains are as many as buffers") {
    gj::Reduction reduction;
    constexpr std::uint32_t buffers = 30;
    constexpr std::uint32_t ops = 3'000;
    REQUIRE(reduction.reset(ops));
    for (std::uint32_t op = 0; op < ops; ++op) {
        // Reads the result of its neighbour, and overwrites what it wrote itself one round ago.
        Ops candidates;
        if (op >= buffers) candidates = {op - buffers, op - 1};
        std::size_t kept = 0;
        REQUIRE(reduction.add_op({candidates.data(), candidates.size()}, op >= buffers ? op - buffers : none, kept));
    }
    CHECK(reduction.chains() == buffers);
}

TEST_CASE("Reduction: random updates of a few buffers need no more chains than there are buffers") {
    Random random(9);
    for (const std::uint32_t buffers : {5u, 20u, 60u, 200u}) {
        gj::DependencyTracker tracker;
        gj::Reduction reduction;
        constexpr std::uint32_t ops = 4'000;
        REQUIRE(tracker.reset(ops));
        REQUIRE(reduction.reset(ops));
        for (std::uint32_t i = 0; i < buffers; ++i) REQUIRE(tracker.add_region(8));
        for (std::uint32_t op = 0; op < ops; ++op) {
            tracker.start(static_cast<gj::OpIndex>(op));
            for (unsigned reads = random.below(4); reads > 0; --reads) tracker.read({random.below(buffers), 0, 8});
            tracker.write({random.below(buffers), 0, 8});
            std::size_t kept = 0;
            REQUIRE(reduction.add_op(tracker.found(), to_integer(tracker.overwritten()), kept));
        }
        CHECK(reduction.chains() <= buffers);
    }
}

TEST_CASE("Reduction: where memory runs out it says so") {
    const int needed = test::allocations_needed([] {
        gj::Reduction reduction;
        if (!reduction.reset(3'000)) return false;
        Random random(8);
        for (std::uint32_t op = 0; op < 3'000; ++op) {
            Ops candidates = op < 200 ? Ops{} : some_earlier(random, op, 4, 200);
            std::size_t kept = 0;
            if (!reduction.add_op({candidates.data(), candidates.size()}, none, kept)) return false;
        }
        return true;
    });
    CHECK(needed > 6);
}

TEST_CASE("Reduction: says the same in constant evaluation, where it uses no vectors, also of wide graphs") {
    // As many ops as there are chains in one slab and some more, then a diamond over the last two of them.
    constexpr auto is_right = [] {
        constexpr std::uint32_t width = 70;
        gj::Reduction reduction;
        if (!reduction.reset(width + 4)) return false;
        std::size_t kept = 0;
        for (std::uint32_t op = 0; op < width; ++op) {
            if (!reduction.add_op({}, none, kept) || kept != 0) return false;
        }
        std::uint32_t first[] = {width - 1, width - 2, 0};
        if (!reduction.add_op(first, none, kept) || kept != 3 || first[0] != 0) return false;
        std::uint32_t second[] = {width, width - 1, 1, 0, width - 2};
        if (!reduction.add_op(second, none, kept) || kept != 2 || second[0] != 1 || second[1] != width) return false;
        std::uint32_t third[] = {width - 1};
        if (!reduction.add_op(third, none, kept) || kept != 1) return false;
        std::uint32_t fourth[] = {width - 1, width + 1, width + 2, 1, width};
        return reduction.add_op(fourth, none, kept) && kept == 2 && fourth[0] == width + 1 && fourth[1] == width + 2;
    };
    static_assert(is_right());
    CHECK(is_right());
}

}  // namespace
