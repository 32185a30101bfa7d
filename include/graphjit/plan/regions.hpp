// From the user's memory to regions that never overlap.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/plan/dependency.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

/// Joins registered allocations that overlap into one region; an input and a token are a region of their own.
/// Regions are numbered by their first memory, so that the plan does not depend on addresses.
class Regions {
public:
    /// Errors: false when memory ran out.
    [[nodiscard]] bool build(Span<const MemoryRecord> memories) noexcept {
        places_.clear();
        bytes_.clear();
        order_.clear();
        const auto count = static_cast<std::uint32_t>(memories.size());
        if (!places_.resize(count, {}) || !order_.reserve(count)) return false;
        for (std::uint32_t i = 0; i < count; ++i) {
            places_[i] = {i, 0};
            if (!memories[i].is_input && memories[i].bytes != 0 && !order_.push(i)) return false;
        }
        if (!scratch_.resize(order_.size(), 0)) return false;
        detail::sort(order_.data(), scratch_.data(), order_.size(),
                     [&](std::uint32_t a, std::uint32_t b) { return memories[a].address < memories[b].address; });
        std::size_t first = 0;
        while (first < order_.size()) {
            std::uint32_t leader = order_[first];
            const std::uintptr_t begin = memories[leader].address;
            std::uintptr_t end = begin;
            std::size_t last = first;
            for (; last < order_.size() && (last == first || memories[order_[last]].address < end); ++last) {
                const MemoryRecord& memory = memories[order_[last]];
                const std::uintptr_t memory_end = memory.address + static_cast<std::uintptr_t>(memory.bytes);
                end = memory_end > end ? memory_end : end;
                leader = order_[last] < leader ? order_[last] : leader;
            }
            for (; first < last; ++first) {
                const std::uint32_t i = order_[first];
                places_[i] = {leader, static_cast<std::int64_t>(memories[i].address - begin)};
            }
            places_[leader].bytes = static_cast<std::int64_t>(end - begin);
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            Place& place = places_[i];
            if (place.region != i) {
                place.region = places_[place.region].region;  // its leader came first, and is numbered already
                continue;
            }
            place.region = static_cast<std::uint32_t>(bytes_.size());
            const std::int64_t own = memories[i].bytes == 0 ? 1 : memories[i].bytes;
            if (!bytes_.push(place.bytes > own ? place.bytes : own)) return false;
        }
        return true;
    }

    [[nodiscard]] Span<const std::int64_t> bytes() const noexcept { return bytes_; }

    /// Where the bytes of an access lie. Memory of zero bytes stands for one byte, so that it orders its users.
    [[nodiscard]] ByteRange range(const AccessRecord& access) const noexcept {
        const Place& place = places_[to_integer(access.memory)];
        const std::int64_t end = access.end > access.begin ? access.end : access.begin + 1;
        return {place.region, place.offset + access.begin, place.offset + end};
    }

    /// All of a memory.
    [[nodiscard]] ByteRange range(MemoryIndex memory, std::int64_t bytes) const noexcept {
        return range(AccessRecord{memory, Access::in, 0, bytes});
    }

private:
    struct Place {
        std::uint32_t region = 0;
        std::int64_t offset = 0;  // of the memory in its region
        std::int64_t bytes = 0;   // of the region, at its leader
    };

    detail::Array<Place> places_;
    detail::Array<std::int64_t> bytes_;
    detail::Array<std::uint32_t> order_;
    detail::Array<std::uint32_t> scratch_;
};

}  // namespace graphjit::inline v0
