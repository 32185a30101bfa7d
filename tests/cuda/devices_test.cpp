// Several devices in one graph, streams of the user, and what graphs are told of memory.
#include "cuda/machine.hpp"

#include "support/ways.hpp"

namespace {

using namespace test;

constexpr Int n = 4;

/// What a test puts on a device's own stream beside graphs.
void ext(const CudaMachine& machine, unsigned on, CUfunction function, std::vector<void*> arguments) {
    const CurrentDevice current(machine, on);
    REQUIRE(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, machine.devices.stream(device(on)), arguments.data(),
                           nullptr) == CUDA_SUCCESS);
}
void ext_slow_fill(const CudaMachine& machine, unsigned on, const DeviceInts& o, Int v) {
    Int* pointer = o.data();
    Int count = n;
    ext(machine, on, machine.kernels.slow_fill.function->functions[on], {&pointer, &v, &count});
}
void ext_mix(const CudaMachine& machine, unsigned on, const DeviceInts& o, const DeviceInts& a) {
    Int* to = o.data();
    Int* from = a.data();
    Int zero = 0, count = n;
    ext(machine, on, machine.kernels.mix.function->functions[on], {&to, &from, &zero, &count});
}

void finish(const CudaMachine& machine, unsigned on) {
    const CurrentDevice current(machine, on);
    REQUIRE(cuStreamSynchronize(machine.devices.stream(device(on))) == CUDA_SUCCESS);
}

TEST_CASE("cases 72 and 73: a kernel that uses foreign memory comes after and before the other device's work") {
    if (device_count() < 2) return;
    CudaMachine machine(2);
    DeviceInts c(machine, n), y(machine, n, 0, 1), z(machine, n, 0, 1);
    {
        CudaRecorder rec = machine.recorder();
        rec.launch(machine.kernels.mix, one_block, rec.buffer("c", c), rec.buffer("y", y, device(1)), 0, n);
        CudaGraph graph = CudaMachine::build(std::move(rec));
        for (Int k = 1; k <= 3; ++k) {
            ext_slow_fill(machine, 1, y, k);
            CHECK(replay_now(graph) == "ok");
            CHECK(c.are(3 * k));
        }
    }
    CudaRecorder rec = machine.recorder();
    rec.launch(machine.kernels.slow_fill, one_block, rec.buffer("y", y, device(1)), 7, n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    REQUIRE(graph.replay().ok());
    ext_mix(machine, 1, z, y);
    finish(machine, 1);
    CHECK(z.are(21));
}

TEST_CASE("case 76: a copy between devices follows earlier work on both ends") {
    if (device_count() < 2) return;
    CudaMachine machine(2);
    DeviceInts x(machine, n), y(machine, n, 1, 1), r(machine, n, 0, 1), z(machine, n, 0, 1);
    CudaRecorder rec = machine.recorder();
    rec.copy(rec.buffer("y", y, device(1)), rec.buffer("x", x));
    CudaGraph graph = CudaMachine::build(std::move(rec));
    ext_slow_fill(machine, 0, x, 5);
    ext_mix(machine, 1, r, y);
    REQUIRE(graph.replay().ok());
    ext_mix(machine, 1, z, y);
    finish(machine, 1);
    CHECK(r.are(3));
    CHECK(y.are(5));
    CHECK(z.are(15));
}

TEST_CASE("case 84: a chain over devices, and the way back") {
    if (device_count() < 3) return;
    CudaMachine machine(3);
    std::vector<DeviceInts> x, t;
    for (unsigned d = 0; d < 3; ++d) {
        x.emplace_back(machine, n, d == 0 ? 1 : 0, d);
        t.emplace_back(machine, n, 0, d);
    }
    CudaRecorder rec = machine.recorder();
    std::vector<gj::Buffer<Int>> X, T;
    for (unsigned d = 0; d < 3; ++d) {
        X.push_back(rec.buffer("x", x[d], device(d)));
        T.push_back(rec.buffer("t", t[d], device(d)));
    }
    for (unsigned d = 0; d < 3; ++d) {
        rec.on(device(d));
        rec.launch(machine.kernels.mix, one_block, T[d], X[d], 0, n);
        rec.copy(X[(d + 1) % 3], T[d]);
    }
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (const Int right : {27, 729, 19683, 531441}) {
        CHECK(replay_now(graph) == "ok");
        CHECK(x[0].are(right));
    }
}

TEST_CASE("case 33: an input that moves to another device is served there") {
    if (device_count() < 3) return;
    CudaMachine machine(3);
    DeviceInts s(machine, n, 1), x(machine, n, 0, 1), y(machine, n, 0, 2), z(machine, n, 0, 1);
    CudaRecorder rec = machine.recorder();
    const auto out = rec.input<Int>("out", n, device(1));
    rec.copy(out, rec.buffer("s", s));
    CudaGraph graph = CudaMachine::build(std::move(rec));
    CHECK(replay_now(graph.set(out, x.data(), n, device(1))) == "ok");
    CHECK(x.are(1));
    s.set(2);
    CHECK(replay_now(graph.set(out, y.data(), n, device(2))) == "ok");
    CHECK(y.are(2));
    s.set(3);
    CHECK(replay_now(graph.set(out, z.data(), n, device(1))) == "ok");
    CHECK(z.are(3));
    CHECK(x.are(1));
}

TEST_CASE("CUDA: a graph goes where the user says") {
    CudaMachine machine;
    DeviceInts x(machine, n, 0), y(machine, n, 0);
    CudaRecorder rec = machine.recorder();
    rec.launch(machine.kernels.inc, one_block, rec.buffer("x", x), n);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    const CurrentDevice current(machine);
    CUstream stream = nullptr;
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    Int* to = y.data();
    Int* from = x.data();
    Int zero = 0, count = n;
    void* arguments[] = {&to, &from, &zero, &count};
    for (Int i = 1; i <= 5; ++i) {
        REQUIRE(graph.replay(stream).ok());
        REQUIRE(cuLaunchKernel(machine.kernels.mix.function->functions[0], 1, 1, 1, 32, 1, 1, 0, stream, arguments,
                               nullptr) == CUDA_SUCCESS);
        if (i % 2 == 0) REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    }
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(y.are(15));
    // On one stream and then on another: still one after the other.
    for (int i = 0; i < 10; ++i) {
        REQUIRE(graph.replay(stream).ok());
        REQUIRE(graph.replay().ok());
    }
    CHECK(graph.wait().ok());
    CHECK(x.are(25));
    CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
}

TEST_CASE("CUDA: copies between the host and a device, in both directions, at odd places") {
    CudaMachine machine;
    DeviceInts x(machine, 16, 0);
    std::vector<std::int8_t> up(33), down(33, 0);
    for (std::size_t i = 0; i < up.size(); ++i) up[i] = static_cast<std::int8_t>(i + 1);
    CudaRecorder rec = machine.recorder();
    const auto bytes = rec.buffer("x", x).as<std::int8_t>();
    const auto from = rec.buffer("up", up, gj::cuda_host), to = rec.buffer("down", down, gj::cuda_host);
    const auto size = rec.variable("size", {.min = 0, .max = 13}, 13);
    rec.copy("in", bytes.slice(3, size), from.slice(1, size));
    rec.copy("out", to.slice(5, size), bytes.slice(3, size));
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (const std::int64_t count : {13, 1, 0, 7, 13}) {
        std::fill(down.begin(), down.end(), std::int8_t{0});
        CHECK(replay_now(graph.set(size, count)) == "ok");
        for (std::size_t i = 0; i < down.size(); ++i) {
            const bool inside = i >= 5 && i < 5 + static_cast<std::size_t>(count);
            CHECK(down[i] == (inside ? up[i - 4] : 0));
        }
    }
}

TEST_CASE("CUDA: fills of any pattern, on the device and on the host") {
    CudaMachine machine;
    struct Three {
        std::int8_t a, b, c;
        bool operator==(const Three&) const = default;
    };
    struct Sixteen {
        std::int32_t a, b, c, d;
        bool operator==(const Sixteen&) const = default;
    };
    const auto fill = [&]<class T>(T first, T second) {
        DeviceInts x(machine, 96, 0);
        std::vector<T> host(5, T{}), read(8, T{});
        CudaRecorder rec = machine.recorder();
        const auto all = rec.buffer("x", x).as<T>();
        const auto value = rec.slot<T>("value", first);
        rec.fill("constant", all.slice(0, 3), first);
        rec.fill("slot", all.slice(3, 4), value);
        rec.fill("host", rec.buffer("host", host, gj::cuda_host), value);
        CudaGraph graph = CudaMachine::build(std::move(rec));
        for (const T& now : {first, second, first}) {
            CHECK(replay_now(graph.set(value, now)) == "ok");
            const std::vector<Int> words = x.get();
            std::memcpy(read.data(), words.data(), read.size() * sizeof(T));
            for (std::size_t i = 0; i < 8; ++i) CHECK((read[i] == (i < 3 ? first : i < 7 ? now : T{})));
            for (const T& element : host) CHECK((element == now));
        }
        CHECK(graph.native().counters().reinstantiations == 0);
    };
    fill(std::int8_t{3}, std::int8_t{-4});
    fill(std::int16_t{300}, std::int16_t{-4});
    fill(std::int32_t{70'000}, std::int32_t{-4});
    fill(std::int64_t{1} << 40, std::int64_t{-3});
    fill(std::int64_t{0}, std::int64_t{-1});
    fill(1.5, -2.25);
    fill(Three{1, 2, 3}, Three{4, 5, 6});
    fill(Sixteen{1, 2, 3, 4}, Sixteen{5, 6, 7, 8});
}

TEST_CASE("CUDA: host calls take part in the order, each replay with its own arguments") {
    CudaMachine machine;
    DeviceInts x(machine, n);
    std::vector<Int> host(n, 0), log(64, 0);
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    const auto X = rec.buffer("x", x), H = rec.buffer("host", host, gj::cuda_host);
    const auto L = rec.buffer("log", log, gj::cuda_host);
    rec.launch(machine.kernels.slow_fill, one_block, X, v, n);
    rec.copy(H, X);
    rec.host_call("note", gj::kernel<[](const Int* given, Int at, Int* all) { all[at] += given[0]; }>, H, v, L);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    for (Int i = 1; i < 40; ++i) REQUIRE(graph.set(v, i).replay().ok());
    CHECK(graph.wait().ok());
    for (Int i = 1; i < 40; ++i) CHECK(log[static_cast<std::size_t>(i)] == i);
}

#if GRAPHJIT_EXCEPTIONS
TEST_CASE("CUDA: what a host call throws is reported by wait, with its op") {
    CudaMachine machine;
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    rec.host_call("may throw", gj::kernel<[](Int value) {
                      if (value == 2) throw value;
                  }>,
                  v);
    CudaGraph graph = CudaMachine::build(std::move(rec));
    CHECK(replay_now(graph.set(v, 1)) == "ok");
    REQUIRE(graph.set(v, 2).replay().ok());
    CHECK(lacks(graph.wait(), "a host kernel threw; what it writes is not to be used: op 0 'may throw'") == "");
    CHECK(replay_now(graph.set(v, 3)) == "ok");
}
#endif

TEST_CASE("CUDA: captured work is an op, ordered by what it says it uses") {
    CudaMachine machine;
    DeviceInts a(machine, n, 0), b(machine, n, 0), c(machine, n, 0);
    CudaRecorder rec = machine.recorder();
    const auto v = rec.slot<Int>("v");
    const auto A = rec.buffer("a", a), B = rec.buffer("b", b), C = rec.buffer("c", c);
    rec.launch(machine.kernels.slow_fill, one_block, A, v, n);
    Int* from = a.data();
    Int* to = b.data();
    rec.capture(
        "library",
        [&](CUstream stream) {
            Int one = 1, count = n;
            void* mix[] = {&to, &from, &one, &count};
            void* inc[] = {&to, &count};
            REQUIRE(cuLaunchKernel(machine.kernels.mix.function->functions[0], 1, 1, 1, 32, 1, 1, 0, stream, mix,
                                   nullptr) == CUDA_SUCCESS);
            REQUIRE(cuLaunchKernel(machine.kernels.inc.function->functions[0], 1, 1, 1, 32, 1, 1, 0, stream, inc,
                                   nullptr) == CUDA_SUCCESS);
        },
        gj::reads(A), gj::writes(B));
    rec.launch(machine.kernels.mix, one_block, C, B, 0, n);
    CHECK(b.are(0));  // nothing ran
    const CudaList list = std::move(rec).finish().value();
    CudaGraph graph = gj::instantiate(list).value();
    CHECK(edges(graph.dag()) == "0>1 1>2");
    for (const Int value : {1, 2, 5}) {
        CHECK(replay_now(graph.set(v, value)) == "ok");
        CHECK(c.are(3 * (3 * value + 2)));
    }
    auto eager = gj::EagerRunner<gj::CudaBackend>::create(list).value();
    CHECK(eager.set(v, 7).replay().ok());
    CHECK(c.are(69));
}

TEST_CASE("CUDA: bad input is refused before anything runs, in words") {
    CudaMachine machine;
    DeviceInts x(machine, n);
    std::vector<Int> host(n);
    const auto refusal = [&](auto record) {
        CudaRecorder rec = machine.recorder();
        record(rec);
        auto list = std::move(rec).finish();
        if (!list) return std::string(list.message().c_str());
        auto graph = gj::instantiate(std::move(*list));
        return graph.ok() ? std::string("built") : std::string(graph.message().c_str());
    };
    CHECK(refusal([&](CudaRecorder& rec) {
              rec.launch(machine.kernels.inc, one_block, rec.buffer("host", host), n);
          }) == "graphjit: a buffer of the host was registered for a CUDA device; see cuda_host: op 0 'inc'");
    CHECK(refusal([&](CudaRecorder& rec) {
              rec.launch(machine.kernels.inc, one_block, rec.buffer("x", x, device(7)), n);
          }) == "graphjit: an op uses a device that is not there: op 0 'inc'");
    CHECK(refusal([&](CudaRecorder& rec) {
              rec.launch("big", machine.kernels.inc, {.groups = {1, 65'536}, .group_size = {32}}, rec.buffer("x", x),
                         n);
          }) == "graphjit: launch dims are beyond the backend's limit: op 0 'big': given 65536, limit 65535");
    CHECK(refusal([&](CudaRecorder& rec) { rec.capture("nothing", [](CUstream) {}); }) == "built");
    CHECK(lacks(gj::instantiate(CudaRecorder()).status(), "a CUDA graph needs CudaDevices to run on") == "");
    const auto wrong = machine.module.kernel<gj::Out<Int>, Int>("fill");
    CHECK(lacks(wrong.status(), "a CUDA kernel has more or fewer parameters than its CudaKernel type") == "");
    const auto bytes = machine.module.kernel<gj::Out<Int>, Int, std::int64_t>("fill");
    CHECK(lacks(bytes.status(),
                "has another place or size than in its CudaKernel type: bytes in the kernel 4, in the type 8") == "");
    const auto none = machine.module.kernel<gj::Out<Int>>("no_such");
    CHECK(lacks(none.status(), "a CUDA module has no kernel of this name") == "");
    CHECK(lacks(none.status(), "CUDA_ERROR_NOT_FOUND (500)") == "");
}

}  // namespace
