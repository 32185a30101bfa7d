// A finished recording.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/base/sort.hpp>
#include <graphjit/base/span.hpp>
#include <graphjit/record/op.hpp>

namespace graphjit::inline v0 {

class RecorderState;
class OpWriter;

/// The ops of a recording, in recorded order, and all they refer to. Immutable.
/// Lifetime: holds no memory of the user and no argument by reference; only addresses that were recorded as such.
class OpList {
public:
    OpList() noexcept = default;
    OpList(OpList&&) noexcept = default;
    OpList& operator=(OpList&&) noexcept = default;

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ops_.size()); }
    [[nodiscard]] Span<const OpRecord> ops() const noexcept { return ops_; }
    [[nodiscard]] const OpRecord& op(OpIndex index) const noexcept { return ops_[to_integer(index)]; }
    [[nodiscard]] Span<const MemoryRecord> memories() const noexcept { return memories_; }
    [[nodiscard]] const MemoryRecord& memory(MemoryIndex index) const noexcept { return memories_[to_integer(index)]; }
    [[nodiscard]] Span<const SlotRecord> slots() const noexcept { return slots_; }
    [[nodiscard]] const SlotRecord& slot(SlotIndex index) const noexcept { return slots_[to_integer(index)]; }
    [[nodiscard]] Span<const AccessRecord> accesses(OpIndex index) const noexcept {
        const OpRecord& record = op(index);
        return {accesses_.data() + record.first_access, record.access_count};
    }
    [[nodiscard]] Span<const Use> uses() const noexcept { return uses_; }
    /// Sorted, each once.
    [[nodiscard]] Span<const AliasRecord> aliases() const noexcept { return aliases_; }
    /// Whether the two may overlap at replay. Pre: `pair.a` is smaller.
    [[nodiscard]] bool may_alias(const AliasRecord& pair) const noexcept {
        const std::size_t low = detail::first_not(aliases_.data(), aliases_.size(),
                                                  [&](const AliasRecord& other) { return other < pair; });
        return low < aliases_.size() && !(pair < aliases_[low]);
    }
    [[nodiscard]] const ExprTable& exprs() const noexcept { return exprs_; }
    /// Initial values of the value slots.
    [[nodiscard]] Span<const std::byte> values() const noexcept { return values_; }
    /// The op's argument block as recorded: what a slot or Expr will fill in is zero.
    [[nodiscard]] const std::byte* block(OpIndex index) const noexcept { return blocks_.data() + op(index).block; }
    [[nodiscard]] Span<const std::byte> blocks() const noexcept { return blocks_; }
    /// Names the recording that handles belong to.
    [[nodiscard]] std::uint32_t owner() const noexcept { return owner_; }

    [[nodiscard]] Span<const char> text(TextRef name) const noexcept {
        if (name.begin == TextRef::none) return {};
        return {text_.data() + name.begin, name.size};
    }
    [[nodiscard]] Span<const char> name(OpIndex index) const noexcept {
        const OpRecord& record = op(index);
        if (record.name.begin != TextRef::none) return text(record.name);
        return {record.info->name, record.info->name_size};
    }
    [[nodiscard]] Span<const char> name(SlotIndex index) const noexcept { return text(slot(index).name); }
    [[nodiscard]] Span<const char> name(MemoryIndex index) const noexcept { return text(memory(index).name); }

    /// An error that names the op and the slot.
    [[nodiscard]] GRAPHJIT_COLD Error error(ErrorCode code, const char* sentence, OpIndex op = OpIndex::none,
                                            SlotIndex slot = SlotIndex::none) const noexcept {
        Error error;
        error.code = code;
        error.text = sentence;
        error.op = op;
        error.slot = slot;
        if (op != OpIndex::none) error.op_name = ShortName(name(op));
        if (slot != SlotIndex::none) error.slot_name = ShortName(name(slot));
        return error;
    }

    /// Errors: out_of_memory.
    [[nodiscard]] bool copy_from(const OpList& other) noexcept {
        owner_ = other.owner_;
        return ops_.copy_from(other.ops_) && accesses_.copy_from(other.accesses_) &&
               memories_.copy_from(other.memories_) && slots_.copy_from(other.slots_) && uses_.copy_from(other.uses_) &&
               aliases_.copy_from(other.aliases_) && blocks_.copy_from(other.blocks_) &&
               values_.copy_from(other.values_) && text_.copy_from(other.text_) && exprs_.copy_from(other.exprs_);
    }

private:
    friend class RecorderState;
    friend class OpWriter;

    std::uint32_t owner_ = 0;
    detail::Array<OpRecord> ops_;
    detail::Array<AccessRecord> accesses_;
    detail::Array<MemoryRecord> memories_;
    detail::Array<SlotRecord> slots_;
    detail::Array<Use> uses_;
    detail::Array<AliasRecord> aliases_;
    detail::Array<std::byte> blocks_;
    detail::Array<std::byte> values_;
    detail::Array<char> text_;
    ExprTable exprs_;
};

/// An `OpList` that remembers which backend it was recorded for.
template <class Backend>
class OpListOf : public OpList {
public:
    OpListOf() noexcept = default;
    OpListOf(OpList&& list, Backend backend) noexcept : OpList(std::move(list)), backend_(std::move(backend)) {}

    [[nodiscard]] const Backend& backend() const noexcept { return backend_; }
    [[nodiscard]] Backend& backend() noexcept { return backend_; }

    /// Errors: out_of_memory.
    [[nodiscard]] Result<OpListOf> clone() const noexcept {
        OpListOf copy;
        copy.backend_ = backend_;
        if (!copy.copy_from(*this)) return error(ErrorCode::out_of_memory, "no memory to copy a recording");
        return copy;
    }

private:
    [[no_unique_address]] Backend backend_ = {};
};

}  // namespace graphjit::inline v0
