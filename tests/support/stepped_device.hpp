// A device whose queues run only when the test says so, one step at a time, in an order that the test chooses.
//
// Commands carry their own copy of an op's arguments, as packets do: a change that the device is not told of shows as
// an old value. Host waits step the machine; when nothing can be stepped any more, they report that instead of hanging.
#pragma once

#include <graphjit/backend/hcq.hpp>
#include <graphjit/backend/host.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace test {

namespace gj = graphjit;

/// What the machine is made of and what it was asked to do; shared by all handles of it.
struct SteppedMachine {
    struct Command {
        enum Kind : std::uint8_t { wait, signal, exec, stamp } kind = exec;
        std::uint32_t signal_number = 0;
        std::uint64_t value = 0;  // filled in when the stream is submitted
        std::uint64_t* place = nullptr;
        gj::OpRecord op;
        const std::byte* arguments = nullptr;  // of a kernel
        std::vector<std::byte> block;          // of anything else; of a kernel its dims
        bool after_wait = false;               // a wait stands before it: chained execution is off
    };
    /// An op that has begun, and what happens when it is over.
    struct Running {
        Command exec;
        std::vector<Command> then;
    };
    struct Queue {
        gj::QueueRecord record;
        std::deque<Command> commands;
        std::vector<Running> running;
    };
    /// One thing that may happen next: the next command of a queue, or the end of one of its ops.
    struct Step {
        std::size_t queue = 0;
        std::size_t running = none;
        static constexpr std::size_t none = static_cast<std::size_t>(-1);
    };

    gj::QueueOrder order = gj::QueueOrder::kept;
    std::uint32_t devices = 1;
    std::uint64_t first_value = 0;
    std::uint32_t no_copy_queue = 0;  // bit d: device d has none
    std::size_t ring = 64;            // commands a queue takes before the host must wait
    std::function<std::size_t(std::size_t count)> choose = [](std::size_t) { return std::size_t{0}; };

    std::vector<Queue> queues;
    std::vector<std::uint64_t> signals;
    std::vector<std::string> faults;  // what no machine may be asked to do
    std::uint64_t time = 0;           // steps made
    std::vector<std::uint64_t> clock_start = std::vector<std::uint64_t>(8, 1);
    std::vector<double> clock_rate = std::vector<double>(8, 1.0);
    gj::OpIndex no_stamp = gj::OpIndex::none;

    std::uint32_t calls = 0;    // that may fail
    std::uint32_t fail_at = 0;  // the call that fails, counted from 1; 0: none
    std::int32_t alive = 0;     // signals, streams and argument memories
    std::uint64_t submitted = 0;
    std::vector<std::string> maps;
    bool is_dead = false;  // nothing runs any more

    [[nodiscard]] bool note() noexcept { return ++calls != fail_at; }

    [[nodiscard]] Queue& queue(const gj::QueueRecord& record) {
        for (Queue& queue : queues) {
            if (queue.record.device == record.device && queue.record.kind == record.kind &&
                queue.record.which == record.which) {
                return queue;
            }
        }
        queues.push_back({record, {}, {}});
        return queues.back();
    }
    [[nodiscard]] std::uint64_t ticks(gj::DeviceId device) const {
        const auto d = static_cast<std::size_t>(device);
        return clock_start[d] + static_cast<std::uint64_t>(clock_rate[d] * static_cast<double>(time * 1000));
    }

    [[nodiscard]] std::vector<Step> steps() const {
        std::vector<Step> found;
        if (is_dead) return found;
        for (std::size_t q = 0; q < queues.size(); ++q) {
            const Queue& queue = queues[q];
            if (!queue.commands.empty() && can_begin(queue)) found.push_back({q});
            for (std::size_t r = 0; r < queue.running.size(); ++r) found.push_back({q, r});
        }
        return found;
    }
    /// False: nothing can happen.
    [[nodiscard]] bool step() {
        const std::vector<Step> possible = steps();
        if (possible.empty()) return false;
        make(possible[choose(possible.size()) % possible.size()]);
        return true;
    }
    void drain() {
        while (step()) {}
    }
    [[nodiscard]] bool is_idle() const {
        for (const Queue& queue : queues) {
            if (!queue.commands.empty() || !queue.running.empty()) return false;
        }
        return true;
    }

private:
    [[nodiscard]] gj::QueueOrder order_of(const Queue& queue) const {
        return queue.record.kind == gj::QueueKind::copy ? gj::QueueOrder::kept : order;
    }
    [[nodiscard]] bool can_begin(const Queue& queue) const {
        const Command& next = queue.commands.front();
        if (next.kind == Command::wait) return signals[next.signal_number] >= next.value;
        if (next.kind != Command::exec || queue.running.empty()) return true;
        return order_of(queue) == gj::QueueOrder::not_kept ||
               (order_of(queue) == gj::QueueOrder::chains_two && next.after_wait);
    }

    void make(const Step& step) {
        ++time;
        Queue& queue = queues[step.queue];
        if (step.running != Step::none) {
            const Running over = std::move(queue.running[step.running]);
            queue.running.erase(queue.running.begin() + static_cast<std::ptrdiff_t>(step.running));
            run_op(over.exec);
            for (const Command& command : over.then) apply(queue, command);
            return;
        }
        Command next = std::move(queue.commands.front());
        queue.commands.pop_front();
        if (next.kind == Command::wait) return;
        if (next.kind == Command::exec) {
            queue.running.push_back({std::move(next), {}});
        } else if (queue.running.empty() || (next.kind == Command::stamp && next.after_wait)) {
            apply(queue, next);
        } else {
            queue.running.back().then.push_back(std::move(next));  // when the op before it is over
        }
    }
    static void run_op(const Command& exec) {
        const gj::KernelInfo& info = *exec.op.info;
        std::vector<std::byte> block = exec.block;
        if (exec.arguments != nullptr) {
            block.assign(exec.arguments, exec.arguments + info.block_bytes);
            if (info.dims_offset != gj::KernelInfo::no_dims) {
                std::memcpy(block.data() + info.dims_offset, exec.block.data(), sizeof(gj::LaunchDims));
            }
        }
        (void)gj::host_entry(exec.op)(block.data());
    }
    void apply(const Queue& queue, const Command& command) {
        if (command.kind == Command::stamp) {
            *command.place = ticks(queue.record.device);
            return;
        }
        if (command.value <= signals[command.signal_number] && command.value != 0) {
            faults.push_back("signal " + std::to_string(command.signal_number) + " goes from " +
                             std::to_string(signals[command.signal_number]) + " back to " +
                             std::to_string(command.value));
        }
        signals[command.signal_number] = command.value;
    }
};

/// Numbers what lives, so that a leak shows.
class SteppedHandle {
public:
    explicit SteppedHandle(SteppedMachine* machine) noexcept : machine_(machine) { ++machine_->alive; }
    SteppedHandle(SteppedHandle&& other) noexcept : machine_(std::exchange(other.machine_, nullptr)) {}
    SteppedHandle& operator=(SteppedHandle&& other) noexcept {
        std::swap(machine_, other.machine_);
        return *this;
    }
    ~SteppedHandle() {
        if (machine_ != nullptr) --machine_->alive;
    }

private:
    SteppedMachine* machine_;
};

template <gj::QueueOrder Order, class ValueType, ValueType Max>
class SteppedDevice {
public:
    using kernel_family = gj::HostFamily;
    using Value = ValueType;
    static constexpr gj::BackendLimits limits = {};
    static constexpr gj::QueueOrder compute_order = Order;
    static constexpr Value max_value = Max;

    struct Signal {
        SteppedHandle handle;
        std::uint32_t number = 0;
    };
    struct Stream {
        SteppedHandle handle;
        gj::QueueRecord queue;
        std::vector<SteppedMachine::Command> commands;
        std::unique_ptr<Value[]> values;
        std::size_t value_count = 0;
        std::vector<std::size_t> command_of_op = {};
        bool after_wait = false;
    };
    struct Arguments {
        SteppedHandle handle;
        std::unique_ptr<std::byte[]> bytes;
        [[nodiscard]] std::byte* data() noexcept { return bytes.get(); }
    };
    struct Shared {
        SteppedMachine machine;
        gj::Turnstile turnstile;
        std::vector<std::unique_ptr<gj::Timeline<Signal, Value>>> timelines;
    };

    SteppedDevice() noexcept = default;
    explicit SteppedDevice(std::uint32_t devices, std::uint64_t first_value = 0) : shared_(new Shared) {
        machine().order = Order;
        machine().devices = devices;
        machine().first_value = first_value;
        for (std::uint32_t d = 0; d < devices; ++d) {
            shared_->timelines.emplace_back(
                new gj::Timeline<Signal, Value>{new_signal(), static_cast<Value>(first_value), {}});
        }
        machine().alive = 0;
    }
    ~SteppedDevice() {
        // The timelines are handles of the machine they lie beside.
        if (shared_.use_count() == 1) shared_->timelines.clear();
    }
    SteppedDevice(const SteppedDevice&) = default;
    SteppedDevice(SteppedDevice&&) noexcept = default;
    SteppedDevice& operator=(const SteppedDevice&) = default;
    SteppedDevice& operator=(SteppedDevice&&) noexcept = default;

    [[nodiscard]] SteppedMachine& machine() const { return shared_->machine; }

    /// Work that is no graph's, on a queue of its own: it comes after the device's earlier work and before its later.
    void submit_other(gj::DeviceId id, const gj::OpList& list) {
        gj::Timeline<Signal, Value>& line = timeline(id);
        std::deque<SteppedMachine::Command>& commands = machine().queue({id, gj::QueueKind::copy, 99}).commands;
        SteppedMachine::Command command;
        command.signal_number = line.signal.number;
        command.kind = SteppedMachine::Command::wait;
        command.value = line.last;
        commands.push_back(command);
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<gj::OpIndex>(i);
            command.kind = SteppedMachine::Command::exec;
            command.op = list.op(op);
            command.block.assign(list.block(op), list.block(op) + list.op(op).info->block_bytes);
            commands.push_back(command);
        }
        command.kind = SteppedMachine::Command::signal;
        command.value = ++line.last;
        commands.push_back(command);
    }

    [[nodiscard]] gj::Status open(const gj::OpList&) const { return called("open"); }
    [[nodiscard]] gj::Result<gj::QueuePlan> assign(const gj::OpList& list, const gj::Dag&,
                                                   const gj::HcqOptions&) const {
        return gj::ByDevice()(
            list, [&](gj::DeviceId d) { return (machine().no_copy_queue >> static_cast<unsigned>(d) & 1) == 0; });
    }
    [[nodiscard]] gj::Result<Signal> make_signal(gj::DeviceId) {
        if (gj::Status status = called("make_signal"); !status.ok()) return status;
        return new_signal();
    }
    [[nodiscard]] gj::Result<Arguments> make_arguments(std::size_t bytes) {
        if (gj::Status status = called("make_arguments"); !status.ok()) return status;
        return Arguments{SteppedHandle(&machine()), std::make_unique<std::byte[]>(bytes)};
    }
    [[nodiscard]] gj::Result<Stream> make_stream(const gj::QueueRecord& queue, const gj::StreamSize& size) {
        if (gj::Status status = called("make_stream"); !status.ok()) return status;
        (void)machine().queue(queue);
        return Stream{SteppedHandle(&machine()), queue, {}, std::make_unique<Value[]>(size.waits + size.signals)};
    }

    [[nodiscard]] gj::Status barrier(Stream&) const { return called("barrier"); }
    [[nodiscard]] gj::Status wait(Stream& stream, const Signal& signal, Value*& place) const {
        stream.after_wait = true;
        return push(stream, SteppedMachine::Command::wait, signal, place);
    }
    [[nodiscard]] gj::Status signal(Stream& stream, const Signal& signal, Value*& place) const {
        return push(stream, SteppedMachine::Command::signal, signal, place);
    }
    [[nodiscard]] gj::Status exec(Stream& stream, const gj::OpView& op) const {
        if (gj::Status status = called("exec"); !status.ok()) return status;
        SteppedMachine::Command command;
        command.op = *op.record;
        encode(command, op);
        command.after_wait = std::exchange(stream.after_wait, false);
        const std::size_t index = to_integer(op.index);
        if (stream.command_of_op.size() <= index) stream.command_of_op.resize(index + 1);
        stream.command_of_op[index] = stream.commands.size();
        stream.commands.push_back(std::move(command));
        is_stamp_skipped_ = op.index == machine().no_stamp;
        return {};
    }
    [[nodiscard]] gj::Status stamp(Stream& stream, std::uint64_t* place) const {
        if (gj::Status status = called("stamp"); !status.ok()) return status;
        if (std::exchange(is_stamp_skipped_, false)) return {};
        SteppedMachine::Command command;
        command.kind = SteppedMachine::Command::stamp;
        command.place = place;
        stream.commands.push_back(std::move(command));
        return {};
    }
    [[nodiscard]] gj::Status finish(Stream&) const { return called("finish"); }

    [[nodiscard]] gj::Status map(gj::DeviceId user, const gj::MemoryView& memory) noexcept {
        machine().maps.push_back("device " + std::to_string(to_integer(user)) + " maps " +
                                 std::to_string(memory.bytes) + " of " + std::to_string(to_integer(memory.device)));
        return called("map");
    }
    [[nodiscard]] gj::Turnstile& turnstile() noexcept { return shared_->turnstile; }
    [[nodiscard]] gj::Timeline<Signal, Value>& timeline(gj::DeviceId device) noexcept {
        return *shared_->timelines[to_integer(device)];
    }
    [[nodiscard]] gj::Status make_room(Stream& stream) noexcept {
        if (gj::Status status = called("make_room"); !status.ok()) return status;
        while (machine().queue(stream.queue).commands.size() > machine().ring) {
            if (!machine().step()) return stuck();
        }
        return {};
    }
    [[nodiscard]] bool has_room(Stream& stream) noexcept {
        return machine().queue(stream.queue).commands.size() <= machine().ring;
    }
    void submit(Stream& stream) noexcept {
        ++machine().submitted;
        std::size_t value = 0;
        for (SteppedMachine::Command command : stream.commands) {
            const bool has_value = command.kind == SteppedMachine::Command::wait ||
                                   command.kind == SteppedMachine::Command::signal;
            if (has_value) command.value = stream.values[value++];
            machine().queue(stream.queue).commands.push_back(std::move(command));
        }
    }
    [[nodiscard]] gj::Status patch(Stream& stream, const gj::OpView& op) noexcept {
        if (gj::Status status = called("patch"); !status.ok()) return status;
        encode(stream.commands[stream.command_of_op[to_integer(op.index)]], op);
        return {};
    }
    [[nodiscard]] gj::Status take_failure(Stream&) noexcept { return called("take_failure"); }

    [[nodiscard]] Value value(const Signal& signal) noexcept {
        return static_cast<Value>(machine().signals[signal.number]);
    }
    void set_value(const Signal& signal, Value value) noexcept { machine().signals[signal.number] = value; }
    [[nodiscard]] gj::Status wait_change(const Signal& signal, Value seen) noexcept {
        if (gj::Status status = called("wait_change"); !status.ok()) return status;
        while (value(signal) == seen) {
            if (!machine().step()) return stuck();
        }
        return {};
    }
    [[nodiscard]] gj::Status run(const gj::OpView& op) noexcept {
        machine().drain();
        (void)gj::host_entry (*op.record)(op.block);
        return {};
    }
    [[nodiscard]] gj::ClockPoint read_clock(gj::DeviceId device) noexcept {
        return {machine().ticks(device), machine().time * 1000};
    }

private:
    [[nodiscard]] static gj::Error failure(const char* text, const char* call) {
        gj::Error error;
        error.code = gj::ErrorCode::backend_failure;
        error.text = text;
        error.native = 719;
        error.native_name = call;
        return error;
    }
    [[nodiscard]] gj::Status called(const char* call) const noexcept {
        if (machine().note()) return {};
        return failure("the machine refused a call", call);
    }
    [[nodiscard]] static gj::Status stuck() noexcept { return failure("no queue can go on", "step"); }

    static void encode(SteppedMachine::Command& command, const gj::OpView& op) {
        const gj::KernelInfo& info = *op.record->info;
        const bool is_kernel = op.record->kind == gj::OpKind::kernel || op.record->kind == gj::OpKind::host_call;
        const std::byte* first = op.block;
        std::size_t bytes = info.block_bytes;
        if (is_kernel) {
            command.arguments = op.block;
            bytes = info.dims_offset == gj::KernelInfo::no_dims ? 0 : sizeof(gj::LaunchDims);
            if (bytes != 0) first += info.dims_offset;
        }
        command.block.assign(first, first + bytes);
    }

    [[nodiscard]] Signal new_signal() const {
        machine().signals.push_back(machine().first_value);
        return {SteppedHandle(&machine()), static_cast<std::uint32_t>(machine().signals.size() - 1)};
    }
    [[nodiscard]] gj::Status push(Stream& stream, SteppedMachine::Command::Kind kind, const Signal& signal,
                                  Value*& place) const {
        if (gj::Status status = called("encode"); !status.ok()) return status;
        SteppedMachine::Command command;
        command.kind = kind;
        command.signal_number = signal.number;
        place = &stream.values[stream.value_count++];
        stream.commands.push_back(std::move(command));
        return {};
    }

    std::shared_ptr<Shared> shared_;
    mutable bool is_stamp_skipped_ = false;
};

inline constexpr std::uint64_t most64 = ~std::uint64_t{0};
inline constexpr std::uint32_t most32 = ~std::uint32_t{0};
template <gj::QueueOrder Order = gj::QueueOrder::kept>
using Stepped = SteppedDevice<Order, std::uint64_t, most64>;
using Stepped32 = SteppedDevice<gj::QueueOrder::kept, std::uint32_t, most32>;

static_assert(gj::hcq_device<Stepped<>> && gj::hcq_patches<Stepped<>>);
static_assert(gj::graph_backend<gj::HcqBackend<Stepped<>>>);

}  // namespace test
