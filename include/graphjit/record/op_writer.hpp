// Writing ops down without types: each piece is checked, then copied. `Recorder` is the typed face.
#pragma once

#include <graphjit/record/recorder_state.hpp>

#include <cstring>

namespace graphjit::inline v0 {

class OpWriter : public RecorderState {
protected:
    OpWriter() noexcept = default;
    OpWriter(OpWriter&&) noexcept = default;
    OpWriter& operator=(OpWriter&&) noexcept = default;

    // One op: begin_op, its pieces in any order, end_op.

    /// Returns the zeroed block, or null: then the op is lost and the pieces must not be written.
    [[nodiscard]] std::byte* begin_op(OpKind kind, const KernelInfo& info, std::uintptr_t handle, Text name,
                                      std::size_t most_accesses) noexcept {
        mark_ = {list_.ops_.size(), list_.accesses_.size(), list_.uses_.size(), list_.blocks_.size(),
                 list_.text_.size()};
        op_failed_ = false;
        const std::size_t start = (mark_.blocks + info.block_align - 1) / info.block_align * info.block_align;
        const std::size_t bytes = start - mark_.blocks + info.block_bytes;
        // An op without arguments has an empty block, whose address must not look like a failure.
        std::byte* block = list_.blocks_.make_room(bytes + 1) ? list_.blocks_.append(bytes) : nullptr;
        const bool has_room = block != nullptr && start + info.block_bytes <= 0xffff'ffffu &&
                              list_.accesses_.make_room(most_accesses);
        if (has_room) std::memset(block, 0, bytes);
        if (!has_room || !list_.ops_.push({.kind = kind,
                                           .device = device_,
                                           .block = static_cast<std::uint32_t>(start),
                                           .first_access = static_cast<std::uint32_t>(mark_.accesses),
                                           .name = add_text(name),
                                           .info = &info,
                                           .handle = handle})) {
            roll_back();
            fail_memory();
            return nullptr;
        }
        in_op_ = true;
        return block + (start - mark_.blocks);
    }

    template <class To, class From>
    OpIndex copy_views(Text name, const To& destination, const From& source) noexcept {
        std::byte* block = begin_op(OpKind::copy, detail::copy_info, 0, name, 2);
        if (block == nullptr) return OpIndex::none;
        add_view(block, offsetof(CopyBlock, destination), Access::out, destination);
        add_view(block, offsetof(CopyBlock, source), Access::in, source);
        const Expr bytes = byte_count(destination);
        const Expr source_bytes = byte_count(source);
        if (!op_failed_ && intern(bytes) != intern(source_bytes)) {
            fail(ErrorCode::invalid_argument, "the two ends of a copy differ in size");
        }
        if (!op_failed_) check_copy_overlap();
        if (!op_failed_) add_integer(block, offsetof(CopyBlock, bytes), sizeof(std::uint64_t), false, bytes);
        return end_op();
    }

    template <class To>
    [[nodiscard]] std::byte* begin_fill(Text name, std::uint32_t element_bytes, const To& destination) noexcept {
        std::byte* block = begin_op(OpKind::fill, detail::fill_info, 0, name, 1);
        if (block == nullptr) return nullptr;
        std::memcpy(block + offsetof(FillBlock, pattern_bytes), &element_bytes, sizeof element_bytes);
        add_view(block, offsetof(FillBlock, destination), Access::out, destination);
        if (!op_failed_)
            add_integer(block, offsetof(FillBlock, bytes), sizeof(std::uint64_t), false, byte_count(destination));
        return block;
    }

    OpIndex end_op() noexcept {
        in_op_ = false;
        if (op_failed_) {
            roll_back();
            return OpIndex::none;
        }
        OpRecord& op = list_.ops_.back();
        op.access_count = static_cast<std::uint32_t>(list_.accesses_.size()) - op.first_access;
        return static_cast<OpIndex>(list_.ops_.size() - 1);
    }

    void add_view(std::byte* block, std::uint32_t offset, Access access, const detail::ConstantView& view) noexcept {
        if (!known(view) || !writable(view, access)) return;
        add_access(view.memory, access, view.offset, view.offset + view.bytes);
        if (block == nullptr) return;
        const MemoryRecord& memory = list_.memories_[to_integer(view.memory)];
        if (memory.is_input) {
            add_use({.kind = UseKind::pointer,
                     .width = sizeof(void*),
                     .offset = offset,
                     .memory = view.memory,
                     .slot = memory.slot,
                     .add = view.offset,
                     .bytes = view.bytes});
        } else {
            const std::uintptr_t address = memory.address + static_cast<std::uintptr_t>(view.offset);
            std::memcpy(block + offset, &address, sizeof address);
        }
    }

    void add_view(std::byte* block, std::uint32_t offset, Access access, const detail::SymbolicView& view) noexcept {
        if (!known(view.within) || !writable(view.within, access)) return;
        if (view.offset.is_constant() && view.bytes.is_constant()) {
            detail::ConstantView part = view.within;
            const bool inside = detail::lies_inside(view.offset.constant(), view.bytes.constant(), part.bytes);
            part.bytes = inside ? view.bytes.constant() : -1;
            if (inside) part.offset += view.offset.constant();
            add_view(block, offset, access, part);
            return;
        }
        const ExprIndex place = intern(view.offset);
        const ExprIndex bytes = intern(view.bytes);
        if (place == ExprIndex::none || bytes == ExprIndex::none) return;
        const std::int64_t within = view.within.bytes;
        const Bounds places = list_.exprs_[place].bounds;
        const Bounds sizes = list_.exprs_[bytes].bounds;
        if (places.max < 0 || places.min > within || sizes.max < 0 ||
            sizes.min > within - (places.min > 0 ? places.min : 0)) {
            fail(ErrorCode::out_of_range, "a view lies outside its buffer whatever the Variables are");
            return;
        }
        std::int64_t end = within;
        if (places.max <= within && sizes.max <= within - places.max) end = places.max + sizes.max;
        add_access(view.within.memory, access, view.within.offset + (places.min > 0 ? places.min : 0),
                   view.within.offset + end);
        if (block == nullptr) return;
        const MemoryRecord& memory = list_.memories_[to_integer(view.within.memory)];
        const bool fixed_size = view.bytes.is_constant();
        add_use({.kind = UseKind::symbolic_pointer,
                 .width = sizeof(void*),
                 .offset = offset,
                 .memory = view.within.memory,
                 .slot = memory.slot,
                 .expr = place,
                 .size = fixed_size ? ExprIndex::none : bytes,
                 .add = view.within.offset,
                 .bytes = fixed_size ? view.bytes.constant() : 0,
                 .within = within});
    }

    /// An Expr as an argument of `width` bytes.
    void add_integer(std::byte* block, std::uint32_t offset, std::uint8_t width, bool is_signed,
                     const Expr& expr) noexcept {
        if (expr.is_constant()) {
            const std::int64_t value = expr.constant();
            const Bounds range = detail::integer_bounds(width, is_signed);
            if (value < range.min || value > range.max) {
                fail(ErrorCode::out_of_range, "a constant does not fit the argument's type");
                return;
            }
            std::memcpy(block + offset, &value, width);  // little endian, as all supported hosts
            return;
        }
        const ExprIndex index = intern(expr);
        if (index == ExprIndex::none) return;
        add_use({.kind = UseKind::integer, .width = width, .is_signed = is_signed, .offset = offset, .expr = index});
    }

    /// Pre: `view` was added without an error.
    void align_view(const detail::ConstantView& view, std::uint32_t align) noexcept {
        if (op_failed_) return;
        MemoryRecord& memory = list_.memories_[to_integer(view.memory)];
        const auto offset = static_cast<std::uintptr_t>(view.offset);
        if ((memory.is_input ? offset : memory.address + offset) % align != 0) {
            fail(ErrorCode::misaligned, "a view is not aligned for the elements its op takes it for");
        } else if (memory.is_input && memory.align < align) {
            memory.align = align;
        }
    }
    void align_view(const detail::SymbolicView& view, std::uint32_t align) noexcept { align_view(view.within, align); }

    void add_slot_use(std::uint32_t offset, std::uint32_t handle_owner, SlotIndex slot) noexcept {
        if (handle_owner != owner() || to_integer(slot) >= list_.slots_.size()) {
            fail(ErrorCode::foreign_handle, "a Slot of another recording, or one that was refused");
            return;
        }
        add_use({.kind = UseKind::value, .offset = offset, .slot = slot});
    }

    void add_dim(std::byte* block, std::uint32_t offset, std::uint8_t dim, const Expr& expr) noexcept {
        if (!expr.is_constant()) {
            const ExprIndex index = intern(expr);
            if (index == ExprIndex::none) return;
            add_use({.kind = UseKind::dim, .width = 4, .dim = dim, .offset = offset, .expr = index});
            return;
        }
        const std::int64_t value = expr.constant();
        if (value < (is_group_dim(dim) ? 1 : 0) || value > 0xffff'ffff) {
            fail(ErrorCode::dims_limit, "launch dims do not fit 32 bits, or a group is empty");
            return;
        }
        const auto narrow = static_cast<std::uint32_t>(value);
        std::memcpy(block + offset, &narrow, sizeof narrow);
    }

private:
    struct Mark {
        std::size_t ops = 0;
        std::size_t accesses = 0;
        std::size_t uses = 0;
        std::size_t blocks = 0;
        std::size_t text = 0;
    };

    /// Takes back all that was written since begin_op.
    void roll_back() noexcept {
        list_.ops_.truncate(mark_.ops);
        list_.accesses_.truncate(mark_.accesses);
        list_.uses_.truncate(mark_.uses);
        list_.blocks_.truncate(mark_.blocks);
        list_.text_.truncate(mark_.text);
    }

    [[nodiscard]] bool writable(const detail::ConstantView& view, Access access) noexcept {
        if (writes(access) && list_.memories_[to_integer(view.memory)].is_const) {
            fail(ErrorCode::invalid_argument, "an op writes memory that was registered as const");
            return false;
        }
        return true;
    }

    static Expr byte_count(const detail::ConstantView& view) noexcept { return Expr(view.bytes); }
    static Expr byte_count(const detail::SymbolicView& view) noexcept { return view.bytes; }

    /// Refused because devices differ in what they make of it; with a temporary in between it is two copies.
    void check_copy_overlap() noexcept {
        if (list_.accesses_.size() - mark_.accesses != 2) return;  // an end of no bytes
        const AccessRecord& to = list_.accesses_[mark_.accesses];
        const AccessRecord& from = list_.accesses_[mark_.accesses + 1];
        const MemoryRecord& a = list_.memories_[to_integer(to.memory)];
        const MemoryRecord& b = list_.memories_[to_integer(from.memory)];
        const bool comparable = to.memory == from.memory || (!a.is_input && !b.is_input);
        for (std::size_t i = mark_.uses; i < list_.uses_.size(); ++i) {
            if (list_.uses_[i].kind == UseKind::symbolic_pointer) return;  // decided at replay
        }
        if (!comparable) return;  // decided at replay, see run/overlap.hpp
        const auto to_begin = static_cast<std::int64_t>(a.address) + to.begin;
        const auto from_begin = static_cast<std::int64_t>(b.address) + from.begin;
        if (to_begin < from_begin + (from.end - from.begin) && from_begin < to_begin + (to.end - to.begin)) {
            fail(ErrorCode::overlap, "the source and the destination of a copy overlap; copy through a temporary");
        }
    }

    void add_access(MemoryIndex memory, Access access, std::int64_t begin, std::int64_t end) noexcept {
        if (begin >= end && list_.memories_[to_integer(memory)].bytes != 0) return;  // touches nothing
        list_.accesses_.push_reserved({memory, access, begin, end});                 // begin_op made room
    }

    void add_use(Use use) noexcept {
        use.op = static_cast<OpIndex>(list_.ops_.size() - 1);
        if (!list_.uses_.push(use)) fail_memory();
    }

    Mark mark_;
};

}  // namespace graphjit::inline v0
