// Which types are devices for HcqBackend: a yes list, and for each clause of `hcq_device` types that fail that clause
// alone.
#include <graphjit/backend/hcq.hpp>
#include <graphjit/backend/threads.hpp>

namespace gj = graphjit;

namespace test {

/// Nothing but what is asked for, and none of it `const` or `static` but what must be.
struct Minimal {
    using kernel_family = gj::HostFamily;
    using Value = std::uint64_t;
    struct Signal {
        Signal(Signal&&) noexcept = default;
    };
    struct Stream {
        Stream(Stream&&) noexcept = default;
    };
    struct Arguments {
        Arguments(Arguments&&) noexcept = default;
        std::byte* data();
    };
    static constexpr gj::BackendLimits limits = {};
    static constexpr gj::QueueOrder compute_order = gj::QueueOrder::not_kept;
    static constexpr Value max_value = ~Value{0};

    gj::Status open(const gj::OpList&) const;
    gj::Result<gj::QueuePlan> assign(const gj::OpList&, const gj::Dag&, const gj::HcqOptions&) const;
    gj::Result<Signal> make_signal(gj::DeviceId);
    gj::Result<Stream> make_stream(const gj::QueueRecord&, const gj::StreamSize&);
    gj::Result<Arguments> make_arguments(std::size_t);

    gj::Status barrier(Stream&);
    gj::Status wait(Stream&, const Signal&, Value*&);
    gj::Status signal(Stream&, const Signal&, Value*&);
    gj::Status exec(Stream&, const gj::OpView&);
    gj::Status finish(Stream&);

    gj::Status map(gj::DeviceId, const gj::MemoryView&) noexcept;
    gj::Turnstile& turnstile() noexcept;
    gj::Timeline<Signal, Value>& timeline(gj::DeviceId) noexcept;
    gj::Status make_room(Stream&) noexcept;
    bool has_room(Stream&) noexcept;
    void submit(Stream&) noexcept;
    gj::Status take_failure(Stream&) noexcept;
    Value value(const Signal&) noexcept;
    void set_value(const Signal&, Value) noexcept;
    gj::Status wait_change(const Signal&, Value) noexcept;
    gj::Status run(const gj::OpView&) noexcept;
};

// --- The clauses, one bit each ---------------------------------------------------------------------------------------

enum Clause : unsigned {
    types = 1u << 0,
    constants = 1u << 1,
    plans = 1u << 2,
    makes = 1u << 3,
    encodes = 1u << 4,
    maps = 1u << 5,
    submits = 1u << 6,
    awaits = 1u << 7,
    runs = 1u << 8,
    patches = 1u << 9,
    helps = 1u << 10,
    stamps = 1u << 11,
};

template <class D>
constexpr unsigned failed_clauses() {
    unsigned failed = 0;
    const auto clause = [&](bool holds, Clause bit) { failed |= holds ? 0u : static_cast<unsigned>(bit); };
    clause(gj::hcq_has_types<D>, types);
    clause(gj::hcq_has_constants<D>, constants);
    clause(gj::hcq_plans<D>, plans);
    clause(gj::hcq_makes<D>, makes);
    clause(gj::hcq_encodes<D>, encodes);
    clause(gj::hcq_maps<D>, maps);
    clause(gj::hcq_submits<D>, submits);
    clause(gj::hcq_awaits<D>, awaits);
    clause(gj::hcq_runs<D>, runs);
    clause(gj::hcq_patches<D> || !requires { &D::patch; }, patches);
    clause(gj::hcq_helps<D> || !requires { &D::help; }, helps);
    clause(gj::hcq_stamps<D> || !requires { &D::stamp; }, stamps);
    return failed;
}

template <class D>
inline constexpr bool accepted = gj::hcq_device<D> && failed_clauses<D>() == 0;
/// `D` fails these clauses, no other one, and so the contract.
template <class D, unsigned Clauses>
inline constexpr bool refused = !gj::hcq_device<D> && failed_clauses<D>() == Clauses;

// --- Yes -------------------------------------------------------------------------------------------------------------

static_assert(accepted<Minimal> && !gj::hcq_patches<Minimal> && !gj::hcq_helps<Minimal> && !gj::hcq_stamps<Minimal>);
static_assert(gj::graph_backend<gj::HcqBackend<Minimal>> && !gj::has_update<gj::HcqBackend<Minimal>>);
static_assert(gj::has_images<gj::HcqBackend<Minimal>> && gj::has_bind_input<gj::HcqBackend<Minimal>> &&
              gj::has_launch_and_wait<gj::HcqBackend<Minimal>> && gj::has_poll<gj::HcqBackend<Minimal>> &&
              gj::has_arguments_in_memory<gj::HcqBackend<Minimal>>);

static_assert(accepted<gj::ThreadDevice> && gj::hcq_helps<gj::ThreadDevice> && !gj::hcq_patches<gj::ThreadDevice>);
static_assert(gj::graph_backend<gj::ThreadBackend> && gj::graph_backend<gj::ProfiledThreadBackend>);
static_assert(!std::is_same_v<gj::ThreadBackend, gj::ProfiledThreadBackend>);

struct Patches : Minimal {
    gj::Status patch(Stream&, const gj::OpView&) noexcept;
};
static_assert(accepted<Patches> && gj::hcq_patches<Patches>);
struct Stamps : Minimal {
    gj::Status stamp(Stream&, std::uint64_t*);
    gj::ClockPoint read_clock(gj::DeviceId) noexcept;
};
static_assert(accepted<Stamps> && gj::hcq_stamps<Stamps>);
static_assert(gj::graph_backend<gj::HcqBackend<Stamps, gj::Profiling::on>>);
static_assert(gj::graph_backend<gj::HcqBackend<Patches>> && gj::has_update<gj::HcqBackend<Patches>>);

struct Helps : Minimal {
    bool take(Stream&) noexcept;
    void submit(Stream&, bool wakes = true) noexcept;
    void help(Stream&) noexcept;
};
static_assert(accepted<Helps> && gj::hcq_helps<Helps>);

static_assert(!gj::hcq_has_block_prefix<Minimal> && gj::hcq_has_block_prefix<gj::ThreadDevice>);
struct WithPrefix : Minimal {
    static constexpr std::size_t block_prefix = 16;
};
static_assert(accepted<WithPrefix> && gj::hcq_has_block_prefix<WithPrefix>);

struct SmallValue : Minimal {
    using Value = std::uint8_t;
    static constexpr Value max_value = 200;
    gj::Status wait(Stream&, const Signal&, Value*&);
    gj::Status signal(Stream&, const Signal&, Value*&);
    gj::Timeline<Signal, Value>& timeline(gj::DeviceId) noexcept;
    Value value(const Signal&) noexcept;
};
static_assert(accepted<SmallValue>);

// --- No: one or more types for each clause ---------------------------------------------------------------------------

static_assert(!gj::hcq_device<int> && !gj::hcq_device<void>);

struct MovesOnly : Minimal {
    MovesOnly(MovesOnly&&) noexcept;
};
static_assert(refused<MovesOnly, types>, "each graph has a handle of its own");
struct SignedValue : Minimal {
    using Value = std::int64_t;
    gj::Status wait(Stream&, const Signal&, Value*&);
    gj::Status signal(Stream&, const Signal&, Value*&);
    gj::Timeline<Signal, Value>& timeline(gj::DeviceId) noexcept;
    Value value(const Signal&) noexcept;
};
static_assert(refused<SignedValue, types>);
struct StreamMoveMayThrow : Minimal {
    struct Stream : Minimal::Stream {
        Stream(Stream&&) noexcept(false);
    };
    gj::Result<Stream> make_stream(const gj::QueueRecord&, const gj::StreamSize&);
};
static_assert(!gj::hcq_has_types<StreamMoveMayThrow> && !gj::hcq_device<StreamMoveMayThrow>);

struct NoFamily : Minimal {
private:
    using kernel_family = int;
};
static_assert(refused<NoFamily, constants>);
struct OtherLimits : Minimal {
    static constexpr int limits = 1024;
};
static_assert(refused<OtherLimits, constants>);
struct NoOrder : Minimal {
    void compute_order() = delete;
};
static_assert(refused<NoOrder, constants>);
struct NoMaxValue : Minimal {
    void max_value() = delete;
};
static_assert(refused<NoMaxValue, constants>);

struct OpenChangesTheDevice : Minimal {
    gj::Status open(const gj::OpList&);
};
static_assert(refused<OpenChangesTheDevice, plans>);
struct AssignReturnsPlan : Minimal {
    gj::QueuePlan assign(const gj::OpList&, const gj::Dag&, const gj::HcqOptions&) const;
};
static_assert(refused<AssignReturnsPlan, plans>, "memory may run out");

struct MakeSignalReturnsSignal : Minimal {
    Signal make_signal(gj::DeviceId);
};
static_assert(refused<MakeSignalReturnsSignal, makes>);
struct NoMakeStream : Minimal {
    void make_stream() = delete;
};
static_assert(refused<NoMakeStream, makes>);
struct NoMakeArguments : Minimal {
    void make_arguments() = delete;
};
static_assert(refused<NoMakeArguments, makes>);
struct ArgumentsAreConst : Minimal {
    struct Arguments {
        const std::byte* data();
    };
    gj::Result<Arguments> make_arguments(std::size_t);
};
static_assert(refused<ArgumentsAreConst, makes>, "replays write there");

struct NoBarrier : Minimal {
    void barrier() = delete;
};
static_assert(refused<NoBarrier, encodes>);
struct WaitWithoutPlace : Minimal {
    gj::Status wait(Stream&, const Signal&);
};
static_assert(refused<WaitWithoutPlace, encodes>, "each replay waits for another value");
struct SignalWithoutPlace : Minimal {
    gj::Status signal(Stream&, const Signal&);
};
static_assert(refused<SignalWithoutPlace, encodes>);
struct ExecReturnsNothing : Minimal {
    void exec(Stream&, const gj::OpView&);
};
static_assert(refused<ExecReturnsNothing, encodes>);
struct NoFinish : Minimal {
    void finish() = delete;
};
static_assert(refused<NoFinish, encodes>);

struct MapMayThrow : Minimal {
    gj::Status map(gj::DeviceId, const gj::MemoryView&);
};
static_assert(refused<MapMayThrow, maps>);

struct TurnstileByValue : Minimal {
    gj::Turnstile turnstile() noexcept;
};
static_assert(refused<TurnstileByValue, submits>, "all graphs share it");
struct TimelineMayThrow : Minimal {
    gj::Timeline<Signal, Value>& timeline(gj::DeviceId);
};
static_assert(refused<TimelineMayThrow, submits>);
struct MakeRoomMayThrow : Minimal {
    gj::Status make_room(Stream&);
};
static_assert(refused<MakeRoomMayThrow, submits>);
struct SubmitMayFail : Minimal {
    gj::Status submit(Stream&) noexcept;
};
static_assert(refused<SubmitMayFail, submits>, "a graph in some of its queues only would never end");
struct TakeFailureReturnsNothing : Minimal {
    void take_failure(Stream&) noexcept;
};
static_assert(refused<TakeFailureReturnsNothing, submits>);

struct ValueMayThrow : Minimal {
    Value value(const Signal&);
};
static_assert(refused<ValueMayThrow, awaits>);
struct SetValueMayThrow : Minimal {
    void set_value(const Signal&, Value);
};
static_assert(refused<SetValueMayThrow, awaits>);
struct WaitChangeReturnsNothing : Minimal {
    void wait_change(const Signal&, Value) noexcept;
};
static_assert(refused<WaitChangeReturnsNothing, awaits>);

struct RunMayThrow : Minimal {
    gj::Status run(const gj::OpView&);
};
static_assert(refused<RunMayThrow, runs>);

// Optional members that are there by name, but not as they must be, would be passed over in silence: so they are
// refused.
struct PatchMayThrow : Minimal {
    gj::Status patch(Stream&, const gj::OpView&);
};
static_assert(!gj::hcq_patches<PatchMayThrow> && refused<PatchMayThrow, patches>);
struct PatchReturnsNothing : Minimal {
    void patch(Stream&, const gj::OpView&) noexcept;
};
static_assert(!gj::hcq_patches<PatchReturnsNothing> && refused<PatchReturnsNothing, patches>);
struct HelpsWithoutTake : Minimal {
    void submit(Stream&, bool wakes = true) noexcept;
    void help(Stream&) noexcept;
};
static_assert(!gj::hcq_helps<HelpsWithoutTake> && refused<HelpsWithoutTake, helps>);
struct HelpsButWakes : Minimal {
    bool take(Stream&) noexcept;
    void help(Stream&) noexcept;
};
static_assert(!gj::hcq_helps<HelpsButWakes> && refused<HelpsButWakes, helps>);
struct HelpMayThrow : Helps {
    void help(Stream&);
};
static_assert(!gj::hcq_helps<HelpMayThrow> && refused<HelpMayThrow, helps>);
struct StampsWithoutClock : Minimal {
    gj::Status stamp(Stream&, std::uint64_t*);
};
static_assert(!gj::hcq_stamps<StampsWithoutClock> && refused<StampsWithoutClock, stamps>);
struct ClockIsANumber : StampsWithoutClock {
    std::uint64_t read_clock(gj::DeviceId) noexcept;
};
static_assert(!gj::hcq_stamps<ClockIsANumber> && refused<ClockIsANumber, stamps>);

}  // namespace test
