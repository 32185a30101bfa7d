#include <graphjit/base/ids.hpp>

#include <doctest/doctest.h>

namespace {

namespace gj = graphjit;

TEST_CASE("ids: numbers go in and out, and `none` is the one that no list can reach") {
    CHECK(to_integer(gj::OpIndex{7}) == 7);
    CHECK(to_integer(gj::SlotIndex{7}) == 7);
    CHECK(to_integer(gj::MemoryIndex{7}) == 7);
    CHECK(to_integer(gj::DeviceId{65'535}) == 65'535);
    CHECK(to_integer(gj::OpIndex::none) == 0xffff'ffffu);
    CHECK(to_integer(gj::SlotIndex::none) == 0xffff'ffffu);
    CHECK(to_integer(gj::MemoryIndex::none) == 0xffff'ffffu);
    CHECK(gj::OpIndex{3} < gj::OpIndex{4});
    CHECK(gj::DeviceId{} == gj::DeviceId{0});
}

}  // namespace
