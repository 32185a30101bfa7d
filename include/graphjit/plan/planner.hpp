// From a recording to the order of its ops.
#pragma once

#include <graphjit/base/csr.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/plan/dag.hpp>
#include <graphjit/plan/dependency.hpp>
#include <graphjit/plan/reduction.hpp>
#include <graphjit/plan/regions.hpp>
#include <graphjit/record/op_list.hpp>

namespace graphjit::inline v0 {

/// Makes plans. Keeping one keeps its storage, which is most of the cost of a first plan.
/// The plan depends on the recording alone: not on addresses, hashes, or earlier plans.
/// Threads: one at a time.
class Planner {
public:
    /// Errors: out_of_memory.
    [[nodiscard]] Result<Dag> plan(const OpList& list) noexcept {
        Dag dag;
        if (!plan_into(list, dag)) return list.error(ErrorCode::out_of_memory, "no memory to plan in");
        return dag;
    }

private:
    [[nodiscard]] bool plan_into(const OpList& list, Dag& dag) noexcept {
        if (!regions_.build(list.memories()) || !tracker_.reset(list.size()) || !reduction_.reset(list.size()) ||
            !dag.reserve(list.size()) || !list_aliases(list)) {
            return false;
        }
        for (const std::int64_t bytes : regions_.bytes()) {
            if (!tracker_.add_region(bytes)) return false;
        }
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const Span<const AccessRecord> accesses = list.accesses(op);
            tracker_.start(op);
            for (const AccessRecord& access : accesses) {
                if (!reads(access.access)) continue;
                tracker_.read(regions_.range(access));
                if (has_aliases_) look_at_aliases(access, false);
            }
            for (const AccessRecord& access : accesses) {
                if (!writes(access.access)) continue;
                tracker_.write(regions_.range(access));
                if (has_aliases_) look_at_aliases(access, true);
            }
            const Span<std::uint32_t> found = tracker_.found();
            std::size_t kept = 0;
            if (!reduction_.add_op(found, to_integer(tracker_.overwritten()), kept) ||
                !dag.add_op({found.data(), kept}))
                return false;
        }
        dag.set_minimal(reduction_.exact());
        return !tracker_.failed();
    }

    [[nodiscard]] bool list_aliases(const OpList& list) noexcept {
        has_aliases_ = !list.aliases().empty();
        if (!has_aliases_) return true;
        if (!aliases_.start(list.memories().size())) return false;
        for (const AliasRecord& alias : list.aliases()) {
            aliases_.count(to_integer(alias.a));
            aliases_.count(to_integer(alias.b));
        }
        if (!aliases_.place()) return false;
        for (const AliasRecord& alias : list.aliases()) {
            aliases_.add(to_integer(alias.a), regions_.range(alias.b, list.memory(alias.b).bytes));
            aliases_.add(to_integer(alias.b), regions_.range(alias.a, list.memory(alias.a).bytes));
        }
        return true;
    }

    void look_at_aliases(const AccessRecord& access, bool as_write) noexcept {
        for (const ByteRange& other : aliases_[to_integer(access.memory)]) tracker_.look(other, as_write);
    }

    Regions regions_;
    DependencyTracker tracker_;
    Reduction reduction_;
    detail::Csr<ByteRange> aliases_;  // by memory: what it may be the same as
    bool has_aliases_ = false;
};

}  // namespace graphjit::inline v0
