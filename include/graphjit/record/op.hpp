// The plain data of a recording: ops, memory, slots, and what a replay may change in an op.
#pragma once

#include <graphjit/base/ids.hpp>
#include <graphjit/record/access.hpp>
#include <graphjit/record/expr_table.hpp>
#include <graphjit/record/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graphjit::inline v0 {

enum class OpKind : std::uint8_t {
    kernel,
    copy,
    fill,
    host_call,
    captured,  // what a library put on the device's own stream while recording
};

/// A name in the recording's text, or the kernel's own.
struct TextRef {
    static constexpr std::uint32_t none = 0xffff'ffffu;
    std::uint32_t begin = none;
    std::uint32_t size = 0;
};

struct OpRecord {
    OpKind kind = OpKind::kernel;
    DeviceId device = {};
    std::uint32_t block = 0;  // offset of the argument block
    std::uint32_t first_access = 0;
    std::uint32_t access_count = 0;
    TextRef name = {};
    const KernelInfo* info = nullptr;
    std::uintptr_t handle = 0;  // the backend's kernel or captured work; 0 for copies and fills
};

/// One access of an op.
/// Units: bytes from the start of the memory. A place that depends on Variables is widened to all it may be.
struct AccessRecord {
    MemoryIndex memory = MemoryIndex::none;
    Access access = Access::in;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Memory of the user: an allocation, a token (zero bytes), or the buffer that an input slot will hold.
struct MemoryRecord {
    bool is_input = false;
    bool is_const = false;
    DeviceId device = {};
    std::uint32_t align = 1;
    SlotIndex slot = SlotIndex::none;  // of an input
    TextRef name = {};
    std::uintptr_t address = 0;  // of an allocation
    std::int64_t bytes = 0;
};

enum class SlotKind : std::uint8_t { input, variable, value };

struct SlotRecord {
    SlotKind kind = SlotKind::input;
    bool has_initial = false;
    TextRef name = {};
    std::uint32_t index = 0;   // MemoryIndex of an input, ExprIndex of a variable, offset in the values of a value
    std::uint32_t bytes = 0;   // of a value
    std::int64_t initial = 0;  // of a variable
};

enum class UseKind : std::uint8_t {
    pointer,           // an input's address plus `add`
    symbolic_pointer,  // an address plus `add` plus an Expr
    value,             // a Slot's bytes
    integer,           // an Expr as an argument, a fill value or a size
    dim,               // an Expr as one of the launch dims
};

/// The members of LaunchDims, in order; those of the group's size.
inline constexpr std::uint8_t dim_count = 7;
[[nodiscard]] constexpr bool is_group_dim(unsigned dim) noexcept { return dim >= 3 && dim < 6; }

/// One place of an op's block that a replay may have to write.
struct Use {
    UseKind kind = UseKind::pointer;
    std::uint8_t width = 0;  // bytes to write; of a value slot: in SlotRecord
    bool is_signed = false;  // of an integer
    std::uint8_t dim = 0;    // 0…2 groups, 3…5 group size
    OpIndex op = OpIndex::none;
    std::uint32_t offset = 0;  // in the block
    MemoryIndex memory = MemoryIndex::none;
    SlotIndex slot = SlotIndex::none;  // of a value
    ExprIndex expr = ExprIndex::none;
    ExprIndex size = ExprIndex::none;  // bytes of a symbolic view, where they are an Expr
    std::int64_t add = 0;              // bytes
    std::int64_t bytes = 0;            // of the view (constant size)
    std::int64_t within = 0;           // bytes from `add` on that a symbolic view may reach
};

/// Two memories that may overlap at replay: their ops are ordered as if they always did.
struct AliasRecord {
    MemoryIndex a = MemoryIndex::none;  // the smaller one
    MemoryIndex b = MemoryIndex::none;

    friend constexpr bool operator<(const AliasRecord& x, const AliasRecord& y) noexcept {
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    }
};

/// The block of a copy.
struct CopyBlock {
    std::byte* destination;
    const std::byte* source;
    std::uint64_t bytes;
};

/// The block of a fill: `pattern_bytes` of the pattern, again and again.
struct FillBlock {
    static constexpr std::size_t max_pattern = 16;
    std::byte* destination;
    std::uint64_t bytes;
    std::byte pattern[max_pattern];
    std::uint32_t pattern_bytes;
};

namespace detail {
/// A copy of what lies in an op's block, which may be aligned for less.
template <class T>
[[nodiscard]] T load_block(const std::byte* place) noexcept {
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

inline constexpr ArgumentInfo copy_arguments[] = {
    {offsetof(CopyBlock, destination), sizeof(void*), ArgumentRole::out},
    {offsetof(CopyBlock, source), sizeof(void*), ArgumentRole::in},
    {offsetof(CopyBlock, bytes), sizeof(std::uint64_t), ArgumentRole::value},
};
inline constexpr KernelInfo copy_info{"copy",        4, sizeof(CopyBlock), alignof(CopyBlock), KernelInfo::no_dims, 3,
                                      copy_arguments};
inline constexpr KernelInfo captured_info{"captured", 8};
inline constexpr ArgumentInfo fill_arguments[] = {
    {offsetof(FillBlock, destination), sizeof(void*), ArgumentRole::out},
    {offsetof(FillBlock, bytes), sizeof(std::uint64_t), ArgumentRole::value},
    {offsetof(FillBlock, pattern), FillBlock::max_pattern, ArgumentRole::value},
};
inline constexpr KernelInfo fill_info{"fill",        4, sizeof(FillBlock), alignof(FillBlock), KernelInfo::no_dims, 3,
                                      fill_arguments};
}  // namespace detail

}  // namespace graphjit::inline v0
