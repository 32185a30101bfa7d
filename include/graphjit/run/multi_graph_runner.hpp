// A recording as the backend's own kind of graph, replayed.
#pragma once

#include <graphjit/run/backend_runner.hpp>

namespace graphjit::inline v0 {

/// Runs a recording as a native graph of `Backend`, on all its devices.
/// Lifetime: owns its argument blocks and native objects; destruction waits for launches in flight. Holds no input
///           beyond its address.
template <class Backend>
class MultiGraphRunner : public BackendRunner<MultiGraphRunner<Backend>, Backend> {
    using Base = BackendRunner<MultiGraphRunner<Backend>, Backend>;
    using Base::backend_;

public:
    /// Plans and builds. `planner` may be kept to make the next plan cheaper.
    /// Errors: out_of_memory, dims_limit, unsupported, and what the backend reports; then nothing is left behind.
    [[nodiscard]] static Result<MultiGraphRunner> instantiate(OpListOf<Backend>&& list, Planner& planner) {
        Result<Dag> dag = planner.plan(list);
        if (!dag) return dag.status();
        return instantiate(std::move(list), std::move(*dag));
    }
    /// Pre: `dag` is the plan of `list`.
    [[nodiscard]] static Result<MultiGraphRunner> instantiate(OpListOf<Backend>&& list, Dag&& dag) {
        Backend backend = list.backend();
        Result<typename Backend::NativeExec> exec = build_native(backend, list, dag);
        if (!exec) return exec.status();
        MultiGraphRunner runner(std::move(list), std::move(dag), std::move(backend), std::move(*exec));
        if (Status status = runner.build(); !status.ok()) return status;
        return runner;
    }

    /// Waits for the last replay. Errors: what went wrong on the device.
    [[nodiscard]] Status wait() noexcept { return backend_.wait(exec_); }
    /// Whether the last replay is over.
    [[nodiscard]] bool poll() noexcept {
        if constexpr (has_poll<Backend>) return backend_.poll(exec_);
        return true;
    }

    [[nodiscard]] typename Backend::NativeExec& native() noexcept { return exec_; }

private:
    friend GraphRunner<MultiGraphRunner>;
    friend ReplayChecks<MultiGraphRunner>;
    static constexpr bool tells_native = has_update<Backend>;

    MultiGraphRunner(OpList&& list, Dag&& dag, Backend&& backend, typename Backend::NativeExec&& exec) noexcept
        : Base(std::move(list), std::move(dag), std::move(backend)), exec_(std::move(exec)) {}

    [[nodiscard]] static Result<typename Backend::NativeExec> build_native(Backend& backend, const OpList& list,
                                                                           const Dag& dag) {
        if (Status status = check_ops(backend, list); !status.ok()) return status;
        Result<typename Backend::NativeGraph> graph = backend.create(list);
        if (!graph) return graph.status();
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            const OpView view{op, &list.op(op), list.block(op), list.name(op)};
            if (Status status = backend.add_node(*graph, view, dag.dependencies(op)); !status.ok()) return status;
        }
        return backend.instantiate(std::move(*graph));
    }

    [[nodiscard]] static Status check_ops(const Backend& backend, const OpList& list) noexcept {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const auto op = static_cast<OpIndex>(i);
            if (Status status = detail::check_recorded_dims(list, op, Backend::limits); !status.ok()) return status;
            if constexpr (has_supports<Backend>) {
                if (Status status = backend.supports({op, &list.op(op), list.block(op), list.name(op)}); !status.ok()) {
                    return status;
                }
            }
        }
        return {};
    }

    [[nodiscard]] std::byte* block_of(OpIndex op) noexcept { return backend_.block(exec_, op); }
    [[nodiscard]] Status submit() noexcept { return backend_.launch(exec_); }
    [[nodiscard]] Status update_native(OpIndex op) noexcept { return backend_.update(exec_, this->view(op)); }
    typename Backend::NativeExec exec_;
};

/// Ends a recording, plans it and builds the native graph.
template <class Backend>
[[nodiscard]] Result<MultiGraphRunner<Backend>> instantiate(OpListOf<Backend>&& list) {
    Planner planner;
    return MultiGraphRunner<Backend>::instantiate(std::move(list), planner);
}
template <class Backend>
[[nodiscard]] Result<MultiGraphRunner<Backend>> instantiate(const OpListOf<Backend>& list) {
    Result<OpListOf<Backend>> copy = list.clone();
    if (!copy) return copy.status();
    return instantiate(std::move(*copy));
}
template <class Backend>
[[nodiscard]] Result<MultiGraphRunner<Backend>> instantiate(Recorder<Backend>&& recorder) {
    Result<OpListOf<Backend>> list = std::move(recorder).finish();
    if (!list) return list.status();
    return instantiate(std::move(*list));
}

}  // namespace graphjit::inline v0
