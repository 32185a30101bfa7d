// The threads, signals and timelines behind `ThreadDevices`.
#pragma once

#include <graphjit/backend/hcq_timeline.hpp>
#include <graphjit/backend/thread_queue.hpp>
#include <graphjit/base/fixed_array.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/plan/queues.hpp>

namespace graphjit::inline v0 {

struct ThreadOptions {
    std::uint32_t devices = 1;
    std::uint32_t compute_queues = 1;  // a device; with more than one, ops are spread by cost
    /// One a device for its copies and fills, where `compute_queues` is 1. That is one more thread each: where there
    /// are not as many cores, `false` is faster.
    bool copy_queues = true;
    /// How often a thread looks before it sleeps. Units: pauses of the processor, 40 to 140 cycles each.
    std::uint32_t turns = 200;
    /// The core that the first thread stays on; the next ones take the next cores. -1: wherever the system puts them.
    std::int32_t first_core = -1;
    /// What a cache line takes from one core to another, for the choice of queues.
    float hop_ns = 100.0f;
    /// What waking a thread takes: a graph that several queues would not shorten by more is left on one.
    float wake_ns = 10'000.0f;
    /// What signals start from: near 0xffff'ffff in tests of what happens there.
    std::uint32_t first_value = 0;
};

namespace detail {

class ThreadPool;

/// A counter of a pool, for as long as the handle lives.
class ThreadSignal {
public:
    ThreadSignal(ThreadPool* pool, ThreadCounter* counter) noexcept : pool_(pool), counter_(counter) {}
    ThreadSignal(ThreadSignal&& other) noexcept
        : pool_(other.pool_), counter_(std::exchange(other.counter_, nullptr)) {}
    ThreadSignal& operator=(ThreadSignal&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(counter_, other.counter_);
        return *this;
    }
    ~ThreadSignal();

    [[nodiscard]] ThreadCounter& counter() const noexcept { return *counter_; }

private:
    ThreadPool* pool_;
    ThreadCounter* counter_;
};

using ThreadTimeline = Timeline<ThreadSignal, std::uint32_t>;

/// Shared by the user's `ThreadDevices` and all graphs on it; lives as long as the last of them.
class ThreadPool {
public:
    explicit ThreadPool(const ThreadOptions& options) noexcept
        : options_(options), crowd_(options.turns, usable_cores()) {}
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void let_go() noexcept {
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    /// Errors: false when memory ran out.
    [[nodiscard]] bool build() noexcept {
        const std::size_t queues = std::size_t{options_.devices} * queues_per_device();
        if (!queues_.resize(queues, nullptr) || !timelines_.reserve(options_.devices)) return false;
        for (std::uint32_t d = 0; d < options_.devices; ++d) {
            ThreadCounter* counter = take_counter();
            if (counter == nullptr) return false;
            timelines_.emplace(ThreadSignal(this, counter), options_.first_value);
        }
        return true;
    }
    /// Runs what was submitted, and accepts nothing more.
    void close() noexcept {
        {
            const PassTurnstile alone(turnstile_);
            is_closed_.store(true, std::memory_order_seq_cst);
        }
        for (ThreadQueue* queue : queues_) {
            if (queue != nullptr) queue->stop();
        }
    }

    [[nodiscard]] const ThreadOptions& options() const noexcept { return options_; }
    [[nodiscard]] Turnstile& turnstile() noexcept { return turnstile_; }
    /// Stays false for as long as the calling thread is behind the turnstile, if it was there.
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(std::memory_order_seq_cst); }
    [[nodiscard]] ThreadTimeline& timeline(DeviceId device) noexcept { return timelines_[to_integer(device)]; }

    [[nodiscard]] ThreadCrowd& crowd() noexcept { return crowd_; }

    /// Pre: behind the turnstile. Waits until all devices have done what was submitted.
    void wait_idle() noexcept {
        for (ThreadTimeline& timeline : timelines_) {
            const std::uint32_t last = timeline.last;
            timeline.signal.counter().wait_until(crowd_, [last](std::uint32_t value) { return value >= last; });
        }
    }

    /// The queue's thread, started when it is first asked for. Errors: null, and the system's number or 0.
    [[nodiscard]] ThreadQueue* queue(const QueueRecord& record, int& error) noexcept {
        const PassTurnstile alone(building_);
        error = 0;
        const std::uint32_t place = to_integer(record.device) * queues_per_device() +
                                    (record.kind == QueueKind::copy ? options_.compute_queues : record.which);
        if (queues_[place] != nullptr) return queues_[place];
        auto* queue = new (std::nothrow) ThreadQueue(crowd_);
        if (queue == nullptr) return nullptr;
        const std::int32_t core = options_.first_core < 0 ? -1 : options_.first_core + started_;
        error = queue->start(core);
        if (error != 0) {
            delete queue;
            return nullptr;
        }
        ++started_;
        return queues_[place] = queue;
    }

    /// Errors: null when memory ran out.
    [[nodiscard]] ThreadCounter* take_counter() noexcept {
        const PassTurnstile alone(building_);
        if (free_ == nullptr && !add_slab()) return nullptr;
        Cell* cell = free_;
        free_ = cell->next;
        cell->counter.set(options_.first_value);
        return &cell->counter;
    }
    /// Counters are given back, never freed: a thread that has just set one may still look whether somebody sleeps.
    void give_back(ThreadCounter* counter) noexcept {
        const PassTurnstile alone(building_);
        Cell* cell = reinterpret_cast<Cell*>(counter);  // its first member
        cell->next = free_;
        free_ = cell;
    }

private:
    struct Cell {
        ThreadCounter counter;
        Cell* next = nullptr;
        std::byte alone[64 - sizeof(Cell*)];
    };
    struct Slab {
        static constexpr std::size_t cells = 31;
        Slab* next = nullptr;
        std::byte alone[64 - sizeof(Slab*)];
        Cell cell[cells];
    };

    ~ThreadPool() {
        timelines_ = {};
        for (ThreadQueue* queue : queues_) delete queue;
        while (slabs_ != nullptr) delete std::exchange(slabs_, slabs_->next);
    }

    [[nodiscard]] std::uint32_t queues_per_device() const noexcept { return options_.compute_queues + 1; }

    [[nodiscard]] bool add_slab() noexcept {
        auto* slab = new (std::nothrow) Slab;
        if (slab == nullptr) return false;
        slab->next = slabs_;
        slabs_ = slab;
        for (Cell& cell : slab->cell) {
            cell.next = free_;
            free_ = &cell;
        }
        return true;
    }

    const ThreadOptions options_;
    ThreadCrowd crowd_;
    Turnstile turnstile_;  // of submissions
    Turnstile building_;   // of what follows
    std::atomic<std::uint32_t> holders_{1};
    std::atomic<bool> is_closed_{false};
    std::int32_t started_ = 0;
    Array<ThreadQueue*> queues_;
    FixedArray<ThreadTimeline> timelines_;
    Slab* slabs_ = nullptr;
    Cell* free_ = nullptr;
};

inline ThreadSignal::~ThreadSignal() {
    if (counter_ != nullptr) pool_->give_back(counter_);
}

}  // namespace detail
}  // namespace graphjit::inline v0
