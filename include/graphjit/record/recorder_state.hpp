// The state of a recording: its memory, slots and expressions, and its first error.
#pragma once

#include <graphjit/base/sort.hpp>
#include <graphjit/base/text.hpp>
#include <graphjit/record/handles.hpp>
#include <graphjit/record/op_list.hpp>

#include <cstring>

namespace graphjit::inline v0 {

namespace detail {
/// Tells recordings apart, so that a handle of one is recognised in another. Never 0.
/// Threads: any.
[[nodiscard]] inline std::uint32_t next_owner() noexcept {
    static std::uint32_t last = 0;
#if defined(__GNUC__)
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
#else
    return static_cast<std::uint32_t>(_InterlockedIncrement(reinterpret_cast<long*>(&last)));
#endif
}
}  // namespace detail

/// What a recording has so far, and what is wrong with it.
class RecorderState {
public:
    /// The first error since the start or since `clear_error`. An op that was refused is not in the recording.
    [[nodiscard]] Status status() const noexcept { return first_error_; }
    /// Goes on without the refused ops; without this, `finish` returns the error.
    void clear_error() noexcept { first_error_ = {}; }

    /// Ops recorded from here on run on this device.
    void on(DeviceId device) noexcept { device_ = device; }

    [[nodiscard]] std::uint32_t size() const noexcept { return list_.size(); }

protected:
    RecorderState() noexcept { list_.owner_ = detail::next_owner(); }
    RecorderState(RecorderState&& other) noexcept : RecorderState() { *this = std::move(other); }
    RecorderState& operator=(RecorderState&& other) noexcept {
        if (this == &other) return *this;
        list_ = std::move(other.list_);
        device_ = other.device_;
        first_error_ = other.first_error_;
        other.list_ = OpList{};
        other.list_.owner_ = detail::next_owner();  // the handles given out so far belong to this recording now
        other.first_error_ = {};
        return *this;
    }

    [[nodiscard]] std::uint32_t owner() const noexcept { return list_.owner_; }

    [[nodiscard]] Result<OpList> take() noexcept {
        if (!first_error_.ok()) return first_error_;
        if (!list_.aliases_.empty() && !sort_aliases()) {
            return list_.error(ErrorCode::out_of_memory, "no memory to finish a recording");
        }
        OpList list = std::move(list_);
        list_ = OpList{};
        list_.owner_ = detail::next_owner();
        return list;
    }

    [[nodiscard]] DeviceId current_device() const noexcept { return device_; }

    GRAPHJIT_COLD void fail(ErrorCode code, const char* sentence) noexcept {
        Error error;
        error.code = code;
        error.text = sentence;
        fail(error);
    }
    GRAPHJIT_COLD void fail(Error error) noexcept {
        op_failed_ = true;
        if (!first_error_.ok()) return;
        if (in_op_) {
            error.op = static_cast<OpIndex>(list_.size() - 1);
            error.op_name = ShortName(list_.name(error.op));
        }
        first_error_ = error;
    }
    GRAPHJIT_COLD void fail(ErrorCode code, const char* sentence, Text name) noexcept {
        const bool first = first_error_.ok();
        fail(code, sentence);
        if (!first) return;
        Error error = first_error_.error();
        error.slot_name = ShortName(name.characters());
        first_error_ = error;
    }
    GRAPHJIT_COLD void fail_memory() noexcept { fail(ErrorCode::out_of_memory, "no memory to record into"); }

    // Memory and slots.

    detail::ConstantView add_memory(Text name, MemoryRecord record) noexcept {
        detail::ConstantView view{owner(), static_cast<MemoryIndex>(list_.memories_.size()), 0, record.bytes};
        if (!add_name(name, record.name) || !list_.memories_.push(record)) {
            fail_memory();
            view.memory = MemoryIndex::none;
        }
        return view;
    }

    /// Memory and its slot: both or none.
    detail::ConstantView add_input(Text name, MemoryRecord record, SlotIndex& slot) noexcept {
        record.slot = static_cast<SlotIndex>(list_.slots_.size());
        detail::ConstantView view = add_memory(name, record);
        slot = SlotIndex::none;
        if (view.memory == MemoryIndex::none) return view;
        slot = add_slot(name, {.kind = SlotKind::input, .index = to_integer(view.memory)});
        if (slot == SlotIndex::none) {
            list_.memories_.truncate(to_integer(view.memory));
            view.memory = MemoryIndex::none;
        }
        return view;
    }

    SlotIndex add_slot(Text name, SlotRecord record) noexcept {
        const auto slot = static_cast<SlotIndex>(list_.slots_.size());
        if (!add_name(name, record.name) || !list_.slots_.push(record)) {
            fail_memory();
            return SlotIndex::none;
        }
        return slot;
    }

    SlotIndex add_variable(Text name, Bounds range, const std::int64_t* initial) noexcept {
        if (range.min > range.max || (initial != nullptr && (*initial < range.min || *initial > range.max))) {
            fail(ErrorCode::invalid_argument, "a Variable's range is empty, or its initial value lies outside", name);
            return SlotIndex::none;
        }
        const SlotIndex slot = add_slot(name, {.kind = SlotKind::variable,
                                               .has_initial = initial != nullptr,
                                               .initial = initial != nullptr ? *initial : 0});
        if (slot == SlotIndex::none) return slot;
        const ExprIndex expr = list_.exprs_.add_variable(slot, range);
        if (expr == ExprIndex::none) {
            list_.slots_.truncate(to_integer(slot));
            fail_memory();
            return SlotIndex::none;
        }
        list_.slots_.back().index = to_integer(expr);
        return slot;
    }

    SlotIndex add_value(Text name, const void* initial, std::size_t bytes, std::size_t align) noexcept {
        const std::size_t offset = (list_.values_.size() + align - 1) / align * align;
        if (!list_.values_.resize(offset + bytes, std::byte{0})) {
            fail_memory();
            return SlotIndex::none;
        }
        if (initial != nullptr) std::memcpy(list_.values_.data() + offset, initial, bytes);
        return add_slot(name, {.kind = SlotKind::value,
                               .has_initial = initial != nullptr,
                               .index = static_cast<std::uint32_t>(offset),
                               .bytes = static_cast<std::uint32_t>(bytes)});
    }

    void add_alias(const detail::ConstantView& a, const detail::ConstantView& b) noexcept {
        if (!known(a) || !known(b)) return;
        if (a.memory == b.memory) return;
        const AliasRecord pair = a.memory < b.memory ? AliasRecord{a.memory, b.memory}
                                                     : AliasRecord{b.memory, a.memory};
        if (!list_.aliases_.push(pair)) fail_memory();
    }

    /// Sorts the pairs that may alias, each once. False where memory ran out.
    [[nodiscard]] bool sort_aliases() noexcept {
        detail::Array<AliasRecord>& aliases = list_.aliases_;
        detail::Array<AliasRecord> scratch;
        if (!scratch.resize(aliases.size(), {})) return false;
        detail::sort(aliases.data(), scratch.data(), aliases.size(),
                     [](const auto& x, const auto& y) { return x < y; });
        std::size_t kept = 0;
        for (std::size_t i = 0; i < aliases.size(); ++i) {
            if (kept == 0 || aliases[kept - 1] < aliases[i]) aliases[kept++] = aliases[i];
        }
        aliases.truncate(kept);
        return true;
    }

    ExprIndex intern(const Expr& expr) noexcept {
        switch (expr.defect()) {
            case ExprDefect::none: break;
            case ExprDefect::too_long:
                fail(ErrorCode::invalid_argument,
                     "an Expr has more than eight operands; keep a part with Recorder::let");
                return ExprIndex::none;
            case ExprDefect::mixed_recordings:
                fail(ErrorCode::foreign_handle, "an Expr mixes Variables of two recordings");
                return ExprIndex::none;
            case ExprDefect::overflow:
                fail(ErrorCode::overflow, "a constant Expr overflows 64 bits");
                return ExprIndex::none;
            case ExprDefect::refused:
                fail(ErrorCode::invalid_argument, "an Expr has a part that Recorder::let refused");
                return ExprIndex::none;
            case ExprDefect::divisor:
                fail(ErrorCode::division_by_zero, "a constant Expr divides by something that is not positive");
                return ExprIndex::none;
        }
        if (expr.owner() != 0 && expr.owner() != owner()) {
            fail(ErrorCode::foreign_handle, "an Expr uses a Variable of another recording");
            return ExprIndex::none;
        }
        if (!operands_exist(expr)) {
            fail(ErrorCode::foreign_handle, "an Expr uses a Variable that was refused");
            return ExprIndex::none;
        }
        const ExprIndex index = list_.exprs_.intern(expr);
        if (index == ExprIndex::none) fail_memory();
        return index;
    }

    [[nodiscard]] bool known(const detail::ConstantView& view) noexcept {
        if (view.owner != owner() || to_integer(view.memory) >= list_.memories_.size()) [[unlikely]] {
            fail(ErrorCode::foreign_handle, "memory of another recording, or that was refused");
            return false;
        }
        if (view.bytes < 0) [[unlikely]] {
            fail(ErrorCode::invalid_argument, "a view lies outside the buffer it is a part of");
            return false;
        }
        return true;
    }

    /// False where memory ran out.
    [[nodiscard]] bool add_name(Text text, TextRef& name) noexcept {
        name = add_text(text);
        return text.is_null() || name.begin != TextRef::none;
    }

    TextRef add_text(Text text) noexcept {
        if (text.is_null()) return {};
        const std::size_t size = text.characters().size();
        const std::size_t begin = list_.text_.size();
        char* place = list_.text_.append(size);
        if (place == nullptr && size != 0) {
            fail_memory();
            return {};
        }
        if (size != 0) std::memcpy(place, text.characters().data(), size);
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)};
    }

    OpList list_;
    DeviceId device_ = {};
    bool op_failed_ = false;
    bool in_op_ = false;

private:
    [[nodiscard]] bool operands_exist(const Expr& expr) const noexcept {
        return expr.fold<bool>(
            [&](ExprOp op, std::int64_t operand) {
                if (op == ExprOp::variable) {
                    return static_cast<std::size_t>(operand) < list_.slots_.size() &&
                           list_.slots_[static_cast<std::size_t>(operand)].kind == SlotKind::variable;
                }
                return op == ExprOp::constant || static_cast<std::size_t>(operand) < list_.exprs_.size();
            },
            [](ExprOp, bool a, bool b) { return a && b; });
    }

    Status first_error_;
};

}  // namespace graphjit::inline v0
