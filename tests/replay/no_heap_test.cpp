// What a replay may cost: nothing from the heap, no lock, nothing native where nothing changed.
#include "support/alloc_guard.hpp"
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using namespace test;
using Array16 = std::array<std::int32_t, 16>;

/// A recording with a slot of each kind in each kind of op.
template <class Backend>
struct Everything {
    Array16 own{}, first{}, second{};
    gj::Input<const std::int32_t> in;
    gj::Input<std::int32_t> out;
    gj::Variable at, size, groups;
    gj::Slot<std::int32_t> k;
    gj::Slot<std::array<char, 24>> wide;
    gj::OpListOf<Backend> list;

    static void take_wide(gj::Out<std::int32_t> out, std::array<char, 24> wide) { out[0] = wide[23]; }

    explicit Everything(Backend backend = {}) {
        gj::Recorder<Backend> rec(backend);
        in = rec.template input<const std::int32_t>("in", 16);
        out = rec.template input<std::int32_t>("out", 16);
        at = rec.variable("at", {.min = 0, .max = 4}, 0);
        size = rec.variable("size", {.min = 0, .max = 4}, 2);
        groups = rec.variable("groups", {.min = 0, .max = 2}, 1);
        k = rec.template slot<std::int32_t>("k", 1);
        wide = rec.template slot<std::array<char, 24>>("wide");
        const auto own_memory = rec.buffer("own", own);
        rec.launch(mix<>, out.slice(0, 4), in.slice(at, 4), k);
        rec.copy(own_memory.slice(at, 4), in.slice(8, 4));
        rec.copy(own_memory.slice(at + 8, size), own_memory.slice(0, size));
        rec.fill(out.slice(4, size), k);
        rec.launch(iota, {.groups = {groups}, .group_size = {2}}, out.slice(8, 4));
        rec.launch(gj::kernel<take_wide>, out.slice(12, 1), wide);
        rec.host_call(fill<1>, out.slice(13, 1), at * 3 + size);
        list = std::move(rec).finish().value();
    }

    template <class Runner>
    void set(Runner& graph, int i) {
        std::array<char, 24> bytes{};
        bytes[23] = static_cast<char>(i % 100);
        if (i % 2 == 0) {
            graph.set(in, first).set(out, second);
        } else {
            graph.set(in, second.data(), 16).set(out, first.data(), 16, gj::DeviceId{});
        }
        graph.set(at, i % 5).set(size, i % 5).set(groups, i % 3).set(k, i).set(wide, bytes);
    }
};

/// The first run of a kind may allocate something in the C library; only what follows counts.
template <class Body>
void costs_nothing(const char* what, Body body) {
    INFO(what);
    body();
    std::uint64_t allocations = 0, locks = 0;
    {
        AllocGuard guard;
        body();
        allocations = guard.allocations();
        locks = guard.locks();
    }
    CHECK(allocations == 0);
    CHECK(locks == 0);
}

template <class Backend, class Runner>
void check_runner(Everything<Backend>& e, Runner graph) {
    bool ok = true;
    e.set(graph, 0);
    costs_nothing("everything changes", [&] {
        for (int i = 1; i <= 1000; ++i) {
            e.set(graph, i);
            ok = ok && graph.replay().ok();
        }
    });
    CHECK(ok);
    costs_nothing("nothing changes", [&] {
        for (int i = 0; i < 1000; ++i) {
            e.set(graph, 3);
            ok = ok && graph.replay().ok() && graph.wait().ok();
        }
    });
    CHECK(ok);
    unsigned refused = 0;
    costs_nothing("every other replay is refused", [&] {
        refused = 0;
        for (int i = 0; i < 1000; ++i) {
            switch (i % 8) {
                case 0: graph.set(e.in, nullptr); break;
                case 1: graph.set(e.in, e.first.data(), 3); break;
                case 2: graph.set(e.at, 5); break;
                case 3: graph.set(e.out, e.own); break;
                case 4: graph.set(e.k, 3).set(e.at, -1); break;
                case 5: graph.set(gj::Slot<int>(), 1); break;
                case 6: graph.set(e.in, reinterpret_cast<std::int32_t*>(1)); break;
                default: graph.set(e.in, e.first.data(), 16, static_cast<gj::DeviceId>(7)); break;
            }
            const gj::Status status = graph.replay();
            const gj::ErrorText message = status.message();
            if (!status.ok() && message.c_str()[0] == 'g') ++refused;
            e.set(graph, i);
            ok = ok && graph.replay().ok();
        }
    });
    CHECK(ok);
    CHECK(refused == 1000);
    costs_nothing("the graph is moved", [&] {
        Runner other = std::move(graph);
        ok = ok && other.replay().ok();
        graph = std::move(other);
        ok = ok && graph.replay().ok();
    });
    CHECK(ok);
}

TEST_CASE("the guard sees what it is there to see") {
    AllocGuard guard;
    void* volatile held = std::malloc(100);  // volatile: else a compiler leaves out the pair
    std::free(held);
    CHECK(guard.allocations() >= 1);
    const std::uint64_t before = guard.allocations();
    delete new int(3);
    ::operator delete(::operator new(10, std::nothrow));
    void* volatile grown = std::realloc(std::calloc(1, 1), 2000);
    std::free(grown);
    const std::uint64_t after = guard.allocations();
    CHECK(after >= before + 3);  // a compiler may leave out a pair of new and delete
    std::mutex mutex;
    mutex.lock();
    mutex.unlock();
    const std::uint64_t locks = guard.locks();
    if (AllocGuard::sees_locks()) CHECK(locks >= 1);
}

TEST_CASE("no heap and no lock in a thousand replays: CPU graph") {
    Everything<gj::CpuBackend> e;
    check_runner(e, gj::instantiate(e.list).value());
}
TEST_CASE("no heap and no lock in a thousand replays: eager") {
    Everything<gj::CpuBackend> e;
    check_runner(e, gj::EagerRunner<gj::CpuBackend>::create(e.list).value());
}
TEST_CASE("no heap and no lock in a thousand replays: null device") {
    Everything<gj::NullBackend> e;
    check_runner(e, gj::instantiate(e.list).value());
}
TEST_CASE("no heap and no lock in a thousand replays: a device that is told of changes") {
    DeviceLog log;
    Everything<RecordingBackend> e(RecordingBackend{&log});
    check_runner(e, gj::instantiate(e.list).value());
}

/// What only runners that wait by themselves have, with threads that are awake, and with threads that went to sleep.
template <class Backend>
void check_waits(Everything<Backend>& e, gj::MultiGraphRunner<Backend> graph, unsigned in_flight) {
    bool ok = true;
    int i = 0;
    const auto set_some = [&] {
        if (++i % 3 != 0) e.set(graph, i);
    };
    costs_nothing("replays and waits in one", [&] {
        for (int round = 0; round < 1000; ++round) {
            set_some();
            ok = ok && graph.replay_and_wait().ok() && graph.poll();
        }
    });
    CHECK(ok);
    costs_nothing("replays are looked at until they are over", [&] {
        for (int round = 0; round < 500; ++round) {
            set_some();
            ok = ok && graph.replay().ok();
            while (!graph.poll()) std::this_thread::yield();
        }
    });
    CHECK(ok);
    costs_nothing("as many as may be in flight, then a wait", [&] {
        for (int round = 0; round < 200; ++round) {
            for (unsigned n = 0; n < in_flight; ++n) {
                set_some();
                ok = ok && graph.replay().ok();
            }
            ok = ok && graph.wait().ok() && graph.wait().ok();
        }
    });
    CHECK(ok);
    costs_nothing("threads are asleep", [&] {
        for (int round = 0; round < 40; ++round) {
            std::this_thread::sleep_for(std::chrono::microseconds(500));
            set_some();
            ok = ok && (round % 2 == 0 ? graph.replay_and_wait().ok() : graph.replay().ok() && graph.wait().ok());
        }
    });
    CHECK(ok);
}

template <class Backend>
void check_threads(const gj::ThreadOptions& options, const gj::HcqOptions& graph_options, unsigned queues) {
    INFO("turns ", options.turns);
    gj::ThreadDevices devices(options);
    Everything<Backend> e(Backend(devices, graph_options));
    auto graph = gj::instantiate(e.list).value();
    CHECK(graph.native().queues().queues().size() == queues);
    e.set(graph, 0);
    check_waits(e, std::move(graph), graph_options.in_flight);
    check_runner(e, gj::instantiate(e.list).value());
}

TEST_CASE("no heap and no lock in a thousand replays: threads, a queue for kernels and one for copies") {
    for (const std::uint32_t turns : {200u, 0u}) check_threads<gj::ThreadBackend>({.turns = turns}, {}, 2);
}
TEST_CASE("no heap and no lock in a thousand replays: one thread") {
    check_threads<gj::ThreadBackend>({.copy_queues = false}, {.in_flight = 1}, 1);
}
TEST_CASE("no heap and no lock in a thousand replays: threads that share the work of one device") {
    for (const std::uint32_t turns : {200u, 0u}) {
        check_threads<gj::ThreadBackend>({.compute_queues = 2, .turns = turns, .hop_ns = 1.0f, .wake_ns = 0.0f},
                                         {.in_flight = 4}, 2);
    }
}
TEST_CASE("no heap and no lock in a thousand replays: threads with profiles") {
    for (const std::uint32_t turns : {200u, 0u}) check_threads<gj::ProfiledThreadBackend>({.turns = turns}, {}, 2);
}

TEST_CASE("no heap and no lock in replays over several devices, whose signals start again on the way") {
    constexpr unsigned count = 3;
    std::array<Array16, count> memory{}, given{}, others{};
    std::vector<gj::Input<const std::int32_t>> inputs;
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> buffers;
    for (unsigned d = 0; d < count; ++d) {
        const auto device = static_cast<gj::DeviceId>(d);
        inputs.push_back(rec.input<const std::int32_t>("in", 16, device));
        buffers.push_back(rec.buffer("memory", memory[d], device));
    }
    for (unsigned d = 0; d < count; ++d) {
        rec.on(static_cast<gj::DeviceId>(d));
        rec.launch(mix<16>, buffers[d], inputs[d], 0);
        rec.copy(buffers[(d + 1) % count], buffers[d]);
        rec.launch(add<16>, buffers[d], inputs[(d + 1) % count], buffers[d]);
    }
    const CpuList list = std::move(rec).finish().value();
    gj::ThreadDevices devices({.devices = count, .first_value = 0xffff'ffffu - 700});
    const auto check = [&](auto backend) {
        auto graph = gj::instantiate(for_backend(list, backend)).value();
        bool ok = true;
        int i = 0;
        costs_nothing("replays", [&] {
            for (int round = 0; round < 1000; ++round, ++i) {
                for (unsigned d = 0; d < count; ++d) graph.set(inputs[d], i % 2 == 0 ? given[d] : others[d]);
                ok = ok && (i % 3 == 0 ? graph.replay_and_wait().ok() : graph.replay().ok());
            }
            ok = ok && graph.wait().ok();
        });
        CHECK(ok);
    };
    check(gj::ThreadBackend(devices));
    check(gj::ProfiledThreadBackend(devices, {.in_flight = 3}));
}

TEST_CASE("hundreds of inputs that move and swap places cost nothing from the heap either") {
    constexpr unsigned count = 300;
    std::vector<Array16> memory(2 * count);
    std::vector<gj::Input<std::int32_t>> inputs;
    CpuRecorder rec;
    for (unsigned i = 0; i < count; ++i) inputs.push_back(rec.input<std::int32_t>("in", 16));
    for (unsigned i = 0; i < count; ++i) rec.launch(fill<16>, inputs[i], static_cast<std::int32_t>(i));
    auto graph = gj::instantiate(std::move(rec)).value();
    bool ok = true;
    unsigned refused = 0;
    costs_nothing("swaps", [&] {
        refused = 0;
        for (unsigned round = 0; round < 50; ++round) {
            for (unsigned i = 0; i < count; ++i) graph.set(inputs[i], memory[(i * 7 + round) % (2 * count)]);
            graph.set(inputs[0],
                      inputs[round].slot() == inputs[0].slot() ? memory[1] : memory[(7 + round) % (2 * count)]);
            if (!graph.replay().ok()) ++refused;
            graph.set(inputs[0], memory[round % (2 * count)]);
            ok = ok && graph.replay().ok();
        }
    });
    CHECK(ok);
    CHECK(refused == 49);
}

TEST_CASE("where nothing changed nothing is written, evaluated or told") {
    DeviceLog log;
    Everything<RecordingBackend> e(RecordingBackend{&log});
    auto graph = gj::instantiate(e.list).value();
    e.set(graph, 7);
    REQUIRE(graph.replay().ok());
    const gj::ReplayCounters first = graph.counters();
    CHECK(first.patches > 0);
    CHECK(first.expr_evaluations > 0);
    CHECK(first.native_updates == 7);
    for (int i = 0; i < 100; ++i) {
        log.forget();
        if (i % 2 == 0) e.set(graph, 7);
        if (i % 5 == 0)
            graph.set(e.k, 1).set(e.at, 1).set(e.in, e.first).set(e.k, 7).set(e.at, 2).set(e.in, e.second.data(), 16);
        REQUIRE(graph.replay().ok());
        CHECK(log.calls == 1);
        CHECK(log.count(Call::launch) == 1);
    }
    const gj::ReplayCounters last = graph.counters();
    CHECK(last.replays == first.replays + 100);
    CHECK(last.patches == first.patches);
    CHECK(last.expr_evaluations == first.expr_evaluations);
    CHECK(last.native_updates == first.native_updates);
}

TEST_CASE("each distinct Expr is evaluated once per replay, and only where one of its Variables changed") {
    std::array<std::int32_t, 32> x{};
    CpuRecorder rec;
    const auto a = rec.variable("a", {.min = 0, .max = 9}, 1);
    const auto b = rec.variable("b", {.min = 0, .max = 9}, 1);
    const auto buffer = rec.buffer("x", x);
    const auto both = a * 2 + b;  // three expressions, with the product
    for (int i = 0; i < 10; ++i) rec.launch(fill<1>, buffer.slice(i, 1), both);
    for (int i = 10; i < 20; ++i) rec.launch(fill<1>, buffer.slice(both, 1), b * 7);
    (void)rec.let(a * 1000);  // that nothing uses
    auto graph = gj::instantiate(std::move(rec)).value();
    const auto evaluations = [&] {
        const std::uint64_t before = graph.counters().expr_evaluations;
        REQUIRE(graph.replay().ok());
        return graph.counters().expr_evaluations - before;
    };
    CHECK(evaluations() == 4);  // a*2, a*2+b, (a*2+b)*4 bytes, b*7
    CHECK(evaluations() == 0);
    graph.set(a, 2);
    CHECK(evaluations() == 3);
    graph.set(b, 2);
    CHECK(evaluations() == 3);
    graph.set(a, 3).set(b, 3);
    CHECK(evaluations() == 4);
    graph.set(a, 3).set(b, 3);
    CHECK(evaluations() == 0);
    CHECK(x[0] == 9);
    CHECK(x[9] == 21);  // the last ones wrote over it
}

TEST_CASE("patches grow with what changed, not with the graph") {
    std::vector<std::int32_t> x(1000);
    CpuRecorder rec;
    const auto buffer = rec.buffer("x", x);
    std::vector<gj::Slot<std::int32_t>> slots;
    for (unsigned i = 0; i < 1000; ++i) {
        slots.push_back(rec.slot<std::int32_t>("k", 0));
        rec.launch(fill<1>, buffer.slice(i, 1), slots.back());
    }
    auto graph = gj::instantiate(std::move(rec)).value();
    REQUIRE(graph.replay().ok());
    for (unsigned changed : {0u, 1u, 10u, 1000u}) {
        const std::uint64_t before = graph.counters().patches;
        for (unsigned i = 0; i < changed; ++i) graph.set(slots[i], static_cast<std::int32_t>(changed));
        REQUIRE(graph.replay().ok());
        CHECK(graph.counters().patches - before == changed);
    }
}

// What replays are made of cannot throw, whatever is given.
template <class Runner>
constexpr bool replay_cannot_throw() {
    return requires(Runner& graph, const gj::Input<const float>& in, const gj::Input<float>& out, const gj::Variable& v,
                    const gj::Slot<double>& k, float* data, std::array<float, 4>& range) {
        { graph.set(in, data) } noexcept -> std::same_as<Runner&>;
        { graph.set(out, data) } noexcept -> std::same_as<Runner&>;
        { graph.set(out, nullptr) } noexcept -> std::same_as<Runner&>;
        { graph.set(in, data, 4) } noexcept -> std::same_as<Runner&>;
        { graph.set(in, data, 4, gj::DeviceId{}) } noexcept -> std::same_as<Runner&>;
        { graph.set(out, range) } noexcept -> std::same_as<Runner&>;
        { graph.set(v, 3) } noexcept -> std::same_as<Runner&>;
        { graph.set(k, 3.0) } noexcept -> std::same_as<Runner&>;
        { graph.replay() } noexcept -> std::same_as<gj::Status>;
        { graph.wait() } noexcept -> std::same_as<gj::Status>;
        { graph.counters() } noexcept;
        { graph.dag() } noexcept;
        { graph.ops() } noexcept;
        requires std::is_nothrow_move_constructible_v<Runner> && std::is_nothrow_move_assignable_v<Runner> &&
                     std::is_nothrow_destructible_v<Runner>;
        requires !std::is_copy_constructible_v<Runner>;
        requires !std::is_polymorphic_v<Runner>;
    };
}
static_assert(replay_cannot_throw<gj::MultiGraphRunner<gj::CpuBackend>>());
static_assert(replay_cannot_throw<gj::MultiGraphRunner<gj::NullBackend>>());
static_assert(replay_cannot_throw<gj::MultiGraphRunner<RecordingBackend>>());
static_assert(replay_cannot_throw<gj::MultiGraphRunner<gj::ThreadBackend>>());
static_assert(replay_cannot_throw<gj::MultiGraphRunner<gj::ProfiledThreadBackend>>());
static_assert(replay_cannot_throw<gj::EagerRunner<gj::CpuBackend>>());
static_assert(replay_cannot_throw<gj::EagerRunner<gj::ThreadBackend>>());
static_assert(replay_cannot_throw<gj::AdversarialRunner<gj::CpuBackend>>());
template <class Backend>
constexpr bool waits_cannot_throw() {
    using Runner = gj::MultiGraphRunner<Backend>&;
    return noexcept(std::declval<Runner>().poll()) && noexcept(std::declval<Runner>().replay_and_wait());
}
static_assert(waits_cannot_throw<gj::CpuBackend>() && waits_cannot_throw<gj::ThreadBackend>());

}  // namespace
