#include <graphjit/backend/null.hpp>

#include <graphjit/run/eager_runner.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

#include "support/kernels.hpp"
#include "support/ways.hpp"

#include <cstring>

namespace {

using namespace test;

TEST_CASE("NullBackend: checks and patches as every backend, and runs nothing") {
    std::int32_t memory[4] = {1, 2, 3, 4};
    gj::Recorder<gj::NullBackend> rec;
    const auto in = rec.input<std::int32_t>("in", 4);
    const auto number = rec.slot<std::int32_t>("number", 5);
    (void)rec.launch(fill<>, in, number);
    (void)rec.launch(inc<>, rec.buffer("m", memory));
    const auto list = std::move(rec).finish().value();
    auto runner = gj::instantiate(list).value();
    for (unsigned i = 0; i < 2; ++i) {
        const std::byte* block = runner.backend().block(runner.native(), op(i));
        CHECK(std::memcmp(block, list.block(op(i)), list.op(op(i)).info->block_bytes) == 0);
        CHECK(block != list.block(op(i)));
        CHECK(reinterpret_cast<std::uintptr_t>(block) % list.op(op(i)).info->block_align == 0);
    }
    CHECK(runner.replay().code() == gj::ErrorCode::unbound);
    std::int32_t other[4] = {};
    REQUIRE(replay_error(runner.set(in, other)) == "");
    REQUIRE(replay_error(runner.set(number, 7)) == "");
    CHECK(text(memory) == "1 2 3 4");
    CHECK(text(other) == "0 0 0 0");
    CHECK(runner.counters().patches == 3);
    std::int32_t* pointer = nullptr;
    std::int32_t value = 0;
    const std::byte* block = runner.backend().block(runner.native(), op(0));
    std::memcpy(&pointer, block + fill<>.info.arguments[0].offset, sizeof pointer);
    std::memcpy(&value, block + fill<>.info.arguments[1].offset, sizeof value);
    CHECK(pointer == other);
    CHECK(value == 7);
    CHECK(runner.wait().ok());

    auto eager = gj::EagerRunner<gj::NullBackend>::create(list).value();
    REQUIRE(replay_error(eager.set(in, other)) == "");
    CHECK(text(other) == "0 0 0 0");
}

}  // namespace
