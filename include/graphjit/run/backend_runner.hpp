// What every runner of a backend has, and what the runners that go op by op share.
#pragma once

#include <graphjit/record/recorder.hpp>
#include <graphjit/run/dims_check.hpp>
#include <graphjit/run/graph_runner.hpp>

namespace graphjit::inline v0 {

/// A runner with its backend.
template <class Derived, class Backend>
class BackendRunner : public GraphRunner<Derived> {
    static_assert(detail::check_backend<Backend>());

public:
    [[nodiscard]] Backend& backend() noexcept { return backend_; }
    [[nodiscard]] static constexpr BackendLimits limits() noexcept { return Backend::limits; }
    /// Whether memory of `given` may be bound where memory of `recorded` was recorded.
    [[nodiscard]] bool reaches(DeviceId recorded, DeviceId given) const noexcept {
        if constexpr (has_reaches<Backend>) return backend_.reaches(recorded, given);
        return false;
    }

protected:
    BackendRunner(OpList&& list, Dag&& dag, Backend&& backend) noexcept
        : GraphRunner<Derived>(std::move(list), std::move(dag)), backend_(std::move(backend)) {}
    BackendRunner(BackendRunner&&) noexcept = default;
    BackendRunner& operator=(BackendRunner&&) noexcept = default;

    [[no_unique_address]] Backend backend_;
};

/// A runner that gives its backend one op at a time, from blocks of its own.
template <class Derived, class Backend>
class OpRunner : public BackendRunner<Derived, Backend> {
public:
    /// Each op is over when `replay` returns.
    [[nodiscard]] Status replay_and_wait() noexcept { return this->replay(); }
    [[nodiscard]] Status wait() noexcept { return {}; }
    [[nodiscard]] bool poll() noexcept { return true; }

protected:
    using BackendRunner<Derived, Backend>::BackendRunner;
    static constexpr bool tells_native = false;
    static constexpr bool tells_inputs = false;
    static constexpr bool has_images = false;
    [[nodiscard]] static constexpr bool is_told(const OpRecord&, const Use&) noexcept { return false; }

    /// Errors: out_of_memory, dims_limit.
    [[nodiscard]] Status build_ops() noexcept {
        const OpList& list = this->ops();
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            if (Status status = detail::check_recorded_dims(list, static_cast<OpIndex>(i), Backend::limits);
                !status.ok()) {
                return status;
            }
        }
        if (!blocks_.append_copy(list.blocks().data(), list.blocks().size())) {
            return list.error(ErrorCode::out_of_memory, "no memory for the blocks of a graph");
        }
        return this->build();
    }

    [[nodiscard]] Status run(OpIndex op) noexcept { return this->backend_.run(this->view(op)); }
    [[nodiscard]] std::byte* block_of(OpIndex op) noexcept { return blocks_.data() + this->ops().op(op).block; }

private:
    detail::Array<std::byte> blocks_;
};

}  // namespace graphjit::inline v0
