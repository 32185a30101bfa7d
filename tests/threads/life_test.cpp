// Kind D on real threads: replays in flight, work chained behind work, joins, and the end of everything.
#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;
using Backend = gj::ThreadBackend;

[[nodiscard]] ThreadGraph graph_of(const CpuList& list, const Backend& backend) {
    return gj::instantiate(for_backend(list, backend)).value();
}

TEST_CASE("case 50: parameters of a replay that still runs are not overwritten") {
    gj::ThreadDevices devices;
    for (const unsigned in_flight : {1u, 2u, 3u}) {
        Four x[3] = {};
        CpuRecorder rec;
        const auto in0 = rec.input<std::int32_t>("in0", 4);
        const auto v0 = rec.slot<std::int32_t>("v0");
        rec.launch(slow_fill<>, in0, v0);
        ThreadGraph graph = graph_of(std::move(rec).finish().value(), {devices, {.in_flight = in_flight}});
        for (int round = 0; round < 50; ++round) {
            for (int i = 0; i < 3; ++i) REQUIRE(graph.set(in0, x[i]).set(v0, 3 * round + i).replay().ok());
            REQUIRE(graph.wait().ok());
            for (int i = 0; i < 3; ++i) CHECK(all_equal(x[i], 3 * round + i));
        }
    }
}

TEST_CASE("case 51: the n-th replay runs everything once") {
    Four x{};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("x", x));
    gj::ThreadDevices devices;
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
    for (int i = 0; i < 5; ++i) REQUIRE(graph.replay().ok());
    REQUIRE(graph.wait().ok());
    CHECK(all_equal(x, 5));
}

TEST_CASE("case 52: waits between queues hold in every replay") {
    Four a{}, b{}, c{}, in[3] = {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    CpuRecorder rec;
    const auto in0 = rec.input<const std::int32_t>("in0", 4);
    const auto A = rec.buffer("a", a), B = rec.buffer("b", b), C = rec.buffer("c", c);
    rec.launch(slow<>, A, in0);
    rec.copy(B, A);
    rec.launch(mix<>, C, B, 0);
    gj::ThreadDevices devices;
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
    for (int i = 0; i < 300; ++i) {
        poison_all(a, b, c);
        REQUIRE(graph.set(in0, in[i % 3]).replay().ok());
        REQUIRE(graph.wait().ok());
        CHECK(all_equal(c, 3 * (i % 3 + 1)));
    }
}

TEST_CASE("case 54: a graph comes behind what was submitted last, not behind what is known to be over") {
    Four a{}, b{}, b2{}, c{};
    CpuRecorder first, second, third, fourth;
    first.launch(slow_fill<>, first.buffer("a", a), 1);
    second.launch(mix<>, second.buffer("b", b), second.buffer("a", a), 0);
    third.launch(mix<>, third.buffer("b2", b2), third.buffer("b", b), 0);
    fourth.launch(mix<>, fourth.buffer("c", c), fourth.buffer("b2", b2), 0);
    gj::ThreadDevices devices;
    ThreadGraph graphs[] = {
        graph_of(std::move(first).finish().value(), devices), graph_of(std::move(second).finish().value(), devices),
        graph_of(std::move(third).finish().value(), devices), graph_of(std::move(fourth).finish().value(), devices)};
    for (int i = 0; i < 100; ++i) {
        poison_all(a, b, b2, c);
        for (ThreadGraph& graph : graphs) REQUIRE(graph.replay().ok());
        REQUIRE(graphs[3].wait().ok());
        CHECK(all_equal(b, 3));
        CHECK(all_equal(b2, 9));
        CHECK(all_equal(c, 27));
    }
}

TEST_CASE("case 55: joins hold in ten thousand replays, and an op runs once in each") {
    Four x{}, y[8] = {}, z{};
    CpuRecorder rec;
    const auto X = rec.buffer("x", x);
    const auto Z = rec.buffer("z", z);
    std::optional<gj::Buffer<std::int32_t>> buffers[8];
    rec.launch(inc<>, X);
    for (unsigned i = 0; i < 8; ++i) {
        rec.on(static_cast<gj::DeviceId>(i % 3));
        buffers[i] = rec.buffer("y", y[i], static_cast<gj::DeviceId>(i % 3));
        rec.launch(mix<>, *buffers[i], X, 0);
    }
    for (unsigned step = 1; step < 8; step *= 2) {
        for (unsigned i = 0; i + step < 8; i += 2 * step) {
            rec.on(static_cast<gj::DeviceId>(i % 3));
            rec.launch(add<>, *buffers[i], *buffers[i], *buffers[i + step]);
        }
    }
    rec.on(gj::DeviceId{0});
    rec.copy(Z, *buffers[0]);
    gj::ThreadDevices devices({.devices = 3});
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
    for (int i = 1; i <= 10'000; ++i) {
        REQUIRE(graph.replay().ok());
        if (i % 100 != 0) continue;
        REQUIRE(graph.wait().ok());
        CHECK(all_equal(z, 24 * i));
    }
}

TEST_CASE("case 56: destroying a graph at any moment: 500 times") {
    gj::ThreadDevices devices({.devices = 2});
    Random random(3);
    for (int i = 0; i < 500; ++i) {
        Four a{}, b{}, c{};
        CpuRecorder rec;
        const auto A = rec.buffer("a", a);
        const auto B = rec.buffer("b", b, gj::DeviceId{1});
        const auto C = rec.buffer("c", c, gj::DeviceId{1});
        rec.launch(slow_fill<>, A, i);
        rec.copy(B, A);
        rec.on(gj::DeviceId{1});
        rec.launch(mix<>, C, B, 0);
        {
            ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
            REQUIRE(graph.replay().ok());
            for (unsigned turns = random.below(200); turns > 0; --turns) gj::detail::relax();
            if (random.chance(30)) (void)graph.poll();
            if (random.chance(30)) REQUIRE(graph.replay().ok());
        }
        CHECK(all_equal(c, 3 * i));
    }
}

TEST_CASE("destroying the devices at any moment runs what was submitted; graphs that are left refuse: 500 times") {
    Random random(4);
    for (int i = 0; i < 500; ++i) {
        Four a{}, b{};
        std::optional<gj::ThreadDevices> devices(std::in_place, gj::ThreadOptions{.devices = 2});
        CpuRecorder rec;
        const auto A = rec.buffer("a", a);
        const auto B = rec.buffer("b", b, gj::DeviceId{1});
        rec.launch(slow_fill<>, A, i);
        rec.copy(B, A);
        const CpuList list = std::move(rec).finish().value();
        const Backend backend(*devices);
        ThreadGraph graph = graph_of(list, backend);
        REQUIRE(graph.replay().ok());
        for (unsigned turns = random.below(200); turns > 0; --turns) gj::detail::relax();
        devices.reset();
        CHECK(all_equal(b, i));
        CHECK(graph.poll());
        CHECK(graph.wait().ok());
        CHECK(graph.replay().code() == gj::ErrorCode::device_lost);
        CHECK(graph.replay_and_wait().code() == gj::ErrorCode::device_lost);
        CHECK(gj::instantiate(for_backend(list, backend)).code() == gj::ErrorCode::device_lost);
    }
}

TEST_CASE("case 61: the end of one graph takes nothing from another") {
    Four a{}, b{}, c{};
    gj::ThreadDevices devices;
    const auto filling = [&](Four& memory, std::int32_t value) {
        CpuRecorder rec;
        rec.launch(fill<>, rec.buffer("memory", memory), value);
        rec.copy(rec.buffer("c", c), rec.buffer("memory", memory));
        return graph_of(std::move(rec).finish().value(), devices);
    };
    std::optional<ThreadGraph> first = filling(a, 1);
    ThreadGraph second = filling(b, 2);
    REQUIRE(first->replay().ok());
    first.reset();
    REQUIRE(second.replay_and_wait().ok());
    CHECK(all_equal(c, 2));
    ThreadGraph third = filling(a, 3);
    REQUIRE(third.replay().ok());
    REQUIRE(second.replay_and_wait().ok());
    CHECK(all_equal(c, 2));
    CHECK(all_equal(a, 3));
}

TEST_CASE("graphs on the same devices, from several threads: none is lost, none waits for ever") {
    gj::ThreadDevices devices({.devices = 3});
    constexpr unsigned threads = 4;
    Four shared{};
    std::array<Four, threads> own{};
    std::vector<std::thread> workers;
    std::atomic<unsigned> failures = 0;
    for (unsigned t = 0; t < threads; ++t) {
        workers.emplace_back([&, t] {
            // Each thread's graph goes over the devices in another order.
            const auto device = [&](unsigned i) { return static_cast<gj::DeviceId>((t + i) % 3); };
            CpuRecorder rec;
            const auto S = rec.buffer("shared", shared, gj::DeviceId{0});
            const auto O = rec.buffer("own", own[t], device(1));
            rec.on(device(0));
            rec.launch(inc<>, S);
            rec.on(device(1));
            rec.launch(inc<>, O);
            rec.on(device(2));
            rec.launch(inc<>, S);
            ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
            for (int i = 0; i < 500; ++i) {
                const bool ok = i % 3 == 0 ? graph.replay_and_wait().ok() : graph.replay().ok();
                failures += ok ? 0u : 1u;
            }
            failures += graph.wait().ok() ? 0u : 1u;
        });
    }
    for (std::thread& worker : workers) worker.join();
    CHECK(failures == 0);
    CHECK(all_equal(shared, 2 * 500 * static_cast<std::int32_t>(threads)));
    for (const Four& one : own) CHECK(all_equal(one, 500));
}

TEST_CASE("eager runs and graphs on the same devices follow each other") {
    gj::ThreadDevices devices({.devices = 2});
    Four x{}, y{};
    CpuRecorder rec;
    const auto X = rec.buffer("x", x);
    const auto Y = rec.buffer("y", y, gj::DeviceId{1});
    rec.launch(inc<>, X);
    rec.copy(Y, X);
    const CpuList list = std::move(rec).finish().value();
    ThreadGraph graph = graph_of(list, devices);
    auto eager = gj::EagerRunner<Backend>::create(for_backend<Backend>(list, devices)).value();
    for (int i = 1; i <= 200; ++i) {
        REQUIRE(graph.replay().ok());
        REQUIRE(eager.replay().ok());
        CHECK(all_equal(y, 2 * i));
    }
}

TEST_CASE("a graph without devices, with too few, or with options that make no sense, is refused in a sentence") {
    Four x{};
    CpuRecorder rec;
    rec.on(gj::DeviceId{2});
    rec.launch("far", inc<>, rec.buffer("x", x, gj::DeviceId{2}));
    const CpuList list = std::move(rec).finish().value();
    CHECK(lacks(gj::instantiate(for_backend(list, Backend())).status(), "needs ThreadDevices") == "");
    gj::ThreadDevices two({.devices = 2});
    CHECK(lacks(gj::instantiate(for_backend<Backend>(list, two)).status(), "op 0 'far'") == "");
    CHECK(gj::instantiate(for_backend<Backend>(list, two)).code() == gj::ErrorCode::wrong_device);
    CHECK(lacks(gj::instantiate(for_backend<Backend>(list, gj::ThreadDevices({.devices = 0}))).status(),
                "ThreadOptions ask for no device") == "");
    for (const gj::ThreadOptions& options : {gj::ThreadOptions{.devices = 0}, gj::ThreadOptions{.devices = 70'000},
                                             gj::ThreadOptions{.compute_queues = 0}}) {
        gj::ThreadDevices none(options);
        CHECK(!none.ok());
        CHECK(gj::instantiate(for_backend<Backend>(list, none)).code() == gj::ErrorCode::invalid_argument);
    }
    auto eager = gj::EagerRunner<Backend>::create(for_backend(list, Backend())).value();
    CHECK(eager.replay().code() == gj::ErrorCode::invalid_argument);
}

TEST_CASE("threads may be kept on cores of their own; a core that is not there is an error") {
    Four x{};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("x", x));
    const CpuList list = std::move(rec).finish().value();
    gj::ThreadDevices pinned({.first_core = 0});
    ThreadGraph graph = graph_of(list, pinned);
    REQUIRE(graph.replay().ok());
    REQUIRE(graph.wait().ok());
    CHECK(x[0] == 1);
    gj::ThreadDevices nowhere({.first_core = 1023});
    const gj::Status status = gj::instantiate(for_backend<Backend>(list, nowhere)).status();
    CHECK(status.code() == gj::ErrorCode::backend_failure);
    CHECK(lacks(status, "pthread_create") == "");
    CHECK(lacks(status, "first_core") == "");
}

#if GRAPHJIT_EXCEPTIONS
void thrower(std::int32_t* x, std::int32_t limit) {
    if (x[0] >= limit) throw std::runtime_error("too far");
    x[0] += 1;
}

TEST_CASE("what a host kernel throws is an error of wait that names the op, and the next replay works") {
    Four x{}, y{};
    CpuRecorder rec;
    const auto limit = rec.slot<std::int32_t>("limit", 2);
    const auto X = rec.buffer("x", x);
    const auto Y = rec.buffer("y", y, gj::DeviceId{1});
    rec.host_call("careful", gj::kernel<thrower>, X, limit);
    rec.copy(Y, X);
    rec.on(gj::DeviceId{1});
    rec.launch(inc<>, Y);
    gj::ThreadDevices devices({.devices = 2});
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
    REQUIRE(graph.replay().ok());
    REQUIRE(graph.replay_and_wait().ok());
    REQUIRE(graph.replay().ok());
    const gj::Status status = graph.wait();
    CHECK(status.code() == gj::ErrorCode::backend_failure);
    CHECK(lacks(status, "op 0 'careful'") == "");
    CHECK(graph.wait().ok());                          // said once
    CHECK(all_equal(y, x[0] == 2 ? 3 : -1) == false);  // only its first element counts
    CHECK(y[0] == 3);
    CHECK(!graph.replay_and_wait().ok());
    CHECK(graph.set(limit, 9).replay_and_wait().ok());
    CHECK(y[0] == 4);
}

TEST_CASE("what a host kernel throws in an eager run is an error of replay that names the op") {
    Four x{};
    CpuRecorder rec;
    rec.launch("careful", gj::kernel<thrower>, rec.buffer("x", x), 0);
    gj::ThreadDevices devices;
    auto eager =
        gj::EagerRunner<Backend>::create(for_backend<Backend>(std::move(rec).finish().value(), devices)).value();
    CHECK(lacks(eager.replay(), "op 0 'careful'") == "");
}
#endif

std::atomic<bool> gate_open, first_began, second_submitted;
void begin_and_await(std::int32_t* x) {
    first_began = true;
    while (!second_submitted) std::this_thread::yield();
    x[0] += 1;
}
void await_gate(std::int32_t* x) {
    while (!gate_open) std::this_thread::yield();
    x[0] += 1;
}

TEST_CASE("replay_and_wait returns when its graph is over, whatever others have put behind it") {
    gate_open = first_began = second_submitted = false;
    Four a{}, b{};
    CpuRecorder first, second;
    first.launch(gj::kernel<begin_and_await>, first.buffer("a", a));
    second.launch(gj::kernel<await_gate>, second.buffer("b", b));
    gj::ThreadDevices devices;
    ThreadGraph graph = graph_of(std::move(first).finish().value(), devices);
    ThreadGraph other = graph_of(std::move(second).finish().value(), devices);
    std::thread thread([&] {
        while (!first_began) std::this_thread::yield();
        (void)other.replay();
        second_submitted = true;
    });
    CHECK(graph.replay_and_wait().ok());
    CHECK(a[0] == 1);
    gate_open = true;
    thread.join();
    CHECK(other.wait().ok());
    CHECK(b[0] == 1);
}

TEST_CASE("a queue that is full holds up nobody who does not need it") {
    gate_open = false;
    Four x{}, y{};
    gj::ThreadDevices devices({.devices = 2});
    std::vector<ThreadGraph> many;
    for (int i = 0; i < 33; ++i) {  // of eight replays in flight: more than a queue takes
        CpuRecorder rec;
        rec.launch(gj::kernel<await_gate>, rec.buffer("x", x));
        many.push_back(graph_of(std::move(rec).finish().value(), {devices, {.in_flight = 8}}));
    }
    CpuRecorder rec;
    rec.on(gj::DeviceId{1});
    rec.launch(inc<>, rec.buffer("y", y, gj::DeviceId{1}));
    ThreadGraph graph = graph_of(std::move(rec).finish().value(), devices);
    std::atomic<int> submitted = 0;
    std::thread thread([&] {
        for (int i = 0; i < 8; ++i) {
            for (ThreadGraph& one : many) submitted += one.replay().ok() ? 1 : 0;
        }
    });
    while (submitted < 250) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) CHECK(graph.replay_and_wait().ok());
    CHECK(all_equal(y, 50));
    gate_open = true;
    thread.join();
    for (ThreadGraph& one : many) CHECK(one.wait().ok());
    CHECK(x[0] == 8 * 33);
}

gj::ThreadDevices* devices_of_kernel = nullptr;
void build_and_replay(std::int32_t* x) {
    Four z{};
    CpuRecorder rec;
    rec.launch(inc<>, rec.buffer("z", z));
    x[0] += gj::instantiate(for_backend<Backend>(std::move(rec).finish().value(), *devices_of_kernel)).ok() ? 1 : 0;
}

TEST_CASE("a host kernel may build a graph on the devices it runs on") {
    gj::ThreadDevices devices;
    devices_of_kernel = &devices;
    Four x{};
    CpuRecorder rec;
    rec.launch(gj::kernel<build_and_replay>, rec.buffer("x", x));
    const CpuList list = std::move(rec).finish().value();
    ThreadGraph graph = graph_of(list, devices);
    CHECK(graph.replay_and_wait().ok());
    CHECK(graph.replay().ok());
    CHECK(graph.wait().ok());
    auto eager = gj::EagerRunner<Backend>::create(for_backend<Backend>(list, devices)).value();
    CHECK(eager.replay().ok());
    CHECK(x[0] == 3);
}

TEST_CASE("queues of one device share its work, whatever ops cost") {
    gj::ThreadDevices devices({.compute_queues = 3, .hop_ns = 1.0f, .wake_ns = 0.0f});
    std::array<Four, 12> x{};
    CpuRecorder rec;
    gj::Buffer<std::int32_t> buffers[12];
    for (unsigned i = 0; i < 12; ++i) buffers[i] = rec.buffer("x", x[i]);
    for (unsigned i = 0; i < 12; ++i) rec.launch(inc<>, buffers[i]);
    for (unsigned i = 1; i < 12; ++i) rec.launch(add<>, buffers[0], buffers[0], buffers[i]);
    const CpuList list = std::move(rec).finish().value();
    std::vector<float> costs(23, 100.0f);
    ThreadGraph spread = graph_of(list, {devices, {.op_ns = costs}});
    CHECK(spread.native().queues().queues().size() == 3);
    ThreadGraph tiny = graph_of(list, {devices, {.other_op_ns = 0.01f}});
    CHECK(tiny.native().queues().queues().size() == 1);
    // Nor for less than it takes to wake a thread.
    gj::ThreadDevices sleepy({.compute_queues = 3, .hop_ns = 1.0f, .wake_ns = 10'000.0f});
    CHECK(graph_of(list, {sleepy, {.op_ns = costs}}).native().queues().queues().size() == 1);
    for (int i = 1; i <= 100; ++i) {
        set_all(x[0], 0);
        REQUIRE((i % 2 == 0 ? spread : tiny).replay_and_wait().ok());
        CHECK(all_equal(x[0], 1 + 11 * i));
    }
}

}  // namespace
