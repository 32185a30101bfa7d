// The work of every benchmark: functions that do the same and are not folded into one. A graph uses sixteen of them.
//
// There are more, and each process of a measurement draws others: how well the processor predicts a thousand calls
// hangs on the low bits of addresses, and one choice of functions would favour one side by up to a third.
//
// The bare loops call exactly these functions through pointers; graphjit is given the same ones as `kernel<step<I>>`.
// Neither side is told to inline or not to. meson.build passes
//   -fno-ipa-icf           or g++ would keep one body for all
//   -falign-functions=32   a step is 7 bytes and an entry of graphjit 25: by default the steps lie 16 bytes apart and
//   the
//                          entries 32, and calls of functions that lie closer are predicted worse, which alone would
//                          make the bare loop a quarter slower
//   -falign-loops=32       or now one loop and now the other would cross a cache line
#pragma once

#include <graphjit/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bench {

namespace gj = graphjit;

using Word = std::uint32_t;
inline constexpr std::size_t kernel_count = 64;
inline constexpr std::size_t kernels_per_graph = 16;

template <std::size_t I>
void step(const Word* a, const Word* b, gj::Out<Word> o, Word v) {
    *o = *a + *b + v;
}

template <std::size_t I>
void idle(Word) {}

using Step = void (*)(const Word*, const Word*, gj::Out<Word>, Word);
using Idle = void (*)(Word);

/// `make<I>()` for each of them.
template <class Make>
constexpr auto for_each_kernel(Make make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array { make.template operator()<I>()... };
    }(std::make_index_sequence<kernel_count>{});
}

inline constexpr std::array steps = for_each_kernel([]<std::size_t I>() -> Step { return &step<I>; });
inline constexpr std::array idles = for_each_kernel([]<std::size_t I>() -> Idle { return &idle<I>; });

/// One call of a bare loop.
struct Call {
    Step fn;
    const Word* a;
    const Word* b;
    gj::Out<Word> o;
    Word v;
    void operator()() const { fn(a, b, o, v); }
};

}  // namespace bench
