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

    using Base::replay;
    /// The same where the user says, for backends that take such a thing: a CUDA stream, for one.
    template <class Place>
    [[nodiscard]] Status replay(const Place& place) noexcept {
        static_assert(has_launch_on<Backend, Place>, "graphjit: this backend does not launch on what it was given");
        if constexpr (has_launch_on<Backend, Place>) {
            if (Status status = this->prepare(); !status.ok()) [[unlikely]]
                return status;
            return named(backend_.launch(exec_, place));
        }
        return {};
    }

    /// Replays and waits; the calling thread may do part of the work, so that this may take less than the two calls.
    [[nodiscard]] Status replay_and_wait() noexcept {
        if constexpr (has_launch_and_wait<Backend>) {
            if (Status status = this->prepare(); !status.ok()) [[unlikely]]
                return status;
            return named(backend_.launch_and_wait(exec_));
        } else {
            if (Status status = this->replay(); !status.ok()) [[unlikely]]
                return status;
            return wait();
        }
    }
    /// Waits for the last replay. Errors: what went wrong on the device.
    [[nodiscard]] Status wait() noexcept { return named(backend_.wait(exec_)); }
    /// Whether the last replay is over.
    [[nodiscard]] bool poll() noexcept {
        if constexpr (has_poll<Backend>) return backend_.poll(exec_);
        return true;
    }

    /// The backend's executable, or what it owns.
    [[nodiscard]] auto& native() noexcept {
        if constexpr (requires { *exec_; }) {
            return *exec_;
        } else {
            return exec_;
        }
    }

private:
    friend GraphRunner<MultiGraphRunner>;
    friend ReplayChecks<MultiGraphRunner>;
    static constexpr bool tells_native = has_update<Backend>;
    static constexpr bool tells_inputs = has_bind_input<Backend>;
    static constexpr bool has_images = graphjit::has_images<Backend>;

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
    [[nodiscard]] Status submit() noexcept { return named(backend_.launch(exec_)); }
    [[nodiscard]] static constexpr bool is_told(const OpRecord& op, const Use& use) noexcept {
        if constexpr (!tells_native) {
            return false;
        } else if constexpr (has_arguments_in_memory<Backend>) {
            return op.kind == OpKind::copy || op.kind == OpKind::fill || use.kind == UseKind::dim;
        } else {
            return true;
        }
    }
    [[nodiscard]] Status update_native(OpIndex op) noexcept { return backend_.update(exec_, this->view(op)); }
    [[nodiscard]] Status bind_native(const MemoryView& input) noexcept { return backend_.bind_input(exec_, input); }
    [[nodiscard]] std::uint32_t images() noexcept { return backend_.image_count(exec_); }
    [[nodiscard]] std::size_t image_stride() noexcept { return backend_.image_stride(exec_); }
    [[nodiscard]] std::uint32_t next_image() noexcept { return backend_.next_image(exec_); }

    /// A device knows ops by number only.
    [[nodiscard]] Status named(Status status) const noexcept {
        if (status.ok() || status.error().op == OpIndex::none || !status.error().op_name.empty()) [[likely]]
            return status;
        Error error = status.error();
        error.op_name = ShortName(this->ops().name(error.op));
        return error;
    }

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
