// From a plan to the commands of a device's queues.
#pragma once

#include <graphjit/backend/hcq_exec.hpp>

namespace graphjit::inline v0 {

/// What `HcqBackend` gathers before it encodes.
struct HcqGraph {
    const OpList* list = nullptr;
    Dag dag;
};

template <class Device, Profiling Profile>
class HcqEncoder {
    using Exec = HcqExec<Device, Profile>;
    using Value = typename Device::Value;
    using Signal = typename Device::Signal;
    using Stream = typename Device::Stream;

public:
    HcqEncoder(const Device& device, const HcqOptions& options, const OpList& list, const Dag& dag) noexcept
        : exec_(device), options_(options), list_(list), dag_(dag) {}

    /// Errors: out_of_memory, invalid_argument, and what the device reports.
    [[nodiscard]] Result<Exec> encode() {
        if (Status status = prepare(); !status.ok()) return status;
        for (std::uint32_t image = 0; image < exec_.images_; ++image) {
            for (std::uint32_t q = 0; q < exec_.queue_count(); ++q) {
                if (Status status = encode_stream(image, q); !status.ok()) return status;
            }
        }
        exec_.count_left();
        return std::move(exec_);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffffu;

    [[nodiscard]] Status prepare() {
        if (options_.in_flight < 1 || options_.in_flight > most_images) {
            return list_.error(ErrorCode::invalid_argument, "a graph may have 1 to 8 replays in flight");
        }
        exec_.images_ = options_.in_flight;
        if (Status status = exec_.device_.open(list_); !status.ok()) return status;
        Result<QueuePlan> queues = exec_.device_.assign(list_, dag_, options_);
        if (!queues) return queues.status();
        exec_.queues_ = std::move(*queues);
        Result<SignalPlan> plan = SignalPlanner().plan(list_, dag_, exec_.queues_, Device::compute_order);
        if (!plan) return plan.status();
        exec_.plan_ = std::move(*plan);
        if (!list_users() || !make_arrays()) return out_of_memory();
        if (Status status = map_buffers(); !status.ok()) return status;
        if (Status status = make_arguments(); !status.ok()) return status;
        return make_signals();
    }

    [[nodiscard]] Error out_of_memory() const noexcept {
        return list_.error(ErrorCode::out_of_memory, "no memory to encode a graph");
    }

    [[nodiscard]] bool make_arrays() noexcept {
        const std::size_t devices = exec_.plan_.devices().size();
        if (!sizes_.resize(exec_.queue_count(), {}) || !counter_of_.resize(exec_.queue_count(), none) ||
            !kickoff_of_.resize(devices, none) || !exec_.devices_.reserve(devices)) {
            return false;
        }
        for (const DeviceId device : exec_.plan_.devices()) exec_.devices_.push_reserved(device);
        count_commands();
        std::size_t values = 0;
        for (const StreamSize& size : sizes_) values += size.waits + size.signals;
        bool enough = exec_.patches_.reserve(values * exec_.images_) &&
                      exec_.stamps_.resize(devices * exec_.images_, {}) &&
                      exec_.streams_.reserve(std::size_t{exec_.queue_count()} * exec_.images_) &&
                      exec_.signals_.reserve(exec_.queue_count() + devices) &&
                      exec_.counters_.reserve(exec_.queue_count() + devices) &&
                      exec_.sources_.resize(exec_.queue_count() + 3 * devices, 0);
        if constexpr (Exec::is_profiled) {
            enough = enough && exec_.op_stamps_.resize(std::size_t{list_.size()} * exec_.images_, {}) && read_clocks();
        }
        return enough;
    }

    [[nodiscard]] bool read_clocks() noexcept {
        for (const QueueRecord& queue : exec_.queues_.queues()) {
            const std::size_t id = to_integer(queue.device);
            if (id >= exec_.clocks_.size() && !exec_.clocks_.resize(id + 1, {})) return false;
            exec_.clocks_[id] = exec_.device_.read_clock(queue.device);
        }
        return true;
    }

    void count_commands() noexcept {
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const std::uint32_t q = to_integer(exec_.queues_.queue_of(op));
            StreamSize& size = sizes_[q];
            ++size.ops;
            size.waits += static_cast<std::uint32_t>(exec_.plan_.waits(op).size());
            size.waits += static_cast<std::uint32_t>(exec_.plan_.ready_waits(op).size());
            if (exec_.plan_.signals(op)) {
                ++size.signals;
                counter_of_[q] = 0;  // needed; its number comes later
            }
            if constexpr (Exec::is_profiled) size.stamps += 2;
            for (const DeviceId device : exec_.plan_.ready_waits(op)) kickoff_of_[place_of(device)] = 0;
            if (size.ops > sizes_[exec_.busiest_].ops) exec_.busiest_ = q;
        }
        for (std::size_t d = 0; d < exec_.devices_.size(); ++d) {
            StreamSize& size = sizes_[to_integer(exec_.plan_.timeline_queue(d))];
            size.waits += 1 + static_cast<std::uint32_t>(exec_.plan_.final_waits(d).size());
            size.signals += kickoff_of_[d] == none ? 1u : 2u;
        }
    }

    [[nodiscard]] std::size_t place_of(DeviceId device) const noexcept {
        std::size_t d = 0;
        while (exec_.devices_[d] != device) ++d;
        return d;
    }

    // Memory.

    template <class Visit>
    void for_each_foreign_use(Visit visit) noexcept {
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const DeviceId user = exec_.queues_.queue(exec_.queues_.queue_of(op)).device;
            for (const AccessRecord& access : list_.accesses(op)) {
                if (list_.memory(access.memory).device != user) visit(to_integer(access.memory), user);
            }
        }
    }
    [[nodiscard]] bool list_users() noexcept {
        detail::Csr<DeviceId> all;
        const auto memories = static_cast<std::uint32_t>(list_.memories().size());
        if (!all.start(memories)) return false;
        for_each_foreign_use([&](std::uint32_t memory, DeviceId) { all.count(memory); });
        if (!all.place()) return false;
        for_each_foreign_use([&](std::uint32_t memory, DeviceId user) { all.add(memory, user); });
        const auto for_each_once = [&](auto visit) {
            for (std::uint32_t memory = 0; memory < memories; ++memory) {
                const Span<const DeviceId> users = all[memory];
                for (std::size_t u = 0; u < users.size(); ++u) {
                    std::size_t first = 0;
                    while (users[first] != users[u]) ++first;
                    if (first == u) visit(memory, users[u]);
                }
            }
        };
        if (!exec_.users_.start(memories)) return false;
        for_each_once([&](std::uint32_t memory, DeviceId) { exec_.users_.count(memory); });
        if (!exec_.users_.place()) return false;
        for_each_once([&](std::uint32_t memory, DeviceId user) { exec_.users_.add(memory, user); });
        return true;
    }
    [[nodiscard]] Status map_buffers() noexcept {
        for (std::uint32_t i = 0; i < list_.memories().size(); ++i) {
            const MemoryRecord& memory = list_.memories()[i];
            if (memory.is_input || memory.bytes == 0) continue;  // inputs come with replays
            const Status status = exec_.map({&memory, static_cast<MemoryIndex>(i),
                                             reinterpret_cast<const std::byte*>(memory.address), memory.bytes,
                                             memory.device});
            if (!status.ok()) return status;
        }
        return {};
    }

    /// The blocks of a queue lie in the order of its ops, so that running it reads memory from one end to the other.
    [[nodiscard]] Status make_arguments() {
        constexpr std::size_t line = 64;  // no two images share a cache line
        std::size_t prefix = 0;
        if constexpr (hcq_has_block_prefix<Device>) prefix = Device::block_prefix;
        if (!exec_.offsets_.resize(list_.size(), 0) || !exec_.arguments_.reserve(1)) return out_of_memory();
        std::size_t bytes = 0;
        for (std::uint32_t q = 0; q < exec_.queue_count(); ++q) {
            for (const OpIndex op : exec_.queues_.order()) {
                if (to_integer(exec_.queues_.queue_of(op)) != q) continue;
                const KernelInfo& info = *list_.op(op).info;
                bytes = (bytes + prefix + info.block_align - 1) / info.block_align * info.block_align;
                if (bytes > none - info.block_bytes) {
                    return list_.error(ErrorCode::unsupported, "the arguments of a graph exceed 4 GiB");
                }
                exec_.offsets_[to_integer(op)] = static_cast<std::uint32_t>(bytes);
                bytes += prefix == 0 ? info.block_bytes : (info.block_bytes + prefix - 1) / prefix * prefix;
            }
            bytes = (bytes + line - 1) / line * line;
        }
        exec_.stride_ = bytes;
        Result<typename Device::Arguments> arguments = exec_.device_.make_arguments(bytes * exec_.images_);
        if (!arguments) return arguments.status();
        exec_.arguments_.emplace(std::move(*arguments));
        for (std::uint32_t image = 0; image < exec_.images_; ++image) {
            for (std::uint32_t i = 0; i < list_.size(); ++i) {
                const auto op = static_cast<OpIndex>(i);
                const std::uint32_t size = list_.op(op).info->block_bytes;
                if (size != 0) std::memcpy(exec_.block(op) + image * exec_.stride_, list_.block(op), size);
            }
        }
        return {};
    }

    // Signals.

    [[nodiscard]] Status make_signals() {
        for (std::uint32_t q = 0; q < exec_.queue_count(); ++q) {
            if (counter_of_[q] == none) continue;
            if (Status status = make_signal(exec_.queues_.queues()[q].device, sizes_[q].ops, counter_of_[q]);
                !status.ok()) {
                return status;
            }
        }
        for (std::size_t d = 0; d < exec_.devices_.size(); ++d) {
            if (kickoff_of_[d] == none) continue;
            if (Status status = make_signal(exec_.devices_[d], 1, kickoff_of_[d]); !status.ok()) return status;
        }
        return {};
    }
    [[nodiscard]] Status make_signal(DeviceId device, std::uint32_t per_replay, std::uint32_t& number) {
        if (per_replay > Device::max_value) {
            return list_.error(ErrorCode::unsupported, "a queue has more ops than the device's signals can count");
        }
        Result<Signal> signal = exec_.device_.make_signal(device);
        if (!signal) return signal.status();
        number = static_cast<std::uint32_t>(exec_.signals_.size());
        exec_.counters_.push_reserved({exec_.device_.value(*signal), static_cast<Value>(per_replay)});
        exec_.signals_.emplace(std::move(*signal));
        return {};
    }

    // Streams.

    [[nodiscard]] Status encode_stream(std::uint32_t image, std::uint32_t q) {
        const QueueRecord& queue = exec_.queues_.queues()[q];
        Result<Stream> made = exec_.device_.make_stream(queue, sizes_[q]);
        if (!made) return made.status();
        Stream& stream = exec_.streams_.emplace(std::move(*made));
        const std::size_t d = place_of(queue.device);
        const bool keeps_timeline = to_integer(exec_.plan_.timeline_queue(d)) == q;
        Status status;
        if (keeps_timeline) {
            status = exec_.device_.barrier(stream);
            if (status.ok()) status = wait(stream, timeline(d), before(d), 0);
            if (status.ok() && kickoff_of_[d] != none) status = signal(stream, own(kickoff_of_[d]), kickoff_of_[d], 1);
        }
        for (std::size_t i = 0; i < exec_.queues_.order().size() && status.ok(); ++i) {
            const OpIndex op = exec_.queues_.order()[i];
            if (to_integer(exec_.queues_.queue_of(op)) == q) status = encode_op(stream, image, q, op);
        }
        if (keeps_timeline && status.ok()) {
            status = encode_waits(stream, exec_.plan_.final_waits(d));
            if (status.ok()) status = signal(stream, timeline(d), after(d), 0);
        }
        if (!status.ok()) return status;
        return exec_.device_.finish(stream);
    }

    [[nodiscard]] Status encode_op(Stream& stream, std::uint32_t image, std::uint32_t q, OpIndex op) {
        Status status = encode_waits(stream, exec_.plan_.waits(op));
        for (const DeviceId device : exec_.plan_.ready_waits(op)) {
            const std::uint32_t kickoff = kickoff_of_[place_of(device)];
            if (status.ok()) status = wait(stream, own(kickoff), kickoff, 1);
        }
        if constexpr (Exec::is_profiled) {
            if (status.ok()) status = exec_.device_.stamp(stream, &stamps(image, op).start);
        }
        if (status.ok()) {
            status = exec_.device_.exec(stream,
                                        {op, &list_.op(op), exec_.block(op) + image * exec_.stride_, list_.name(op)});
        }
        if constexpr (Exec::is_profiled) {
            if (status.ok()) status = exec_.device_.stamp(stream, &stamps(image, op).end);
        }
        if (!status.ok() || !exec_.plan_.signals(op)) return status;
        return signal(stream, own(counter_of_[q]), counter_of_[q], exec_.plan_.position(op));
    }
    [[nodiscard]] OpStamps& stamps(std::uint32_t image, OpIndex op) noexcept {
        return exec_.op_stamps_[std::size_t{image} * list_.size() + to_integer(op)];
    }

    [[nodiscard]] Status encode_waits(Stream& stream, Span<const Wait> waits) {
        Status status;
        for (std::size_t i = 0; i < waits.size() && status.ok(); ++i) {
            const std::uint32_t counter = counter_of_[to_integer(waits[i].queue)];
            status = wait(stream, own(counter), counter, waits[i].count);
        }
        return status;
    }

    [[nodiscard]] const Signal& own(std::uint32_t number) const noexcept { return exec_.signals_[number]; }
    [[nodiscard]] const Signal& timeline(std::size_t d) noexcept {
        return exec_.device_.timeline(exec_.devices_[d]).signal;
    }
    [[nodiscard]] std::uint32_t before(std::size_t d) const noexcept {
        return static_cast<std::uint32_t>(exec_.counters_.size() + d);
    }
    [[nodiscard]] std::uint32_t after(std::size_t d) const noexcept {
        return before(d) + static_cast<std::uint32_t>(exec_.devices_.size());
    }

    [[nodiscard]] Status wait(Stream& stream, const Signal& on, std::uint32_t source, std::uint32_t add) {
        Value* place = nullptr;
        Status status = exec_.device_.wait(stream, on, place);
        return status.ok() ? keep(place, source, add) : status;
    }
    [[nodiscard]] Status signal(Stream& stream, const Signal& to, std::uint32_t source, std::uint32_t add) {
        Value* place = nullptr;
        Status status = exec_.device_.signal(stream, to, place);
        return status.ok() ? keep(place, source, add) : status;
    }

    [[nodiscard]] Status keep(Value* place, std::uint32_t source, std::uint32_t add) noexcept {
        if (place == nullptr) return list_.error(ErrorCode::backend_failure, "the device gave no place for a value");
        exec_.patches_.push_reserved({place, static_cast<Value>(add), source});
        return {};
    }

    Exec exec_;
    HcqOptions options_;
    const OpList& list_;
    const Dag& dag_;
    detail::Array<StreamSize> sizes_;          // by queue
    detail::Array<std::uint32_t> counter_of_;  // by queue: the number of its signal
    detail::Array<std::uint32_t> kickoff_of_;  // by device
};

}  // namespace graphjit::inline v0
