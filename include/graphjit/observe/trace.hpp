// A profile as a picture: JSON for Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include <graphjit/observe/profile.hpp>
#include <graphjit/observe/text_writer.hpp>

namespace graphjit::inline v0 {
namespace detail {

template <class Sink>
class TraceWriter {
public:
    TraceWriter(const OpList& list, const Dag& dag, const QueuePlan& queues, const Profile& profile, Sink& sink)
        : list_(list), dag_(dag), queues_(queues), profile_(profile), out_(sink) {}

    void write() {
        out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
        for (std::uint32_t q = 0; q < queues_.queues().size(); ++q) name_queue(q);
        origin_ = INT64_MAX;
        for (const OpTime& time : profile_.ops()) {
            if (time.is_timed && time.start_ns < origin_) origin_ = time.start_ns;
        }
        for (const OpTime& time : profile_.ops()) write_op(time);
        for (const OpTime& time : profile_.ops()) {
            for (const OpIndex before : dag_.dependencies(time.op)) write_arrow(profile_.op(before), time);
        }
        out_ << "\n]}\n";
    }

private:
    [[nodiscard]] TextWriter<Sink>& event(const char* kind) {
        out_ << (is_first_ ? "\n" : ",\n") << "{\"ph\":\"" << kind << "\"";
        is_first_ = false;
        return out_;
    }
    TextWriter<Sink>& place(QueueIndex queue) {
        return out_ << ",\"pid\":" << std::int64_t{to_integer(queues_.queue(queue).device)}
                    << ",\"tid\":" << std::int64_t{to_integer(queue)};
    }
    /// Units: the format wants microseconds.
    TextWriter<Sink>& time(const char* key, std::int64_t ns) {
        const char digits[] = {static_cast<char>('0' + ns / 100 % 10), static_cast<char>('0' + ns / 10 % 10),
                               static_cast<char>('0' + ns % 10), 0};
        return out_ << ",\"" << key << "\":" << ns / 1000 << "." << digits;
    }

    void name_queue(std::uint32_t q) {
        const QueueRecord& queue = queues_.queues()[q];
        event("M") << ",\"name\":\"process_name\"";
        place(static_cast<QueueIndex>(q))
            << ",\"args\":{\"name\":\"device " << std::int64_t{to_integer(queue.device)} << "\"}}";
        event("M") << ",\"name\":\"thread_name\"";
        place(static_cast<QueueIndex>(q))
            << ",\"args\":{\"name\":\"" << (queue.kind == QueueKind::copy ? "copy" : "compute") << " queue "
            << std::int64_t{queue.which} << "\"}}";
    }

    void write_op(const OpTime& op) {
        if (!op.is_timed) return;
        constexpr const char* kinds[] = {"kernel", "copy", "fill", "host call"};
        const std::int64_t ns = op.end_ns - op.start_ns;
        event("X") << ",\"name\":\"" << list_.name(op.op) << "\",\"cat\":\""
                   << kinds[static_cast<unsigned>(list_.op(op.op).kind)] << "\"";
        time("ts", op.start_ns - origin_);
        time("dur", ns);
        place(op.queue) << ",\"args\":{\"op\":" << std::int64_t{to_integer(op.op)};
        if (op.is_skipped) out_ << ",\"skipped\":true";
        if (op.bytes != 0) {
            const auto bytes = static_cast<std::int64_t>(op.bytes);
            out_ << ",\"bytes\":" << bytes;
            if (ns > 0) {  // bytes per nanosecond are GB/s
                const auto hundredths = static_cast<std::int64_t>(100.0 * static_cast<double>(bytes) /
                                                                  static_cast<double>(ns));
                out_ << ",\"GB/s\":" << hundredths / 100 << "." << hundredths / 10 % 10 << hundredths % 10;
            }
        }
        out_ << "}}";
    }

    /// From the end of one op to the start of another.
    void write_arrow(const OpTime& from, const OpTime& to) {
        if (!from.is_timed || !to.is_timed) return;
        ++arrows_;
        event("s") << ",\"name\":\"dependency\",\"cat\":\"dependency\",\"id\":" << arrows_;
        time("ts", from.end_ns - origin_);
        place(from.queue) << "}";
        event("f") << ",\"bp\":\"e\",\"name\":\"dependency\",\"cat\":\"dependency\",\"id\":" << arrows_;
        time("ts", to.start_ns - origin_);
        place(to.queue) << "}";
    }

    const OpList& list_;
    const Dag& dag_;
    const QueuePlan& queues_;
    const Profile& profile_;
    TextWriter<Sink> out_;
    std::int64_t origin_ = 0;
    std::int64_t arrows_ = 0;
    bool is_first_ = true;
};

}  // namespace detail

/// Writes a replay's ops, a row per queue, with an arrow per edge of the graph. Ops without stamps are left out.
/// `sink`: called with `(const char* data, std::size_t size)`.
template <class Graph, class Sink>
void write_trace(Graph& graph, const Profile& profile, Sink&& sink) {
    constexpr bool has_queues = requires { graph.native().queues(); };
    static_assert(has_queues, "graphjit: only a graph on queues has a trace");
    if constexpr (has_queues)
        detail::TraceWriter<Sink>(graph.ops(), graph.dag(), graph.native().queues(), profile, sink).write();
}

}  // namespace graphjit::inline v0
