// What graphs on the same devices share: the order in which they were submitted.
#pragma once

#include <graphjit/base/config.hpp>

#include <atomic>
#include <cstdint>

namespace graphjit::inline v0 {

/// Lets one thread at a time submit. A graph goes to several queues, and two graphs must come in the same order in all
/// of them, or each would wait for the other.
/// Cost: of passing alone, two atomic operations.
class Turnstile {
public:
    Turnstile() noexcept = default;
    Turnstile(const Turnstile&) = delete;
    Turnstile& operator=(const Turnstile&) = delete;

    void enter() noexcept {
        std::uint32_t seen = free;
        if (state_.compare_exchange_strong(seen, taken, std::memory_order_acquire)) [[likely]]
            return;
        while (state_.exchange(awaited, std::memory_order_acquire) != free) state_.wait(awaited);
    }
    void leave() noexcept {
        if (state_.exchange(free, std::memory_order_release) == awaited) state_.notify_one();
    }

private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t taken = 1;
    static constexpr std::uint32_t awaited = 2;  // taken, and somebody sleeps
    std::atomic<std::uint32_t> state_{free};
};

class PassTurnstile {
public:
    explicit PassTurnstile(Turnstile& turnstile) noexcept : turnstile_(turnstile) { turnstile_.enter(); }
    PassTurnstile(const PassTurnstile&) = delete;
    PassTurnstile& operator=(const PassTurnstile&) = delete;
    ~PassTurnstile() { turnstile_.leave(); }

private:
    Turnstile& turnstile_;
};

/// A moment in a device's timeline.
template <class Value>
struct TimelineStamp {
    Value value = 0;
    std::uint64_t restarts = 0;
};

/// All work of a device, one number a submission: when its signal is n, the first n are over. Before n would exceed
/// what the device's queues can wait for, the device is left to finish and the numbers start again.
template <class Signal, class Value>
struct Timeline {
    Signal signal;
    Value last = 0;  // of the newest submission. Threads: behind the turnstile
    std::atomic<std::uint64_t> restarts{0};
};

}  // namespace graphjit::inline v0
