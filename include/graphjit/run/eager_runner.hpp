// The same recording, run op by op in recorded order: the fallback, and what replays are compared with.
#pragma once

#include <graphjit/record/recorder.hpp>
#include <graphjit/run/dims_check.hpp>
#include <graphjit/run/graph_runner.hpp>

namespace graphjit::inline v0 {

/// Runs a recording without a native graph: same slots, same checks, same results.
template <class Backend>
class EagerRunner : public GraphRunner<EagerRunner<Backend>> {
    static_assert(detail::check_backend<Backend>());
    using Base = GraphRunner<EagerRunner<Backend>>;

public:
    /// Errors: out_of_memory, dims_limit.
    [[nodiscard]] static Result<EagerRunner> create(OpListOf<Backend>&& list) noexcept {
        Planner planner;
        Result<Dag> dag = planner.plan(list);
        if (!dag) return dag.status();
        Backend backend = list.backend();
        EagerRunner runner(std::move(list), std::move(*dag), std::move(backend));
        if (Status status = runner.copy_blocks(); !status.ok()) return status;
        if (Status status = runner.build(); !status.ok()) return status;
        return runner;
    }
    [[nodiscard]] static Result<EagerRunner> create(const OpListOf<Backend>& list) noexcept {
        Result<OpListOf<Backend>> copy = list.clone();
        if (!copy) return copy.status();
        return create(std::move(*copy));
    }

    EagerRunner(EagerRunner&&) noexcept = default;
    EagerRunner& operator=(EagerRunner&&) noexcept = default;

    /// Each op is over when `replay` returns.
    [[nodiscard]] Status wait() noexcept { return {}; }

private:
    friend Base;
    friend ReplayChecks<EagerRunner>;
    static constexpr bool tells_native = false;

    EagerRunner(OpList&& list, Dag&& dag, Backend&& backend) noexcept
        : Base(std::move(list), std::move(dag)), backend_(std::move(backend)) {}

    [[nodiscard]] Status copy_blocks() noexcept {
        for (std::uint32_t i = 0; i < this->ops().size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            if (Status status = detail::check_recorded_dims(this->ops(), op, Backend::limits); !status.ok())
                return status;
        }
        const Span<const std::byte> blocks = this->ops().blocks();
        if (blocks_.append_copy(blocks.data(), blocks.size())) return {};
        return this->ops().error(ErrorCode::out_of_memory, "no memory for the blocks of an eager run");
    }

    [[nodiscard]] Status submit() noexcept {
        for (std::uint32_t i = 0; i < this->ops().size(); ++i) {
            if (Status status = backend_.run(this->view(static_cast<OpIndex>(i))); !status.ok()) return status;
        }
        return {};
    }

    [[nodiscard]] std::byte* block_of(OpIndex op) noexcept { return blocks_.data() + this->ops().op(op).block; }
    [[nodiscard]] static constexpr BackendLimits limits() noexcept { return Backend::limits; }
    [[nodiscard]] bool reaches(DeviceId device, DeviceId memory) const noexcept {
        if constexpr (has_reaches<Backend>) return backend_.reaches(device, memory);
        return false;
    }

    [[no_unique_address]] Backend backend_;
    detail::Array<std::byte> blocks_;
};

}  // namespace graphjit::inline v0
