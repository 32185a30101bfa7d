// Why two ops are ordered: the bytes they share, or the path that implies it.
#pragma once

#include <graphjit/base/result.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

/// Read after write, write after read, write after write.
enum class Hazard : std::uint8_t { raw, war, waw };

[[nodiscard]] constexpr const char* to_text(Hazard hazard) noexcept {
    return hazard == Hazard::raw ? "RAW" : hazard == Hazard::war ? "WAR" : "WAW";
}

/// Bytes that two ops both touch, one of them writing.
/// Units: bytes of `memory`, as the earlier op names it.
struct Reason {
    Hazard hazard = Hazard::raw;
    bool may_alias = false;  // not shared as recorded, but allowed to be at replay
    MemoryIndex memory = MemoryIndex::none;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Calls `visit(const Reason&)` for all bytes that order `after` behind `before`. No call: they do not conflict.
/// Pre: `before` was recorded earlier.
template <class Visit>
constexpr void for_each_reason(const OpList& list, OpIndex before, OpIndex after, Visit visit) {
    for (const AccessRecord& a : list.accesses(before)) {
        for (const AccessRecord& b : list.accesses(after)) {
            if (!writes(a.access) && !writes(b.access)) continue;
            const MemoryRecord& memory = list.memory(a.memory);
            const MemoryRecord& other = list.memory(b.memory);
            Reason reason{.memory = a.memory, .begin = a.begin, .end = a.end};
            const bool same = a.memory == b.memory;
            if (same && memory.bytes != 0) {
                reason.begin = a.begin > b.begin ? a.begin : b.begin;
                reason.end = a.end < b.end ? a.end : b.end;
                if (reason.begin >= reason.end) continue;
            } else if (!same) {
                for (const AliasRecord& alias : list.aliases()) {
                    reason.may_alias = reason.may_alias || (alias.a == a.memory && alias.b == b.memory) ||
                                       (alias.b == a.memory && alias.a == b.memory);
                }
                if (!reason.may_alias) {
                    if (memory.is_input || other.is_input || memory.bytes == 0 || other.bytes == 0) continue;
                    const auto shift = static_cast<std::int64_t>(other.address - memory.address);
                    reason.begin = a.begin > b.begin + shift ? a.begin : b.begin + shift;
                    reason.end = a.end < b.end + shift ? a.end : b.end + shift;
                    if (reason.begin >= reason.end) continue;
                }
            }
            if (writes(a.access) && reads(b.access)) {
                reason.hazard = Hazard::raw;
                visit(static_cast<const Reason&>(reason));
            }
            if (reads(a.access) && writes(b.access)) {
                reason.hazard = Hazard::war;
                visit(static_cast<const Reason&>(reason));
            }
            if (writes(a.access) && writes(b.access)) {
                reason.hazard = Hazard::waw;
                visit(static_cast<const Reason&>(reason));
            }
        }
    }
}

/// A way from one op to a later one along edges: why there is no edge between them although they conflict.
class Path {
public:
    /// The ops from `from` to `to`, both included; empty where no order leads from one to the other.
    /// Errors: out_of_memory.
    [[nodiscard]] static Result<Path> find(const Dag& dag, OpIndex from, OpIndex to) noexcept {
        Path path;
        detail::Array<OpIndex> next;  // by op: one step nearer to `to`
        detail::Array<OpIndex> queue;
        if (!next.resize(dag.size(), OpIndex::none) || !queue.reserve(dag.size()) || !path.ops_.reserve(dag.size())) {
            Error error;
            error.code = ErrorCode::out_of_memory;
            error.text = "no memory to search a path in";
            return error;
        }
        queue.push_reserved(to);  // each op is queued once
        for (std::size_t i = 0; i < queue.size() && from != to; ++i) {
            for (const OpIndex before : dag.dependencies(queue[i])) {
                if (before < from || before == to || next[to_integer(before)] != OpIndex::none) continue;
                next[to_integer(before)] = queue[i];
                queue.push_reserved(before);
            }
        }
        if (from != to && next[to_integer(from)] == OpIndex::none) return path;
        for (OpIndex at = from; at != OpIndex::none; at = at == to ? OpIndex::none : next[to_integer(at)]) {
            path.ops_.push_reserved(at);
        }
        return path;
    }

    [[nodiscard]] Span<const OpIndex> ops() const noexcept { return ops_; }

private:
    detail::Array<OpIndex> ops_;
};

}  // namespace graphjit::inline v0
