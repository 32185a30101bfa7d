// What goes into which queue, and who waits for whom, as text.
#pragma once

#include <graphjit/observe/text_writer.hpp>
#include <graphjit/plan/signals.hpp>

namespace graphjit::inline v0 {
namespace detail {

template <class Sink>
class QueueWriter {
public:
    QueueWriter(const OpList& list, const QueuePlan& queues, const SignalPlan& plan, Sink& sink)
        : list_(list), queues_(queues), plan_(plan), out_(sink) {}

    void write() {
        for (std::uint32_t q = 0; q < queues_.queues().size(); ++q) {
            const auto queue = static_cast<QueueIndex>(q);
            name(queue) << ":\n";
            for (std::size_t d = 0; d < plan_.devices().size(); ++d) {
                if (plan_.timeline_queue(d) == queue) out_ << "  start: await device " << number(d) << "\n";
            }
            for (const OpIndex op : queues_.order()) {
                if (queues_.queue_of(op) == queue) write_op(op);
            }
            for (std::size_t d = 0; d < plan_.devices().size(); ++d) {
                if (plan_.timeline_queue(d) != queue) continue;
                out_ << "  end:";
                write_waits(plan_.final_waits(d));
                out_ << " release device " << number(d) << "\n";
            }
        }
    }

private:
    [[nodiscard]] std::int64_t number(std::size_t device) const { return to_integer(plan_.devices()[device]); }
    TextWriter<Sink>& name(QueueIndex index) {
        const QueueRecord& queue = queues_.queue(index);
        return out_ << (queue.kind == QueueKind::copy ? "copy " : "compute ") << std::int64_t{to_integer(queue.device)}
                    << "." << std::int64_t{queue.which};
    }
    void write_waits(Span<const Wait> waits) {
        for (const Wait& wait : waits) {
            out_ << " wait ";
            name(wait.queue) << " >= " << std::int64_t{wait.count} << ",";
        }
    }
    void write_op(OpIndex op) {
        out_ << " ";
        write_waits(plan_.waits(op));
        for (const DeviceId device : plan_.ready_waits(op)) {
            out_ << " wait start of device " << std::int64_t{to_integer(device)} << ",";
        }
        out_ << " " << std::int64_t{to_integer(op)} << " " << list_.name(op);
        if (plan_.signals(op)) out_ << ", signal " << std::int64_t{plan_.position(op)};
        out_ << "\n";
    }

    const OpList& list_;
    const QueuePlan& queues_;
    const SignalPlan& plan_;
    TextWriter<Sink> out_;
};

}  // namespace detail

/// Writes a paragraph per queue and a line per op: what it waits for, its number and name, what it signals.
template <class Sink>
void write_queues(const OpList& list, const QueuePlan& queues, const SignalPlan& plan, Sink&& sink) {
    detail::QueueWriter<Sink>(list, queues, plan, sink).write();
}

}  // namespace graphjit::inline v0
