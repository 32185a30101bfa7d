// A graph encoded for a device's queues, and its submission.
#pragma once

#include <graphjit/backend/hcq_device.hpp>
#include <graphjit/base/csr.hpp>
#include <graphjit/base/fixed_array.hpp>
#include <graphjit/plan/signals.hpp>

namespace graphjit::inline v0 {

/// Streams, arguments and signals of a graph. There are several images of streams and arguments, so that a replay may
/// be submitted while others run; the signals are the same for all, since their values grow from replay to replay.
/// Lifetime: destruction waits for all submissions.
/// Threads: one at a time.
template <class Device, Profiling Profile>
class HcqExec {
    using Value = typename Device::Value;
    using Signal = typename Device::Signal;
    using Stream = typename Device::Stream;
    using Stamp = TimelineStamp<Value>;

public:
    HcqExec(HcqExec&&) noexcept = default;  // an exec without devices has nothing to wait for
    HcqExec& operator=(HcqExec&& other) noexcept {
        if (this != &other) {
            this->~HcqExec();
            new (static_cast<void*>(this)) HcqExec(std::move(other));
        }
        return *this;
    }
    ~HcqExec() { (void)wait_all(); }  // a device that is lost runs nothing any more

    [[nodiscard]] std::byte* block(OpIndex op) noexcept { return arguments_[0].data() + offsets_[to_integer(op)]; }
    [[nodiscard]] std::uint32_t image_count() const noexcept { return images_; }
    [[nodiscard]] std::size_t image_stride() const noexcept { return stride_; }
    [[nodiscard]] const QueuePlan& queues() const noexcept { return queues_; }
    [[nodiscard]] const SignalPlan& signals() const noexcept { return plan_; }

    /// The image of the next submission. Cost: waits where all images are in flight.
    [[nodiscard]] std::uint32_t next_image() noexcept {
        if (launches_ >= images_) (void)wait_for(image_);  // if that fails, so does the submission
        return image_;
    }

    /// Makes an input's new buffer usable by all devices whose queues use it.
    [[nodiscard]] Status map(const MemoryView& memory) noexcept {
        for (const DeviceId user : users_[to_integer(memory.index)]) {
            if (Status status = device_.map(user, memory); !status.ok()) return status;
        }
        return {};
    }

    /// Writes what an op's commands have of its arguments. Pre: `op.block` is in the image of the next submission.
    [[nodiscard]] Status patch(const OpView& op) noexcept {
        return device_.patch(stream(image_, to_integer(queues_.queue_of(op.index))), op);
    }

    /// Submits a replay. `help`: the calling thread runs the queue with the most to do, if the device lets it.
    [[nodiscard]] Status submit([[maybe_unused]] bool help) noexcept {
        if (devices_.empty()) {  // no ops
            ++launches_;
            return {};
        }
        const std::uint32_t image = next_image();
        if (left_ == 0) {
            if (Status status = restart(); !status.ok()) return status;
        }
        for (bool submitted = false; !submitted;) {
            // Waiting is done outside of the turnstile, so that a full queue holds up nobody who does not need it.
            for (std::uint32_t q = 0; q < queue_count(); ++q) {
                if (Status status = device_.make_room(stream(image, q)); !status.ok()) return status;
            }
            const PassTurnstile alone(device_.turnstile());
            submitted = has_room(image);
            if (!submitted) continue;
            for (const DeviceId device : devices_) {
                if (Status status = restart_timeline(device_.timeline(device)); !status.ok()) return status;
            }
            // From here on nothing fails: a graph in some of its queues only would never end.
            reserve(image);
            write_values(image);
            if constexpr (hcq_helps<Device>) {
                help = help && device_.take(stream(image, busiest_));
                for (std::uint32_t q = 0; q < queue_count(); ++q) {
                    device_.submit(stream(image, q), !help || q != busiest_);
                }
            } else {
                for (std::uint32_t q = 0; q < queue_count(); ++q) device_.submit(stream(image, q));
            }
        }
        if constexpr (hcq_helps<Device>) {
            if (help) device_.help(stream(image, busiest_));
        }
        return {};
    }

    /// Waits for all submissions. Errors: what the device reports of them.
    [[nodiscard]] Status wait() noexcept {
        Status status = wait_all();
        for (Stream& stream : streams_) {
            Status failure = device_.take_failure(stream);
            if (status.ok()) status = failure;
        }
        return status;
    }
    [[nodiscard]] bool is_over() noexcept {
        if (launches_ == 0) return true;
        const std::uint32_t image = last_image();
        for (std::size_t d = 0; d < devices_.size(); ++d) {
            const Timeline<Signal, Value>& timeline = device_.timeline(devices_[d]);
            const Stamp& stamp = stamps_[image * devices_.size() + d];
            if (!is_reached(timeline, stamp, device_.value(timeline.signal))) return false;
        }
        return true;
    }

    // What the last replay left behind for a profile. Pre: it is over.

    static constexpr bool is_profiled = Profile == Profiling::on;
    [[nodiscard]] OpStamps stamps(OpIndex op) noexcept {
        if (launches_ == 0) return {};
        return op_stamps_[last_image() * offsets_.size() + to_integer(op)];
    }
    [[nodiscard]] const std::byte* last_block(OpIndex op) noexcept {
        return block(op) + (launches_ == 0 ? 0 : last_image() * stride_);
    }
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }
    /// The clocks of a queue's device, when the graph was built and now.
    [[nodiscard]] ClockPoint first_clock(DeviceId device) const noexcept { return clocks_[to_integer(device)]; }
    [[nodiscard]] ClockPoint read_clock(DeviceId device) noexcept
        requires is_profiled
    {
        return device_.read_clock(device);
    }

private:
    template <class, Profiling>
    friend class HcqEncoder;

    /// A place in a stream that gets `sources_[source] + add` before each submission.
    struct StreamPatch {
        Value* place = nullptr;
        Value add = 0;
        std::uint32_t source = 0;
    };
    /// A counter of a queue, or a kickoff of a device: `per_replay` is what a replay adds.
    struct Counter {
        Value base = 0;
        Value per_replay = 0;
    };

    explicit HcqExec(const Device& device) noexcept : device_(device) {}

    [[nodiscard]] std::uint32_t queue_count() const noexcept {
        return static_cast<std::uint32_t>(queues_.queues().size());
    }
    [[nodiscard]] Stream& stream(std::uint32_t image, std::uint32_t queue) noexcept {
        return streams_[image * queue_count() + queue];
    }
    [[nodiscard]] std::uint32_t last_image() const noexcept { return (image_ == 0 ? images_ : image_) - 1; }

    /// Pre: `seen` was read before: where the value has started again, the count says so.
    [[nodiscard]] static bool is_reached(const Timeline<Signal, Value>& timeline, const Stamp& stamp,
                                         Value seen) noexcept {
        return seen >= stamp.value || timeline.restarts.load(std::memory_order_acquire) != stamp.restarts;
    }
    [[nodiscard]] Status wait_for(const Timeline<Signal, Value>& timeline, const Stamp& stamp) noexcept {
        for (;;) {
            const Value seen = device_.value(timeline.signal);
            if (is_reached(timeline, stamp, seen)) return {};
            if (Status status = device_.wait_change(timeline.signal, seen); !status.ok()) return status;
        }
    }
    [[nodiscard]] Status wait_for(std::uint32_t image) noexcept {
        for (std::size_t d = 0; d < devices_.size(); ++d) {
            Status status = wait_for(device_.timeline(devices_[d]), stamps_[image * devices_.size() + d]);
            if (!status.ok()) return status;
        }
        return {};
    }
    /// Replays follow each other, so the last one is the last to be over.
    [[nodiscard]] Status wait_all() noexcept {
        if (devices_.empty() || launches_ == 0) return {};
        return wait_for(last_image());
    }

    /// The graph's own signals start again before they exceed what queues can wait for. Nobody waits for them then.
    [[nodiscard]] GRAPHJIT_COLD Status restart() noexcept {
        if (Status status = wait_all(); !status.ok()) return status;
        for (std::size_t i = 0; i < signals_.size(); ++i) {
            device_.set_value(signals_[i], 0);
            counters_[i].base = 0;
        }
        count_left();
        return {};
    }
    void count_left() noexcept {
        left_ = ~std::uint64_t{0};
        for (const Counter& counter : counters_) {
            const auto left = static_cast<std::uint64_t>((Device::max_value - counter.base) / counter.per_replay);
            left_ = left < left_ ? left : left_;
        }
    }
    /// Pre: behind the turnstile, as below.
    [[nodiscard]] bool has_room(std::uint32_t image) noexcept {
        for (std::uint32_t q = 0; q < queue_count(); ++q) {
            if (!device_.has_room(stream(image, q))) return false;
        }
        return true;
    }
    [[nodiscard]] Status restart_timeline(Timeline<Signal, Value>& timeline) noexcept {
        if (timeline.last < Device::max_value) [[likely]]
            return {};
        const Stamp newest{timeline.last, timeline.restarts.load(std::memory_order_relaxed)};
        if (Status status = wait_for(timeline, newest); !status.ok()) return status;
        timeline.restarts.store(newest.restarts + 1, std::memory_order_release);
        device_.set_value(timeline.signal, 0);
        timeline.last = 0;
        return {};
    }

    /// Takes the next number of every timeline.
    void reserve(std::uint32_t image) noexcept {
        const std::size_t count = devices_.size();
        Value* const before = sources_.data() + counters_.size();
        Value* const own = before + count;
        for (std::size_t d = 0; d < count; ++d) {
            Timeline<Signal, Value>& timeline = device_.timeline(devices_[d]);
            before[d] = timeline.last;
            own[d] = ++timeline.last;
            stamps_[image * count + d] = {own[d], timeline.restarts.load(std::memory_order_relaxed)};
        }
        for (std::size_t i = 0; i < counters_.size(); ++i) {
            sources_[i] = counters_[i].base;
            counters_[i].base += counters_[i].per_replay;
        }
        --left_;
        ++launches_;
        image_ = image + 1 == images_ ? 0 : image + 1;
    }
    void write_values(std::uint32_t image) noexcept {
        const std::size_t count = patches_.size() / images_;
        const StreamPatch* patch = patches_.data() + image * count;
        for (const StreamPatch* const end = patch + count; patch != end; ++patch) {
            *patch->place = sources_[patch->source] + patch->add;
        }
        if constexpr (is_profiled) {
            for (std::size_t i = 0; i < offsets_.size(); ++i) op_stamps_[image * offsets_.size() + i] = {};
        }
    }

    Device device_;
    QueuePlan queues_;
    SignalPlan plan_;
    std::uint32_t images_ = 1;
    std::uint32_t image_ = 0;    // of the next submission
    std::uint32_t busiest_ = 0;  // the queue with the most ops
    std::size_t stride_ = 0;     // bytes of an image of the arguments
    std::uint64_t launches_ = 0;
    std::uint64_t left_ = ~std::uint64_t{0};                    // submissions until the signals must start again
    detail::FixedArray<typename Device::Arguments> arguments_;  // one, of all images
    detail::Array<std::uint32_t> offsets_;                      // by op: of its block in an image
    detail::FixedArray<Stream> streams_;                        // by image and queue
    detail::FixedArray<Signal> signals_;                        // those that are needed
    detail::Array<Counter> counters_;                           // by signal
    detail::Array<Value> sources_;  // by signal: where it stood; by device: the number before, the graph's own number
    detail::Array<StreamPatch> patches_;  // by image
    detail::Array<DeviceId> devices_;     // whose timelines take part
    detail::Array<Stamp> stamps_;         // by image and device
    detail::Csr<DeviceId> users_;         // by memory: devices other than its own that use it
    detail::Array<OpStamps> op_stamps_;   // by image and op
    detail::Array<ClockPoint> clocks_;    // by device id
};

}  // namespace graphjit::inline v0
