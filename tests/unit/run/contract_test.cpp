#include <graphjit/run/contract.hpp>

#include <doctest/doctest.h>

namespace {

// Which types fulfil the contract is in tests/static/backend_contract.cpp, what is said of others in
// tests/compile_fail.

namespace gj = graphjit;

TEST_CASE("BackendLimits: by default no launch is too large") {
    const gj::BackendLimits limits;
    for (const gj::Extent<std::uint32_t>& extent : {limits.groups, limits.group_size}) {
        CHECK(extent.x == 0xffff'ffffu);
        CHECK(extent.y == 0xffff'ffffu);
        CHECK(extent.z == 0xffff'ffffu);
    }
    CHECK(limits.group_items == ~std::uint64_t{0});
}

TEST_CASE("OpView: tells nothing by default") {
    const gj::OpView view;
    CHECK(view.index == gj::OpIndex::none);
    CHECK(view.record == nullptr);
    CHECK(view.block == nullptr);
    CHECK(view.name.empty());
}

}  // namespace
