// Transitive reduction while ops arrive.
//
// Ops are laid on chains; coming after an op's place on a chain implies coming after all earlier ones. Each op has a
// clock: per chain the last place it comes after. A dependency is implied, and dropped, when the clock of another
// dependency covers its place: dependencies need no sorting for that, only the maximum of their clocks.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/config.hpp>
#include <graphjit/base/ids.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/base/span.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace graphjit::inline v0 {

/// Drops the dependencies of an op that others imply. Usable in constant evaluation.
/// Exact while the chains needed stay under `max_chains` and ops x chains under `max_clock_entries`; beyond that a
/// dependency on an op without a chain is always kept: never an edge too few, perhaps one more.
/// Cost: per dependency a pass over a clock (2 bytes per chain, in steps of 64 chains).
class Reduction {
public:
    static constexpr std::size_t max_chains = 1024;
    static constexpr std::size_t max_clock_entries = std::size_t{1} << 24;

    /// Forgets everything, keeps the storage. Errors: false when memory ran out, here and below.
    [[nodiscard]] constexpr bool reset(std::size_t op_count) noexcept {
        const std::size_t fair = op_count == 0 ? max_chains : max_clock_entries / op_count;
        const std::size_t bounded = fair < max_chains ? fair : max_chains;
        chain_limit_ = bounded < slab ? slab : bounded / slab * slab;
        chains_ = 0;
        exact_ = true;
        places_.clear();
        clocks_.clear();
        tails_.clear();
        return places_.reserve(op_count) && tails_.resize(slab, closed) && clocks_.resize(slab, 0);
    }

    /// Adds the next op. `candidates` is what it must come after, each once; on return its first elements are the
    /// ones that remain, ascending. `overwritten` is an op it comes after anyway and whose chain it should continue:
    /// the one whose memory it overwrites, since then there are as many chains as there is memory to write.
    [[nodiscard]] constexpr bool add_op(Span<std::uint32_t> candidates, std::uint32_t overwritten,
                                        std::size_t& kept) noexcept {
        places_.push_reserved({});
        Place& place = places_.back();  // made in place: a copy would wait for its parts to be stored
        kept = candidates.size();
        if (kept == 1 && tails_.size() > slab && places_[candidates[0]].depth < max_depth) {
            place.parent = candidates[0];  // its clock is the other's, and the other's place
            place.depth = static_cast<std::uint8_t>(places_[place.parent].depth + 1);
            place.clock_size = 0;
        } else if (kept != 0 && !merge(candidates, place, kept)) {
            return false;
        }
        std::uint32_t chain = overwritten != none && is_tail(overwritten) ? places_[overwritten].chain : none;
        for (std::size_t i = 0; i < kept && chain == none; ++i) {
            if (is_tail(candidates[i])) chain = places_[candidates[i]].chain;
        }
        if (chain == none && place.clock != 0) chain = find_tail(place);
        return extend(chain, place);
    }

    [[nodiscard]] constexpr bool exact() const noexcept { return exact_; }
    [[nodiscard]] constexpr std::size_t chains() const noexcept { return chains_; }

private:
    // Sixteen bits, since SSE2 has a maximum of those only; a longer chain is continued as a new one.
    using Clock = std::int16_t;
    static constexpr Clock last_position = 0x7ffe;
    static constexpr Clock no_position = 0x7fff;  // of an op without a chain: no clock covers it, no tail equals it
    static constexpr Clock closed = -1;           // the tail of a chain that nothing may be added to
    static constexpr std::size_t slab = 64;       // chains that are merged in registers
    static constexpr std::uint32_t none = 0xffff'ffffu;
    static constexpr std::uint8_t max_depth = 8;

    struct Place {
        std::uint32_t chain = 0;
        Clock position = no_position;
        std::uint8_t depth = 0;        // steps along `parent` to an op with a clock of its own
        std::uint32_t parent = none;   // wide graphs only: the one dependency
        std::uint32_t clock = 0;       // in slabs; the first one is all zero, for ops that come after nothing
        std::uint32_t clock_size = 1;  // in slabs
    };

    /// Makes the op's clock of the clocks of all candidates, and keeps those that no other one implies.
    [[nodiscard]] constexpr bool merge(Span<std::uint32_t> candidates, Place& place, std::size_t& kept) noexcept {
        const std::size_t slabs = tails_.size() / slab;
        place.clock = static_cast<std::uint32_t>(clocks_.size() / slab);
        place.clock_size = static_cast<std::uint32_t>(slabs);
        Clock* const clock = clocks_.append(tails_.size());
        if (clock == nullptr) return false;
        for (std::size_t i = 0; i < slabs; ++i) merge_slab(clock + i * slab, candidates, static_cast<std::uint32_t>(i));
        if (tails_.size() > slab) {
            for (const std::uint32_t candidate : candidates) cover_parents(clock, candidate);
        }
        kept = 0;
        for (const std::uint32_t candidate : candidates) {
            // Whether one is implied no processor can predict, so nothing here branches on it. Covering an implied
            // place changes nothing.
            const Place& other = places_[candidate];
            Clock& known = clock[other.chain];
            const bool implied = known >= other.position;
            const Clock covered = other.position == no_position ? Clock{0} : other.position;
            known = known < covered ? covered : known;
            candidates[kept] = candidate;
            kept += implied ? 0u : 1u;
        }
        return kept < 2 || sort(candidates, kept);
    }

    constexpr void merge_slab(Clock* into, Span<std::uint32_t> candidates, std::uint32_t which) const noexcept {
#if GRAPHJIT_VECTORS
        if (!std::is_constant_evaluated()) {
            merge_vectors(into, candidates, which, std::make_index_sequence<slab * sizeof(Clock) / 16>{});
            return;
        }
#endif
        for (std::size_t i = 0; i < slab; ++i) into[i] = 0;
        for (const std::uint32_t candidate : candidates) {
            const Place& other = places_[candidate];
            if (other.clock_size <= which) continue;
            const Clock* theirs = clocks_.data() + (std::size_t{other.clock} + which) * slab;
            for (std::size_t i = 0; i < slab; ++i) into[i] = into[i] < theirs[i] ? theirs[i] : into[i];
        }
    }

#if GRAPHJIT_VECTORS
    /// The same, in one register per 16 bytes: unrolled by hand, since g++ keeps an array in memory at -O2.
    template <std::size_t... V>
    void merge_vectors(Clock* into, Span<std::uint32_t> candidates, std::uint32_t which,
                       std::index_sequence<V...>) const noexcept {
        using Lanes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(alignof(Clock))]] = Clock;
        Lanes most[] = {(static_cast<void>(V), Lanes{})...};
        for (const std::uint32_t candidate : candidates) {
            const Place& other = places_[candidate];
            if (other.clock_size <= which) continue;
            const auto* theirs = reinterpret_cast<const Lanes*>(clocks_.data() +
                                                                (std::size_t{other.clock} + which) * slab);
            ((most[V] = most[V] > theirs[V] ? most[V] : theirs[V]), ...);
        }
        ((reinterpret_cast<Lanes*>(into)[V] = most[V]), ...);
    }
#endif

    static constexpr void cover(Clock* clock, const Place& place) noexcept {
        if (place.position != no_position && clock[place.chain] < place.position) clock[place.chain] = place.position;
    }

    /// Covers what `op` comes after in single steps, and the clock at their end.
    constexpr void cover_parents(Clock* clock, std::uint32_t op) noexcept {
        if (places_[op].parent == none) return;
        do {
            op = places_[op].parent;
            cover(clock, places_[op]);
        } while (places_[op].parent != none);
        const Clock* theirs = clocks_.data() + std::size_t{places_[op].clock} * slab;
        for (std::size_t i = 0; i < places_[op].clock_size * slab; ++i) {
            clock[i] = clock[i] < theirs[i] ? theirs[i] : clock[i];
        }
    }

    /// A network of minima and maxima: no branch to guess wrong.
    static constexpr void sort_few(std::uint32_t* values, std::size_t count) noexcept {
        std::uint32_t v[4] = {values[0], values[1], count > 2 ? values[2] : none, count > 3 ? values[3] : none};
        const auto order = [&v](unsigned a, unsigned b) {
            const std::uint32_t low = v[a] < v[b] ? v[a] : v[b];
            v[b] = v[a] < v[b] ? v[b] : v[a];
            v[a] = low;
        };
        order(0, 1);
        order(2, 3);
        order(0, 2);
        order(1, 3);
        order(1, 2);
        for (std::size_t i = 0; i < count; ++i) values[i] = v[i];
    }

    [[nodiscard]] constexpr bool sort(Span<std::uint32_t> values, std::size_t count) noexcept {
        if (count <= 4) {
            sort_few(values.data(), count);
            return true;
        }
        if (scratch_.size() < count && !scratch_.resize(count, 0)) return false;
        detail::sort(values.data(), scratch_.data(), count, [](std::uint32_t a, std::uint32_t b) { return a < b; });
        return true;
    }

    [[nodiscard]] constexpr bool is_tail(std::uint32_t op) const noexcept {
        const Place& place = places_[op];
        return tails_[place.chain] == place.position;
    }

    /// A chain whose last op this one comes after.
    [[nodiscard]] constexpr std::uint32_t find_tail(const Place& place) const noexcept {
        const Clock* clock = clocks_.data() + std::size_t{place.clock} * slab;
        for (std::size_t i = 0; i < chains_; ++i) {
            if (clock[i] == tails_[i]) return static_cast<std::uint32_t>(i);
        }
        return none;
    }

    /// Puts the op on `chain`, or on a new one.
    [[nodiscard]] constexpr bool extend(std::uint32_t chain, Place& place) noexcept {
        if (chain == none) {
            if (chains_ == chain_limit_) {
                exact_ = false;
                return true;
            }
            if (chains_ == tails_.size() && !tails_.resize(tails_.size() + slab, closed)) return false;
            chain = static_cast<std::uint32_t>(chains_++);
            tails_[chain] = 0;
        }
        place.chain = chain;
        place.position = ++tails_[chain];
        if (place.position == last_position) tails_[chain] = closed;
        return true;
    }

    detail::Array<Place> places_;  // by op
    detail::Array<Clock> clocks_;
    detail::Array<Clock> tails_;  // by chain: its last position, or closed; whole slabs
    detail::Array<std::uint32_t> scratch_;
    std::size_t chains_ = 0;
    std::size_t chain_limit_ = 0;
    bool exact_ = true;
};

}  // namespace graphjit::inline v0
