// What a backend must have, said once and checked in sentences. docs/adding_a_backend.md has a section per line.
#pragma once

#include <graphjit/base/launch_dims.hpp>
#include <graphjit/base/result.hpp>
#include <graphjit/base/span.hpp>
#include <graphjit/record/op_list.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace graphjit::inline v0 {

/// The most a launch may ask for. A backend names the source of each number.
struct BackendLimits {
    Extent<std::uint32_t> groups = {0xffff'ffffu, 0xffff'ffffu, 0xffff'ffffu};
    Extent<std::uint32_t> group_size = {0xffff'ffffu, 0xffff'ffffu, 0xffff'ffffu};
    std::uint64_t group_items = ~std::uint64_t{0};  // over all axes
    std::uint32_t shared_bytes = 0xffff'ffffu;
};

/// Of a graph's blocks at most: see `has_images`.
inline constexpr std::uint32_t most_images = 8;

namespace detail {
/// What one of the dims may be: 0 to 2 are the groups, 3 to 5 the group size, which is never empty, 6 the shared bytes.
[[nodiscard]] constexpr Bounds dim_bounds(const BackendLimits& limits, unsigned dim) noexcept {
    const std::uint32_t most[] = {limits.groups.x,     limits.groups.y,     limits.groups.z,    limits.group_size.x,
                                  limits.group_size.y, limits.group_size.z, limits.shared_bytes};
    return {is_group_dim(dim) ? 1 : 0, std::int64_t{most[dim]}};
}
}  // namespace detail

/// An op as a backend sees it.
/// Lifetime: for the call it is given to.
struct OpView {
    OpIndex index = OpIndex::none;
    const OpRecord* record = nullptr;
    const std::byte* block = nullptr;  // the arguments, as `record->info` lays them out
    Span<const char> name;

    /// An error that names this op.
    [[nodiscard]] GRAPHJIT_COLD Error error(ErrorCode code, const char* sentence) const noexcept {
        Error error;
        error.code = code;
        error.text = sentence;
        return this->error(error);
    }
    [[nodiscard]] GRAPHJIT_COLD Error error(Error error) const noexcept {
        error.op = index;
        error.op_name = ShortName(name);
        return error;
    }
};

/// Memory as a backend sees it: what was registered, or what an input is about to be.
struct MemoryView {
    const MemoryRecord* memory = nullptr;  // as recorded
    MemoryIndex index = MemoryIndex::none;
    const std::byte* data = nullptr;
    std::int64_t bytes = 0;
    DeviceId device = {};
};

template <class B>
concept has_kernel_family = requires { typename B::kernel_family; };
template <class B>
concept has_limits = requires {
    { B::limits } -> std::convertible_to<BackendLimits>;
};
template <class B>
concept has_native_graph = requires { typename B::NativeGraph; } &&
                           std::is_nothrow_move_constructible_v<typename B::NativeGraph>;
template <class B>
concept has_native_exec = requires { typename B::NativeExec; } &&
                          std::is_nothrow_move_constructible_v<typename B::NativeExec>;
template <class B>
concept has_create = requires(B& b, const OpList& list) {
    { b.create(list) } -> std::same_as<Result<typename B::NativeGraph>>;
};
template <class B>
concept has_add_node = requires(B& b, typename B::NativeGraph& graph, const OpView& op, Span<const OpIndex> after) {
    { b.add_node(graph, op, after) } -> std::same_as<Status>;
};
template <class B>
concept has_instantiate = requires(B& b, typename B::NativeGraph&& graph) {
    { b.instantiate(std::move(graph)) } -> std::same_as<Result<typename B::NativeExec>>;
};
template <class B>
concept has_block = requires(B& b, typename B::NativeExec& exec, OpIndex op) {
    { b.block(exec, op) } -> std::same_as<std::byte*>;
};
template <class B>
concept has_launch = requires(B& b, typename B::NativeExec& exec) {
    { b.launch(exec) } -> std::same_as<Status>;
};
template <class B>
concept has_wait = requires(B& b, typename B::NativeExec& exec) {
    { b.wait(exec) } -> std::same_as<Status>;
};
template <class B>
concept has_run = requires(B& b, const OpView& op) {
    { b.run(op) } -> std::same_as<Status>;
};

template <class B>
concept launch_is_noexcept = requires(B& b, typename B::NativeExec& exec) {
    { b.launch(exec) } noexcept;
};
template <class B>
concept wait_is_noexcept = requires(B& b, typename B::NativeExec& exec) {
    { b.wait(exec) } noexcept;
};
template <class B>
concept run_is_noexcept = requires(B& b, const OpView& op) {
    { b.run(op) } noexcept;
};

/// Optional: told of each op whose block changed, once per replay, before the launch.
template <class B>
concept has_update = requires(B& b, typename B::NativeExec& exec, const OpView& op) { b.update(exec, op); };
template <class B>
concept update_is_noexcept = requires(B& b, typename B::NativeExec& exec, const OpView& op) {
    { b.update(exec, op) } noexcept -> std::same_as<Status>;
};
/// Optional: the device reads the arguments of kernels from their blocks, so that `update` is only for what changed in
/// a copy, a fill, or the launch dims.
template <class B>
concept has_arguments_in_memory = requires { requires B::arguments_in_memory; };
/// Optional: says before anything native exists that it cannot take an op.
template <class B>
concept has_supports = requires(const B& b, const OpView& op) {
    { b.supports(op) } noexcept -> std::same_as<Status>;
};
/// Optional: whether memory of the device `given` may be bound where memory of `recorded` was recorded; without it only
/// the recorded device is accepted.
/// Optional: a launch on a place that the user names.
template <class B, class Place>
concept has_launch_on = requires(B& b, typename B::NativeExec& exec, const Place& place) {
    { b.launch(exec, place) } noexcept -> std::same_as<Status>;
};
template <class B>
concept has_reaches = requires(const B& b, DeviceId recorded, DeviceId given) {
    { b.reaches(recorded, given) } noexcept -> std::same_as<bool>;
};
/// Optional: whether all launches are over, without waiting. Without it a launch is over when it returns.
template <class B>
concept has_poll = requires(B& b, typename B::NativeExec& exec) {
    { b.poll(exec) } noexcept -> std::same_as<bool>;
};

/// Optional: told of each input that changed before anything is written; may refuse.
template <class B>
concept has_bind_input = requires(B& b, typename B::NativeExec& exec, const MemoryView& input) {
    { b.bind_input(exec, input) } noexcept -> std::same_as<Status>;
};
/// Optional: launches and waits in one call, where that is cheaper than one after the other.
template <class B>
concept has_launch_and_wait = requires(B& b, typename B::NativeExec& exec) {
    { b.launch_and_wait(exec) } noexcept -> std::same_as<Status>;
};
/// Optional: a device that reads blocks while it runs keeps several images of them, `image_stride` bytes apart, of
/// which each launch reads one. `next_image` says which, once nothing reads it any more.
template <class B>
concept has_images = requires(B& b, typename B::NativeExec& exec) {
    { b.image_count(exec) } noexcept -> std::same_as<std::uint32_t>;
    { b.image_stride(exec) } noexcept -> std::same_as<std::size_t>;
    { b.next_image(exec) } noexcept -> std::same_as<std::uint32_t>;
};

/// Optional members that are there by name but not as they must be would be passed over in silence.
template <class B>
concept optional_members_fit = (has_update<B> || !requires { &B::update; }) &&
                               (has_supports<B> || !requires { &B::supports; }) &&
                               (has_reaches<B> || !requires { &B::reaches; }) &&
                               (has_poll<B> || !requires { &B::poll; }) &&
                               (has_bind_input<B> || !requires { &B::bind_input; }) &&
                               (has_launch_and_wait<B> || !requires { &B::launch_and_wait; }) &&
                               (has_images<B> || !(requires { &B::next_image; } || requires { &B::image_count; }));

/// The whole contract.
template <class B>
concept graph_backend = std::is_nothrow_move_constructible_v<B> && std::copy_constructible<B> && has_kernel_family<B> &&
                        has_limits<B> && has_native_graph<B> && has_native_exec<B> && has_create<B> &&
                        has_add_node<B> && has_instantiate<B> && has_block<B> && has_launch<B> &&
                        launch_is_noexcept<B> && has_wait<B> && wait_is_noexcept<B> && has_run<B> &&
                        run_is_noexcept<B> && optional_members_fit<B> && (!has_update<B> || update_is_noexcept<B>);

namespace detail {

/// The same, one sentence a fault: a constrained class head would show only the first one on clang, and none on g++.
template <class B>
consteval bool check_backend() {
#define GRAPHJIT_MORE " See docs/adding_a_backend.md"
    static_assert(std::is_nothrow_move_constructible_v<B>,
                  "graphjit: a backend must be nothrow-movable." GRAPHJIT_MORE);
    static_assert(std::copy_constructible<B>,
                  "graphjit: a backend must be copyable: each runner has its own." GRAPHJIT_MORE);
    static_assert(
        has_supports<B> || !requires { &B::supports; },
        "graphjit: backend's supports() must be supports(const OpView&) const noexcept -> Status." GRAPHJIT_MORE);
    static_assert(
        has_reaches<B> || !requires { &B::reaches; },
        "graphjit: backend's reaches() must be reaches(DeviceId, DeviceId) const noexcept -> bool." GRAPHJIT_MORE);
    static_assert(has_kernel_family<B>, "graphjit: backend lacks the type kernel_family." GRAPHJIT_MORE);
    static_assert(has_limits<B>, "graphjit: backend lacks static constexpr BackendLimits limits." GRAPHJIT_MORE);
    static_assert(has_native_graph<B>, "graphjit: backend lacks a nothrow-movable type NativeGraph." GRAPHJIT_MORE);
    static_assert(has_native_exec<B>, "graphjit: backend lacks a nothrow-movable type NativeExec." GRAPHJIT_MORE);
    static_assert(has_run<B>, "graphjit: backend lacks run(const OpView&) -> Status." GRAPHJIT_MORE);
    if constexpr (has_run<B>) {
        static_assert(run_is_noexcept<B>, "graphjit: run() is on the replay path and must be noexcept." GRAPHJIT_MORE);
    }
    if constexpr (has_native_graph<B> && has_native_exec<B>) {
        static_assert(has_create<B>,
                      "graphjit: backend lacks create(const OpList&) -> Result<NativeGraph>." GRAPHJIT_MORE);
        static_assert(has_add_node<B>,
                      "graphjit: backend lacks add_node(NativeGraph&, const OpView&, Span<const OpIndex>) "
                      "-> Status." GRAPHJIT_MORE);
        static_assert(has_instantiate<B>,
                      "graphjit: backend lacks instantiate(NativeGraph&&) -> Result<NativeExec>." GRAPHJIT_MORE);
        static_assert(has_block<B>, "graphjit: backend lacks block(NativeExec&, OpIndex) -> std::byte*." GRAPHJIT_MORE);
        static_assert(has_launch<B>, "graphjit: backend lacks launch(NativeExec&) -> Status." GRAPHJIT_MORE);
        static_assert(has_wait<B>, "graphjit: backend lacks wait(NativeExec&) -> Status." GRAPHJIT_MORE);
        if constexpr (has_launch<B>) {
            static_assert(launch_is_noexcept<B>,
                          "graphjit: launch() is on the replay path and must be noexcept." GRAPHJIT_MORE);
        }
        if constexpr (has_wait<B>) {
            static_assert(wait_is_noexcept<B>,
                          "graphjit: wait() is on the replay path and must be noexcept." GRAPHJIT_MORE);
        }
        static_assert(
            has_update<B> || !requires { &B::update; }, "graphjit: backend's update() must be update(NativeExec&, "
                                                        "const OpView&) noexcept -> Status." GRAPHJIT_MORE);
        static_assert(
            has_poll<B> || !requires { &B::poll; },
            "graphjit: backend's poll() must be poll(NativeExec&) noexcept -> bool." GRAPHJIT_MORE);
        static_assert(
            has_bind_input<B> || !requires { &B::bind_input; },
            "graphjit: backend's bind_input() must be bind_input(NativeExec&, const MemoryView&) "
            "noexcept -> Status." GRAPHJIT_MORE);
        static_assert(
            has_launch_and_wait<B> || !requires { &B::launch_and_wait; },
            "graphjit: backend's launch_and_wait() must be launch_and_wait(NativeExec&) "
            "noexcept -> Status." GRAPHJIT_MORE);
        static_assert(
            has_images<B> || !(
                                 requires { &B::next_image; } || requires { &B::image_count; }),
            "graphjit: images need image_count(NativeExec&) noexcept -> std::uint32_t, image_stride(NativeExec&) "
            "noexcept -> std::size_t and next_image(NativeExec&) noexcept -> std::uint32_t." GRAPHJIT_MORE);
        if constexpr (has_update<B>) {
            static_assert(
                update_is_noexcept<B>,
                "graphjit: update() is on the replay path and must be noexcept and return Status." GRAPHJIT_MORE);
        }
    }
#undef GRAPHJIT_MORE
    return true;
}

}  // namespace detail
}  // namespace graphjit::inline v0
