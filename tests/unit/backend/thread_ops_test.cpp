#include <graphjit/backend/thread_ops.hpp>

#include "support/failing_allocations.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

namespace gj = graphjit;
using gj::detail::ThreadOps;
using gj::detail::ThreadStretch;

[[nodiscard]] gj::OpIndex op(unsigned index) { return static_cast<gj::OpIndex>(index); }

/// An op's arguments: where it writes down that it ran, and whether it throws instead.
struct Block {
    std::vector<int>* ran = nullptr;
    std::int32_t number = 0;
    std::int32_t throws = 0;
};
const std::byte* run_block(const std::byte* at) {
    Block block;
    std::memcpy(&block, at, sizeof block);
#if GRAPHJIT_EXCEPTIONS
    if (block.throws != 0) throw std::runtime_error("no");
#endif
    block.ran->push_back(block.number);
    return at + sizeof block;
}

/// Ops in memory as a stream has them, each with its entry in front; two stretches, apart from each other.
class Tape {
public:
    static constexpr std::size_t stride = ThreadOps::entry_bytes + sizeof(Block);

    explicit Tape(std::array<bool, 6> throws) {
        REQUIRE(ops_.reserve(6));
        for (unsigned i = 0; i < 6; ++i) {
            const Block block{&ran, static_cast<std::int32_t>(i), throws[i] ? 1 : 0};
            const gj::HostEntry entry = &run_block;
            std::memcpy(place(i), &entry, sizeof entry);
            std::memcpy(place(i) + ThreadOps::entry_bytes, &block, sizeof block);
            ops_.push_reserved(op(10 + i), place(i) + ThreadOps::entry_bytes);
        }
    }
    void run() {
        for (const ThreadStretch& stretch :
             {ThreadStretch{&ops_, place(0), place(2) + stride}, ThreadStretch{&ops_, place(3), place(5) + stride}}) {
            const auto* block = reinterpret_cast<const std::byte*>(&stretch);
            CHECK(ThreadStretch::enter(block) == block);
        }
    }
    /// None: 0.
    [[nodiscard]] unsigned failed() {
        const gj::OpIndex failed = ops_.take_failure();
        return failed == gj::OpIndex::none ? 0 : to_integer(failed);
    }

    std::vector<int> ran;

private:
    [[nodiscard]] std::byte* place(unsigned i) { return memory_.data() + i * stride + (i < 3 ? 0 : 40); }

    std::array<std::byte, 6 * stride + 40> memory_{};
    ThreadOps ops_;
};

TEST_CASE("ThreadOps: stretches run their ops in order, and as often as they are entered") {
    Tape tape({});
    tape.run();
    CHECK(tape.ran == std::vector<int>{0, 1, 2, 3, 4, 5});
    tape.run();
    CHECK(tape.ran.size() == 12);
    CHECK(tape.failed() == 0);
}

TEST_CASE("ThreadOps: a stretch of nothing") {
    ThreadOps ops;
    const std::byte at{};
    ops.run(&at, &at);
    CHECK(ops.take_failure() == gj::OpIndex::none);
}

#if GRAPHJIT_EXCEPTIONS
TEST_CASE("ThreadOps: what throws fails alone, all the others run, and the first that failed is told once") {
    for (unsigned mask = 0; mask < 64; ++mask) {
        CAPTURE(mask);
        std::array<bool, 6> throws{};
        std::vector<int> expected;
        unsigned first = 0;
        for (unsigned i = 6; i-- > 0;) {
            throws[i] = (mask >> i & 1) != 0;
            if (throws[i]) first = 10 + i;
        }
        for (unsigned i = 0; i < 6; ++i) {
            if (!throws[i]) expected.push_back(static_cast<int>(i));
        }
        Tape tape(throws);
        tape.run();
        CHECK(tape.ran == expected);
        CHECK(tape.failed() == first);
        CHECK(tape.failed() == 0);
        tape.run();
        tape.run();
        CHECK(tape.ran.size() == 3 * expected.size());
        CHECK(tape.failed() == first);
    }
}
#endif

TEST_CASE("ThreadOps: where memory runs out it says so") {
    CHECK(test::allocations_needed([] {
              ThreadOps ops;
              return ops.reserve(100);
          }) == 2);
}

}  // namespace
