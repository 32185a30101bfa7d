// What the slots of a graph hold: what the user set, and what the executable has.
#pragma once

#include <graphjit/record/op_list.hpp>

#include <cstring>

namespace graphjit::inline v0 {

/// An input's address or a Variable's value, with its size where it is memory. A value slot's bytes lie elsewhere.
struct SlotValue {
    std::int64_t value = 0;
    std::int64_t bytes = unknown_bytes;
    std::int32_t device = recorded_device;

    static constexpr std::int64_t unknown_bytes = INT64_MIN;  // the user gave a bare pointer
    static constexpr std::int32_t recorded_device = -1;
    friend bool operator==(const SlotValue&, const SlotValue&) = default;
};

/// Values stay until they are set again. `set` only notes; a replay checks and then commits.
/// Cost: a comparison per set, and a note where the value is new. No allocation after `build`.
class SlotState {
public:
    /// Errors: false when memory ran out.
    [[nodiscard]] bool build(const OpList& list) noexcept {
        const std::size_t count = list.slots().size();
        if (!slots_.resize(count, {}) || !dirty_.reserve(count) ||
            !pending_.append_copy(list.values().data(), list.values().size()) ||
            !live_.append_copy(list.values().data(), list.values().size())) {
            return false;
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            const SlotRecord& record = list.slots()[i];
            slots_[i].offset = record.kind == SlotKind::value ? record.index : 0;
            slots_[i].pending.value = record.initial;
            if (!record.has_initial) continue;
            slots_[i].is_bound = true;
            note(slots_[i], i);
        }
        return true;
    }

    [[nodiscard]] bool has(SlotIndex slot) const noexcept { return to_integer(slot) < slots_.size(); }

    void set(SlotIndex slot, const SlotValue& value) noexcept {
        Slot& state = slots_[to_integer(slot)];
        if (state.is_live && state.pending == value) return;
        state.pending = value;
        state.is_bound = true;
        note(state, to_integer(slot));
    }

    template <class T>
    void set_bytes(SlotIndex slot, const T& value) noexcept {
        Slot& state = slots_[to_integer(slot)];
        std::byte* place = pending_.data() + state.offset;
        if (state.is_live && std::memcmp(place, &value, sizeof(T)) == 0) return;
        std::memcpy(place, &value, sizeof(T));
        state.is_bound = true;
        note(state, to_integer(slot));
    }

    /// The slots set since the last commit.
    [[nodiscard]] Span<const std::uint32_t> dirty() const noexcept { return {dirty_.data(), dirty_.size()}; }
    [[nodiscard]] bool is_bound(SlotIndex slot) const noexcept { return slots_[to_integer(slot)].is_bound; }
    [[nodiscard]] const SlotValue& pending(SlotIndex slot) const noexcept { return slots_[to_integer(slot)].pending; }
    [[nodiscard]] const std::byte* pending_bytes(SlotIndex slot) const noexcept {
        return pending_.data() + slots_[to_integer(slot)].offset;
    }

    /// Whether the executable lacks what is pending.
    [[nodiscard]] bool changed(SlotIndex slot, std::uint32_t value_bytes) const noexcept {
        const Slot& state = slots_[to_integer(slot)];
        if (!state.is_live) return true;
        if (value_bytes == 0) return state.pending != state.live;
        return std::memcmp(pending_.data() + state.offset, live_.data() + state.offset, value_bytes) != 0;
    }

    /// The executable now has what was pending in this slot.
    void commit(SlotIndex slot, std::uint32_t value_bytes) noexcept {
        Slot& state = slots_[to_integer(slot)];
        state.live = state.pending;
        state.is_live = true;
        if (value_bytes != 0) { std::memcpy(live_.data() + state.offset, pending_.data() + state.offset, value_bytes); }
    }
    void clear_dirty() noexcept {
        for (const std::uint32_t slot : dirty_) slots_[slot].is_dirty = false;
        dirty_.clear();
    }

    /// Nothing is known of what the executable has: all is sent again.
    void forget() noexcept {
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            slots_[i].is_live = false;
            if (slots_[i].is_bound) note(slots_[i], i);
        }
    }

private:
    struct Slot {
        SlotValue pending;
        SlotValue live;
        std::uint32_t offset = 0;  // of a value
        bool is_bound = false;
        bool is_live = false;  // `live` is what the executable has
        bool is_dirty = false;
    };

    void note(Slot& state, std::uint32_t slot) noexcept {
        if (state.is_dirty) return;
        state.is_dirty = true;
        dirty_.push_reserved(slot);
    }

    detail::Array<Slot> slots_;
    detail::Array<std::uint32_t> dirty_;
    detail::Array<std::byte> pending_;
    detail::Array<std::byte> live_;
};

}  // namespace graphjit::inline v0
