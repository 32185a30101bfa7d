// The order of ops: unique, transitively reduced edges.
#pragma once

#include <graphjit/base/array.hpp>
#include <graphjit/base/ids.hpp>
#include <graphjit/base/span.hpp>

#include <cstdint>

namespace graphjit::inline v0 {

/// For each op the earlier ops it waits for, in compressed rows. Op numbers are a topological order.
class Dag {
    // Before its use: clang 16 evaluates no template that comes later in the class.
    template <class Index>
    [[nodiscard]] constexpr bool append(Span<Index> dependencies) noexcept {
        OpIndex* place = edges_.append(dependencies.size());
        if (place == nullptr && dependencies.size() != 0) return false;
        for (std::size_t i = 0; i < dependencies.size(); ++i) place[i] = static_cast<OpIndex>(dependencies[i]);
        return ends_.push(static_cast<std::uint32_t>(edges_.size()));
    }

public:
    [[nodiscard]] constexpr std::uint32_t size() const noexcept {
        return ends_.empty() ? 0 : static_cast<std::uint32_t>(ends_.size());
    }
    [[nodiscard]] constexpr std::size_t edge_count() const noexcept { return edges_.size(); }

    /// What the op waits for: ascending, unique, all smaller than `op`.
    [[nodiscard]] constexpr Span<const OpIndex> dependencies(OpIndex op) const noexcept {
        const std::uint32_t i = to_integer(op);
        const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
        return {edges_.data() + begin, ends_[i] - begin};
    }

    /// Whether no edge is implied by others. False only beyond the bound of `Reduction`.
    [[nodiscard]] constexpr bool is_minimal() const noexcept { return minimal_; }

    /// Pre: `dependencies` ascending and unique. Errors: false when memory ran out.
    [[nodiscard]] constexpr bool add_op(Span<const std::uint32_t> dependencies) noexcept {
        return append(dependencies);
    }
    /// The same, from the rows of another `Dag`.
    [[nodiscard]] constexpr bool copy_op(Span<const OpIndex> dependencies) noexcept { return append(dependencies); }
    [[nodiscard]] constexpr bool reserve(std::size_t ops) noexcept { return ends_.reserve(ops); }
    constexpr void set_minimal(bool minimal) noexcept { minimal_ = minimal; }

    [[nodiscard]] constexpr bool copy_from(const Dag& other) noexcept {
        minimal_ = other.minimal_;
        return ends_.copy_from(other.ends_) && edges_.copy_from(other.edges_);
    }

private:
    detail::Array<std::uint32_t> ends_;
    detail::Array<OpIndex> edges_;
    bool minimal_ = true;
};

}  // namespace graphjit::inline v0
