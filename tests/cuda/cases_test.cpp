// The cases that a CUDA graph can get wrong, on device memory; they run on the simulated driver and on real devices.
#include "cuda/machine.hpp"

#include <array>

namespace {

using namespace test;

constexpr Int n = 4;

TEST_CASE("case 19: both ends of a copy follow their slots") {
    CudaMachine machine;
    DeviceInts s(machine, n), x(machine, n), y(machine, n);
    CudaRecorder rec = machine.recorder();
    const auto out = rec.input<Int>("out", n);
    rec.copy(out, rec.buffer("s", s));
    CudaGraph graph = CudaMachine::build(std::move(rec));
    s.set(1);
    CHECK(replay_now(graph.set(out, x)) == "ok");
    s.set(2);
    CHECK(replay_now(graph.set(out, y)) == "ok");
    CHECK(x.are(1));
    CHECK(y.are(2));
    s.set(3);
    CHECK(replay_now(graph.set(out, x)) == "ok");
    CHECK(x.are(3));
    CHECK(y.are(2));
}

TEST_CASE("case 20: the source of a copy is no exception") {
    CudaMachine machine;
    DeviceInts b(machine, n), c(machine, n), s1(machine, n, 1), s2(machine, n, 2), s3(machine, n, 3);
    CudaRecorder rec = machine.recorder();
    const auto in = rec.input<const Int>("in", n);
    const auto mid = rec.buffer("b", b);
    rec.copy(mid, in);
    rec.launch(machine.kernels.mix, one_block, rec.buffer("c", c), mid, 0, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (const auto& [given, right] : {std::pair{&s1, 3}, {&s2, 6}, {&s3, 9}, {&s1, 3}}) {
        CHECK(replay_now(graph.set(in, *given)) == "ok");
        CHECK(c.are(right));
    }
}

TEST_CASE("case 21: of several copies the right one is updated") {
    CudaMachine machine;
    DeviceInts b0(machine, n), b1(machine, n), b2(machine, n), c0(machine, n);
    DeviceInts ones(machine, n, 1), fives(machine, n, 5), sevens(machine, n, 7);
    CudaRecorder rec = machine.recorder();
    const auto in0 = rec.input<const Int>("in0", n), in1 = rec.input<const Int>("in1", n);
    const auto in2 = rec.input<const Int>("in2", n);
    const auto first = rec.buffer("b0", b0);
    rec.copy(first, in0);
    rec.launch(machine.kernels.mix, one_block, rec.buffer("c0", c0), first, 0, n);
    rec.copy(rec.buffer("b1", b1), in1);
    rec.copy(rec.buffer("b2", b2), in2);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    const auto values = [&] { return b0.text() + "|" + b1.text() + "|" + b2.text(); };
    CHECK(replay_now(graph.set(in0, ones).set(in1, ones).set(in2, ones)) == "ok");
    CHECK(values() == "1 1 1 1|1 1 1 1|1 1 1 1");
    CHECK(replay_now(graph.set(in1, fives)) == "ok");
    CHECK(values() == "1 1 1 1|5 5 5 5|1 1 1 1");
    CHECK(replay_now(graph.set(in2, sevens)) == "ok");
    CHECK(values() == "1 1 1 1|5 5 5 5|7 7 7 7");
}

TEST_CASE("case 23: an output does not follow an input that was the same buffer once") {
    CudaMachine machine;
    DeviceInts t(machine, n), o(machine, n, 1), f(machine, n, 10);
    CudaRecorder rec = machine.recorder();
    const auto in = rec.input<const Int>("in", n);
    const auto mid = rec.buffer("t", t), out = rec.buffer("o", o);
    rec.may_alias(in, out);
    rec.launch(machine.kernels.mix, one_block, mid, in, 0, n);
    rec.launch(machine.kernels.mix, one_block, out, mid, 0, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    CHECK(replay_now(graph.set(in, o)) == "ok");
    CHECK(o.are(9));
    CHECK(replay_now(graph.set(in, f)) == "ok");
    CHECK(o.are(90));
    CHECK(f.are(10));
}

TEST_CASE("case 27: two slots that were one buffer are two slots") {
    CudaMachine machine;
    DeviceInts a(machine, n, 1), b(machine, n, 10), c(machine, n);
    CudaRecorder rec = machine.recorder();
    const auto in0 = rec.input<const Int>("in0", n), in1 = rec.input<const Int>("in1", n);
    rec.launch(machine.kernels.add, one_block, rec.buffer("c", c), in0, in1, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    CHECK(replay_now(graph.set(in0, a).set(in1, a)) == "ok");
    CHECK(c.are(2));
    CHECK(replay_now(graph.set(in1, b)) == "ok");
    CHECK(c.are(11));
    CHECK(replay_now(graph.set(in0, b).set(in1, a)) == "ok");
    CHECK(c.are(11));
    CHECK(replay_now(graph.set(in1, b)) == "ok");
    CHECK(c.are(20));
}

TEST_CASE("case 28: ping-pong without a wait between") {
    CudaMachine machine;
    DeviceInts a(machine, n, 1), b(machine, n, 0);
    CudaRecorder rec = machine.recorder();
    const auto in0 = rec.input<const Int>("in0", n);
    const auto in1 = rec.input<Int>("in1", n);
    rec.launch(machine.kernels.mix, one_block, in1, in0, 1, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (int i = 0; i < 8; ++i) {
        graph.set(in0, i % 2 == 0 ? a : b).set(in1, i % 2 == 0 ? b : a);
        REQUIRE(graph.replay().ok());
    }
    CHECK(graph.wait().ok());
    CHECK(a.are(9841));
    CHECK(b.are(3280));
}

TEST_CASE("case 29: an offset into the same memory is a change") {
    CudaMachine machine;
    DeviceInts a(machine, 12), c(machine, n);
    a.set({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    CudaRecorder rec = machine.recorder();
    const auto in = rec.input<const Int>("in", n);
    rec.launch(machine.kernels.mix, one_block, rec.buffer("c", c), in, 0, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    const char* right[] = {"3 6 9 12", "15 18 21 24", "27 30 33 36"};
    for (const int third : {0, 1, 2, 1}) {
        CHECK(replay_now(graph.set(in, a.data() + 4 * third, n)) == "ok");
        CHECK(c.text() == right[third]);
    }
}

TEST_CASE("cases 37 and 45: scalars follow their slots, and arguments belong to the op") {
    CudaMachine machine;
    DeviceInts a(machine, n), b(machine, n), c(machine, n);
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    rec.launch(machine.kernels.fill, one_block, rec.buffer("a", a), v, n);
    rec.launch(machine.kernels.fill, one_block, rec.buffer("b", b), 2, n);
    CudaRecorder other = machine.recorder();
    other.launch(machine.kernels.fill, one_block, other.buffer("c", c), 3, n);
    CudaGraph first = CudaMachine::build(std::move(rec)), second = CudaMachine::build(std::move(other));
    for (const Int value : {1, 2, 3, -5, 2147483647}) {
        CHECK(replay_now(first.set(v, value)) == "ok");
        CHECK(replay_now(second) == "ok");
        CHECK(a.are(value));
        CHECK(b.are(2));
        CHECK(c.are(3));
    }
}

TEST_CASE("case 39: arguments stand where the kernel looks for them") {
    CudaMachine machine;
    DeviceInts room(machine, sizeof(Echo) / sizeof(Int) * 2), p(machine, 1, 11), q(machine, 1, 22);
    CudaRecorder rec = machine.recorder();
    const auto out = rec.buffer("out", room).as<Echo>().slice(0, 1);
    const auto a = rec.slot<Int>("a", 1);
    const auto b = rec.slot<std::int8_t>("b", std::int8_t{2});
    const auto c = rec.slot<std::int64_t>("c", std::int64_t{3});
    const auto d = rec.slot<Int>("d", 4);
    const auto f = rec.slot<double>("f", 0.5);
    rec.launch(machine.kernels.echo, one_block, out, rec.buffer("p", p), a, rec.buffer("q", q), b, c, d, f);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    const auto echoed = [&] {
        CHECK(replay_now(graph) == "ok");
        const std::vector<Int> words = room.get();
        Echo echo;
        std::memcpy(&echo, words.data(), sizeof echo);
        return std::vector<double>{double(echo.a), double(echo.b), double(echo.c),
                                   double(echo.d), double(echo.e), echo.f};
    };
    CHECK(echoed() == std::vector<double>{11, 1, 22, 2004, 3, 0.5});
    graph.set(b, std::int8_t{-9});
    CHECK(echoed() == std::vector<double>{11, 1, 22, -8996, 3, 0.5});
    graph.set(c, std::int64_t{1} << 40);
    CHECK(echoed() == std::vector<double>{11, 1, 22, -8996, double(std::int64_t{1} << 40), 0.5});
    graph.set(f, -1e300);
    CHECK(echoed() == std::vector<double>{11, 1, 22, -8996, double(std::int64_t{1} << 40), -1e300});
    graph.set(a, -1).set(d, 7);
    CHECK(echoed() == std::vector<double>{11, -1, 22, -8993, double(std::int64_t{1} << 40), -1e300});
}

TEST_CASE("cases 41 and 42: the group size and the group count change by themselves") {
    CudaMachine machine;
    constexpr std::int64_t room = 256;
    DeviceInts o(machine, room);
    CudaRecorder rec = machine.recorder();
    const auto groups = rec.variable("groups", {.min = 0, .max = 64}, 4);
    const auto size = rec.variable("size", {.min = 1, .max = 64}, 8);
    rec.launch(machine.kernels.iota, {.groups = {groups}, .group_size = {size}}, rec.buffer("o", o));
    CudaGraph graph = CudaMachine::build(std::move(rec));
    const auto written = [&] {
        o.set(-7);
        CHECK(replay_now(graph) == "ok");
        const std::vector<Int> values = o.get();
        Int count = 0;
        while (count < room && values[static_cast<std::size_t>(count)] == count + 1) ++count;
        for (std::int64_t i = count; i < room; ++i) CHECK(values[static_cast<std::size_t>(i)] == -7);
        return count;
    };
    CHECK(written() == 32);
    graph.set(size, 16);
    CHECK(written() == 64);
    graph.set(size, 4);
    CHECK(written() == 16);
    graph.set(size, 32);
    for (const auto& [count, right] : {std::pair{1, 32}, {5, 160}, {2, 64}, {5, 160}, {0, 0}, {0, 0}, {3, 96}}) {
        graph.set(groups, count);
        CHECK(written() == right);
    }
}

TEST_CASE("case 44: shared memory is part of a launch") {
    CudaMachine machine;
    DeviceInts x(machine, 8), y(machine, 8);
    const std::vector<Int> up{1, 2, 3, 4, 5, 6, 7, 8};
    CudaRecorder rec = machine.recorder();
    const auto in = rec.input<Int>("in", 8);
    const auto size = rec.variable("size", {.min = 1, .max = 8}, 8);
    rec.launch(machine.kernels.reverse, {.groups = {8 / size}, .group_size = {size}, .shared_bytes = 4 * size}, in);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    x.set(up);
    y.set(up);
    CHECK(replay_now(graph.set(in, x)) == "ok");
    CHECK(x.text() == "8 7 6 5 4 3 2 1");
    CHECK(replay_now(graph) == "ok");
    CHECK(x.text() == "1 2 3 4 5 6 7 8");
    CHECK(replay_now(graph.set(size, 4)) == "ok");
    CHECK(x.text() == "4 3 2 1 8 7 6 5");
    CHECK(replay_now(graph.set(in, y)) == "ok");
    CHECK(y.text() == "4 3 2 1 8 7 6 5");
}

TEST_CASE("case 47: executables of one recording are apart") {
    CudaMachine machine;
    DeviceInts a(machine, n);
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v", 5);
    rec.launch(machine.kernels.fill, one_block, rec.buffer("a", a), v, n);
    const CudaList list = std::move(rec).finish().value();
    CudaGraph e1 = gj::instantiate(list).value(), e2 = gj::instantiate(list).value();
    const auto result = [&](CudaGraph& graph) {
        CHECK(replay_now(graph) == "ok");
        return a.get()[0];
    };
    CHECK(result(e1.set(v, 1)) == 1);
    CHECK(result(e2.set(v, 2)) == 2);
    CHECK(result(e1.set(v, 3)) == 3);
    CudaGraph e3 = gj::instantiate(list).value();
    CHECK(result(e3) == 5);
    CHECK(result(e2) == 2);
}

TEST_CASE("case 48: many replays with all arguments new, and many ops with arguments of their own") {
    CudaMachine machine;
    DeviceInts all(machine, 500 * n);
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    const auto buffer = rec.buffer("all", all);
    for (Int i = 0; i < 500; ++i) {
        if (i % 2 == 0) {
            rec.launch(machine.kernels.fill, one_block, buffer.slice(i * n, n), i, n);
        } else {
            rec.launch(machine.kernels.fill_via, one_block, buffer.slice(i * n, n), v, n);
        }
    }
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (Int value = 1; value <= 40; ++value) REQUIRE(graph.set(v, -value).replay().ok());
    CHECK(graph.wait().ok());
    const std::vector<Int> values = all.get();
    for (Int i = 0; i < 500 * n; ++i) {
        const Int op = i / n;
        REQUIRE(values[static_cast<std::size_t>(i)] == (op % 2 == 0 ? op : -40));
    }
}

TEST_CASE("case 50: what a replay was given stays, though the next one is given something else at once") {
    CudaMachine machine;
    for (const bool via : {false, true}) {
        DeviceInts x(machine, n), y(machine, n), z(machine, n);
        CudaRecorder rec = machine.recorder();
        const auto out = rec.input<Int>("out", n);
        const auto v = rec.slot<Int>("v");
        if (via) {
            rec.launch(machine.kernels.fill_via, one_block, out, v, n);
        } else {
            rec.launch(machine.kernels.slow_fill, one_block, out, v, n);
        }
        CudaGraph graph = CudaMachine::build(std::move(rec));
        REQUIRE(graph.set(out, x).set(v, 1).replay().ok());
        REQUIRE(graph.set(out, y).set(v, 2).replay().ok());
        REQUIRE(graph.set(out, z).set(v, 3).replay().ok());
        CHECK(graph.wait().ok());
        CHECK(x.are(1));
        CHECK(y.are(2));
        CHECK(z.are(3));
    }
}

TEST_CASE("case 51: each replay runs each op once") {
    CudaMachine machine;
    DeviceInts x(machine, n, 0);
    CudaRecorder rec = machine.recorder();
    rec.launch(machine.kernels.inc, one_block, rec.buffer("x", x), n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (int i = 0; i < 5; ++i) REQUIRE(graph.replay().ok());
    CHECK(graph.wait().ok());
    CHECK(x.are(5));
}

TEST_CASE("case 54: a replay comes after what was put on its stream before") {
    CudaMachine machine;
    DeviceInts a(machine, n), b(machine, n), b2(machine, n), c(machine, n);
    CudaRecorder r1 = machine.recorder(), r2 = machine.recorder();
    r1.launch(machine.kernels.mix, one_block, r1.buffer("b", b), r1.buffer("a", a), 0, n);
    r2.launch(machine.kernels.mix, one_block, r2.buffer("b2", b2), r2.buffer("b", b), 0, n);
    CudaGraph g1 = CudaMachine::build(std::move(r1)), g2 = CudaMachine::build(std::move(r2));
    CUstream stream = machine.devices.stream(device(0));
    const CurrentDevice current(machine);
    Int* pointers[] = {a.data(), c.data(), b2.data()};
    Int one = 1, zero = 0, count = n;
    void* fill[] = {&pointers[0], &one, &count};
    void* mix[] = {&pointers[1], &pointers[2], &zero, &count};
    CUfunction slow_fill = machine.kernels.slow_fill.function->functions[0];
    REQUIRE(cuLaunchKernel(slow_fill, 1, 1, 1, 32, 1, 1, 0, stream, fill, nullptr) == CUDA_SUCCESS);
    REQUIRE(g1.replay().ok());
    REQUIRE(g2.replay().ok());
    CUfunction mixes = machine.kernels.mix.function->functions[0];
    REQUIRE(cuLaunchKernel(mixes, 1, 1, 1, 32, 1, 1, 0, stream, mix, nullptr) == CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(b.are(3));
    CHECK(b2.are(9));
    CHECK(c.are(27));
}

TEST_CASE("case 56: a graph that ends at once lets its last replay finish") {
    CudaMachine machine;
    DeviceInts x(machine, n);
    for (Int i = 0; i < 20; ++i) {
        CudaRecorder rec = machine.recorder();
        rec.launch(machine.kernels.slow_fill, one_block, rec.buffer("x", x), i, n);
        {
            CudaGraph graph = CudaMachine::build(std::move(rec));
            REQUIRE(graph.replay().ok());
        }
        CHECK(x.are(i));
    }
}

TEST_CASE("case 71: a graph that is replayed as soon as it is built is right at once") {
    CudaMachine machine;
    DeviceInts x(machine, n);
    for (Int i = 0; i < 50; ++i) {
        CudaRecorder rec = machine.recorder();
        rec.launch(machine.kernels.fill_via, one_block, rec.buffer("x", x), i, n);
        CudaGraph graph = CudaMachine::build(std::move(rec));
        CHECK(replay_now(graph) == "ok");
        CHECK(x.are(i));
    }
}

TEST_CASE("case 77: the caller's current context is untouched") {
    CudaMachine machine(device_count() < 2 ? 1 : 2);
    DeviceInts x(machine, n);
    const unsigned last = machine.devices.count() - 1;
    const CurrentDevice current(machine, last);
    const auto is_current = [&] {
        CUcontext context = nullptr;
        return cuCtxGetCurrent(&context) == CUDA_SUCCESS && context == machine.devices.context(device(last));
    };
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    const auto buffer = rec.buffer("x", x);
    rec.launch(machine.kernels.fill, one_block, buffer, v, n);
    rec.fill(buffer, v);
    CudaList list = std::move(rec).finish().value();
    {
        CudaGraph graph = gj::instantiate(list).value();
        CHECK(is_current());
        for (Int i = 0; i < 3; ++i) {
            CHECK(replay_now(graph.set(v, i)) == "ok");
            CHECK(is_current());
        }
    }
    CHECK(is_current());
    auto eager = gj::EagerRunner<gj::CudaBackend>::create(list).value();
    CHECK(eager.set(v, 9).replay().ok());
    CHECK(is_current());
    CHECK(x.are(9));
}

}  // namespace
