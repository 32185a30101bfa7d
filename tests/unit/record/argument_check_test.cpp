#include <graphjit/record/argument_check.hpp>

#include <graphjit/record/host_kernel.hpp>

#include <doctest/doctest.h>

namespace {

// What is refused, and in which words, is in tests/compile_fail. Here: what is allowed.

namespace gj = graphjit;

template <class Parameter, class Given>
constexpr bool allowed = gj::detail::argument_check<1, Parameter, Given>::holds();

TEST_CASE("arguments: memory takes a buffer, a part, an input or nothing") {
    CHECK(allowed<const float*, gj::Buffer<float>>);
    CHECK(allowed<const float*, gj::Buffer<const float>>);
    CHECK(allowed<gj::In<float>, gj::Input<const float>>);
    CHECK(allowed<gj::Out<float>, gj::Input<float>>);
    CHECK(allowed<gj::InOut<float>, gj::SymbolicBuffer<float>>);
    CHECK(allowed<float*, gj::Buffer<float>>);
    CHECK(allowed<float*, std::nullptr_t>);
    CHECK(allowed<gj::In<float>, std::nullptr_t>);
}

TEST_CASE("arguments: void memory takes any element") {
    CHECK(allowed<const void*, gj::Buffer<const float>>);
    CHECK(allowed<void*, gj::Buffer<int>>);
    CHECK(allowed<const void*, gj::Token>);
}

TEST_CASE("arguments: a value takes what converts to it, a Slot of its own type, and an integer an Expr") {
    struct Pair {
        int a;
        int b;
    };
    CHECK(allowed<float, float>);
    CHECK(allowed<float, int>);
    CHECK(allowed<double, float>);
    CHECK(allowed<int, char>);
    CHECK(allowed<Pair, Pair>);
    CHECK(allowed<bool, bool>);
    CHECK(allowed<float, gj::Slot<float>>);
    CHECK(allowed<Pair, gj::Slot<Pair>>);
    CHECK(allowed<int, gj::Expr>);
    CHECK(allowed<std::uint8_t, gj::Variable>);
    CHECK(allowed<std::int64_t, gj::Variable>);
}

void gain(float, const float*, gj::Out<float>) {}
void iota(gj::LaunchDims, gj::Out<int>) {}
using Gain = gj::HostKernel<gain>;
using Iota = gj::HostKernel<iota>;
using Reads = gj::ExtraAccess<gj::Buffer<float>>;

template <class K, bool HasDims, class... A>
constexpr bool launches = gj::detail::launch_check<K, HasDims, A...>::holds();

TEST_CASE("launches: arguments in order, dims apart, accesses behind") {
    CHECK(launches<Gain, false, float, gj::Buffer<float>, gj::Buffer<float>>);
    CHECK(launches<Gain, false, float, gj::Buffer<float>, gj::Buffer<float>, Reads>);
    CHECK(launches<Gain, false, float, gj::Buffer<float>, gj::Buffer<float>, Reads, Reads>);
    CHECK(launches<Iota, true, gj::Buffer<int>>);
    CHECK(launches<Iota, true, gj::Buffer<int>, Reads>);
}

template <class... A>
constexpr bool come_last = gj::detail::launch_check<Gain, false, A...>::accesses_come_last();

TEST_CASE("launches: accesses are told from arguments by their place") {
    CHECK(come_last<>);
    CHECK(come_last<float>);
    CHECK(come_last<Reads>);
    CHECK(come_last<float, float, Reads, Reads>);
    CHECK(!come_last<Reads, float>);
    CHECK(!come_last<float, Reads, float, Reads>);
    using Arguments = gj::detail::without_accesses<gj::detail::Types<float, int, Reads, Reads>>::type;
    CHECK(std::is_same_v<Arguments, gj::detail::Types<float, int>>);
}

}  // namespace
