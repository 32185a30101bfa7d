// From byte ranges to hazards: which earlier ops an op must wait for.
//
// Every region of memory is cut into segments, each with its last writer and the readers since. A read depends on the
// writers of all segments it touches (RAW), a write on their readers (WAR), or on the writer where nobody has read
// (WAW), and becomes the only one to be waited for from then on. Segments are kept in a treap, so that an allocation
// cut into thousands of parts costs a logarithm, and one used as a whole costs a comparison.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/ids.hpp>
#include <graphjit/base/span.hpp>
#include <graphjit/record/access.hpp>

#include <cstdint>

namespace graphjit::inline v0 {

/// Bytes of a region. Regions never overlap each other.
struct ByteRange {
    std::uint32_t region = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Finds the ops that an op must wait for. Usable in constant evaluation.
/// Pre:   ops come in recorded order; of one op, the reads before the writes, so that the order in which accesses are
///        listed makes no difference.
/// Cost:  near-linear in accesses; allocates while it grows.
class DependencyTracker {
    // Before what calls it: clang evaluates no constexpr template whose body comes later in the class.
    template <class Visit>
    constexpr void visit(std::uint32_t root, Visit visit_one) noexcept {
        if (root == none) return;
        visit(segments_[root].left, visit_one);
        visit_one(root);
        visit(segments_[root].right, visit_one);
    }

public:
    /// Forgets everything, keeps the storage. Errors: false when memory ran out, here and below.
    [[nodiscard]] constexpr bool reset(std::size_t op_count) noexcept {
        regions_.clear();
        segments_.clear();
        readers_.clear();
        seen_.clear();
        free_ = none;
        failed_ = false;
        return seen_.resize(op_count, none) && found_.reserve(op_count + 1);
    }

    /// Adds a region of bytes 0 … bytes-1.
    [[nodiscard]] constexpr bool add_region(std::int64_t bytes) noexcept {
        const std::uint32_t root = new_segment(0, bytes, none, none);
        return root != none && regions_.push(root);
    }

    constexpr void start(OpIndex op) noexcept {
        op_ = to_integer(op);
        overwritten_ = none;
        found_.clear();
        seen_[op_] = op_;  // an op never waits for itself
    }

    constexpr void read(const ByteRange& range) noexcept {
        const std::uint32_t root = regions_[range.region];
        if (covers_alone(root, range)) {
            read_segment(root);
            return;
        }
        const Parts parts = split(range);
        visit(parts.inside, [this](std::uint32_t s) { read_segment(s); });
        join(range.region, parts);
    }

    constexpr void write(const ByteRange& range) noexcept {
        const std::uint32_t root = regions_[range.region];
        if (covers_alone(root, range)) {
            write_after(root);
            segments_[root].writer = op_;
            segments_[root].readers = none;
            return;
        }
        Parts parts = split(range);
        visit(parts.inside, [this](std::uint32_t s) { write_after(s); });
        release(parts.inside);
        parts.inside = new_segment(range.begin, range.end, op_, none);
        join(range.region, parts);
    }

    /// Depends on the range as an access would, but leaves no trace in it: for memory that may be the same under
    /// another name.
    constexpr void look(const ByteRange& range, bool as_write) noexcept {
        const Parts parts = split(range);
        visit(parts.inside, [&](std::uint32_t s) { as_write ? write_after(s) : found(segments_[s].writer); });
        join(range.region, parts);
    }

    /// What the op of `start` must wait for, each once, in no order.
    [[nodiscard]] constexpr Span<std::uint32_t> found() noexcept { return {found_.data(), found_.size()}; }
    /// An op whose bytes the op of `start` overwrites, and so comes after; `OpIndex::none`: no op.
    [[nodiscard]] constexpr OpIndex overwritten() const noexcept { return static_cast<OpIndex>(overwritten_); }
    [[nodiscard]] constexpr bool failed() const noexcept { return failed_; }

private:
    static constexpr std::uint32_t none = 0xffff'ffffu;

    struct Segment {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::uint32_t writer = none;
        std::uint32_t readers = none;  // a list; parts of a cut segment share its tail
        std::uint32_t left = none;
        std::uint32_t right = none;
        std::uint32_t priority = 0;
    };
    struct Reader {
        std::uint32_t op = 0;
        std::uint32_t next = none;
    };
    struct Parts {
        std::uint32_t before = none;
        std::uint32_t inside = none;
        std::uint32_t after = none;
    };

    constexpr void found(std::uint32_t op) noexcept {
        if (op == none) return;
        // Whether it was found before no processor can predict: written in any case, counted if it is new.
        const bool is_new = seen_[op] != op_;
        seen_[op] = op_;
        found_.push_reserved(op);  // each op at most once, and one that does not count: room was reserved
        found_.truncate(found_.size() - (is_new ? 0u : 1u));
    }

    constexpr void read_segment(std::uint32_t index) noexcept {
        Segment& segment = segments_[index];
        found(segment.writer);
        if (segment.readers != none && readers_[segment.readers].op == op_) return;
        const auto reader = static_cast<std::uint32_t>(readers_.size());
        if (!readers_.push({op_, segment.readers})) {
            failed_ = true;
            return;
        }
        segment.readers = reader;
    }

    constexpr void write_after(std::uint32_t index) noexcept {
        const Segment& segment = segments_[index];
        if (segment.writer != op_) overwritten_ = segment.writer;
        if (segment.readers == none) {
            found(segment.writer);
            return;
        }
        // Readers waited for the writer already. This op itself did too, if it is the only reader.
        for (std::uint32_t r = segment.readers; r != none; r = readers_[r].next) found(readers_[r].op);
    }

    [[nodiscard]] constexpr bool covers_alone(std::uint32_t root, const ByteRange& range) const noexcept {
        const Segment& segment = segments_[root];
        return segment.begin == range.begin && segment.end == range.end && segment.left == none &&
               segment.right == none;
    }

    // The treap: ordered by begin, heap by priority.

    [[nodiscard]] constexpr std::uint32_t new_segment(std::int64_t begin, std::int64_t end, std::uint32_t writer,
                                                      std::uint32_t readers) noexcept {
        random_ = random_ * 1'664'525u + 1'013'904'223u;
        const Segment segment{begin, end, writer, readers, none, none, random_};
        if (free_ != none) {
            const std::uint32_t index = free_;
            free_ = segments_[index].left;
            segments_[index] = segment;
            return index;
        }
        if (!segments_.push(segment)) {
            failed_ = true;
            return none;
        }
        return static_cast<std::uint32_t>(segments_.size() - 1);
    }

    constexpr void release(std::uint32_t root) noexcept {
        if (root == none) return;
        release(segments_[root].left);
        release(segments_[root].right);
        segments_[root].left = free_;
        free_ = root;
    }

    /// Cuts the segment that contains `place`, so that all of `lower` ends there and all of `upper` begins there.
    constexpr void split(std::uint32_t root, std::int64_t place, std::uint32_t& lower, std::uint32_t& upper) noexcept {
        if (root == none) {
            lower = upper = none;
            return;
        }
        std::uint32_t inner = none;
        if (segments_[root].begin >= place) {
            split(segments_[root].left, place, lower, inner);
            segments_[root].left = inner;
            upper = root;
            return;
        }
        if (segments_[root].end > place) {
            const Segment whole = segments_[root];
            const std::uint32_t rest = new_segment(place, whole.end, whole.writer, whole.readers);
            segments_[root].end = place;
            segments_[root].right = none;
            upper = merge(rest, whole.right);
        } else {
            split(segments_[root].right, place, inner, upper);
            segments_[root].right = inner;
        }
        lower = root;
    }

    [[nodiscard]] constexpr Parts split(const ByteRange& range) noexcept {
        Parts parts;
        std::uint32_t rest = none;
        split(regions_[range.region], range.begin, parts.before, rest);
        split(rest, range.end, parts.inside, parts.after);
        return parts;
    }

    [[nodiscard]] constexpr std::uint32_t merge(std::uint32_t lower, std::uint32_t upper) noexcept {
        if (lower == none) return upper;
        if (upper == none) return lower;
        if (segments_[lower].priority < segments_[upper].priority) {
            segments_[upper].left = merge(lower, segments_[upper].left);
            return upper;
        }
        segments_[lower].right = merge(segments_[lower].right, upper);
        return lower;
    }

    constexpr void join(std::uint32_t region, const Parts& parts) noexcept {
        regions_[region] = merge(merge(parts.before, parts.inside), parts.after);
    }

    detail::Array<std::uint32_t> regions_;  // root segment of each
    detail::Array<Segment> segments_;
    detail::Array<Reader> readers_;
    detail::Array<std::uint32_t> seen_;  // by op: the last op that found it
    detail::Array<std::uint32_t> found_;
    std::uint32_t free_ = none;
    std::uint32_t op_ = 0;
    std::uint32_t overwritten_ = none;
    std::uint32_t random_ = 1;
    bool failed_ = false;
};

}  // namespace graphjit::inline v0
