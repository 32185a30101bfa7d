// Recordings and runners: moved but never copied, and no step of a replay may throw.
#include <graphjit/graph.hpp>
#include <graphjit/run/adversarial_runner.hpp>

#include <type_traits>
#include <utility>

namespace gj = graphjit;

namespace test {

template <class T>
inline constexpr bool moves_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                                   !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
                                   std::is_nothrow_destructible_v<T>;

using CpuList = gj::OpListOf<gj::CpuBackend>;
using CpuGraph = gj::MultiGraphRunner<gj::CpuBackend>;
using CpuEager = gj::EagerRunner<gj::CpuBackend>;
using CpuAdversary = gj::AdversarialRunner<gj::CpuBackend>;
using NullGraph = gj::MultiGraphRunner<gj::NullBackend>;

static_assert(moves_only<gj::OpList> && moves_only<CpuList> && moves_only<gj::Dag>);
static_assert(moves_only<CpuGraph> && moves_only<CpuEager> && moves_only<CpuAdversary> && moves_only<NullGraph>);
static_assert(moves_only<gj::Result<CpuGraph>> && moves_only<gj::Result<CpuList>> && moves_only<gj::Result<gj::Dag>>);
static_assert(moves_only<gj::Result<int>>, "a Result is looked at once");
static_assert(moves_only<gj::CpuBackend::NativeGraph> && moves_only<gj::detail::Array<int>>);
static_assert(moves_only<gj::Recorder<gj::CpuBackend>>);
static_assert(std::is_nothrow_move_constructible_v<gj::Planner>);

// An empty backend takes no room in what keeps it.
static_assert(sizeof(CpuList) == sizeof(gj::OpList));

// --- noexcept --------------------------------------------------------------------------------------------------------

struct Pair {
    int a;
    int b;
};
struct Floats {
    float* data();
    std::size_t size();
};

template <class Runner>
constexpr bool replays_without_exceptions() {
    static_assert(noexcept(std::declval<Runner&>().set(gj::Input<float>(), static_cast<float*>(nullptr))));
    static_assert(noexcept(std::declval<Runner&>().set(gj::Input<float>(), static_cast<float*>(nullptr), 1)));
    static_assert(
        noexcept(std::declval<Runner&>().set(gj::Input<float>(), static_cast<float*>(nullptr), 1, gj::DeviceId{})));
    static_assert(noexcept(std::declval<Runner&>().set(gj::Input<float>(), nullptr)));
    static_assert(noexcept(std::declval<Runner&>().set(gj::Input<float>(), std::declval<Floats&>())));
    static_assert(noexcept(std::declval<Runner&>().set(gj::Variable(), 1)));
    static_assert(noexcept(std::declval<Runner&>().set(gj::Slot<Pair>(), Pair{1, 2})));
    static_assert(noexcept(std::declval<Runner&>().replay()));
    static_assert(noexcept(std::declval<Runner&>().wait()));
    static_assert(noexcept(std::declval<const Runner&>().counters()));
    static_assert(std::is_same_v<decltype(std::declval<Runner&>().set(gj::Variable(), 1)), Runner&>,
                  "calls of set can be chained up to replay");
    return true;
}
static_assert(replays_without_exceptions<CpuGraph>());
static_assert(replays_without_exceptions<CpuEager>());
static_assert(replays_without_exceptions<CpuAdversary>());
static_assert(replays_without_exceptions<NullGraph>());
static_assert(noexcept(std::declval<CpuGraph&>().poll()));

// A const Input takes memory that is const; what an Input does not take is a sentence, see compile_fail/set_*.cpp.
template <class Slot, class Value>
concept can_set = requires(CpuGraph& graph, const Slot& slot, Value value) { graph.set(slot, value); };
static_assert(can_set<gj::Input<const float>, const float*> && can_set<gj::Input<const float>, float*>);
static_assert(can_set<gj::Input<float>, float*> && can_set<gj::Input<float>, Floats>);
static_assert(can_set<gj::Variable, int> && can_set<gj::Slot<Pair>, Pair> && !can_set<gj::Slot<Pair>, int>);
static_assert(!can_set<gj::Buffer<float>, float*>, "what is no slot cannot change");

// --- Ends of life ----------------------------------------------------------------------------------------------------

template <class Recorder>
concept finishes = requires(Recorder recorder) { static_cast<Recorder>(recorder).finish(); };
static_assert(finishes<gj::Recorder<gj::CpuBackend>&&> && !finishes<gj::Recorder<gj::CpuBackend>&>,
              "a recording is finished once: std::move(rec).finish()");

static_assert(noexcept(std::declval<gj::Recorder<gj::CpuBackend>&&>().finish()));
static_assert(noexcept(CpuEager::create(std::declval<const CpuList&>())));
static_assert(!noexcept(std::declval<gj::Result<int>&>().value()), "throws, where exceptions are on");

}  // namespace test
