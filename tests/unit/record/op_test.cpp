#include <graphjit/record/op.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

namespace gj = graphjit;

std::string name_of(const gj::KernelInfo& info) { return {info.name, info.name_size}; }

/// Whether the table tells where this member is.
template <class T>
bool tells(const gj::ArgumentInfo& argument, std::size_t offset, const T&) {
    return argument.offset == offset && argument.bytes == sizeof(T);
}

TEST_CASE("op: the table of a copy tells where its block has what") {
    const gj::KernelInfo& info = gj::detail::copy_info;
    const gj::CopyBlock block{};
    CHECK(name_of(info) == "copy");
    CHECK(info.block_bytes == sizeof block);
    CHECK(info.block_align == alignof(gj::CopyBlock));
    CHECK(info.dims_offset == gj::KernelInfo::no_dims);
    REQUIRE(info.argument_count == 3);
    CHECK(tells(info.arguments[0], offsetof(gj::CopyBlock, destination), block.destination));
    CHECK(tells(info.arguments[1], offsetof(gj::CopyBlock, source), block.source));
    CHECK(tells(info.arguments[2], offsetof(gj::CopyBlock, bytes), block.bytes));
    CHECK(info.arguments[0].role == gj::ArgumentRole::out);
    CHECK(info.arguments[1].role == gj::ArgumentRole::in);
    CHECK(info.arguments[2].role == gj::ArgumentRole::value);
}

TEST_CASE("op: the table of a fill tells where its block has what") {
    const gj::KernelInfo& info = gj::detail::fill_info;
    const gj::FillBlock block{};
    CHECK(name_of(info) == "fill");
    CHECK(info.block_bytes == sizeof block);
    CHECK(info.block_align == alignof(gj::FillBlock));
    REQUIRE(info.argument_count == 3);
    CHECK(tells(info.arguments[0], offsetof(gj::FillBlock, destination), block.destination));
    CHECK(tells(info.arguments[1], offsetof(gj::FillBlock, bytes), block.bytes));
    CHECK(tells(info.arguments[2], offsetof(gj::FillBlock, pattern), block.pattern));
    CHECK(info.arguments[0].role == gj::ArgumentRole::out);
}

TEST_CASE("op: roles and accesses are the same numbers, since one is made of the other") {
    CHECK(static_cast<int>(gj::ArgumentRole::in) == static_cast<int>(gj::Access::in));
    CHECK(static_cast<int>(gj::ArgumentRole::out) == static_cast<int>(gj::Access::out));
    CHECK(static_cast<int>(gj::ArgumentRole::in_out) == static_cast<int>(gj::Access::in_out));
}

}  // namespace
