// Memory that runs out, and device calls that fail, at the first, second, third … place until a run gets through. Each
// time there is an error that says so, nothing is lost or left behind, and the next good call works.
#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/stepped_device.hpp"
#include "support/ways.hpp"

#include <graphjit/observe/profile.hpp>
#include <graphjit/plan/explain.hpp>

#include <array>
#include <cstring>

namespace {

using namespace test;

constexpr unsigned most_steps = 5000;

/// Calls `step()`, which returns whether it went well, with the n-th allocation failing, for n = 1, 2, …
/// `recover()` runs after each failure with memory there again. Returns how often it failed.
template <class Step, class Recover>
unsigned fail_each_allocation(Step step, Recover recover) {
    for (unsigned n = 1; n < most_steps; ++n) {
        const std::int64_t alive_before = NthFailure::alive();
        bool happened = false, ok = false;
        std::uint64_t throwing_calls = 0;
        std::int64_t alive_after = 0;
        {
            const NthFailure failure(n);
            ok = step();
            happened = failure.happened();
            throwing_calls = failure.throwing_calls();
            alive_after = NthFailure::alive();
        }
        INFO("allocation ", n);
        CHECK(throwing_calls == 0);
        if (!happened) {
            CHECK(ok);
            return n - 1;
        }
        CHECK(!ok);
        CHECK(alive_after == alive_before);
        recover();
    }
    FAIL("never got through");
    return 0;
}

/// Ops and slots enough for every array of a recording to grow more than once.
template <class Backend>
struct Program {
    static constexpr unsigned groups = 12;
    std::array<std::int32_t, 64> memory{}, given{};
    gj::Input<std::int32_t> in;
    gj::Variable last;
    gj::Slot<std::int32_t> k;

    void record(gj::Recorder<Backend>& rec) {
        const auto buffer = rec.buffer("memory", memory);
        in = rec.template input<std::int32_t>("an input", 64);
        rec.may_alias(in, rec.buffer("never touched", &unused_, 1));
        k = rec.template slot<std::int32_t>("a value", 2);
        for (unsigned i = 0; i < groups; ++i) {
            last = rec.variable("a variable of some name", {.min = 0, .max = 8}, 1);
            const gj::Expr kept = rec.let(last * 2 + static_cast<int>(i));
            (void)rec.template slot<double>("unused");
            rec.launch("one with a name", mix<4>, buffer.slice(4 * i, 4), in.slice(last + 4, 4), k);
            rec.fill("another", in.slice(4 * i, 4), kept + 1);
            rec.copy(buffer.slice(48, 4), in.slice(last, 4));
            rec.launch(iota, {.groups = {last}, .group_size = {1}}, buffer.slice(52, 8), reads(in));
            rec.host_call(inc<1>, buffer.slice(kept, 1));
        }
    }

    template <class Runner>
    [[nodiscard]] bool runs_right(Runner& graph) {
        memory.fill(0);
        given.fill(1);
        graph.set(in, given).set(k, 5);
        if (!graph.replay().ok()) return false;
        return given[0] == 3 && given[44] == 14 && memory[52] == 1 && memory[53] == 0;
    }

private:
    std::int32_t unused_ = 0;
};

TEST_CASE("the helper makes the call fail that it is told to, and sees what leaks") {
    std::uint64_t fails = 0;
    for (std::uint64_t n = 1; n <= 3; ++n) {
        const NthFailure failure(n);
        for (std::uint64_t i = 1; i <= 3; ++i) {
            void* memory = ::operator new(8, std::nothrow);
            if (memory == nullptr && i == n) ++fails;
            ::operator delete(memory);
        }
        CHECK(failure.happened());
    }
    CHECK(fails == 3);
    const std::int64_t before = NthFailure::alive();
    void* leaked = ::operator new(8, std::nothrow);
    CHECK(NthFailure::alive() == before + 1);
    ::operator delete(leaked);
}

TEST_CASE("recording: whichever allocation fails, the recorder says so and can go on") {
    Program<gj::CpuBackend> program;
    const unsigned failures = fail_each_allocation(
        [&] {
            CpuRecorder rec;
            program.record(rec);
            const gj::Status status = rec.status();
            if (status.ok()) return std::move(rec).finish().ok();
            const bool told = status.code() == gj::ErrorCode::out_of_memory &&
                              std::move(rec).finish().code() == gj::ErrorCode::out_of_memory;
            return !told;
        },
        [] {});
    CHECK(failures > 20);

    // The same once more, but the recorder is kept: after clear_error all is recorded again behind what there is.
    for (unsigned n = 1; n <= failures; ++n) {
        INFO("allocation ", n);
        CpuRecorder rec;
        {
            const NthFailure failure(n);
            program.record(rec);
        }
        if (rec.status().ok()) continue;  // this one belongs to finish()
        CHECK(rec.status().code() == gj::ErrorCode::out_of_memory);
        rec.clear_error();
        program.record(rec);
        REQUIRE(rec.status().ok());
        const std::uint32_t size = rec.size();
        CHECK(size >= Program<gj::CpuBackend>::groups * 5);
        const CpuList list = std::move(rec).finish().value();
        CHECK(verdict(list) == "right");
    }
}

TEST_CASE("a Variable that was refused for want of memory leaves nothing of its range behind") {
    std::array<std::int32_t, 4> x{};
    unsigned refused = 0;
    for (unsigned earlier = 0; earlier < 40; ++earlier) {
        for (std::uint64_t n = 1; n <= 6; ++n) {
            CpuRecorder rec;
            for (unsigned i = 0; i < earlier; ++i) (void)rec.variable("v", {.min = 0, .max = 1}, 0);
            {
                const NthFailure failure(n);
                (void)rec.variable("narrow", {.min = 0, .max = 1});
            }
            if (rec.status().ok()) continue;
            ++refused;
            rec.clear_error();
            const auto wide = rec.variable("wide", {.min = -50, .max = 50});
            rec.launch(fill<>, rec.buffer("x", x), wide);
            CpuRunner graph = as_graph(std::move(rec).finish().value());
            CHECK(replay_error(graph.set(wide, 50)) == "");
            CHECK(x[0] == 50);
            CHECK(graph.set(wide, 51).replay().code() == gj::ErrorCode::out_of_range);
        }
    }
    CHECK(refused > 3);
}

TEST_CASE("an input that was refused for want of memory takes no other memory's place") {
    std::array<std::int32_t, 4> x{}, y{};
    unsigned refused = 0;
    for (unsigned earlier = 0; earlier < 40; ++earlier) {
        for (std::uint64_t n = 1; n <= 3; ++n) {
            CpuRecorder rec;
            for (unsigned i = 0; i < earlier; ++i) (void)rec.buffer("m", x);
            gj::Input<std::int32_t> lost;
            {
                const NthFailure failure(n);
                lost = rec.input<std::int32_t>("lost", 4);
            }
            if (rec.status().ok()) continue;
            ++refused;
            rec.clear_error();
            const auto next = rec.buffer("next", x);
            const auto in = rec.input<std::int32_t>("in", 4);
            rec.launch(fill<>, next, 1);
            rec.launch(mix<>, in, next, 1);
            CHECK(rec.launch(fill<>, lost, 2) == gj::OpIndex::none);
            CHECK(rec.status().code() == gj::ErrorCode::foreign_handle);
            rec.clear_error();
            CpuRunner graph = as_graph(std::move(rec).finish().value());
            graph.set(in, y).set(lost, y);  // what was never recorded can be of no harm
            (void)graph.replay();
            graph.set(in, y);
            CHECK(replay_error(graph) == "");
            CHECK(text(y) == "4 4 4 4");
        }
    }
    CHECK(refused > 3);
}

TEST_CASE("planning, cloning and making runners: whichever allocation fails is an error, and the next call works") {
    Program<gj::CpuBackend> program;
    CpuRecorder rec;
    program.record(rec);
    const CpuList list = std::move(rec).finish().value();
    const std::string plan = edges(list);
    const auto out_of_memory = [](const auto& result) {
        CHECK(result.code() == gj::ErrorCode::out_of_memory);
        CHECK(std::strlen(result.message().c_str()) > 15);
        return false;
    };
    CHECK(fail_each_allocation(
              [&] {
                  const auto clone = list.clone();
                  return clone.ok() || out_of_memory(clone);
              },
              [] {}) > 5);
    CHECK(fail_each_allocation(
              [&] {
                  gj::Planner planner;
                  const auto dag = planner.plan(list);
                  return dag.ok() || out_of_memory(dag);
              },
              [] {}) > 5);
    CHECK(fail_each_allocation(
              [&] {
                  const auto graph = gj::instantiate(list);
                  return graph.ok() || out_of_memory(graph);
              },
              [&] { REQUIRE(gj::instantiate(list).ok()); }) > 20);
    CHECK(fail_each_allocation(
              [&] {
                  const auto eager = gj::EagerRunner<gj::CpuBackend>::create(list);
                  return eager.ok() || out_of_memory(eager);
              },
              [] {}) > 20);
    CHECK(fail_each_allocation(
              [&] {
                  const auto adversary = gj::AdversarialRunner<gj::CpuBackend>::create(list, gj::AdversaryOptions{});
                  return adversary.ok() || out_of_memory(adversary);
              },
              [] {}) > 20);
    CHECK(fail_each_allocation(
              [&] {
                  const auto verdict = gj::verify(list, gj::Dag());
                  return verdict.kind == gj::Verdict::Kind::bad_edge;
              },
              [] {}) == 0);
    const gj::Dag dag = plan_of(list);
    CHECK(fail_each_allocation(
              [&] {
                  const auto path = gj::Path::find(dag, op(0), op(list.size() - 1));
                  return path.ok() || out_of_memory(path);
              },
              [] {}) == 3);
    CHECK(fail_each_allocation([&] { return gj::verify(list, dag).kind != gj::Verdict::Kind::out_of_memory; }, [] {}) ==
          1);

    auto graph = gj::instantiate(list).value();
    CHECK(edges(graph.dag()) == plan);
    CHECK(program.runs_right(graph));
    CHECK(program.runs_right(graph));
}

TEST_CASE("a planner that ran out of memory plans right the next time") {
    Program<gj::CpuBackend> program;
    CpuRecorder rec;
    program.record(rec);
    const CpuList list = std::move(rec).finish().value();
    const std::string plan = edges(list);
    for (std::uint64_t n = 1; n < most_steps; ++n) {
        gj::Planner planner;
        {
            const NthFailure failure(n);
            const bool ok = planner.plan(list).ok();
            if (!failure.happened()) {
                CHECK(ok);
                break;
            }
            CHECK(!ok);
        }
        CHECK(edges(planner.plan(list).value()) == plan);
        {
            const NthFailure failure(1);  // now it has all it needs, but for the plan itself
            CHECK(!planner.plan(list).ok());
        }
        CHECK(edges(planner.plan(list).value()) == plan);
    }
}

TEST_CASE("a runner takes its list over only when it is made: after a failure the list can be used again") {
    Program<gj::CpuBackend> program;
    CpuRecorder rec;
    program.record(rec);
    const CpuList list = std::move(rec).finish().value();
    for (const unsigned n : {1u, 5u, 20u}) {
        CpuList copy = list.clone().value();
        {
            const NthFailure failure(n);
            CHECK(!gj::instantiate(copy).ok());
        }
        auto graph = gj::instantiate(copy).value();
        CHECK(program.runs_right(graph));
    }
}

TEST_CASE("whichever call of a device fails, from the first of a build to the last of a replay") {
    DeviceLog log;
    Program<RecordingBackend> program;
    RecordingRecorder rec(RecordingBackend{&log});
    program.record(rec);
    const RecordingList list = std::move(rec).finish().value();
    unsigned built = 0;
    for (std::uint32_t k = 1; k < most_steps; ++k) {
        INFO("call ", k);
        log = DeviceLog();
        log.fail_at = k;
        bool failed = false;
        {
            auto made = gj::instantiate(list);
            if (!made.ok()) {
                CHECK(made.code() == gj::ErrorCode::backend_failure);
                CHECK(std::string(made.message().c_str()).find("(719)") != std::string::npos);
                CHECK(log.alive == 0);
                failed = true;
            } else {
                ++built;
                RecordingRunner& graph = *made;
                for (int replay = 0; replay < 3; ++replay) {
                    program.memory.fill(poison);
                    program.given.fill(1);
                    graph.set(program.in, program.given).set(program.k, replay).set(program.last, replay);
                    const gj::Status status = graph.replay();
                    if (status.ok()) continue;
                    CHECK(status.code() == gj::ErrorCode::backend_failure);
                    CHECK(status.error().native == RecordingBackend::native_code);
                    CHECK(all_equal(program.memory, poison));
                    CHECK(all_equal(program.given, 1));
                    failed = true;
                    // The same replay again, and one with other values, are right.
                    REQUIRE(graph.replay().ok());
                    CHECK(program.given[44] == 2 * replay + 12);
                }
                log.fail_at = 0;
                graph.set(program.last, 1);
                CHECK(program.runs_right(graph));
            }
        }
        CHECK(log.alive == 0);
        if (!failed) {
            CHECK(k > log.count(Call::supports) + log.count(Call::add_node));
            break;
        }
    }
    CHECK(built > 20);
}

/// Ops on two devices, copies between them and an input: signals, several queues, and things to map.
struct Apart {
    std::array<std::int32_t, 8> near{}, far{}, given{};
    gj::Input<std::int32_t> in;
    gj::Variable at;
    CpuList list;

    Apart() {
        CpuRecorder rec;
        const auto here = rec.buffer("near", near);
        const auto there = rec.buffer("far", far, gj::DeviceId{1});
        in = rec.input<std::int32_t>("in", 8, gj::DeviceId{1});
        at = rec.variable("at", {.min = 0, .max = 4}, 0);
        for (unsigned i = 0; i < 3; ++i) {
            rec.on(gj::DeviceId{0});
            rec.launch(mix<4>, here.slice(at, 4), in.slice(0, 4), at + 1);
            rec.copy(there, here);
            rec.on(gj::DeviceId{1});
            rec.launch(inc<8>, there);
            rec.copy(in, there);
        }
        list = std::move(rec).finish().value();
        auto graph = gj::instantiate(list).value();
        expected_ = result(graph);
    }
    template <class Graph>
    [[nodiscard]] bool runs_right(Graph& graph) {
        return result(graph) == expected_;
    }

private:
    using Eight = std::array<std::int32_t, 8>;

    template <class Graph>
    [[nodiscard]] Eight result(Graph& graph) {
        near.fill(0);
        given.fill(1);
        for (const std::int32_t place : {0, 1}) {
            if (!graph.set(in, given).set(at, place).replay_and_wait().ok()) return {};
        }
        return far;
    }

    Eight expected_{};
};

/// Whether a graph is built on the backend; if not, for want of memory.
template <class Backend>
[[nodiscard]] bool builds(const gj::OpList& list, const Backend& backend) {
    gj::OpList copy;
    if (!copy.copy_from(list)) return false;
    const auto graph = gj::instantiate(gj::OpListOf<Backend>{std::move(copy), backend});
    if (graph.ok()) return true;
    CHECK(graph.code() == gj::ErrorCode::out_of_memory);
    CHECK(std::strlen(graph.message().c_str()) > 15);
    return false;
}

template <class Backend>
void fail_on_threads(const gj::ThreadOptions& options, const gj::HcqOptions& graph_options) {
    Apart apart;
    gj::ThreadDevices devices(options);
    const Backend backend(devices, graph_options);
    REQUIRE(builds(apart.list, backend));  // starts the threads
    const auto check = [&] {
        auto graph = gj::instantiate(for_backend(apart.list, backend)).value();
        CHECK(apart.runs_right(graph));
    };
    check();
    unsigned turn = 0;
    CHECK(fail_each_allocation([&] { return builds(apart.list, backend); },
                               [&] {
                                   if (turn++ % 8 == 0) check();
                               }) > 40);
    check();
    // With devices of its own each time: they may be what there is no memory for, or a queue may.
    CHECK(fail_each_allocation(
              [&] {
                  gj::ThreadDevices own(options);
                  return own.ok() && builds(apart.list, Backend(own, graph_options));
              },
              check) > 45);
}

TEST_CASE("graphs on threads: whichever allocation fails is an error, and the next graph works") {
    fail_on_threads<gj::ThreadBackend>({.devices = 2}, {});
}
TEST_CASE("graphs on threads with several queues a device: whichever allocation fails is an error") {
    fail_on_threads<gj::ThreadBackend>({.devices = 2, .compute_queues = 3, .hop_ns = 1.0f, .wake_ns = 0.0f},
                                       {.in_flight = 8});
}
TEST_CASE("graphs on threads with profiles: whichever allocation fails is an error") {
    fail_on_threads<gj::ProfiledThreadBackend>({.devices = 2, .copy_queues = false}, {.in_flight = 1});
}

TEST_CASE("a profile there is no memory for is an error, and the graph goes on") {
    Apart apart;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = gj::instantiate(for_backend<gj::ProfiledThreadBackend>(apart.list, devices)).value();
    CHECK(apart.runs_right(graph));
    CHECK(fail_each_allocation(
              [&] {
                  const auto profile = gj::collect_profile(graph);
                  if (!profile.ok()) CHECK(profile.code() == gj::ErrorCode::out_of_memory);
                  return profile.ok();
              },
              [] {}) == 2);  // its ops, and a clock for each queue
    CHECK(apart.runs_right(graph));
    CHECK(gj::collect_profile(graph).value().replay() == 4);
}

TEST_CASE("ThreadDevices there is no memory for say so, and so do graphs on them") {
    Apart apart;
    CHECK(fail_each_allocation(
              [] {
                  const gj::ThreadDevices devices({.devices = 40});
                  return devices.ok();
              },
              [] {}) == 5);  // the pool, its queues, its timelines, and two slabs of counters
    for (std::uint64_t n = 1; n <= 4; ++n) {
        gj::ThreadDevices devices = [&] {
            const NthFailure failure(n);
            return gj::ThreadDevices({.devices = 2});
        }();
        REQUIRE(!devices.ok());
        CHECK(gj::instantiate(for_backend<gj::ThreadBackend>(apart.list, devices)).code() ==
              gj::ErrorCode::invalid_argument);
    }
}

TEST_CASE("graphs on queues of any device: whichever allocation of the library fails, nothing of the device is left") {
    Apart apart;
    using Backend = gj::HcqBackend<Stepped<gj::QueueOrder::not_kept>, gj::Profiling::on>;
    unsigned failures = 0;
    for (bool happened = true; happened; ++failures) {
        INFO("allocation ", failures + 1);
        const Stepped<gj::QueueOrder::not_kept> device(2);
        const Backend backend(device, {.in_flight = 3});
        bool ok = false;
        {
            const NthFailure failure(failures + 1);  // those of the device itself cannot fail
            ok = builds(apart.list, backend);
            happened = failure.happened();
        }
        CHECK(ok == !happened);
        CHECK(device.machine().alive == 0);
        auto graph = gj::instantiate(for_backend(apart.list, backend)).value();
        CHECK(apart.runs_right(graph));
        REQUIRE(failures < most_steps);
    }
    CHECK(failures > 40);
}

}  // namespace
