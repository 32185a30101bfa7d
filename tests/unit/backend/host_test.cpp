#include <graphjit/backend/host.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

namespace gj = graphjit;

void nothing() {}

gj::HostEntry entry_of(gj::OpKind kind, std::uintptr_t handle = 0) {
    gj::OpRecord op;
    op.kind = kind;
    op.handle = handle;
    return gj::host_entry(op);
}

/// Runs an op's block, and checks that its end is told.
template <class Block>
void run(gj::OpKind kind, const Block& block) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&block);
    CHECK(entry_of(kind)(bytes) - bytes == static_cast<std::ptrdiff_t>(gj::host_block_stride(sizeof block)));
}

/// Fills `bytes` bytes at `offset` of a buffer with a pattern, and compares each byte of the buffer.
void check_fill(std::size_t pattern_bytes, std::size_t bytes, std::size_t offset) {
    constexpr std::byte untouched{0xaa};
    std::vector<std::byte> memory(bytes + offset + 32, untouched);
    gj::FillBlock block{};
    for (std::size_t i = 0; i < pattern_bytes; ++i) block.pattern[i] = static_cast<std::byte>(i * 37 + 1);
    for (std::size_t i = pattern_bytes; i < gj::FillBlock::max_pattern; ++i) block.pattern[i] = std::byte{0xee};
    block.pattern_bytes = static_cast<std::uint32_t>(pattern_bytes);
    block.destination = memory.data() + offset;
    block.bytes = bytes;
    run(gj::OpKind::fill, block);
    bool right = true;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const bool inside = i >= offset && i < offset + bytes;
        right = right && memory[i] == (inside ? block.pattern[(i - offset) % pattern_bytes] : untouched);
    }
    CAPTURE(pattern_bytes);
    CAPTURE(bytes);
    CAPTURE(offset);
    REQUIRE(right);
}

TEST_CASE("host fill: repeats patterns of every size over every length, and touches nothing else") {
    for (std::size_t pattern_bytes = 1; pattern_bytes <= gj::FillBlock::max_pattern; ++pattern_bytes) {
        for (std::size_t bytes = 0; bytes < 150; ++bytes) check_fill(pattern_bytes, bytes, bytes % 3);
        for (const std::size_t bytes : {1'000u, 4'096u, 4'097u, 100'003u}) check_fill(pattern_bytes, bytes, 1);
    }
}

TEST_CASE("host fill: of no bytes needs no memory") {
    gj::FillBlock block{};
    block.pattern_bytes = 4;
    run(gj::OpKind::fill, block);
    block.pattern_bytes = 1;
    run(gj::OpKind::fill, block);
}

TEST_CASE("host copy: copies what it is told and nothing else, and of no bytes needs no memory") {
    std::byte from[40];
    std::byte to[40] = {};
    for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::byte>(i + 1);
    run(gj::OpKind::copy, gj::CopyBlock{to + 3, from + 5, 20});
    CHECK(std::equal(to + 3, to + 23, from + 5));
    CHECK(to[2] == std::byte{0});
    CHECK(to[23] == std::byte{0});
    run(gj::OpKind::copy, gj::CopyBlock{nullptr, nullptr, 0});
}

TEST_CASE("host entry: of a kernel or host call it is the kernel's own") {
    const std::uintptr_t handle = gj::kernel<nothing>.handle();
    CHECK(reinterpret_cast<std::uintptr_t>(entry_of(gj::OpKind::kernel, handle)) == handle);
    CHECK(reinterpret_cast<std::uintptr_t>(entry_of(gj::OpKind::host_call, handle)) == handle);
    const bool differ = entry_of(gj::OpKind::copy) != entry_of(gj::OpKind::fill);
    CHECK(differ);
}

}  // namespace
