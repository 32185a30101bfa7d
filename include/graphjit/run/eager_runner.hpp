// The same recording, run op by op in recorded order: the fallback, and what replays are compared with.
#pragma once

#include <graphjit/run/backend_runner.hpp>

namespace graphjit::inline v0 {

/// Runs a recording without a native graph: same slots, same checks, same results.
template <class Backend>
class EagerRunner : public OpRunner<EagerRunner<Backend>, Backend> {
    using Base = OpRunner<EagerRunner<Backend>, Backend>;

public:
    /// Errors: out_of_memory, dims_limit.
    [[nodiscard]] static Result<EagerRunner> create(OpListOf<Backend>&& list) noexcept {
        Planner planner;
        Result<Dag> dag = planner.plan(list);
        if (!dag) return dag.status();
        Backend backend = list.backend();
        EagerRunner runner(std::move(list), std::move(*dag), std::move(backend));
        if (Status status = runner.build_ops(); !status.ok()) return status;
        return runner;
    }
    [[nodiscard]] static Result<EagerRunner> create(const OpListOf<Backend>& list) noexcept {
        Result<OpListOf<Backend>> copy = list.clone();
        if (!copy) return copy.status();
        return create(std::move(*copy));
    }

private:
    friend GraphRunner<EagerRunner>;
    friend ReplayChecks<EagerRunner>;
    using Base::Base, Base::block_of, Base::has_images, Base::is_told, Base::tells_inputs, Base::tells_native;

    [[nodiscard]] Status submit() noexcept {
        for (std::uint32_t i = 0; i < this->ops().size(); ++i) {
            if (Status status = this->run(static_cast<OpIndex>(i)); !status.ok()) return status;
        }
        return {};
    }
};

}  // namespace graphjit::inline v0
