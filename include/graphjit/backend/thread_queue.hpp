// A command queue that is a thread: it runs what is submitted to it, in order, and sleeps when there is nothing.
#pragma once

#include <graphjit/backend/thread_core.hpp>
#include <graphjit/base/config.hpp>
#include <graphjit/record/host_kernel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graphjit::inline v0::detail {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

/// How many threads are awake, a pool's and one that replays: looking again and again pays only where each has a core
/// to itself.
class ThreadCrowd {
public:
    ThreadCrowd(std::uint32_t turns, std::uint32_t cores) noexcept : turns_(turns), cores_(cores) {}

    [[nodiscard]] std::uint32_t turns() const noexcept { return turns_; }
    [[nodiscard]] bool is_crowded() const noexcept { return awake_.load(std::memory_order_relaxed) > cores_; }
    void enter() noexcept { awake_.fetch_add(1, std::memory_order_relaxed); }
    void leave() noexcept { awake_.fetch_sub(1, std::memory_order_relaxed); }

private:
    const std::uint32_t turns_;
    const std::uint32_t cores_;
    std::atomic<std::uint32_t> awake_{1};
};

/// A number that threads wait for: they look at it for a while, then sleep. It lies alone on its cache line.
class ThreadCounter {
public:
    [[nodiscard]] std::uint32_t value() const noexcept { return value_.load(std::memory_order_acquire); }

    void set(std::uint32_t value) noexcept {
        // Either the sleeper sees the value, or this sees the sleeper.
        value_.store(value, std::memory_order_seq_cst);
        wake();
    }
    void add_one() noexcept {
        value_.fetch_add(1, std::memory_order_seq_cst);
        wake();
    }

    /// A moment ago.
    [[nodiscard]] bool has_sleepers() const noexcept { return sleepers_.load(std::memory_order_relaxed) != 0; }

    /// Waits until `reached(value)`.
    template <class Reached>
    void wait_until(ThreadCrowd& crowd, Reached reached) noexcept {
        if (reached(value())) [[likely]]
            return;
        for (std::uint32_t i = 1; i <= crowd.turns(); ++i) {
            relax();
            if (reached(value())) return;
            if (crowd.is_crowded() && i > few) break;
        }
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        crowd.leave();
        for (;;) {
            const std::uint32_t seen = value_.load(std::memory_order_seq_cst);
            if (reached(seen)) break;
            value_.wait(seen, std::memory_order_seq_cst);
        }
        crowd.enter();
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

private:
    void wake() noexcept {
        if (sleepers_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
            value_.notify_all();
    }

    static constexpr std::uint32_t few = 10;  // turns: about what another core needs to answer

    std::atomic<std::uint32_t> value_{0};
    std::atomic<std::uint32_t> sleepers_{0};
    [[maybe_unused]] std::byte alone_[64 - 2 * sizeof(std::uint32_t)];
};

/// One command of a stream: ops, a wait, a signal.
struct ThreadCommand {
    HostEntry enter = nullptr;
    const std::byte* block = nullptr;
};

struct ThreadCommands {
    const ThreadCommand* begin = nullptr;
    const ThreadCommand* end = nullptr;

    void run() const noexcept {
        for (const ThreadCommand* command = begin; command != end; ++command) (void)command->enter(command->block);
    }
};

/// The thread and its ring of submissions.
/// Threads: one submits at a time; whoever holds the queue runs it, its own thread or one that helps.
class ThreadQueue {
public:
    explicit ThreadQueue(ThreadCrowd& crowd) noexcept : crowd_(crowd) {}
    ThreadQueue(const ThreadQueue&) = delete;
    ThreadQueue& operator=(const ThreadQueue&) = delete;
    ~ThreadQueue() { stop(); }

    /// `core`: the one to stay on, or -1. Errors: the system's number, 0 where there is none.
    [[nodiscard]] int start(std::int32_t core) noexcept {
        pthread_attr_t attributes;
        if (const int error = pthread_attr_init(&attributes); error != 0) return error;
        int error = stay_on(attributes, core);
        if (error == 0) error = pthread_create(&thread_, &attributes, &enter, this);
        pthread_attr_destroy(&attributes);
        is_started_ = error == 0;
        return error;
    }
    /// Runs what was submitted, then ends the thread.
    void stop() noexcept {
        if (!is_started_) return;
        is_started_ = false;
        stops_.store(true, std::memory_order_seq_cst);
        ring();
        pthread_join(thread_, nullptr);
    }

    [[nodiscard]] bool has_room() const noexcept {
        return tail_.load(std::memory_order_relaxed) - head_.value() < capacity;
    }
    void wait_for_room() noexcept {
        head_.wait_until(
            crowd_, [this](std::uint32_t head) { return tail_.load(std::memory_order_relaxed) - head < capacity; });
    }
    /// Pre: there is room. `wakes`: false where a thread that holds the queue runs it.
    void submit(const ThreadCommands& commands, bool wakes) noexcept {
        const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
        ring_[tail % capacity] = commands;
        tail_.store(tail + 1, std::memory_order_seq_cst);
        if (wakes) ring();
    }

    /// Holds the queue, so that the calling thread may run what it submits next. False: there is something to run, or
    /// another thread does.
    [[nodiscard]] bool take() noexcept {
        if (!is_empty() || !hold()) return false;
        if (is_empty()) return true;
        let_go();
        return false;
    }
    /// Runs one submission and lets go. Pre: held.
    void help() noexcept {
        run_one(head_.value());
        let_go();
    }

private:
    static constexpr std::uint32_t capacity = 256;

    static void* enter(void* queue) noexcept {
        static_cast<ThreadQueue*>(queue)->loop();
        return nullptr;
    }

    [[nodiscard]] bool is_empty() const noexcept { return head_.value() == tail_.load(std::memory_order_seq_cst); }
    [[nodiscard]] bool hold() noexcept { return !is_held_.exchange(true, std::memory_order_seq_cst); }
    /// The queue's own thread may have looked in vain meanwhile.
    void let_go() noexcept {
        is_held_.store(false, std::memory_order_seq_cst);
        if (!is_empty() || stops_.load(std::memory_order_seq_cst)) ring();
    }
    void ring() noexcept {
        if (bell_.has_sleepers()) rung_on_.store(current_core(), std::memory_order_relaxed);
        bell_.add_one();
    }

    void loop() noexcept {
        crowd_.enter();
        for (;;) {
            const std::uint32_t heard = bell_.value();
            if (!is_empty() && hold()) {
                run_all();
                is_held_.store(false, std::memory_order_seq_cst);
                continue;
            }
            if (is_empty() && stops_.load(std::memory_order_seq_cst)) break;
            bell_.wait_until(crowd_, [heard](std::uint32_t now) { return now != heard; });
            leave_the_waker();
        }
        crowd_.leave();
    }
    /// Where cores share no cache, the system leaves a woken thread on the core that it has slept on, even if the
    /// thread that woke it runs there: both would take turns on one core, replay after replay.
    void leave_the_waker() noexcept {
        const std::int32_t waker = rung_on_.exchange(-1, std::memory_order_relaxed);
        if (waker >= 0 && waker == current_core() && !crowd_.is_crowded()) leave_core(waker);
    }
    void run_all() noexcept {
        for (std::uint32_t head = head_.value(); head != tail_.load(std::memory_order_seq_cst); ++head) run_one(head);
    }
    void run_one(std::uint32_t head) noexcept {
        const ThreadCommands commands = ring_[head % capacity];
        commands.run();
        head_.set(head + 1);
    }

    ThreadCounter head_;  // submissions that were run
    ThreadCounter bell_;  // changes when the thread should look
    std::atomic<std::uint32_t> tail_{0};
    [[maybe_unused]] std::byte alone_[60];
    std::atomic<bool> is_held_{false};
    std::atomic<bool> stops_{false};
    std::atomic<std::int32_t> rung_on_{-1};  // the core of who woke the thread
    bool is_started_ = false;
    ThreadCrowd& crowd_;
    pthread_t thread_ = {};
    ThreadCommands ring_[capacity];
};

}  // namespace graphjit::inline v0::detail
