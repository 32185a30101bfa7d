// A graph as a picture, in Graphviz's language.
#pragma once

#include <graphjit/observe/text_writer.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/explain.hpp>
#include <graphjit/plan/queues.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

namespace detail {

template <class Sink>
void write_dot(const OpList& list, const Dag& dag, const QueuePlan* queues, Sink& sink) {
    TextWriter<Sink> out(sink);
    out << "digraph graphjit {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
           "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    constexpr const char* styles[] = {"solid", "rounded", "dashed", "bold"};
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        const auto op = static_cast<OpIndex>(i);
        out << "  op" << i << " [label=\"" << i << " " << list.name(op) << "\\ndevice "
            << static_cast<std::int64_t>(list.op(op).device) << "\", style=\""
            << styles[static_cast<unsigned>(list.op(op).kind)];
        if (queues == nullptr) {
            out << "\"];\n";
        } else {
            // Twelve pale colours that Graphviz has by number; more queues share them.
            out << ",filled\", fillcolor=\"/set312/" << std::int64_t{to_integer(queues->queue_of(op)) % 12 + 1}
                << "\"];\n";
        }
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        const auto op = static_cast<OpIndex>(i);
        for (const OpIndex before : dag.dependencies(op)) {
            out << "  op" << std::int64_t{to_integer(before)} << " -> op" << i << " [label=\"";
            bool first = true;
            for_each_reason(list, before, op, [&](const Reason& reason) {
                if (!first) out << "\\n";
                first = false;
                out << to_text(reason.hazard) << " " << list.name(reason.memory);
                if (reason.may_alias) {
                    out << " (may alias)";
                } else {
                    out << "[" << reason.begin << ":" << reason.end << "]";
                }
            });
            out << "\"];\n";
        }
    }
    out << "}\n";
}

}  // namespace detail

/// Writes the graph as DOT: a box per op with its name and device, an arrow per edge with the hazards and bytes that
/// are its reason.
template <class Sink>
void write_dot(const OpList& list, const Dag& dag, Sink&& sink) {
    detail::write_dot(list, dag, nullptr, sink);
}
/// The same with a colour per queue.
template <class Sink>
void write_dot(const OpList& list, const Dag& dag, const QueuePlan& queues, Sink&& sink) {
    detail::write_dot(list, dag, &queues, sink);
}

}  // namespace graphjit::inline v0
