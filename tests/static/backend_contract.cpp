// Which types are backends: a yes list, and for each clause of `graph_backend` types that fail that clause alone.
#include <graphjit/run/contract.hpp>

#include <graphjit/graph.hpp>

namespace gj = graphjit;

namespace test {

/// Nothing but what the contract asks for, and none of it `const` or `static`; native objects are not copyable.
struct Minimal {
    struct NativeGraph {
        NativeGraph() = default;
        NativeGraph(NativeGraph&&) noexcept = default;
    };
    struct NativeExec {
        NativeExec(NativeExec&&) noexcept = default;
    };
    using kernel_family = gj::HostFamily;
    static constexpr gj::BackendLimits limits = {};

    gj::Result<NativeGraph> create(const gj::OpList&);
    gj::Status add_node(NativeGraph&, const gj::OpView&, gj::Span<const gj::OpIndex>);
    gj::Result<NativeExec> instantiate(NativeGraph&&);
    std::byte* block(NativeExec&, gj::OpIndex);
    gj::Status launch(NativeExec&) noexcept;
    gj::Status wait(NativeExec&) noexcept;
    gj::Status run(const gj::OpView&) noexcept;
};

// --- The clauses, one bit each ---------------------------------------------------------------------------------------

enum Clause : unsigned {
    nothrow_move = 1u << 0,
    kernel_family = 1u << 1,
    limits = 1u << 2,
    native_graph = 1u << 3,
    native_exec = 1u << 4,
    create = 1u << 5,
    add_node = 1u << 6,
    instantiate = 1u << 7,
    block = 1u << 8,
    launch = 1u << 9,
    launch_noexcept = 1u << 10,
    wait = 1u << 11,
    wait_noexcept = 1u << 12,
    run = 1u << 13,
    run_noexcept = 1u << 14,
    update_noexcept = 1u << 15,
    copyable = 1u << 16,
    optional_members = 1u << 17,
};

template <class B>
constexpr unsigned failed_clauses() {
    unsigned failed = 0;
    const auto clause = [&](bool holds, Clause bit) { failed |= holds ? 0u : static_cast<unsigned>(bit); };
    clause(std::is_nothrow_move_constructible_v<B>, nothrow_move);
    clause(gj::has_kernel_family<B>, kernel_family);
    clause(gj::has_limits<B>, limits);
    clause(gj::has_native_graph<B>, native_graph);
    clause(gj::has_native_exec<B>, native_exec);
    clause(gj::has_create<B>, create);
    clause(gj::has_add_node<B>, add_node);
    clause(gj::has_instantiate<B>, instantiate);
    clause(gj::has_block<B>, block);
    clause(gj::has_launch<B>, launch);
    clause(gj::launch_is_noexcept<B>, launch_noexcept);
    clause(gj::has_wait<B>, wait);
    clause(gj::wait_is_noexcept<B>, wait_noexcept);
    clause(gj::has_run<B>, run);
    clause(gj::run_is_noexcept<B>, run_noexcept);
    clause(!gj::has_update<B> || gj::update_is_noexcept<B>, update_noexcept);
    clause(std::copy_constructible<B>, copyable);
    clause(gj::optional_members_fit<B>, optional_members);
    return failed;
}

template <class B>
inline constexpr bool accepted = gj::graph_backend<B> && failed_clauses<B>() == 0;
/// `B` fails these clauses, no other one, and so the contract.
template <class B, unsigned Clauses>
inline constexpr bool refused = !gj::graph_backend<B> && failed_clauses<B>() == Clauses;

// --- Yes -------------------------------------------------------------------------------------------------------------

static_assert(accepted<Minimal>);
static_assert(accepted<gj::CpuBackend>);
static_assert(accepted<gj::NullBackend>);

struct WithUpdate : Minimal {
    gj::Status update(NativeExec&, const gj::OpView&) noexcept;
};
static_assert(accepted<WithUpdate> && gj::has_update<WithUpdate>);

/// Whoever promises more than is asked for is a backend, too.
struct ConstAndStatic : Minimal {
    static gj::Result<NativeGraph> create(const gj::OpList&) noexcept;
    gj::Status launch(const NativeExec&) const noexcept;
    gj::Status wait(NativeExec&, int milliseconds = 0) const noexcept;
};
static_assert(accepted<ConstAndStatic>);

/// A device that needs no graph of its own to build an executable from.
struct OneNativeType : Minimal {
    using NativeExec = NativeGraph;
    gj::Result<NativeExec> instantiate(NativeGraph&&);
    std::byte* block(NativeExec&, gj::OpIndex);
    gj::Status launch(NativeExec&) noexcept;
    gj::Status wait(NativeExec&) noexcept;
};
static_assert(accepted<OneNativeType>);

// --- No: one or more types for each clause ---------------------------------------------------------------------------
// A declaration hides the inherited one, also when it is private or deleted.

static_assert(failed_clauses<int>() != 0 && !gj::graph_backend<int>);
static_assert(!gj::graph_backend<void>);

struct MoveMayThrow : Minimal {
    MoveMayThrow(const MoveMayThrow&);
    MoveMayThrow(MoveMayThrow&&) noexcept(false);
};
static_assert(refused<MoveMayThrow, nothrow_move>);
struct Immovable : Minimal {
    Immovable(Immovable&&) = delete;
};
static_assert(refused < Immovable, nothrow_move | copyable >);
struct MovesOnly : Minimal {
    MovesOnly(MovesOnly&&) noexcept;
};
static_assert(refused<MovesOnly, copyable>, "each runner has a backend of its own");

struct NoFamily : Minimal {
private:
    using kernel_family = int;
};
static_assert(refused<NoFamily, kernel_family>);

struct NoLimits : Minimal {
private:
    static constexpr gj::BackendLimits limits = {};
};
static_assert(refused<NoLimits, limits>);
struct OtherLimits : Minimal {
    static constexpr int limits = 1024;
};
static_assert(refused<OtherLimits, limits>);

struct NoNativeGraph : Minimal {
private:
    struct NativeGraph {};
};
static_assert(refused < NoNativeGraph, native_graph | create | add_node | instantiate >);
struct GraphMoveMayThrow : Minimal {
    struct NativeGraph {
        NativeGraph(NativeGraph&&) noexcept(false);
    };
};
// `create` and the others still speak of the inherited type.
static_assert(refused < GraphMoveMayThrow, native_graph | create | add_node | instantiate >);

struct NoNativeExec : Minimal {
private:
    struct NativeExec {};
};
static_assert(refused < NoNativeExec,
              native_exec | instantiate | block | launch | launch_noexcept | wait | wait_noexcept >);

struct NoCreate : Minimal {
    void create() = delete;
};
static_assert(refused<NoCreate, create>);
struct CreateReturnsGraph : Minimal {
    NativeGraph create(const gj::OpList&);
};
static_assert(refused<CreateReturnsGraph, create>, "a build may fail, so it returns a Result");
struct CreateTakesMutableList : Minimal {
    gj::Result<NativeGraph> create(gj::OpList&);
};
static_assert(refused<CreateTakesMutableList, create>);

struct NoAddNode : Minimal {
    void add_node() = delete;
};
static_assert(refused<NoAddNode, add_node>);
struct AddNodeReturnsNothing : Minimal {
    void add_node(NativeGraph&, const gj::OpView&, gj::Span<const gj::OpIndex>);
};
static_assert(refused<AddNodeReturnsNothing, add_node>);
struct AddNodeWithoutOrder : Minimal {
    gj::Status add_node(NativeGraph&, const gj::OpView&);
};
static_assert(refused<AddNodeWithoutOrder, add_node>);

struct NoInstantiate : Minimal {
    void instantiate() = delete;
};
static_assert(refused<NoInstantiate, instantiate>);
struct InstantiateReturnsExec : Minimal {
    NativeExec instantiate(NativeGraph&&);
};
static_assert(refused<InstantiateReturnsExec, instantiate>);
struct InstantiateTakesLvalue : Minimal {
    gj::Result<NativeExec> instantiate(NativeGraph&);
};
static_assert(refused<InstantiateTakesLvalue, instantiate>, "the graph is used up");

struct NoBlock : Minimal {
    void block() = delete;
};
static_assert(refused<NoBlock, block>);
struct BlockIsConst : Minimal {
    const std::byte* block(NativeExec&, gj::OpIndex);
};
static_assert(refused<BlockIsConst, block>, "replays write there");
struct BlockByNumber : Minimal {
    std::byte* block(NativeExec&, unsigned);
};
static_assert(refused<BlockByNumber, block>, "an OpIndex is no number");

struct NoLaunch : Minimal {
    void launch() = delete;
};
static_assert(refused < NoLaunch, launch | launch_noexcept >);
struct LaunchReturnsNothing : Minimal {
    void launch(NativeExec&) noexcept;
};
static_assert(refused<LaunchReturnsNothing, launch>);
struct LaunchMayThrow : Minimal {
    gj::Status launch(NativeExec&);
};
static_assert(refused<LaunchMayThrow, launch_noexcept>);

struct NoWait : Minimal {
    void wait() = delete;
};
static_assert(refused < NoWait, wait | wait_noexcept >);
struct WaitReturnsBool : Minimal {
    bool wait(NativeExec&) noexcept;
};
static_assert(refused<WaitReturnsBool, wait>);
struct WaitMayThrow : Minimal {
    gj::Status wait(NativeExec&);
};
static_assert(refused<WaitMayThrow, wait_noexcept>);

struct NoRun : Minimal {
    void run() = delete;
};
static_assert(refused < NoRun, run | run_noexcept >);
struct RunReturnsNothing : Minimal {
    void run(const gj::OpView&) noexcept;
};
static_assert(refused<RunReturnsNothing, run>);
struct RunMayThrow : Minimal {
    gj::Status run(const gj::OpView&);
};
static_assert(refused<RunMayThrow, run_noexcept>);

struct UpdateMayThrow : Minimal {
    gj::Status update(NativeExec&, const gj::OpView&);
};
static_assert(refused<UpdateMayThrow, update_noexcept>);
struct UpdateReturnsNothing : Minimal {
    void update(NativeExec&, const gj::OpView&) noexcept;
};
static_assert(refused<UpdateReturnsNothing, update_noexcept>);

// --- Optional parts: present only as they should be, and never in the way of the contract ----------------------------

static_assert(!gj::has_update<Minimal> && !gj::has_supports<Minimal> && !gj::has_reaches<Minimal> &&
              !gj::has_poll<Minimal>);
static_assert(!gj::has_update<gj::CpuBackend>, "on the CPU a block is where the op reads it");

struct WithOptions : Minimal {
    gj::Status supports(const gj::OpView&) const noexcept;
    bool reaches(gj::DeviceId, gj::DeviceId) const noexcept;
    bool poll(NativeExec&) noexcept;
};
static_assert(accepted<WithOptions>);
static_assert(gj::has_supports<WithOptions> && gj::has_reaches<WithOptions> && gj::has_poll<WithOptions>);

static_assert(!gj::has_bind_input<Minimal> && !gj::has_launch_and_wait<Minimal> && !gj::has_images<Minimal> &&
              !gj::has_arguments_in_memory<Minimal>);

struct WithQueues : Minimal {
    static constexpr bool arguments_in_memory = true;
    gj::Status bind_input(NativeExec&, const gj::MemoryView&) noexcept;
    gj::Status launch_and_wait(NativeExec&) noexcept;
    std::uint32_t image_count(NativeExec&) noexcept;
    std::size_t image_stride(NativeExec&) noexcept;
    std::uint32_t next_image(NativeExec&) noexcept;
};
static_assert(accepted<WithQueues>);
static_assert(gj::has_bind_input<WithQueues> && gj::has_launch_and_wait<WithQueues> && gj::has_images<WithQueues> &&
              gj::has_arguments_in_memory<WithQueues>);
struct ArgumentsInCommands : Minimal {
    static constexpr bool arguments_in_memory = false;
};
static_assert(accepted<ArgumentsInCommands> && !gj::has_arguments_in_memory<ArgumentsInCommands>);

// One that is there by name, but not as it must be, would be passed over in silence: so it is refused.
struct SupportsMayThrow : Minimal {
    gj::Status supports(const gj::OpView&) const;
};
static_assert(!gj::has_supports<SupportsMayThrow> && refused<SupportsMayThrow, optional_members>);
struct SupportsReturnsBool : Minimal {
    bool supports(const gj::OpView&) const noexcept;
};
static_assert(!gj::has_supports<SupportsReturnsBool> && refused<SupportsReturnsBool, optional_members>);
struct SupportsChangesTheBackend : Minimal {
    gj::Status supports(const gj::OpView&) noexcept;
};
static_assert(!gj::has_supports<SupportsChangesTheBackend> && refused<SupportsChangesTheBackend, optional_members>);

struct ReachesMayThrow : Minimal {
    bool reaches(gj::DeviceId, gj::DeviceId) const;
};
static_assert(!gj::has_reaches<ReachesMayThrow> && refused<ReachesMayThrow, optional_members>);
struct ReachesReturnsInt : Minimal {
    int reaches(gj::DeviceId, gj::DeviceId) const noexcept;
};
static_assert(!gj::has_reaches<ReachesReturnsInt> && refused<ReachesReturnsInt, optional_members>);
struct ReachesChangesTheBackend : Minimal {
    bool reaches(gj::DeviceId, gj::DeviceId) noexcept;
};
static_assert(!gj::has_reaches<ReachesChangesTheBackend> && refused<ReachesChangesTheBackend, optional_members>);

struct PollMayThrow : Minimal {
    bool poll(NativeExec&);
};
static_assert(!gj::has_poll<PollMayThrow> && refused<PollMayThrow, optional_members>);
struct PollReturnsStatus : Minimal {
    gj::Status poll(NativeExec&) noexcept;
};
static_assert(!gj::has_poll<PollReturnsStatus> && refused<PollReturnsStatus, optional_members>);

struct BindInputMayThrow : Minimal {
    gj::Status bind_input(NativeExec&, const gj::MemoryView&);
};
static_assert(!gj::has_bind_input<BindInputMayThrow> && refused<BindInputMayThrow, optional_members>);
struct BindInputReturnsBool : Minimal {
    bool bind_input(NativeExec&, const gj::MemoryView&) noexcept;
};
static_assert(!gj::has_bind_input<BindInputReturnsBool> && refused<BindInputReturnsBool, optional_members>);

struct LaunchAndWaitMayThrow : Minimal {
    gj::Status launch_and_wait(NativeExec&);
};
static_assert(!gj::has_launch_and_wait<LaunchAndWaitMayThrow> && refused<LaunchAndWaitMayThrow, optional_members>);
struct LaunchAndWaitReturnsNothing : Minimal {
    void launch_and_wait(NativeExec&) noexcept;
};
static_assert(!gj::has_launch_and_wait<LaunchAndWaitReturnsNothing> &&
              refused<LaunchAndWaitReturnsNothing, optional_members>);

struct ImagesWithoutStride : Minimal {
    std::uint32_t image_count(NativeExec&) noexcept;
    std::uint32_t next_image(NativeExec&) noexcept;
};
static_assert(!gj::has_images<ImagesWithoutStride> && refused<ImagesWithoutStride, optional_members>);
struct NextImageMayThrow : WithQueues {
    std::uint32_t next_image(NativeExec&);
};
static_assert(!gj::has_images<NextImageMayThrow> && refused<NextImageMayThrow, optional_members>);
struct ImageCountIsSigned : WithQueues {
    int image_count(NativeExec&) noexcept;
};
static_assert(!gj::has_images<ImageCountIsSigned> && refused<ImageCountIsSigned, optional_members>);

struct UpdateTakesNumber : Minimal {
    gj::Status update(NativeExec&, unsigned) noexcept;
};
static_assert(!gj::has_update<UpdateTakesNumber> && refused<UpdateTakesNumber, optional_members>);

}  // namespace test
