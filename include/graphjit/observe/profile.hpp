// When each op of the last replay ran.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/plan/queues.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

namespace graphjit::inline v0 {

/// One op of one replay.
/// Units: nanoseconds of the host's clock, whichever device ran it. Time spent waiting is not in it.
struct OpTime {
    OpIndex op = OpIndex::none;
    QueueIndex queue = QueueIndex::none;
    bool is_timed = false;    // false: the device left no stamps
    bool is_skipped = false;  // launched with zero groups
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t bytes = 0;  // of a copy or fill
};

/// The ops of one replay, in recorded order, each once.
class Profile {
public:
    [[nodiscard]] Span<const OpTime> ops() const noexcept { return ops_; }
    [[nodiscard]] const OpTime& op(OpIndex op) const noexcept { return ops_[to_integer(op)]; }
    /// Which replay it was, counted from 1.
    [[nodiscard]] std::uint64_t replay() const noexcept { return replay_; }

private:
    template <class Graph>
    friend Result<Profile> collect_profile(Graph& graph) noexcept;

    detail::Array<OpTime> ops_;
    std::uint64_t replay_ = 0;
};

namespace detail {

/// A device's clock on the host's: it need not start with it, nor run as fast. Two readings of both say how it does.
class ClockMap {
public:
    ClockMap() noexcept = default;
    template <class Point>
    ClockMap(const Point& first, const Point& now) noexcept
        : ticks_(now.ticks), ns_(static_cast<std::int64_t>(now.ns)) {
        const auto ticks = static_cast<double>(now.ticks - first.ticks);
        if (now.ticks > first.ticks) ns_per_tick_ = static_cast<double>(now.ns - first.ns) / ticks;
    }
    /// From the later reading backwards, which is the nearer one for a stamp of the last replay.
    [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept {
        const auto back = static_cast<double>(static_cast<std::int64_t>(ticks_ - ticks));
        return ns_ - static_cast<std::int64_t>(back * ns_per_tick_);
    }

private:
    std::uint64_t ticks_ = 0;
    std::int64_t ns_ = 0;
    double ns_per_tick_ = 1.0;
};

[[nodiscard]] inline bool is_skipped(const OpRecord& op, const std::byte* block) noexcept {
    const std::uint32_t offset = op.info->dims_offset;
    return offset != KernelInfo::no_dims && is_empty(load_block<LaunchDims>(block + offset));
}
[[nodiscard]] inline std::uint64_t moved_bytes(const OpRecord& op, const std::byte* block) noexcept {
    if (op.kind == OpKind::copy) return load_block<CopyBlock>(block).bytes;
    if (op.kind == OpKind::fill) return load_block<FillBlock>(block).bytes;
    return 0;
}

}  // namespace detail

/// Reads the stamps of the last replay. For graphs of a backend that was chosen with `Profiling::on`.
/// Errors: invalid_argument while a replay runs, or before the first; out_of_memory.
template <class Graph>
[[nodiscard]] Result<Profile> collect_profile(Graph& graph) noexcept {
    auto& exec = graph.native();
    constexpr bool is_profiled = requires { requires std::remove_reference_t<decltype(exec)>::is_profiled; };
    static_assert(is_profiled, "graphjit: only a backend with Profiling::on keeps stamps");
    Profile profile;
    if constexpr (is_profiled) {
        const OpList& list = graph.ops();
        if (exec.launches() == 0) {
            return list.error(ErrorCode::invalid_argument, "there is no profile of a graph that was never replayed");
        }
        if (!graph.poll()) {
            return list.error(ErrorCode::invalid_argument, "there is no profile of a replay that still runs");
        }
        detail::Array<detail::ClockMap> clocks;  // by queue
        const Span<const QueueRecord> queues = exec.queues().queues();
        if (!profile.ops_.reserve(list.size()) || !clocks.reserve(queues.size())) {
            return list.error(ErrorCode::out_of_memory, "no memory for a profile");
        }
        profile.replay_ = exec.launches();
        for (const QueueRecord& queue : queues) {
            clocks.push_reserved(detail::ClockMap(exec.first_clock(queue.device), exec.read_clock(queue.device)));
        }
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const QueueIndex queue = exec.queues().queue_of(op);
            const auto stamps = exec.stamps(op);
            OpTime time{.op = op, .queue = queue};
            time.is_timed = stamps.start != 0 && stamps.end != 0;
            time.is_skipped = detail::is_skipped(list.op(op), exec.last_block(op));
            time.bytes = detail::moved_bytes(list.op(op), exec.last_block(op));
            if (time.is_timed) {
                const detail::ClockMap& map = clocks[to_integer(queue)];
                time.start_ns = map.ns(stamps.start);
                time.end_ns = map.ns(stamps.end);
            }
            profile.ops_.push_reserved(time);
        }
    }
    return profile;
}

}  // namespace graphjit::inline v0
