// The life of a replay: what was set is checked, then written where it belongs, then the graph is submitted.
#pragma once

#include <graphjit/plan/planner.hpp>
#include <graphjit/record/handles.hpp>
#include <graphjit/run/images.hpp>
#include <graphjit/run/replay_checks.hpp>

namespace graphjit::inline v0 {

/// The part of a runner that knows no backend. `Derived` has
///   `block_of(OpIndex) -> std::byte*`     where an op's block is, while building
///   `update_native(OpIndex) -> Status`    tells the device of a changed block; `tells_native` says whether it cares,
///                                         and `is_told(const OpRecord&, const Use&)` in which places
///   `bind_native(const MemoryView&)`       tells the device of an input's new buffer, if `tells_inputs`
///   `images()`, `image_stride()`, `next_image()`   where blocks are, if `has_images`
///   `submit() -> Status`                  runs the graph
///   `limits()`, `reaches(DeviceId, DeviceId)`
/// Threads: one at a time.
template <class Derived>
class GraphRunner : protected ReplayChecks<Derived> {
    using Checks = ReplayChecks<Derived>;
    using Checks::complete_, Checks::counters_, Checks::dag_, Checks::derived, Checks::exprs_, Checks::foreign_handle_,
        Checks::list_, Checks::round_, Checks::state_, Checks::symbols_, Checks::table_;

public:
    /// Gives an input its buffer, for this and all later replays: an array, anything with `data()` and `size()`, or a
    /// bare pointer, which is taken to be large enough.
    /// Errors: none here; `replay` checks all that was set before it does anything.
    template <class T, class Given>
    Derived& set(const Input<T>& input, Given&& given) noexcept {
        using Plain = std::remove_reference_t<Given>;
        constexpr bool is_range = requires {
            { given.data() } -> std::convertible_to<T*>;
            given.size();
        };
        if constexpr (std::is_array_v<Plain> && std::is_convertible_v<Given, T*>) {
            return set(input, given, std::extent_v<Plain>);
        } else if constexpr (std::is_convertible_v<Given, T*>) {
            return set_input(detail::HandleAccess::owner(input), input.slot(), static_cast<T*>(given),
                             SlotValue::unknown_bytes, SlotValue::recorded_device);
        } else {
            static_assert(is_range, "graphjit: an input is set to something that is no memory of its element type");
            if constexpr (is_range) {
                static_assert(detail::outlives_call<Given>,
                              "graphjit: an input is set to a temporary; it would be gone by replay");
                return set(input, given.data(), given.size());
            }
            return derived();
        }
    }
    /// Units: `count` elements.
    template <class T>
    Derived& set(const Input<T>& input, std::type_identity_t<T>* data, Count count) noexcept {
        return set_input(detail::HandleAccess::owner(input), input.slot(), data, bytes_of<T>(count.value()),
                         SlotValue::recorded_device);
    }
    template <class T>
    Derived& set(const Input<T>& input, std::type_identity_t<T>* data, Count count, DeviceId device) noexcept {
        return set_input(detail::HandleAccess::owner(input), input.slot(), data, bytes_of<T>(count.value()),
                         static_cast<std::int32_t>(device));
    }
    Derived& set(const Variable& variable, std::int64_t value) noexcept {
        if (known(detail::HandleAccess::owner(variable), variable.slot()))
            state_.set(variable.slot(), {.value = value});
        return derived();
    }
    template <std::floating_point Number>
    Derived& set(const Variable& variable, Number value) = delete;  // a Variable is an integer
    template <class T>
    Derived& set(const Slot<T>& slot, const std::type_identity_t<T>& value) noexcept {
        if (known(detail::HandleAccess::owner(slot), slot.slot())) state_.set_bytes(slot.slot(), value);
        return derived();
    }

    /// Runs the graph with what the slots hold. All is checked before anything is written; after an error nothing ran,
    /// and the graph is as it was.
    /// Cost: grows with what changed. No allocation, no lock.
    [[nodiscard]] Status replay() noexcept {
        if (Status status = prepare(); !status.ok()) [[unlikely]]
            return status;
        return derived().submit();
    }

    [[nodiscard]] const ReplayCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] const OpList& ops() const noexcept { return list_; }
    [[nodiscard]] const Dag& dag() const noexcept { return dag_; }

protected:
    GraphRunner(OpList&& list, Dag&& dag) noexcept : Checks(std::move(list), std::move(dag)) {}
    GraphRunner(GraphRunner&&) noexcept = default;
    GraphRunner& operator=(GraphRunner&&) noexcept = default;

    /// Works out what lands where. Pre: blocks are where they will stay.
    [[nodiscard]] Status build() noexcept {
        bool enough = this->build_checks();
        if constexpr (Derived::tells_native) {
            enough = enough && told_.reserve(list_.size()) && told_round_.resize(list_.size(), 0);
        }
        if constexpr (Derived::has_images) {
            const std::uint32_t images = derived().images();
            if (images == 0 || images > most_images) {
                return list_.error(ErrorCode::unsupported, "a backend has no image of its blocks, or more than eight");
            }
            enough = enough && stale_.build(images, list_.slots().size() + list_.exprs().size() + list_.uses().size());
        }
        if (!enough) return list_.error(ErrorCode::out_of_memory, "no memory to instantiate a graph");
        return {};
    }

    /// Makes the executable hold what the slots hold, or refuses.
    [[nodiscard]] Status prepare() noexcept {
        const bool pending = pending_work();
        if (pending) [[unlikely]] {
            if (Status status = accept(); !status.ok()) return status;
        }
        bool behind = pending;
        if constexpr (Derived::has_images) {
            image_ = derived().next_image();
            behind = behind || stale_.lacks(image_);
        }
        if (behind) [[unlikely]] {
            if (Status status = commit(); !status.ok()) return status;
        }
        ++counters_.replays;
        return {};
    }

    [[nodiscard]] OpView view(OpIndex op) noexcept {
        return {op, &list_.op(op), derived().block_of(op) + image_offset(), list_.name(op)};
    }

private:
    [[nodiscard]] bool pending_work() const noexcept {
        return !state_.dirty().empty() || foreign_handle_ || !complete_;
    }

    /// A count that makes no sense stays one that no op accepts, or more than any op needs.
    template <class T>
    [[nodiscard]] static constexpr std::int64_t bytes_of(std::int64_t count) noexcept {
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(count, detail::element_bytes<T>, &bytes)) return count < 0 ? -1 : INT64_MAX;
        return bytes;
    }

    [[nodiscard]] bool known(std::uint32_t owner, SlotIndex slot) noexcept {
        if (owner == list_.owner() && state_.has(slot)) return true;
        foreign_handle_ = true;
        return false;
    }

    Derived& set_input(std::uint32_t owner, SlotIndex slot, const void* data, std::int64_t bytes,
                       std::int32_t device) noexcept {
        if (known(owner, slot)) {
            state_.set(slot, {static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)), bytes, device});
        }
        return derived();
    }

    /// Checks what was set; the backend has the last word.
    [[nodiscard]] Status accept() noexcept {
        Status status = this->validate();
        if constexpr (Derived::tells_inputs) {
            for (std::size_t i = 0; i < state_.dirty().size() && status.ok(); ++i) {
                status = tell_input(static_cast<SlotIndex>(state_.dirty()[i]));
            }
        }
        if (!status.ok()) exprs_.refuse();
        return status;
    }

    [[nodiscard]] Status tell_input(SlotIndex slot) noexcept {
        const SlotRecord& record = list_.slot(slot);
        if (record.kind != SlotKind::input || !state_.changed(slot, record.bytes)) return {};
        const auto index = static_cast<MemoryIndex>(record.index);
        const SlotValue& given = state_.pending(slot);
        const MemoryRecord& memory = list_.memory(index);
        MemoryView input{&memory, index, reinterpret_cast<const std::byte*>(given.value), given.bytes, memory.device};
        if (given.bytes == SlotValue::unknown_bytes) input.bytes = memory.bytes;
        if (given.device != SlotValue::recorded_device) input.device = static_cast<DeviceId>(given.device);
        const Status status = derived().bind_native(input);
        if (status.ok()) return {};
        Error error = status.error();
        error.slot = slot;
        error.slot_name = ShortName(list_.name(slot));
        return error;
    }

    /// Writes what `accept` accepted; nothing of it can be refused any more.
    [[nodiscard]] Status commit() noexcept {
        complete_ = true;
        told_.clear();
        ++this->round_;  // each replay tells of an op at most once, also where only an image is behind
        for (const std::uint32_t i : state_.dirty()) {
            const auto slot = static_cast<SlotIndex>(i);
            const SlotRecord& record = list_.slot(slot);
            if (!state_.changed(slot, record.bytes)) continue;
            write_slot(slot);
            state_.commit(slot, record.bytes);
            note_stale(i);
        }
        for (const std::uint32_t expr : exprs_.changed()) {
            write_integers(static_cast<ExprIndex>(expr));
            note_stale(list_.slots().size() + expr);
        }
        for (const std::uint32_t use : symbols_) {
            write_symbol(use);
            note_stale(list_.slots().size() + list_.exprs().size() + use);
        }
        symbols_.clear();
        state_.clear_dirty();
        exprs_.commit();
        if constexpr (Derived::has_images) {
            stale_.catch_up(image_, [this](std::uint32_t item) { write_item(item); });
        }
        if constexpr (Derived::tells_native) {
            for (const OpIndex op : told_) {
                ++counters_.native_updates;
                if (Status status = derived().update_native(op); !status.ok()) {
                    forget();
                    return status;
                }
            }
        }
        return {};
    }

    /// Bytes from a block as it was built to the one that the next launch reads.
    [[nodiscard]] std::size_t image_offset() noexcept {
        if constexpr (Derived::has_images) return image_ * derived().image_stride();
        return 0;
    }
    void note_stale(std::size_t item) noexcept {
        if constexpr (Derived::has_images) stale_.note(item, image_);
    }
    void write_item(std::size_t item) noexcept {
        const std::size_t slots = list_.slots().size();
        const std::size_t exprs = list_.exprs().size();
        if (item < slots) {
            write_slot(static_cast<SlotIndex>(item));
        } else if (item < slots + exprs) {
            write_integers(static_cast<ExprIndex>(item - slots));
        } else {
            write_symbol(static_cast<std::uint32_t>(item - slots - exprs));
        }
    }

    void write_slot(SlotIndex slot) noexcept {
        const SlotRecord& record = list_.slot(slot);
        if (record.kind == SlotKind::input) {
            write_pointers(slot);
        } else if (record.kind == SlotKind::value) {
            write_value(slot, record.bytes);
        }
    }

    void write_pointers(SlotIndex slot) noexcept {
        const std::size_t offset = image_offset();
        const Span<std::byte* const> starts = table_.starts(slot);
        const Span<const PointerPatch> patches = table_.pointers(slot);
        const std::int64_t address = state_.pending(slot).value;
        for (std::byte* place : starts) std::memcpy(place + offset, &address, sizeof address);
        for (const PointerPatch& patch : patches) {
            const std::int64_t value = address + patch.add;
            std::memcpy(patch.place + offset, &value, sizeof value);
        }
        counters_.patches += starts.size() + patches.size();
        if constexpr (Derived::tells_native) {
            for (const OpIndex op : table_.pointer_ops(slot)) tell(op);
        }
    }

    void write_value(SlotIndex slot, std::uint32_t bytes) noexcept {
        const std::size_t offset = image_offset();
        const std::byte* value = state_.pending_bytes(slot);
        for (const ValuePatch& patch : table_.values(slot)) {
            if (bytes == 4) {
                std::memcpy(patch.place + offset, value, 4);
            } else if (bytes == 8) {
                std::memcpy(patch.place + offset, value, 8);
            } else {
                std::memcpy(patch.place + offset, value, bytes);
            }
            ++counters_.patches;
            if (patch.op != OpIndex::none) tell(patch.op);
        }
    }

    void write_integers(ExprIndex expr) noexcept {
        const std::size_t offset = image_offset();
        const std::int64_t value = exprs_.current(expr);
        const Span<const IntegerPatch> patches = table_.integers(expr);
        for (const IntegerPatch& patch : patches) {
            if (patch.width == 4) {
                const auto narrow = static_cast<std::uint32_t>(value);
                std::memcpy(patch.place + offset, &narrow, sizeof narrow);
            } else {
                std::memcpy(patch.place + offset, &value, patch.width);  // little endian, as all supported hosts
            }
            if constexpr (Derived::tells_native) {
                if (patch.op != OpIndex::none) tell(patch.op);
            }
        }
        counters_.patches += patches.size();
    }

    void write_symbol(std::uint32_t index) noexcept {
        const Use& use = list_.uses()[index];
        const std::int64_t value = this->pending_value(use);
        std::memcpy(table_.place(index) + image_offset(), &value, sizeof value);
        ++counters_.patches;
        if (derived().is_told(list_.op(use.op), use)) tell(use.op);
    }

    void tell(OpIndex op) noexcept {
        if constexpr (Derived::tells_native) {
            if (told_round_[to_integer(op)] == round_) return;
            told_round_[to_integer(op)] = round_;
            told_.push_reserved(op);
        }
    }

    /// After a failure half-way no value counts as already there.
    GRAPHJIT_COLD void forget() noexcept {
        state_.forget();
        exprs_.forget(list_.exprs());
    }

    detail::StaleImages stale_;
    std::uint32_t image_ = 0;                  // that the next launch reads
    detail::Array<OpIndex> told_;              // ops the backend is to be told of
    detail::Array<std::uint64_t> told_round_;  // by op: the last round that told of it
};

}  // namespace graphjit::inline v0
