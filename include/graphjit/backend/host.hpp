// What runs on the host for every backend that needs it: kernels, copies and fills by their blocks.
#pragma once

#include <graphjit/record/host_kernel.hpp>
#include <graphjit/record/op.hpp>

#include <cstring>

namespace graphjit::inline v0 {
namespace detail {

inline const std::byte* run_host_copy(const std::byte* block) {
    CopyBlock copy;
    std::memcpy(&copy, block, sizeof copy);
    if (copy.bytes != 0) std::memcpy(copy.destination, copy.source, copy.bytes);
    return block + host_block_stride(sizeof copy);
}

inline const std::byte* run_host_fill(const std::byte* block) {
    FillBlock fill;
    std::memcpy(&fill, block, sizeof fill);
    const std::byte* end = block + host_block_stride(sizeof fill);
    if (fill.bytes == 0) return end;
    if (fill.pattern_bytes == 1) {
        std::memset(fill.destination, static_cast<int>(fill.pattern[0]), fill.bytes);
        return end;
    }
    // The filled part is doubled until it is the whole: few large copies instead of many small ones.
    std::uint64_t done = fill.pattern_bytes < fill.bytes ? fill.pattern_bytes : fill.bytes;
    std::memcpy(fill.destination, fill.pattern, done);
    while (done < fill.bytes) {
        const std::uint64_t more = done < fill.bytes - done ? done : fill.bytes - done;
        std::memcpy(fill.destination + done, fill.destination, more);
        done += more;
    }
    return end;
}

}  // namespace detail

/// Ops one after another in memory: the entry of each, then its block, then the next one. Returns `end`.
GRAPHJIT_ALWAYS_INLINE const std::byte* run_tape(const std::byte* at, const std::byte* end) {
    while (at != end) {
        HostEntry entry = nullptr;
        std::memcpy(&entry, at, sizeof entry);
        at = entry(at + sizeof entry);
    }
    return at;
}

/// The function that runs an op on its block: for every backend whose ops may run on the host.
[[nodiscard]] inline HostEntry host_entry(const OpRecord& op) noexcept {
    switch (op.kind) {
        case OpKind::copy: return &detail::run_host_copy;
        case OpKind::fill: return &detail::run_host_fill;
        case OpKind::kernel:
        case OpKind::host_call:
        case OpKind::captured: break;
    }
    return reinterpret_cast<HostEntry>(op.handle);
}

}  // namespace graphjit::inline v0
