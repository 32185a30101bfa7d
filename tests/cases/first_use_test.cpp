// What a first user ran into: each was accepted, slow or a crash once.
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace gj = graphjit;
using Recorder = gj::Recorder<gj::CpuBackend>;

void put(std::int64_t value, gj::Out<std::int64_t> out) { *out = value; }
void narrow(std::int8_t value, gj::Out<std::int8_t> out) { *out = value; }
void first(const float* in, gj::Out<float> out) { *out = *in; }
void touch(gj::Out<float>) {}

gj::ErrorCode refused(Recorder& rec) {
    const gj::ErrorCode code = rec.status().code();
    rec.clear_error();
    return code;
}

TEST_CASE("an error deep in shared expressions is reported at once") {
    std::int64_t target = 0;
    Recorder rec;
    const gj::Variable set = rec.variable("set", {.min = 0, .max = 1});
    const gj::Variable unset = rec.variable("unset", {.min = 0, .max = 1});
    const gj::Buffer<std::int64_t> out = rec.buffer("out", &target, 1);
    gj::Expr doubled = set;  // two to the fiftieth paths lead down to the Variable
    for (int i = 0; i < 50; ++i) doubled = rec.let(doubled + doubled);
    gj::Expr longest = set;
    for (int i = 0; i < 300'000; ++i) longest = rec.let(longest + 1);
    rec.launch(gj::kernel<put>, doubled, out);
    rec.launch(gj::kernel<put>, longest, out);
    rec.launch(gj::kernel<put>, unset, out);
    auto graph = gj::instantiate(std::move(rec)).value();
    graph.set(set, 0);
    const gj::Status status = graph.replay();
    CHECK(status.code() == gj::ErrorCode::unbound);
    CHECK(std::string(status.message().c_str()).find("slot 'unset'") != std::string::npos);
    graph.set(unset, 1).set(set, 1);
    CHECK(graph.replay().ok());
    CHECK(target == 1);
}

TEST_CASE("a copy inside one input is refused while recording, as far as constants decide") {
    Recorder rec;
    const gj::Input<float> in = rec.input<float>("in", 8);
    CHECK(rec.copy(in.slice(0, 4), in.slice(2, 4)) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::overlap);
    CHECK(rec.copy(in.slice(0, 4), in.slice(4, 4)) != gj::OpIndex::none);
    CHECK(rec.status().ok());
}

TEST_CASE("a copy whose ends depend on a Variable is refused where they meet, and names the Variable") {
    std::array<float, 8> memory = {0, 1, 2, 3, 4, 5, 6, 7};
    Recorder rec;
    const gj::Input<float> in = rec.input<float>("in", 8);
    const gj::Variable at = rec.variable("at", {.min = 0, .max = 6});
    rec.copy(in.slice(0, 2), in.slice(at, 2));
    auto graph = gj::instantiate(std::move(rec)).value();
    graph.set(in, memory).set(at, 1);
    const gj::Status status = graph.replay();
    CHECK(status.code() == gj::ErrorCode::overlap);
    CHECK(std::string(status.message().c_str()).find("slot 'at'") != std::string::npos);
    CHECK(memory[0] == 0);
    CHECK(graph.set(at, 6).replay().ok());
    CHECK(memory[0] == 6);
}

TEST_CASE("running in place is checked once for all buffers that lie alike") {
    std::vector<float> a(64, 1.0f);
    std::vector<float> b(64, 2.0f);
    float mid = 0;
    Recorder rec;
    const gj::Input<const float> in = rec.input<const float>("in", 64);
    const gj::Input<float> out = rec.input<float>("out", 64);
    const gj::Buffer<float> memory = rec.buffer("mid", &mid, 1);
    rec.launch(gj::kernel<first>, in.slice(0, 1), memory);
    rec.launch(gj::kernel<first>, memory, out.slice(1, 1));
    auto graph = gj::instantiate(std::move(rec)).value();
    for (std::vector<float>* both : {&a, &b, &a, &b}) {
        CHECK(graph.set(in, *both).set(out, *both).replay().ok());
        CHECK((*both)[1] == (*both)[0]);
    }
}

TEST_CASE("an overlap is told with both sides") {
    std::vector<float> memory(4);
    Recorder rec;
    const gj::Input<const float> in = rec.input<const float>("in", 1);
    const gj::Buffer<float> kept = rec.buffer("kept", memory.data(), 1);
    const gj::Buffer<float> other = rec.buffer("other", memory.data() + 1, 1);
    rec.launch("writer", gj::kernel<touch>, kept);
    rec.launch("reader", gj::kernel<first>, in, other);
    auto graph = gj::instantiate(std::move(rec)).value();
    const std::string message = graph.set(in, memory.data()).replay().message().c_str();
    CHECK(message.find("op 1 'reader', slot 'in', against op 0 'writer', memory 'kept'") != std::string::npos);
}

TEST_CASE("a part of a symbolic part is held to it, as far as constants decide") {
    std::array<float, 16> memory = {};
    Recorder rec;
    const gj::Buffer<float> all = rec.buffer("all", memory);
    const gj::Variable at = rec.variable("at", {.min = 0, .max = 3});
    const auto two = all.slice(at, 2);
    CHECK(rec.launch(gj::kernel<touch>, two.slice(5, 3)) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
    CHECK(rec.launch(gj::kernel<touch>, two.slice(-1, 1)) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
    CHECK(rec.launch(gj::kernel<touch>, two.slice(1, 1)) != gj::OpIndex::none);
}

TEST_CASE("an expression that was refused spoils what is built of it") {
    std::array<float, 16> memory = {};
    Recorder rec;
    const gj::Buffer<float> all = rec.buffer("all", memory);
    const gj::Variable v = rec.variable("v", {.min = 0, .max = 3});
    const gj::Expr bad = rec.let(v * 1 + v * 2 + v * 3 + v * 4 + v * 5);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
    CHECK(rec.launch(gj::kernel<touch>, all.slice(bad, 1)) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
    CHECK(rec.launch(gj::kernel<touch>, all.slice(v / 0, 1)) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::division_by_zero);
}

TEST_CASE("memory is aligned for what ops take it for") {
    alignas(8) std::array<char, 64> raw = {};
    Recorder rec;
    const gj::Buffer<char> bytes = rec.buffer("bytes", raw);
    CHECK(rec.launch(gj::kernel<touch>, bytes.slice(3, 8).as<float>()) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::misaligned);
    CHECK(rec.launch(gj::kernel<touch>, bytes.slice(0, 9).as<float>()) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
    auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(raw.data()) + 1);
    (void)rec.buffer("odd", odd, 4);
    CHECK(refused(rec) == gj::ErrorCode::misaligned);
    const gj::Input<char> in = rec.input<char>("in", 64);
    rec.launch(gj::kernel<touch>, in.slice(4, 8).as<float>());
    auto graph = gj::instantiate(std::move(rec)).value();
    CHECK(graph.set(in, raw.data() + 1).replay().code() == gj::ErrorCode::misaligned);
    CHECK(graph.set(in, raw.data() + 4).replay().ok());
}

TEST_CASE("memory that cannot be is refused") {
    float one = 0;
    Recorder rec;
    (void)rec.buffer("huge", &one, INT64_MAX / 4);
    CHECK(refused(rec) == gj::ErrorCode::invalid_argument);
}

TEST_CASE("a number that does not fit its argument is refused, constant or not") {
    std::int8_t target = 0;
    Recorder rec;
    const gj::Buffer<std::int8_t> out = rec.buffer("out", &target, 1);
    CHECK(rec.launch(gj::kernel<narrow>, 300, out) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::out_of_range);
    CHECK(rec.launch(gj::kernel<narrow>, gj::Expr(300), out) == gj::OpIndex::none);
    CHECK(refused(rec) == gj::ErrorCode::out_of_range);
    CHECK(rec.launch(gj::kernel<narrow>, -128, out) != gj::OpIndex::none);
}

TEST_CASE("an empty buffer is enough where nothing is touched") {
    std::vector<float> empty;
    std::vector<float> target(4, 5.0f);
    Recorder rec;
    const gj::Input<const float> in = rec.input<const float>("in", 4);
    const gj::Variable n = rec.variable("n", {.min = 0, .max = 4});
    rec.copy(rec.buffer("target", target).slice(0, n), in.slice(0, n));
    auto graph = gj::instantiate(std::move(rec)).value();
    CHECK(graph.set(in, empty).set(n, 0).replay().ok());
    CHECK(graph.set(n, 1).replay().code() == gj::ErrorCode::too_small);
    CHECK(target[0] == 5.0f);
}

TEST_CASE("names may be any text") {
    float one = 0;
    const std::string name = "weights of layer 3";
    Recorder rec;
    rec.launch(std::string("a name that is gone at once"), gj::kernel<touch>, rec.buffer(name, &one, 1));
    const auto list = std::move(rec).finish().value();
    const auto op = list.name(gj::OpIndex{0});
    CHECK(std::string(op.begin(), op.end()) == "a name that is gone at once");
    const auto memory = list.name(gj::MemoryIndex{0});
    CHECK(std::string(memory.begin(), memory.end()) == name);
}

}  // namespace
