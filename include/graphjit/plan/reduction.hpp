// Transitive reduction while ops arrive.
//
// Ops are laid on chains; an op's place on a chain implies all earlier ones of it. Each op has a clock: per chain the
// last place it is ordered after. A dependency is dropped when the clock of the others covers its place. Candidates are
// looked at from the latest to the earliest, so one pass is exact: only a later op can imply an earlier one.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/config.hpp>
#include <graphjit/base/span.hpp>
#include <graphjit/base/sort.hpp>

#include <cstdint>

namespace graphjit::inline v0 {

/// Drops the dependencies of an op that others imply. Usable in constant evaluation.
/// Exact while the chains needed stay under `max_chains` and ops x chains under `max_clock_entries`; beyond that a
/// dependency on an op without a chain is always kept: never an edge too few, perhaps one more.
/// Cost: per kept dependency one pass over a clock (2 bytes per chain).
class Reduction {
public:
    static constexpr std::size_t max_chains = 1024;
    static constexpr std::size_t max_clock_entries = std::size_t{1} << 24;

    /// Forgets everything, keeps the storage. Errors: false when memory ran out, here and below.
    [[nodiscard]] constexpr bool reset(std::size_t op_count) noexcept {
        const std::size_t fair = op_count == 0 ? max_chains : max_clock_entries / op_count;
        const std::size_t bounded = fair < max_chains ? fair : max_chains;
        chain_limit_ = bounded < lanes ? lanes : bounded / lanes * lanes;
        places_.clear();
        clocks_.clear();
        tails_.clear();
        merged_.clear();
        chains_ = 0;
        exact_ = true;
        return places_.reserve(op_count);
    }

    /// Adds the next op. `candidates` is what it must come after, each once; on return its first elements are the
    /// ones that remain, ascending.
    [[nodiscard]] constexpr bool add_op(Span<std::uint32_t> candidates, std::size_t& kept) noexcept {
        kept = 0;
        if (candidates.size() == 1) {  // nothing to reduce, and the clock is the other's, one step on
            kept = 1;
            return add_single(candidates[0]);
        }
        merged_.clear();
        if (!merged_.resize(tails_.size(), 0)) return false;
        if (candidates.size() > 1) {
            if (scratch_.size() < candidates.size() && !scratch_.resize(candidates.size(), 0)) return false;
            detail::sort(candidates.data(), scratch_.data(), candidates.size(),
                         [](std::uint32_t a, std::uint32_t b) { return a > b; });
        }
        for (const std::uint32_t candidate : candidates) {
            const Place& place = places_[candidate];
            if (place.chain != none && merged_[place.chain] >= place.position) continue;
            candidates[kept++] = candidate;
            merge(candidate);
        }
        std::uint32_t chain = none;
        for (std::size_t i = 0; i < kept && chain == none; ++i) {
            if (is_tail(candidates[i])) chain = places_[candidates[i]].chain;
        }
        if (chain == none && kept != 0) chain = find_tail();
        for (std::size_t i = 0; i < kept / 2; ++i) {
            const std::uint32_t swapped = candidates[i];
            candidates[i] = candidates[kept - 1 - i];
            candidates[kept - 1 - i] = swapped;
        }
        Place place;
        if (!extend(chain, place)) return false;
        if (kept != 0 && !keep_clock(place)) return false;
        return places_.push(place);
    }

    [[nodiscard]] constexpr bool exact() const noexcept { return exact_; }
    [[nodiscard]] constexpr std::size_t chains() const noexcept { return chains_; }

private:
    // Sixteen bits, since SSE2 has a maximum of those only; a longer chain is continued as a new one.
    using Clock = std::int16_t;
    static constexpr Clock last_position = 0x7fff;
    static constexpr std::size_t lanes = 8;
    static constexpr std::uint32_t none = 0xffff'ffffu;
    static constexpr std::uint8_t max_depth = 8;

    /// An op with one dependency keeps no clock of its own: it is the other's, plus its own place.
    struct Place {
        std::uint32_t chain = none;
        Clock position = 0;
        std::uint8_t depth = 0;         // single steps back to an op with a clock
        std::uint32_t parent = none;    // the one dependency
        std::uint32_t clock = 0;
        std::uint32_t clock_size = 0;
    };

    [[nodiscard]] constexpr bool add_single(std::uint32_t parent) noexcept {
        Place place;
        if (!extend(is_tail(parent) ? places_[parent].chain : none, place)) return false;
        place.parent = parent;
        place.depth = static_cast<std::uint8_t>(places_[parent].depth + 1);
        if (place.depth < max_depth) return places_.push(place);
        merged_.clear();
        if (!merged_.resize(tails_.size(), 0)) return false;
        merge(parent);
        place.parent = none;
        place.depth = 0;
        return keep_clock(place) && places_.push(place);
    }

    [[nodiscard]] constexpr bool keep_clock(Place& place) noexcept {
        place.clock = static_cast<std::uint32_t>(clocks_.size());
        place.clock_size = static_cast<std::uint32_t>(merged_.size());
        return clocks_.append_copy(merged_.data(), merged_.size());
    }

    [[nodiscard]] constexpr bool is_tail(std::uint32_t op) const noexcept {
        const Place& place = places_[op];
        return place.chain != none && tails_[place.chain] == place.position && place.position != last_position;
    }

    /// A chain whose last op is implied by what is merged.
    [[nodiscard]] constexpr std::uint32_t find_tail() const noexcept {
        for (std::size_t i = 0; i < chains_; ++i) {
            if (merged_[i] == tails_[i] && tails_[i] != last_position) return static_cast<std::uint32_t>(i);
        }
        return none;
    }

    /// Puts the next op on `chain`, or on a new one.
    [[nodiscard]] constexpr bool extend(std::uint32_t chain, Place& place) noexcept {
        if (chain == none) {
            if (chains_ == chain_limit_) {
                exact_ = false;
                return true;
            }
            if (chains_ == tails_.size() && !tails_.resize(tails_.size() + lanes, 0)) return false;
            chain = static_cast<std::uint32_t>(chains_++);
        }
        place.chain = chain;
        place.position = ++tails_[chain];
        return true;
    }

    constexpr void merge(std::uint32_t op) noexcept {
        while (true) {
            const Place& place = places_[op];
            if (place.chain != none && merged_[place.chain] < place.position) merged_[place.chain] = place.position;
            if (place.parent == none) {
                merge_clock(clocks_.data() + place.clock, place.clock_size);
                return;
            }
            op = place.parent;
        }
    }

    constexpr void merge_clock(const Clock* clock, std::size_t size) noexcept {
        Clock* merged = merged_.data();
#if GRAPHJIT_VECTORS
        if (!std::is_constant_evaluated()) {
            using Lanes [[gnu::vector_size(sizeof(Clock) * lanes), gnu::may_alias, gnu::aligned(alignof(Clock))]] = Clock;
            for (std::size_t i = 0; i < size; i += lanes) {
                auto* into = reinterpret_cast<Lanes*>(merged + i);
                const Lanes theirs = *reinterpret_cast<const Lanes*>(clock + i);
                *into = *into > theirs ? *into : theirs;
            }
            return;
        }
#endif
        for (std::size_t i = 0; i < size; ++i) merged[i] = merged[i] < clock[i] ? clock[i] : merged[i];
    }

    detail::Array<Place> places_;    // by op
    detail::Array<Clock> clocks_;
    detail::Array<Clock> tails_;     // by chain: its last position; a whole number of lanes
    detail::Array<Clock> merged_;    // the clock of the op being added
    detail::Array<std::uint32_t> scratch_;
    std::size_t chains_ = 0;
    std::size_t chain_limit_ = 0;
    bool exact_ = true;
};

}  // namespace graphjit::inline v0
