// What a device with queues of its own must have for `HcqBackend` to build graphs on it. docs/adding_a_backend.md has
// the chapter.
//
// Words: HSA calls a stream's commands packets, NVIDIA methods in a pushbuffer; a signal is HSA's signal, CUDA's and
// Vulkan's (timeline) semaphore, Metal's shared event.
#pragma once

#include <graphjit/backend/hcq_timeline.hpp>
#include <graphjit/backend/profiling.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/queues.hpp>
#include <graphjit/run/contract.hpp>

namespace graphjit::inline v0 {

/// What a graph may be told besides its recording.
struct HcqOptions {
    /// How many replays may be in flight before the host waits: 1 to 8. Each costs memory for streams and arguments.
    std::uint32_t in_flight = 2;
    /// What ops cost, by op, for devices that spread them over several queues. Lifetime: until the graph is built.
    Span<const float> op_ns = {};
    float other_op_ns = 1000.0f;  // of ops beyond `op_ns`
};

/// How many commands of each kind a stream will get.
struct StreamSize {
    std::uint32_t ops = 0;
    std::uint32_t waits = 0;
    std::uint32_t signals = 0;
    std::uint32_t stamps = 0;
};

// A device policy is a copyable handle of a set of devices.
template <class D>
concept hcq_has_types = std::is_nothrow_move_constructible_v<D> && std::copy_constructible<D> &&
                        std::unsigned_integral<typename D::Value> &&
                        std::is_nothrow_move_constructible_v<typename D::Signal> &&
                        std::is_nothrow_move_constructible_v<typename D::Stream> &&
                        std::is_nothrow_move_constructible_v<typename D::Arguments>;
template <class D>
concept hcq_has_constants = requires {
    typename D::kernel_family;
    { D::limits } -> std::convertible_to<BackendLimits>;
    { D::compute_order } -> std::convertible_to<QueueOrder>;
    { D::max_value } -> std::convertible_to<typename D::Value>;
};

// Building: may allocate, may fail.
template <class D>
concept hcq_plans = requires(const D& d, const OpList& list, const Dag& dag, const HcqOptions& options) {
    { d.open(list) } -> std::same_as<Status>;
    { d.assign(list, dag, options) } -> std::same_as<Result<QueuePlan>>;
};
template <class D>
concept hcq_makes = requires(D& d, DeviceId id, const QueueRecord& queue, const StreamSize& size, std::size_t bytes,
                             typename D::Arguments& arguments) {
    { d.make_signal(id) } -> std::same_as<Result<typename D::Signal>>;
    { d.make_stream(queue, size) } -> std::same_as<Result<typename D::Stream>>;
    { d.make_arguments(bytes) } -> std::same_as<Result<typename D::Arguments>>;
    { arguments.data() } -> std::same_as<std::byte*>;
};
template <class D>
concept hcq_encodes = requires(D& d, typename D::Stream& stream, const typename D::Signal& signal, const OpView& op,
                               typename D::Value*& place) {
    { d.barrier(stream) } -> std::same_as<Status>;
    { d.wait(stream, signal, place) } -> std::same_as<Status>;
    { d.signal(stream, signal, place) } -> std::same_as<Status>;
    { d.exec(stream, op) } -> std::same_as<Status>;
    { d.finish(stream) } -> std::same_as<Status>;
};

// Replay: `noexcept`, no heap.
template <class D>
concept hcq_maps = requires(D& d, DeviceId user, const MemoryView& memory) {
    { d.map(user, memory) } noexcept -> std::same_as<Status>;
};
template <class D>
concept hcq_submits = requires(D& d, typename D::Stream& stream, DeviceId id) {
    { d.turnstile() } noexcept -> std::same_as<Turnstile&>;
    { d.timeline(id) } noexcept -> std::same_as<Timeline<typename D::Signal, typename D::Value>&>;
    { d.make_room(stream) } noexcept -> std::same_as<Status>;
    { d.has_room(stream) } noexcept -> std::same_as<bool>;
    { d.submit(stream) } noexcept -> std::same_as<void>;
    { d.take_failure(stream) } noexcept -> std::same_as<Status>;
};
template <class D>
concept hcq_awaits = requires(D& d, const typename D::Signal& signal, typename D::Value value) {
    { d.value(signal) } noexcept -> std::same_as<typename D::Value>;
    { d.set_value(signal, value) } noexcept -> std::same_as<void>;
    { d.wait_change(signal, value) } noexcept -> std::same_as<Status>;
};
template <class D>
concept hcq_runs = requires(D& d, const OpView& op) {
    { d.run(op) } noexcept -> std::same_as<Status>;
};

/// Optional, but for profiles: the device has a clock.
template <class D>
concept hcq_stamps = requires(D& d, typename D::Stream& stream, std::uint64_t* stamp, DeviceId id) {
    { d.stamp(stream, stamp) } -> std::same_as<Status>;
    { d.read_clock(id) } noexcept -> std::same_as<ClockPoint>;
};
/// Optional: an op's launch dims, or a copy's places, are part of its commands and must be written there.
template <class D>
concept hcq_patches = requires(D& d, typename D::Stream& stream, const OpView& op) {
    { d.patch(stream, op) } noexcept -> std::same_as<Status>;
};
/// Optional: so many bytes in front of each block are the device's own, and a block's end is followed by the next one's
/// prefix where alignment lets it.
template <class D>
concept hcq_has_block_prefix = requires {
    { D::block_prefix } -> std::convertible_to<std::size_t>;
};
/// Optional: a thread of the host may run a queue's commands. `take` says whether it may now; then the stream is
/// submitted without waking the queue, and `help` runs it.
template <class D>
concept hcq_helps = requires(D& d, typename D::Stream& stream) {
    { d.take(stream) } noexcept -> std::same_as<bool>;
    { d.submit(stream, true) } noexcept -> std::same_as<void>;
    { d.help(stream) } noexcept -> std::same_as<void>;
};

/// The whole contract.
template <class D>
concept hcq_device = hcq_has_types<D> && hcq_has_constants<D> && hcq_plans<D> && hcq_makes<D> && hcq_encodes<D> &&
                     hcq_maps<D> && hcq_submits<D> && hcq_awaits<D> && hcq_runs<D> &&
                     (hcq_patches<D> || !requires { &D::patch; }) && (hcq_helps<D> || !requires { &D::help; }) &&
                     (hcq_stamps<D> || !requires { &D::stamp; });

namespace detail {

/// The same, one sentence a fault.
template <class D>
consteval bool check_hcq_device() {
#define GRAPHJIT_MORE " See docs/adding_a_backend.md"
    static_assert(hcq_has_types<D>,
                  "graphjit: a device must be a copyable handle with nothrow-movable types Signal, Stream, Arguments "
                  "and an unsigned type Value." GRAPHJIT_MORE);
    if constexpr (hcq_has_types<D>) {
        static_assert(hcq_has_constants<D>,
                      "graphjit: device lacks kernel_family, limits, compute_order or max_value." GRAPHJIT_MORE);
        static_assert(hcq_plans<D>,
                      "graphjit: device lacks open(const OpList&) const -> Status or assign(const OpList&, const Dag&, "
                      "const HcqOptions&) const -> Result<QueuePlan>." GRAPHJIT_MORE);
        static_assert(hcq_makes<D>,
                      "graphjit: device lacks make_signal(DeviceId), make_stream(const QueueRecord&, const "
                      "StreamSize&) or make_arguments(std::size_t)." GRAPHJIT_MORE);
        static_assert(hcq_encodes<D>,
                      "graphjit: device lacks one of barrier, wait, signal, exec, finish, each on a Stream& and "
                      "returning Status." GRAPHJIT_MORE);
        static_assert(hcq_maps<D>,
                      "graphjit: device lacks map(DeviceId, const MemoryView&) noexcept -> Status." GRAPHJIT_MORE);
        static_assert(hcq_submits<D>, "graphjit: device lacks one of turnstile, timeline, make_room, has_room, submit, "
                                      "take_failure, each noexcept." GRAPHJIT_MORE);
        static_assert(hcq_awaits<D>,
                      "graphjit: device lacks one of value, set_value, wait_change, each noexcept." GRAPHJIT_MORE);
        static_assert(hcq_runs<D>, "graphjit: device lacks run(const OpView&) noexcept -> Status." GRAPHJIT_MORE);
        static_assert(
            hcq_patches<D> || !requires { &D::patch; },
            "graphjit: device's patch() must be patch(Stream&, const OpView&) noexcept -> Status." GRAPHJIT_MORE);
        static_assert(
            hcq_helps<D> || !requires { &D::help; },
            "graphjit: a device that helps has take(Stream&) -> bool, submit(Stream&, bool wakes) and "
            "help(Stream&), each noexcept." GRAPHJIT_MORE);
        static_assert(
            hcq_stamps<D> || !requires { &D::stamp; },
            "graphjit: a device with a clock has stamp(Stream&, std::uint64_t*) -> Status and "
            "read_clock(DeviceId) noexcept -> ClockPoint." GRAPHJIT_MORE);
    }
#undef GRAPHJIT_MORE
    return true;
}

}  // namespace detail
}  // namespace graphjit::inline v0
