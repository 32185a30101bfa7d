// Threads of the CPU as devices with queues: what HcqBackend plans really runs at once, on any machine.
//
// A device is a label for memory and a set of queues; every queue is a thread. Kernels are host functions, the same as
// the CPU backend's.
#pragma once

#include <graphjit/backend/hcq.hpp>
#include <graphjit/backend/thread_ops.hpp>
#include <graphjit/backend/thread_pool.hpp>
#include <graphjit/plan/balanced.hpp>

#include <ctime>

namespace graphjit::inline v0 {

/// The device policy: a handle of a `ThreadDevices`.
class ThreadDevice {
public:
    using kernel_family = HostFamily;
    using Value = std::uint32_t;
    using Signal = detail::ThreadSignal;
    static constexpr const char* name = "threads";
    static constexpr BackendLimits limits = {};
    static constexpr QueueOrder compute_order = QueueOrder::kept;
    static constexpr Value max_value = 0xffff'ffffu;

    /// Entries of ops stand in front of their blocks.
    static constexpr std::size_t block_prefix = detail::ThreadOps::entry_bytes;

    class Stream {
        friend ThreadDevice;
        /// What a wait or a signal of the stream is about.
        struct SignalValue {
            detail::ThreadCounter* counter = nullptr;
            Value value = 0;
            detail::ThreadCrowd* crowd = nullptr;
        };

        explicit Stream(detail::ThreadQueue* queue) noexcept : queue_(queue) {}

        detail::ThreadQueue* queue_;
        detail::Array<detail::ThreadCommand> commands_;
        detail::Array<SignalValue> values_;
        detail::Array<detail::ThreadStretch> stretches_;
        detail::FixedArray<detail::ThreadOps> ops_;  // one, which stays where it is
    };

    class Arguments {
    public:
        [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }

    private:
        friend ThreadDevice;
        detail::Array<std::byte> bytes_;
    };

    ThreadDevice() noexcept = default;
    ThreadDevice(const ThreadDevice& other) noexcept : pool_(other.pool_), fault_(other.fault_) {
        if (pool_ != nullptr) pool_->hold();
    }
    ThreadDevice(ThreadDevice&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), fault_(other.fault_) {}
    ThreadDevice& operator=(ThreadDevice other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(fault_, other.fault_);
        return *this;
    }
    ~ThreadDevice() {
        if (pool_ != nullptr) pool_->let_go();
    }

    // Building.

    [[nodiscard]] Status open(const OpList& list) const noexcept {
        if (pool_ == nullptr) return list.error(ErrorCode::invalid_argument, fault_);
        if (pool_->is_closed()) return lost();
        const std::uint32_t devices = pool_->options().devices;
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            bool exists = to_integer(list.op(op).device) < devices;
            for (const AccessRecord& access : list.accesses(op)) {
                exists = exists && to_integer(list.memory(access.memory).device) < devices;
            }
            if (!exists) return list.error(ErrorCode::wrong_device, "an op uses a device that is not there", op);
        }
        return {};
    }
    [[nodiscard]] Result<QueuePlan> assign(const OpList& list, const Dag& dag,
                                           const HcqOptions& options) const noexcept {
        const ThreadOptions& pool = pool_->options();
        if (pool.compute_queues == 1) return ByDevice()(list, [&](DeviceId) { return pool.copy_queues; });
        // Behind the signal comes the memory that it was about; and a signal is stored to a line that another core has.
        return Balanced{.queues = pool.compute_queues,
                        .op_cost = options.other_op_ns,
                        .hop_cost = 2 * pool.hop_ns,
                        .signal_cost = pool.hop_ns,
                        .start_cost = pool.wake_ns,
                        .switch_cost = 5.0f,  // a call that the processor has not guessed
                        .costs = options.op_ns}(list, dag);
    }

    [[nodiscard]] Result<Signal> make_signal(DeviceId) noexcept {
        detail::ThreadCounter* counter = pool_->take_counter();
        if (counter == nullptr) return out_of_memory();
        return Signal(pool_, counter);
    }
    [[nodiscard]] Result<Arguments> make_arguments(std::size_t bytes) noexcept {
        Arguments arguments;
        if (!arguments.bytes_.resize(bytes, std::byte{})) return out_of_memory();
        return arguments;
    }
    [[nodiscard]] Result<Stream> make_stream(const QueueRecord& record, const StreamSize& size) noexcept {
        int error = 0;
        detail::ThreadQueue* queue = pool_->queue(record, error);
        if (queue == nullptr) return error == 0 ? out_of_memory() : not_started(error);
        Stream stream(queue);
        const std::size_t commands = std::size_t{size.ops} + size.waits + size.signals + size.stamps;
        if (!stream.commands_.reserve(commands) || !stream.stretches_.reserve(size.ops) || !stream.ops_.reserve(1) ||
            !stream.ops_.emplace().reserve(size.ops) ||
            !stream.values_.reserve(std::size_t{size.waits} + size.signals)) {
            return out_of_memory();
        }
        return stream;
    }

    [[nodiscard]] Status barrier(Stream&) const noexcept { return {}; }  // signals publish what was written before
    [[nodiscard]] Status wait(Stream& stream, const Signal& signal, Value*& place) const noexcept {
        return encode(stream, signal, place, [](const std::byte* block) {
            const auto& wait = *reinterpret_cast<const Stream::SignalValue*>(block);
            wait.counter->wait_until(*wait.crowd, [&](Value value) { return value >= wait.value; });
            return block;
        });
    }
    [[nodiscard]] Status signal(Stream& stream, const Signal& signal, Value*& place) const noexcept {
        return encode(stream, signal, place, [](const std::byte* block) {
            const auto& set = *reinterpret_cast<const Stream::SignalValue*>(block);
            set.counter->set(set.value);
            return block;
        });
    }
    [[nodiscard]] Status exec(Stream& stream, const OpView& op) const noexcept {
        const HostEntry entry = host_entry(*op.record);
        std::byte* place = const_cast<std::byte*>(op.block) - block_prefix;  // in arguments that were made here
        std::memcpy(place, &entry, sizeof entry);
        stream.ops_[0].push_reserved(op.index, op.block);
        const std::byte* end = op.block + host_block_stride(op.record->info->block_bytes);
        const bool goes_on = !stream.commands_.empty() &&
                             stream.commands_.back().enter == &detail::ThreadStretch::enter &&
                             stream.stretches_.back().end == place;
        if (goes_on) {
            stream.stretches_.back().end = end;
        } else {
            stream.stretches_.push_reserved({&stream.ops_[0], place, end});
            push(stream, &detail::ThreadStretch::enter, reinterpret_cast<const std::byte*>(&stream.stretches_.back()));
        }
        return {};
    }
    [[nodiscard]] Status stamp(Stream& stream, std::uint64_t* place) const noexcept {
        push(stream, &write_stamp, reinterpret_cast<const std::byte*>(place));
        return {};
    }
    [[nodiscard]] Status finish(Stream&) const noexcept { return {}; }

    // Replaying.

    /// All devices see all memory.
    [[nodiscard]] Status map(DeviceId, const MemoryView&) const noexcept { return {}; }
    [[nodiscard]] Turnstile& turnstile() noexcept { return pool_->turnstile(); }
    [[nodiscard]] detail::ThreadTimeline& timeline(DeviceId device) noexcept { return pool_->timeline(device); }
    [[nodiscard]] Status make_room(Stream& stream) const noexcept {
        if (pool_->is_closed()) return lost();
        stream.queue_->wait_for_room();
        return {};
    }
    [[nodiscard]] bool has_room(Stream& stream) const noexcept {
        return !pool_->is_closed() && stream.queue_->has_room();
    }
    void submit(Stream& stream, bool wakes = true) const noexcept {
        stream.queue_->submit({stream.commands_.begin(), stream.commands_.end()}, wakes);
    }
    [[nodiscard]] bool take(Stream& stream) const noexcept { return stream.queue_->take(); }
    void help(Stream& stream) const noexcept { stream.queue_->help(); }

    [[nodiscard]] Status take_failure(Stream& stream) const noexcept {
        const OpIndex op = stream.ops_[0].take_failure();
        if (op != OpIndex::none) return thrown(op);
        return {};
    }

    [[nodiscard]] Value value(const Signal& signal) const noexcept { return signal.counter().value(); }
    void set_value(const Signal& signal, Value value) const noexcept { signal.counter().set(value); }
    [[nodiscard]] Status wait_change(const Signal& signal, Value seen) const noexcept {
        signal.counter().wait_until(pool_->crowd(), [seen](Value value) { return value != seen; });
        return {};
    }

    /// Runs an op on the calling thread, after all that was submitted and before all that will be.
    [[nodiscard]] Status run(const OpView& op) const noexcept {
        if (pool_ == nullptr) return op.error(ErrorCode::invalid_argument, fault_);
        const PassTurnstile alone(pool_->turnstile());
        if (pool_->is_closed()) return lost();
        pool_->wait_idle();
#if GRAPHJIT_EXCEPTIONS
        try {
            (void)host_entry (*op.record)(op.block);
        } catch (...) { return op.error(ErrorCode::backend_failure, threw); }
#else
        (void)host_entry (*op.record)(op.block);
#endif
        return {};
    }
    [[nodiscard]] ClockPoint read_clock(DeviceId) const noexcept {
        const std::uint64_t time = now();
        return {time, time};
    }

private:
    friend class ThreadDevices;
    explicit ThreadDevice(const ThreadOptions& options) noexcept {
        constexpr std::uint64_t most = 0xffff;
        if (options.devices == 0 || options.compute_queues == 0 ||
            options.devices * (std::uint64_t{options.compute_queues} + 1) > most) {
            fault_ = "ThreadOptions ask for no device, no queue, or more than 65,535 queues";
            return;
        }
        pool_ = new (std::nothrow) detail::ThreadPool(options);
        if (pool_ != nullptr && !pool_->build()) std::exchange(pool_, nullptr)->let_go();
        if (pool_ == nullptr) fault_ = "there was no memory for ThreadDevices";
    }

    [[nodiscard]] static Error error(ErrorCode code, const char* sentence) noexcept {
        Error error;
        error.code = code;
        error.text = sentence;
        return error;
    }
    [[nodiscard]] static Error out_of_memory() noexcept {
        return error(ErrorCode::out_of_memory, "no memory for a graph on threads");
    }
    [[nodiscard]] Error not_started(int number) const noexcept {
        Error failed = error(ErrorCode::backend_failure,
                             pool_->options().first_core < 0
                                 ? "a thread could not be started"
                                 : "a thread could not be started on its core; ThreadOptions::first_core needs a core "
                                   "for each thread");
        failed.native = number;
        failed.native_name = "pthread_create";
        return failed;
    }
    [[nodiscard]] static Error lost() noexcept {
        return error(ErrorCode::device_lost, "the ThreadDevices of this graph are gone");
    }
    [[nodiscard]] static Error thrown(OpIndex op) noexcept {
        Error failed = error(ErrorCode::backend_failure, threw);
        failed.op = op;
        return failed;
    }
    [[nodiscard]] static std::uint64_t now() noexcept {
        timespec time = {};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
    }
    static const std::byte* write_stamp(const std::byte* block) noexcept {
        const std::uint64_t time = now();
        std::memcpy(const_cast<std::byte*>(block), &time, sizeof time);
        return block;
    }

    static void push(Stream& stream, HostEntry enter, const std::byte* block) noexcept {
        stream.commands_.push_reserved({enter, block});
    }
    [[nodiscard]] Status encode(Stream& stream, const Signal& signal, Value*& place, HostEntry enter) const noexcept {
        stream.values_.push_reserved({&signal.counter(), 0, &pool_->crowd()});
        place = &stream.values_.back().value;
        push(stream, enter, reinterpret_cast<const std::byte*>(&stream.values_.back()));
        return {};
    }
    static constexpr const char* threw = "a host kernel threw; what it writes is not to be used";

    detail::ThreadPool* pool_ = nullptr;
    const char* fault_ = "a graph on threads needs ThreadDevices to run on";  // why there is no pool
};

/// Devices made of threads. Threads start when the first graph that needs them is built, and none at replay.
/// Lifetime: destruction runs what was submitted and ends the threads; graphs that are left refuse to replay.
class ThreadDevices {
public:
    explicit ThreadDevices(const ThreadOptions& options = {}) noexcept : device_(options) {}
    ThreadDevices(const ThreadDevices&) = delete;
    ThreadDevices& operator=(const ThreadDevices&) = delete;
    ~ThreadDevices() {
        if (device_.pool_ != nullptr) device_.pool_->close();
    }

    /// Errors: false where there was no memory, or the options ask for no device or no queue. Graphs say so, too.
    [[nodiscard]] bool ok() const noexcept { return device_.pool_ != nullptr; }
    operator const ThreadDevice&() const noexcept { return device_; }

private:
    ThreadDevice device_;
};

using ThreadBackend = HcqBackend<ThreadDevice>;
/// The same, with a start and an end stamp of every op: see observe/profile.hpp.
using ProfiledThreadBackend = HcqBackend<ThreadDevice, Profiling::on>;
static_assert(graph_backend<ThreadBackend>);

}  // namespace graphjit::inline v0
