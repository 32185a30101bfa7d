// Ops of a stream that have neither wait nor signal between them, as one command.
#pragma once

#include <graphjit/backend/host.hpp>
#include <graphjit/base/array.hpp>
#include <graphjit/base/ids.hpp>

#include <atomic>

namespace graphjit::inline v0::detail {

/// The ops of a stream, in order, and the first that threw.
class ThreadOps {
public:
    static constexpr std::uint32_t none = 0xffff'ffffu;
    /// In front of each block stands its entry.
    static constexpr std::size_t entry_bytes = sizeof(HostEntry);

    [[nodiscard]] bool reserve(std::size_t count) noexcept { return blocks_.reserve(count) && ops_.reserve(count); }
    void push_reserved(OpIndex op, const std::byte* block) noexcept {
        blocks_.push_reserved(block);
        ops_.push_reserved(op);
    }

    /// What threw since it was last asked, or none.
    [[nodiscard]] OpIndex take_failure() noexcept {
        if (failed_.load(std::memory_order_relaxed) == none) return OpIndex::none;
        return ops_[failed_.exchange(none)];
    }

    /// Runs from one entry to another. What throws fails alone: signals behind it are still set, or others would wait
    /// for them for ever.
    void run(const std::byte* at, const std::byte* end) noexcept {
#if GRAPHJIT_EXCEPTIONS
        while (at != end) {
            const std::byte* begun = at;
            try {
                while (at != end) {
                    begun = at;
                    HostEntry entry = nullptr;
                    std::memcpy(&entry, at, entry_bytes);
                    at = entry(at + entry_bytes);
                }
            } catch (...) { at = note_failure(begun, end); }
        }
#else
        (void)run_tape(at, end);
#endif
    }

private:
    /// Returns where the op behind it begins.
    [[maybe_unused]] GRAPHJIT_COLD const std::byte* note_failure(const std::byte* begun,
                                                                 const std::byte* end) noexcept {
        std::uint32_t i = 0;
        while (blocks_[i] != begun + entry_bytes) ++i;
        std::uint32_t first = none;
        failed_.compare_exchange_strong(first, i);
        const std::byte* next = i + 1 < blocks_.size() ? blocks_[i + 1] - entry_bytes : end;
        return next < end ? next : end;
    }

    Array<const std::byte*> blocks_;
    Array<OpIndex> ops_;
    std::atomic<std::uint32_t> failed_{none};
};

/// A stretch of them.
struct ThreadStretch {
    ThreadOps* ops = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;

    static const std::byte* enter(const std::byte* block) noexcept {
        const auto& stretch = *reinterpret_cast<const ThreadStretch*>(block);
        stretch.ops->run(stretch.begin, stretch.end);
        return block;
    }
};

}  // namespace graphjit::inline v0::detail
