// What the driver is asked for: which calls a replay makes, and what happens when one is refused.
#include "cuda/machine.hpp"

#include "support/ways.hpp"

#include <thread>

namespace {

using namespace test;

constexpr Int n = 4;

/// Calls of the driver since it was made.
class Calls {
public:
    explicit Calls(std::string name = {}) : name_(std::move(name)), before_(count()) {}
    [[nodiscard]] std::size_t since() const { return count() - before_; }

private:
    [[nodiscard]] std::size_t count() const { return name_.empty() ? cuda::calls() : cuda::calls(name_); }
    std::string name_;
    std::size_t before_;
};
template <class Do>
std::size_t calls_of(Do act) {
    const Calls calls;
    act();
    return calls.since();
}

/// Ten fills, each of its own Input and Slot.
struct Ten {
    explicit Ten(CudaMachine& machine, bool via = false) : memory(machine, 10 * n) {
        CudaRecorder rec = machine.recorder();
        for (unsigned i = 0; i < 10; ++i) {
            out.push_back(rec.input<Int>("out", n));
            value.push_back(rec.slot<Int>("value"));
            if (via) {
                rec.launch(machine.kernels.fill_via, one_block, out.back(), value.back(), n);
            } else {
                rec.launch(machine.kernels.fill, one_block, out.back(), value.back(), n);
            }
        }
        graph.emplace_back(CudaMachine::build(std::move(rec)));
        for (unsigned i = 0; i < 10; ++i) set(i, static_cast<Int>(i));
    }
    void set(unsigned i, Int v) { graph[0].set(out[i], memory.data() + i * n, n).set(value[i], v); }
    [[nodiscard]] gj::Status replay() { return graph[0].replay(); }
    [[nodiscard]] std::string values() {
        if (!graph[0].wait().ok()) return "failed";
        std::string text;
        const std::vector<Int> all = memory.get();
        for (unsigned i = 0; i < 10; ++i) {
            for (unsigned k = 1; k < n; ++k) CHECK(all[i * n + k] == all[i * n]);
            text += std::to_string(all[i * n]) + " ";
        }
        return text;
    }

    DeviceInts memory;
    std::vector<gj::Input<Int>> out;
    std::vector<gj::Slot<Int>> value;
    std::vector<CudaGraph> graph;
};

TEST_CASE("CUDA: nothing changed is one launch and no other call") {
    CudaMachine machine;
    Ten ten(machine);
    REQUIRE(ten.replay().ok());
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 1);
    const Calls launches("cuGraphLaunch");
    CHECK(ten.replay().ok());
    CHECK(launches.since() == 1);
    CHECK(ten.values() == "0 1 2 3 4 5 6 7 8 9 ");
}

TEST_CASE("CUDA: a replay makes a call for each node that it touches, and the launch") {
    CudaMachine machine;
    Ten ten(machine);
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 11);
    ten.set(3, -3);
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 2);
    ten.set(3, -33);
    ten.set(7, -7);
    const Calls updates("cuGraphExecKernelNodeSetParams");
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 3);
    CHECK(updates.since() == 2);
    ten.set(7, -7);
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 1);
    CHECK(ten.values() == "0 1 2 -33 4 5 6 -7 8 9 ");
}

TEST_CASE("CUDA: kernels that read their arguments from the graph's memory take one write, however many change") {
    CudaMachine machine;
    const CurrentDevice current(machine);
    Ten ten(machine, true);
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 2);
    CHECK(ten.values() == "0 1 2 3 4 5 6 7 8 9 ");
    CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 1);
    const Calls writes("cuMemcpyHtoDAsync");
    std::size_t others = 0;
    for (Int round = 2; round <= 41; ++round) {
        for (unsigned i = 0; i < 10; ++i) ten.set(i, round * static_cast<Int>(i));
        others += calls_of([&] { CHECK(ten.replay().ok()); }) - 2;
    }
    CHECK(writes.since() == 40);
    CHECK(others <= 20);  // an event, and a wait for one, each fourth time
    CHECK(ten.values() == "0 41 82 123 164 205 246 287 328 369 ");
    CHECK(ten.graph[0].native().counters().block_writes == 41);
}

TEST_CASE("CUDA: edges of the native graph are those of the plan") {
    CudaMachine machine;
    DeviceInts a(machine, n), b(machine, n), c(machine, n), d(machine, n);
    CudaRecorder rec = machine.recorder();
    const auto A = rec.buffer("a", a), B = rec.buffer("b", b), C = rec.buffer("c", c), D = rec.buffer("d", d);
    rec.launch(machine.kernels.fill, one_block, A, 1, n);
    rec.copy(B, A);
    rec.launch(machine.kernels.mix, one_block, C, A, 0, n);
    rec.launch(machine.kernels.add, one_block, D, B, C, n);
    rec.fill(A, 0);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    CHECK(edges(graph.dag()) == "0>1 0>2 1>3 2>3 1>4 2>4");
    std::size_t nodes = 0;
    REQUIRE(cuGraphGetNodes(graph.native().graph(), nullptr, &nodes) == CUDA_SUCCESS);
    CHECK(nodes == 5);
    std::size_t native_edges = 0;
    REQUIRE(cuGraphGetEdges(graph.native().graph(), nullptr, nullptr, nullptr, &native_edges) == CUDA_SUCCESS);
    CHECK(native_edges == 6);
    CHECK(replay_now(graph) == "ok");
    CHECK(d.are(4));
    CHECK(a.are(0));
}

TEST_CASE("CUDA: an update that fails half-way is told again; nothing is lost") {
    for (std::size_t k = 1; k <= 11; ++k) {
        CAPTURE(k);
        CudaMachine machine;
        Ten ten(machine);
        REQUIRE(ten.replay().ok());
        CHECK(ten.values() == "0 1 2 3 4 5 6 7 8 9 ");
        for (unsigned i = 0; i < 10; ++i) ten.set(i, 100 + static_cast<Int>(i));
        cuda::fail_call(k, CUDA_ERROR_UNKNOWN);
        const gj::Status failed = ten.replay();
        CHECK(failed.code() == gj::ErrorCode::backend_failure);
        CHECK(lacks(failed, "CUDA_ERROR_UNKNOWN (999)") == "");
        if (k <= 10) CHECK(lacks(failed, "op " + std::to_string(k - 1) + " 'fill'") == "");
        CHECK(ten.values() == "0 1 2 3 4 5 6 7 8 9 ");
        CHECK(ten.replay().ok());
        CHECK(ten.values() == "100 101 102 103 104 105 106 107 108 109 ");
    }
}

TEST_CASE("CUDA: where the driver refuses an update the graph is built anew, and where it refuses that, too, ops run "
          "one by one") {
    CudaMachine machine;
    for (const CUresult refusal : {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_INVALID_VALUE}) {
        Ten ten(machine);
        REQUIRE(ten.replay().ok());
        ten.set(2, 22);
        ten.set(5, 55);
        cuda::fail_call(1, refusal, "cuGraphExecKernelNodeSetParams");
        CHECK(ten.replay().ok());
        CHECK(ten.values() == "0 1 22 3 4 55 6 7 8 9 ");
        CHECK(ten.graph[0].native().counters().reinstantiations == 1);
        ten.set(9, 99);
        CHECK(calls_of([&] { CHECK(ten.replay().ok()); }) == 2);
        CHECK(ten.values() == "0 1 22 3 4 55 6 7 8 99 ");

        ten.set(1, 11);
        cuda::fail_call(1, refusal, "cuGraphExecKernelNodeSetParams");
        cuda::fail_call(1, CUDA_ERROR_UNKNOWN, "cuGraphInstantiate");
        CHECK(ten.replay().ok());
        CHECK(ten.values() == "0 11 22 3 4 55 6 7 8 99 ");
        CHECK(ten.graph[0].native().counters().eager_replays == 1);
        ten.set(1, 12);
        CHECK(ten.replay().ok());
        CHECK(ten.values() == "0 12 22 3 4 55 6 7 8 99 ");
        CHECK(ten.graph[0].native().counters().reinstantiations == 2);
    }
}

TEST_CASE("CUDA: launches without groups keep their place and cost no work") {
    CudaMachine machine;
    DeviceInts x(machine, n, 0);
    CudaRecorder rec = machine.recorder();
    const auto groups = rec.variable("groups", {.min = 0, .max = 2}, 0);
    const auto b = rec.buffer("x", x);
    rec.launch(machine.kernels.inc, one_block, b, n);
    rec.launch(machine.kernels.inc, {.groups = {groups}, .group_size = {32}}, b, n);
    rec.launch(machine.kernels.inc, {.groups = {0}, .group_size = {32}}, b, n);
    rec.launch(machine.kernels.inc, one_block, b, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    Int right = 0;
    for (const int given : {0, 1, 1, 0, 0, 1}) {
        CHECK(replay_now(graph.set(groups, given)) == "ok");
        right += 2 + given;
        CHECK(x.are(right));
    }
}

TEST_CASE("CUDA: a failure of any call of a build leaves nothing behind") {
    CudaMachine machine(2);
    DeviceInts x(machine, n), y(machine, n, 3, 1);
    const auto build = [&]() -> gj::Status {
        CudaRecorder rec = machine.recorder();
        const auto in = rec.input<const Int>("in", n);
        const auto X = rec.buffer("x", x), Y = rec.buffer("y", y, device(1));
        rec.capture(
            "set", [&](CUstream stream) { (void)cuMemsetD32Async(CUdeviceptr(x.data()), 5, n, stream); },
            gj::writes(X));
        rec.launch(machine.kernels.mix_via, one_block, X, in, 1, n);
        rec.copy(Y, X);
        rec.fill(X.template as<std::int64_t>(), std::int64_t{1} << 40);
        rec.launch(machine.kernels.inc, {.groups = {0}, .group_size = {32}}, X, n);
        rec.host_call(gj::kernel<[](Int) {}>, 1);
        auto list = std::move(rec).finish();
        if (!list) return list.status();
        auto graph = gj::instantiate(std::move(*list));
        return graph.ok() ? gj::Status() : graph.status();
    };
    const cuda::Ledger before = cuda::live();
    REQUIRE(build().message().c_str() == std::string("graphjit: ok"));
    CHECK(cuda::live() == before);
    // Whatever makes something or adds something; no call of those that end things can be tried twice.
    for (const char* name :
         {"cuStreamCreate", "cuStreamBeginCapture", "cuGraphCreate", "cuEventCreate", "cuMemAlloc", "cuMemHostAlloc",
          "cuGraphAddKernelNode", "cuGraphAddMemcpyNode", "cuGraphAddMemsetNode", "cuGraphAddHostNode",
          "cuGraphAddChildGraphNode", "cuGraphInstantiate", "cuGraphNodeSetEnabled"}) {
        CAPTURE(name);
        const Calls calls(name);
        REQUIRE(build().ok());
        for (std::size_t k = 1, count = calls.since(); k <= count; ++k) {
            CAPTURE(k);
            cuda::fail_call(k, CUDA_ERROR_UNKNOWN, name);
            const gj::Status status = build();
            CHECK(cuda::live() == before);
            CHECK(status.code() == gj::ErrorCode::backend_failure);
            CHECK(status.error().native == CUDA_ERROR_UNKNOWN);
        }
        CHECK(calls.since() > 1);
    }
    CHECK(build().ok());
    CHECK(cuda::violations().empty());
}

TEST_CASE("CUDA: two threads replay two graphs on the same devices") {
    CudaMachine machine(2);
    const auto work = [&](Int value) {
        DeviceInts x(machine, n, 0), y(machine, n, 0, 1);
        CudaRecorder rec = machine.recorder();
        const auto v = rec.slot<Int>("v");
        const auto X = rec.buffer("x", x), Y = rec.buffer("y", y, device(1));
        rec.launch(machine.kernels.fill, one_block, X, v, n);
        rec.on(device(1));
        rec.launch(machine.kernels.mix, one_block, Y, X, 1, n);
        CudaGraph graph = CudaMachine::build(std::move(rec));
        for (Int i = 0; i < 50; ++i) {
            REQUIRE(graph.set(v, value + i).replay().ok());
            if (i % 7 == 0) CHECK(graph.wait().ok());
        }
        CHECK(graph.wait().ok());
        CHECK(y.are(3 * (value + 49) + 1));
    };
    std::thread other([&] { work(1000); });
    work(5);
    other.join();
    CHECK(cuda::violations().empty());
}

}  // namespace
