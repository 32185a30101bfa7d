#include <graphjit/backend/cpu.hpp>

#include <graphjit/run/multi_graph_runner.hpp>

#include "support/failing_allocations.hpp"
#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <string>
#include <vector>

namespace {

using namespace test;

struct alignas(16) Quad {
    float x, y, z, w;
};

/// What kernels saw, in the order they ran.
std::vector<std::string> seen;

void wide(Quad quad, char c) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(&quad) % alignof(Quad) == 0;
    seen.push_back((aligned ? "wide " : "misaligned ") + std::to_string(static_cast<int>(quad.x + quad.w)) + c);
}
void odd(char a, char b, char c) { seen.push_back(std::string("odd ") + a + b + c); }
void nothing() { seen.push_back("nothing"); }
void large(Quad a, Quad b, std::int64_t c, Quad d, char e) {
    seen.push_back("large " + std::to_string(static_cast<int>(a.x + b.y + d.z)) + ' ' + std::to_string(c) + e);
}

std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += (all.empty() ? "" : ", ") + line;
    return all;
}

TEST_CASE("CpuBackend: ops of every size and alignment find their arguments, whatever stands in front of them") {
    // All orders of four kinds of ops: each follows each, with blocks of 17, 3, 0 and 57 bytes.
    CpuRecorder rec;
    std::vector<std::string> expected;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            for (int c = 0; c < 4; ++c) {
                for (const int kind : {a, b, c}) {
                    const float number = static_cast<float>(expected.size());
                    switch (kind) {
                        case 0:
                            (void)rec.launch(gj::kernel<wide>, Quad{number, 0, 0, 1}, 'x');
                            expected.push_back("wide " + std::to_string(expected.size() + 1) + 'x');
                            break;
                        case 1:
                            (void)rec.launch(gj::kernel<odd>, 'a', 'b', 'c');
                            expected.push_back("odd abc");
                            break;
                        case 2:
                            (void)rec.launch(gj::kernel<nothing>);
                            expected.push_back("nothing");
                            break;
                        default:
                            (void)rec.launch(gj::kernel<large>, Quad{number, 0, 0, 0}, Quad{0, 1, 0, 0}, 1234567890123,
                                             Quad{0, 0, 1, 0}, 'y');
                            expected.push_back("large " + std::to_string(expected.size() + 2) + " 1234567890123y");
                    }
                }
            }
        }
    }
    auto runner = gj::instantiate(std::move(rec)).value();
    for (int replay = 0; replay < 3; ++replay) {
        seen.clear();
        REQUIRE(replay_error(runner) == "");
        REQUIRE(joined(seen) == joined(expected));
    }
}

TEST_CASE("CpuBackend: the block of each op is where it is told, aligned as its kernel needs") {
    CpuRecorder rec;
    for (int i = 0; i < 50; ++i) {
        (void)rec.launch(gj::kernel<odd>, 'a', 'b', 'c');
        if (i % 3 == 0) (void)rec.launch(gj::kernel<wide>, Quad{}, 'x');
        if (i % 5 == 0) (void)rec.launch(gj::kernel<nothing>);
    }
    const CpuList list = std::move(rec).finish().value();
    auto runner = gj::instantiate(list).value();
    for (unsigned i = 0; i < list.size(); ++i) {
        const std::byte* block = runner.backend().block(runner.native(), op(i));
        const gj::KernelInfo& info = *list.op(op(i)).info;
        CHECK(reinterpret_cast<std::uintptr_t>(block) % info.block_align == 0);
        CHECK(std::equal(block, block + info.block_bytes, list.block(op(i))));
    }
}

TEST_CASE("CpuBackend: runs kernels, host calls, copies and fills in recorded order") {
    std::int32_t memory[12] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    const auto in = rec.input<const std::int32_t>("in", 4);
    (void)rec.fill(all, 3);
    (void)rec.copy(all.slice(4, 4), in);
    (void)rec.host_call(inc<>, all.slice(2, 4));
    (void)rec.launch(add<>, all.slice(8, 4), all.slice(0, 4), all.slice(4, 4));
    auto runner = gj::instantiate(std::move(rec)).value();
    const std::int32_t values[] = {10, 20, 30, 40};
    for (int replay = 0; replay < 3; ++replay) {
        REQUIRE(replay_error(runner.set(in, values)) == "");
        CHECK(text(memory) == "3 3 4 4 11 21 30 40 14 24 34 44");
    }
    CHECK(runner.wait().ok());
    CHECK(runner.poll());
}

TEST_CASE("CpuBackend: fills with values of 1, 2, 4, 8 and 16 bytes, also from a slot and an Expr") {
    std::vector<std::byte> memory(16 * 7);
    CpuRecorder rec;
    const auto bytes = rec.buffer("m", memory);
    const auto value = rec.slot<Quad>("value", {1, 2, 3, 4});
    const auto x = rec.variable("x", {.min = -5, .max = 300}, -5);
    (void)rec.fill(bytes.slice(0, 16).as<std::uint8_t>().slice(1, 7), std::uint8_t{9});
    (void)rec.fill(bytes.slice(16, 16).as<std::uint16_t>(), std::uint16_t{0x1234});
    (void)rec.fill(bytes.slice(32, 16).as<std::int32_t>(), x * 2);
    (void)rec.fill(bytes.slice(48, 16).as<std::int64_t>(), x - 1);
    (void)rec.fill(bytes.slice(64, 48).as<Quad>(), value);
    auto runner = gj::instantiate(std::move(rec)).value();
    const auto at = [&]<class T>(std::size_t offset, T) {
        T got;
        std::memcpy(&got, memory.data() + offset, sizeof got);
        return got;
    };
    REQUIRE(replay_error(runner) == "");
    CHECK(at(0, std::uint8_t{}) == 0);
    CHECK(at(1, std::uint8_t{}) == 9);
    CHECK(at(7, std::uint8_t{}) == 9);
    CHECK(at(8, std::uint8_t{}) == 0);
    CHECK(at(30, std::uint16_t{}) == 0x1234);
    CHECK(at(44, std::int32_t{}) == -10);
    CHECK(at(56, std::int64_t{}) == -6);
    CHECK(at(96, Quad{}).w == 4);
    REQUIRE(replay_error(runner.set(x, 300).set(value, Quad{5, 6, 7, 8})) == "");
    CHECK(at(32, std::int32_t{}) == 600);
    CHECK(at(48, std::int64_t{}) == 299);
    CHECK(at(64, Quad{}).x == 5);
}

TEST_CASE("CpuBackend: a launch of no groups does nothing, and the rest of the graph runs") {
    std::int32_t memory[4] = {};
    CpuRecorder rec;
    const auto all = rec.buffer("m", memory);
    const auto n = rec.variable("n", {.min = 0, .max = 4});
    (void)rec.launch(iota, {.groups = {n}}, all);
    (void)rec.launch(inc<>, all);
    auto runner = gj::instantiate(std::move(rec)).value();
    REQUIRE(replay_error(runner.set(n, 0)) == "");
    CHECK(text(memory) == "1 1 1 1");
    REQUIRE(replay_error(runner.set(n, 2)) == "");
    CHECK(text(memory) == "2 3 2 2");
}

TEST_CASE("CpuBackend: one op can be run by its block alone") {
    std::int32_t memory[4] = {};
    CpuRecorder rec;
    (void)rec.launch(test::fill<>, rec.buffer("m", memory), 6);
    const CpuList list = std::move(rec).finish().value();
    CHECK(list.backend().run({op(0), &list.op(op(0)), list.block(op(0)), list.name(op(0))}).ok());
    CHECK(text(memory) == "6 6 6 6");
}

TEST_CASE("CpuBackend: an executable that is moved runs on") {
    std::int32_t memory[4] = {};
    CpuRecorder rec;
    const auto number = rec.slot<std::int32_t>("number", 1);
    (void)rec.launch(test::fill<>, rec.buffer("m", memory), number);
    auto first = gj::instantiate(std::move(rec)).value();
    auto second = std::move(first);
    REQUIRE(replay_error(second.set(number, 9)) == "");
    CHECK(memory[0] == 9);
}

TEST_CASE("CpuBackend: where memory runs out there is no graph") {
    CpuRecorder rec;
    for (int i = 0; i < 20; ++i) (void)rec.launch(gj::kernel<wide>, Quad{}, 'x');
    const CpuList list = std::move(rec).finish().value();
    const gj::CpuBackend backend;
    CHECK(allocations_needed([&] {
              auto graph = backend.create(list);
              if (!graph.ok()) {
                  CHECK(graph.code() == gj::ErrorCode::out_of_memory);
                  return false;
              }
              for (unsigned i = 0; i < list.size(); ++i) {
                  const gj::OpView view{op(i), &list.op(op(i)), list.block(op(i)), list.name(op(i))};
                  if (!backend.add_node(*graph, view, {}).ok()) return false;
              }
              return backend.instantiate(std::move(*graph)).ok();
          }) == 2);
}

}  // namespace
