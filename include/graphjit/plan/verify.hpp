// The oracle: says whether an order of ops is right, by comparing every pair. Written without the tracker and the
// reduction it judges, slow on purpose (quadratic in ops), for tests: ours and the user's.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

struct Verdict {
    enum class Kind : std::uint8_t {
        right,
        not_ordered,    // `a` and `b` conflict, and nothing orders them
        needless_edge,  // the edge from `a` to `b` is implied by others, or orders ops that do not conflict
        bad_edge,       // of `b`: not ascending, not unique, to itself or forwards
        out_of_memory,
    };
    Kind kind = Kind::right;
    OpIndex a = OpIndex::none;
    OpIndex b = OpIndex::none;

    [[nodiscard]] constexpr bool ok() const noexcept { return kind == Kind::right; }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return ok(); }
};

namespace detail {

/// Whether two accesses may touch a common byte, one of them writing.
[[nodiscard]] inline bool oracle_conflict(const OpList& list, const AccessRecord& x, const AccessRecord& y) noexcept {
    if (!writes(x.access) && !writes(y.access)) return false;
    for (const AliasRecord& alias : list.aliases()) {
        if (alias.a == x.memory && alias.b == y.memory) return true;
        if (alias.a == y.memory && alias.b == x.memory) return true;
    }
    const MemoryRecord& first = list.memory(x.memory);
    const MemoryRecord& second = list.memory(y.memory);
    if (first.bytes == 0 || second.bytes == 0 || first.is_input || second.is_input) {
        if (x.memory != y.memory) return false;
        return first.bytes == 0 || (x.begin < y.end && y.begin < x.end);
    }
    // By address, whatever the buffers are called.
    const std::uintptr_t x_begin = first.address + static_cast<std::uintptr_t>(x.begin);
    const std::uintptr_t x_end = first.address + static_cast<std::uintptr_t>(x.end);
    const std::uintptr_t y_begin = second.address + static_cast<std::uintptr_t>(y.begin);
    const std::uintptr_t y_end = second.address + static_cast<std::uintptr_t>(y.end);
    return !(x_end <= y_begin || y_end <= x_begin);
}

[[nodiscard]] inline bool oracle_conflict(const OpList& list, OpIndex a, OpIndex b) noexcept {
    for (const AccessRecord& x : list.accesses(a)) {
        for (const AccessRecord& y : list.accesses(b)) {
            if (oracle_conflict(list, x, y)) return true;
        }
    }
    return false;
}

}  // namespace detail

/// Checks that every pair of conflicting ops is ordered as recorded, that edges are sound, and, with `minimal`, that
/// none could be left out.
/// Cost: ops² x accesses² + ops x edges; ops² bits of memory.
[[nodiscard]] inline Verdict verify(const OpList& list, const Dag& dag, bool minimal = true) noexcept {
    using Kind = Verdict::Kind;
    const std::uint32_t count = list.size();
    if (dag.size() != count) return {Kind::bad_edge};
    // reach[b * count + a]: a comes before b in every order.
    detail::Array<bool> reach;
    if (!reach.resize(std::size_t{count} * count, false)) return {Kind::out_of_memory};
    const auto row = [&](std::uint32_t op) { return reach.data() + std::size_t{op} * count; };
    for (std::uint32_t b = 0; b < count; ++b) {
        const auto op_b = static_cast<OpIndex>(b);
        const Span<const OpIndex> edges = dag.dependencies(op_b);
        for (std::size_t e = 0; e < edges.size(); ++e) {
            if (edges[e] >= op_b || (e > 0 && edges[e] <= edges[e - 1])) return {Kind::bad_edge, edges[e], op_b};
        }
        for (const OpIndex edge : edges) {
            row(b)[to_integer(edge)] = true;
            for (std::uint32_t a = 0; a < to_integer(edge); ++a) row(b)[a] = row(b)[a] || row(to_integer(edge))[a];
        }
        for (std::uint32_t a = 0; a < b; ++a) {
            if (!row(b)[a] && detail::oracle_conflict(list, static_cast<OpIndex>(a), op_b)) {
                return {Kind::not_ordered, static_cast<OpIndex>(a), op_b};
            }
        }
        if (!minimal) continue;
        for (const OpIndex edge : edges) {
            if (!detail::oracle_conflict(list, edge, op_b)) return {Kind::needless_edge, edge, op_b};
            for (const OpIndex other : edges) {
                if (other != edge && row(to_integer(other))[to_integer(edge)]) return {Kind::needless_edge, edge, op_b};
            }
        }
    }
    return {};
}

}  // namespace graphjit::inline v0
