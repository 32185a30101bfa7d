// Cases 103, 104, 106: profiles, and the traces made of them.
#include "support/kernels.hpp"
#include "support/stepped_device.hpp"
#include "support/ways.hpp"

#include <graphjit/observe/queues.hpp>
#include <graphjit/observe/trace.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <map>

namespace {

using namespace test;
using Four = std::array<std::int32_t, 4>;
using nlohmann::json;

void spin_long(std::int32_t* x, std::int32_t turns) {
    for (std::int32_t i = 0; i < turns; ++i) spin();
    x[0] += 1;
}
void launched(const gj::LaunchDims&, std::int32_t* x) { x[0] += 1; }

/// Long and short kernels, a copy, and a launch of zero groups between them, on two devices.
struct Program {
    Four a{}, b{}, c{};
    gj::Variable groups;
    CpuList list;

    Program() {
        CpuRecorder rec;
        groups = rec.variable("groups", {.min = 0, .max = 4}, 0);
        const auto A = rec.buffer("a", a);
        const auto B = rec.buffer("b", b, gj::DeviceId{1});
        const auto C = rec.buffer("c", c, gj::DeviceId{1});
        rec.launch("long 0", gj::kernel<spin_long>, A, 100);
        rec.launch("short 1", gj::kernel<spin_long>, A, 1);
        rec.copy("copy 2", B, A);
        rec.launch("nothing 3", gj::kernel<launched>, {.groups = {groups}}, A);
        rec.on(gj::DeviceId{1});
        rec.launch("long 4", gj::kernel<spin_long>, B, 100);
        rec.launch("short 5", gj::kernel<spin_long>, C, 1);
        list = std::move(rec).finish().value();
    }
};

template <class Backend>
[[nodiscard]] auto graph_of(const Program& program, const Backend& backend) {
    return gj::instantiate(for_backend(program.list, backend)).value();
}

TEST_CASE("case 103: stamps are there when the wait is over, and all are of this replay") {
    Program program;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = graph_of(program, gj::ProfiledThreadBackend(devices));
    std::int64_t former_end = 0;
    for (int i = 0; i < 300; ++i) {
        const std::int64_t before = static_cast<std::int64_t>(gj::ThreadDevice(devices).read_clock({}).ns);
        const bool ran = i % 2 == 0 ? graph.replay_and_wait().ok() : graph.replay().ok() && graph.wait().ok();
        REQUIRE(ran);
        const gj::Profile profile = gj::collect_profile(graph).value();
        const std::int64_t after = static_cast<std::int64_t>(gj::ThreadDevice(devices).read_clock({}).ns);
        CHECK(profile.replay() == static_cast<std::uint64_t>(i + 1));
        REQUIRE(profile.ops().size() == 6);
        for (const gj::OpTime& op : profile.ops()) {
            CHECK(op.is_timed);
            CHECK(op.start_ns >= before);
            CHECK(op.start_ns <= op.end_ns);
            CHECK(op.end_ns <= after);
            CHECK(op.start_ns >= former_end);
        }
        for (const unsigned follower : {1u, 2u, 3u, 4u}) {
            for (const gj::OpIndex former : graph.dag().dependencies(op(follower))) {
                CHECK(profile.op(former).end_ns <= profile.op(op(follower)).start_ns);
            }
        }
        former_end = before;
    }
}

TEST_CASE("case 104: long ops have long times, and an op of zero groups is marked") {
    Program program;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = graph_of(program, gj::ProfiledThreadBackend(devices));
    int wins = 0;
    for (int i = 0; i < 20; ++i) {
        REQUIRE(graph.set(program.groups, i % 2).replay_and_wait().ok());
        const gj::Profile profile = gj::collect_profile(graph).value();
        const auto time = [&](unsigned n) { return profile.op(op(n)).end_ns - profile.op(op(n)).start_ns; };
        wins += time(0) > time(1) && time(4) > time(5) ? 1 : 0;  // a thread may be put aside in a short op
        for (unsigned n = 0; n < 6; ++n) {
            CHECK(profile.op(op(n)).op == op(n));
            CHECK(profile.op(op(n)).is_skipped == (n == 3 && i % 2 == 0));
        }
        CHECK(profile.op(op(2)).bytes == 16);
    }
    CHECK(wins >= 15);
}

TEST_CASE("case 106: devices with clocks of their own are brought to one, and missing stamps are not translated") {
    Program program;
    const Stepped<> device(2);
    SteppedMachine& machine = device.machine();
    machine.clock_start = {1'000'000'000, 2'000'000'000, 1, 1, 1, 1, 1, 1};
    machine.clock_rate = {1.0, 1.1, 1, 1, 1, 1, 1, 1};
    machine.no_stamp = op(5);
    gj::HcqBackend<Stepped<>, gj::Profiling::on> backend(device);
    auto graph = graph_of(program, backend);
    for (int i = 0; i < 5; ++i) {
        REQUIRE(graph.replay_and_wait().ok());
        const gj::Profile profile = gj::collect_profile(graph).value();
        const auto start = [&](unsigned n) { return profile.op(op(n)).start_ns; };
        const auto end = [&](unsigned n) { return profile.op(op(n)).end_ns; };
        constexpr std::int64_t tolerance = 2;  // of rounding; a step of the machine takes 1000
        CHECK(end(0) <= start(2) + tolerance);
        CHECK(end(2) <= start(4) + tolerance);
        CHECK(start(0) >= 0);
        CHECK(end(4) <= static_cast<std::int64_t>(machine.time * 1000) + tolerance);
        for (unsigned n = 0; n < 5; ++n) CHECK(start(n) + 900 <= end(n));
        CHECK(!profile.op(op(5)).is_timed);
        CHECK(end(5) == 0);
    }
}

TEST_CASE("there is no profile before the first replay, nor while one runs") {
    Program program;
    const Stepped<> device(2);
    gj::HcqBackend<Stepped<>, gj::Profiling::on> backend(device);
    auto graph = graph_of(program, backend);
    CHECK(gj::collect_profile(graph).code() == gj::ErrorCode::invalid_argument);
    REQUIRE(graph.replay().ok());
    CHECK(gj::collect_profile(graph).code() == gj::ErrorCode::invalid_argument);
    REQUIRE(graph.wait().ok());
    CHECK(gj::collect_profile(graph).ok());
    CpuRecorder nothing;
    auto empty = gj::instantiate(for_backend(std::move(nothing).finish().value(), backend)).value();
    REQUIRE(empty.replay_and_wait().ok());
    CHECK(gj::collect_profile(empty).value().ops().empty());
}

TEST_CASE("a trace is JSON: an event per op in its queue's row, in order, and an arrow per edge") {
    Program program;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = graph_of(program, gj::ProfiledThreadBackend(devices));
    REQUIRE(graph.replay_and_wait().ok());
    std::string text;
    gj::write_trace(graph, gj::collect_profile(graph).value(),
                    [&](const char* data, std::size_t size) { text.append(data, size); });
    const json trace = json::parse(text, nullptr, false);
    REQUIRE(!trace.is_discarded());
    std::map<std::string, json> ops;
    std::map<int, double> row_end;
    std::map<int, double> arrow_start;
    unsigned arrows = 0, rows = 0;
    for (const json& event : trace["traceEvents"]) {
        const std::string kind = event["ph"];
        if (kind == "M") {
            rows += event["name"] == "thread_name" ? 1u : 0u;
        } else if (kind == "X") {
            const double start = event["ts"], duration = event["dur"];
            const int row = event["tid"];
            CHECK(duration >= 0);
            CHECK(start >= row_end[row]);
            row_end[row] = start + duration;
            ops[event["name"]] = event;
        } else if (kind == "s") {
            arrow_start[event["id"]] = event["ts"];
        } else if (kind == "f") {
            ++arrows;
            REQUIRE(arrow_start.count(event["id"]) == 1);
            CHECK(arrow_start[event["id"]] <= event["ts"].get<double>());
        }
    }
    CHECK(ops.size() == 6);
    CHECK(rows == 3);  // two compute queues and a copy queue
    CHECK(arrows == graph.dag().edge_count());
    CHECK(ops["copy 2"]["args"]["bytes"] == 16);
    CHECK(ops["copy 2"]["args"].contains("GB/s"));
    CHECK(ops["copy 2"]["cat"] == "copy");
    CHECK(ops["nothing 3"]["args"]["skipped"] == true);
    CHECK(ops["long 4"]["pid"] == 1);
    CHECK(ops["long 0"]["tid"] != ops["copy 2"]["tid"]);
}

TEST_CASE("a trace of names that JSON does not like is JSON") {
    Four a{};
    CpuRecorder rec;
    const auto A = rec.buffer("a", a);
    const std::string names[] = {"quote\" back\\slash",   "line\nfeed\ttab",        "h\xc3\xa9",
                                 "bad \xc3 \xff\xfe utf", "\xed\xa0\x80 surrogate", "cut \xe2\x82",
                                 "\xf0\x9f\x8e\xb5"};
    for (const std::string& name : names) rec.launch(name, inc<>, A);
    const CpuList list = std::move(rec).finish().value();
    gj::ThreadDevices devices;
    auto graph = gj::instantiate(for_backend<gj::ProfiledThreadBackend>(list, devices)).value();
    REQUIRE(graph.replay_and_wait().ok());
    std::string text;
    gj::write_trace(graph, gj::collect_profile(graph).value(),
                    [&](const char* data, std::size_t size) { text.append(data, size); });
    const json trace = json::parse(text, nullptr, false);
    REQUIRE(!trace.is_discarded());
    std::vector<std::string> found;
    for (const json& event : trace["traceEvents"]) {
        if (event["ph"] == "X") found.push_back(event["name"]);
    }
    REQUIRE(found.size() == 7);
    CHECK(found[0] == names[0]);
    CHECK(found[1] == "line feed tab");
    CHECK(found[2] == names[2]);
    CHECK(found[3] == "bad      utf");
    CHECK(found[6] == names[6]);
}

TEST_CASE("queues, waits and signals as text") {
    Program program;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = graph_of(program, gj::ThreadBackend(devices));
    std::string text;
    gj::write_queues(graph.ops(), graph.native().queues(), graph.native().signals(),
                     [&](const char* data, std::size_t size) { text.append(data, size); });
    CHECK(text == "compute 0.0:\n"
                  "  start: await device 0\n"
                  "  0 long 0\n"
                  "  1 short 1, signal 2\n"
                  "  wait copy 0.0 >= 1, 3 nothing 3\n"
                  "  end: release device 0\n"
                  "copy 0.0:\n"
                  "  wait compute 0.0 >= 2, wait start of device 1, 2 copy 2, signal 1\n"
                  "compute 1.0:\n"
                  "  start: await device 1\n"
                  "  wait copy 0.0 >= 1, 4 long 4\n"
                  "  5 short 5\n"
                  "  end: release device 1\n");
}

TEST_CASE("a picture has a colour per queue") {
    Program program;
    gj::ThreadDevices devices({.devices = 2});
    auto graph = graph_of(program, gj::ThreadBackend(devices));
    std::string text;
    gj::write_dot(graph.ops(), graph.dag(), graph.native().queues(),
                  [&](const char* data, std::size_t size) { text.append(data, size); });
    const char* colours[] = {"1", "1", "2", "1", "3", "3"};
    for (unsigned n = 0; n < 6; ++n) {
        const std::size_t line = text.find("op" + std::to_string(n) + " [");
        REQUIRE(line != std::string::npos);
        const std::string colour = std::string("fillcolor=\"/set312/") + colours[n] + "\"";
        CHECK(text.substr(line, text.find('\n', line) - line).find(colour) != std::string::npos);
    }
}

}  // namespace
