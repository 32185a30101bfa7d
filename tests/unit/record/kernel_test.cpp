#include <graphjit/record/kernel.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {

namespace gj = graphjit;
using gj::ArgumentRole;

// Offsets are compared with those of C structs in tests/static/block_layout.cpp.

template <class... P>
using Layout = gj::detail::BlockLayout<P...>;

TEST_CASE("BlockLayout: no two arguments share a byte, and all lie in the block") {
    const auto data = Layout<char, double, short, float*, gj::LaunchDims, char, gj::Out<int>>::data;
    bool taken[256] = {};
    const auto take = [&](std::uint32_t offset, std::size_t bytes) {
        for (std::size_t i = offset; i < offset + bytes; ++i) {
            REQUIRE(i < data.bytes);
            REQUIRE(!taken[i]);
            taken[i] = true;
        }
    };
    for (const gj::ArgumentInfo& argument : data.arguments) take(argument.offset, argument.bytes);
    take(data.dims_offset, sizeof(gj::LaunchDims));
}

TEST_CASE("KernelInfo: without arguments and dims by default") {
    const gj::KernelInfo info;
    CHECK(info.argument_count == 0);
    CHECK(info.block_bytes == 0);
    CHECK(info.block_align == 1);
    CHECK(info.dims_offset == gj::KernelInfo::no_dims);
    CHECK(info.name_size == 0);
    CHECK(std::strcmp(info.name, "") == 0);
}

TEST_CASE("parameters: memory by what is said of it, dims apart, all else values") {
    CHECK(gj::detail::is_memory<const float*>);
    CHECK(gj::detail::is_memory<float*>);
    CHECK(gj::detail::is_memory<gj::In<float>>);
    CHECK(gj::detail::is_memory<gj::Out<float>>);
    CHECK(gj::detail::is_memory<gj::InOut<float>>);
    CHECK(!gj::detail::is_memory<float>);
    CHECK(!gj::detail::is_memory<gj::LaunchDims>);
    CHECK(gj::detail::is_dims<gj::LaunchDims>);
    CHECK(gj::detail::parameter<const float*>::role == ArgumentRole::in);
    CHECK(gj::detail::parameter<gj::In<float>>::role == ArgumentRole::in);
    CHECK(gj::detail::parameter<float*>::role == ArgumentRole::in_out);
    CHECK(gj::detail::parameter<gj::InOut<float>>::role == ArgumentRole::in_out);
    CHECK(gj::detail::parameter<gj::Out<float>>::role == ArgumentRole::out);
    CHECK(gj::detail::parameter<float>::role == ArgumentRole::value);
}

}  // namespace
