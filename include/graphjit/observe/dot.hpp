// A graph as a picture, in Graphviz's language.
#pragma once

#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/explain.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

namespace detail {

/// Puts text into a sink in whole pieces; a sink is called with `(const char* data, std::size_t size)`.
template <class Sink>
class DotWriter {
public:
    explicit DotWriter(Sink& sink) noexcept : sink_(sink) {}

    DotWriter& operator<<(const char* text) {
        std::size_t size = 0;
        while (text[size] != 0) ++size;
        sink_(text, size);
        return *this;
    }
    DotWriter& operator<<(std::int64_t value) { return *this << ErrorText().add(value).c_str(); }
    /// A name inside double quotes.
    DotWriter& operator<<(Span<const char> name) {
        constexpr std::size_t most = 1000;  // Graphviz gives up on strings of 16 KiB
        for (std::size_t i = 0; i < name.size() && i < most; ++i) {
            const char c = name[i];
            if (c == '"' || c == '\\') sink_("\\", 1);
            const bool printable = static_cast<unsigned char>(c) >= 0x20;
            sink_(printable ? &c : " ", 1);
        }
        return *this;
    }

private:
    Sink& sink_;
};

}  // namespace detail

/// Writes the graph as DOT: a box per op with its name and device, an arrow per edge with the hazards and bytes that
/// are its reason.
template <class Sink>
void write_dot(const OpList& list, const Dag& dag, Sink&& sink) {
    detail::DotWriter<Sink> out(sink);
    out << "digraph graphjit {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
           "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    constexpr const char* shapes[] = {"", ", style=rounded", ", style=dashed", ", style=bold"};
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        const auto op = static_cast<OpIndex>(i);
        out << "  op" << i << " [label=\"" << i << " " << list.name(op) << "\\ndevice "
            << static_cast<std::int64_t>(list.op(op).device) << "\"" << shapes[static_cast<unsigned>(list.op(op).kind)]
            << "];\n";
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

}  // namespace graphjit::inline v0
