// The graphs of the benchmarks, as plain data, and the memory they work on.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace bench {

/// `*o = *a + *b + v` on buffers by number.
struct Op {
    std::size_t kernel = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t o = 0;
    Word v = 0;
    bool joins = false;  // it also reads buffers 1 … o-1
};

struct Graph {
    std::vector<Op> ops;
    std::uint32_t buffers = 0;
};

inline constexpr std::uint32_t words_per_buffer = 16;  // 64 bytes

/// The buffers of a graph, side by side.
class Memory {
public:
    explicit Memory(std::uint32_t buffers) : words_(std::size_t{buffers} * words_per_buffer), data_(allocate(words_)) {
        reset();
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { std::free(data_); }

    [[nodiscard]] Word* buffer(std::uint32_t i) const { return data_ + std::size_t{i} * words_per_buffer; }
    [[nodiscard]] std::vector<Word> words() const { return {data_, data_ + words_}; }
    void reset() {
        for (std::size_t i = 0; i < words_; ++i) data_[i] = static_cast<Word>(i * 2'654'435'761u);
    }

private:
    static Word* allocate(std::size_t words) {
        void* data = std::aligned_alloc(64, words * sizeof(Word));
        if (data == nullptr) std::abort();
        return static_cast<Word*>(data);
    }

    std::size_t words_;
    Word* data_;
};

/// Which graphs are drawn. Each process of a measurement draws others.
inline std::uint32_t seed = 1;

class Builder {
public:
    explicit Builder(std::uint32_t buffers) : random_(seed) {
        graph_.buffers = buffers;
        std::iota(kernels_.begin(), kernels_.end(), std::size_t{0});
        std::shuffle(kernels_.begin(), kernels_.end(), random_);
    }

    void op(std::uint32_t a, std::uint32_t b, std::uint32_t o, bool joins = false) {
        const std::size_t kernel = kernels_[random_() % kernels_per_graph];
        graph_.ops.push_back({kernel, a, b, o, static_cast<Word>(graph_.ops.size()), joins});
    }
    [[nodiscard]] std::uint32_t any(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
    [[nodiscard]] Graph take() { return std::move(graph_); }

private:
    Graph graph_;
    std::mt19937 random_;
    std::array<std::size_t, kernel_count> kernels_;  // the first ones are used
};

inline Graph chain(std::uint32_t n) {
    Builder builder(64);
    for (std::uint32_t i = 0; i < n; ++i) builder.op(i % 64, i % 64, (i + 1) % 64);
    return builder.take();
}

/// Buffer 0 → 1 → 2 … n-1 → n.
inline Graph fan(std::uint32_t n) {
    Builder builder(n + 1);
    builder.op(0, 0, 1);
    for (std::uint32_t i = 2; i < n; ++i) builder.op(1, 1, i);
    builder.op(2, n - 1, n, true);
    return builder.take();
}

inline Graph stencil(std::uint32_t n) {
    constexpr std::uint32_t row = 16;
    Builder builder(2 * row);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t from = i / row % 2 * row;
        const std::uint32_t x = i % row;
        builder.op(from + x, from + (x + 1) % row, row - from + x);
    }
    return builder.take();
}

inline Graph random_graph(std::uint32_t n) {
    Builder builder(64);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t a = builder.any(64);
        const std::uint32_t b = builder.any(64);
        builder.op(a, b, builder.any(64));
    }
    return builder.take();
}

/// What the memory holds after the ops ran `times` times in recorded order: written without any kernel.
inline std::vector<Word> expected(const Graph& graph, int times) {
    std::vector<Word> words = Memory(graph.buffers).words();
    for (; times > 0; --times) {
        for (const Op& op : graph.ops) {
            words[op.o * words_per_buffer] = words[op.a * words_per_buffer] + words[op.b * words_per_buffer] + op.v;
        }
    }
    return words;
}

inline std::vector<Call> bare_calls(const Graph& graph, const Memory& memory) {
    std::vector<Call> calls;
    calls.reserve(graph.ops.size());
    for (const Op& op : graph.ops) {
        calls.push_back({steps[op.kernel], memory.buffer(op.a), memory.buffer(op.b), {memory.buffer(op.o)}, op.v});
    }
    return calls;
}

inline void run_bare(const std::vector<Call>& calls) {
    for (const Call& call : calls) call.fn(call.a, call.b, call.o, call.v);
}

// Recording.

template <class Backend>
using Launch = void (*)(gj::Recorder<Backend>&, const gj::Buffer<Word>& a, const gj::Buffer<Word>& b,
                        const gj::Buffer<Word>& o, Word v);

template <class Backend, std::size_t I>
void launch_step(gj::Recorder<Backend>& recorder, const gj::Buffer<Word>& a, const gj::Buffer<Word>& b,
                 const gj::Buffer<Word>& o, Word v) {
    recorder.launch(gj::kernel<step<I>>, a, b, o, v);
}

/// Records one of the kernels: the recorder wants to know which at compile time.
template <class Backend>
inline constexpr std::array launches = for_each_kernel(
    []<std::size_t I>() -> Launch<Backend> { return &launch_step<Backend, I>; });

template <class Backend>
std::vector<gj::Buffer<Word>> register_buffers(gj::Recorder<Backend>& recorder, const Graph& graph,
                                               const Memory& memory) {
    std::vector<gj::Buffer<Word>> buffers;
    buffers.reserve(graph.buffers);
    for (std::uint32_t i = 0; i < graph.buffers; ++i) {
        buffers.push_back(recorder.buffer("buffer", memory.buffer(i), std::int64_t{words_per_buffer}));
    }
    return buffers;
}

template <class Backend>
void record(gj::Recorder<Backend>& recorder, const Graph& graph, const std::vector<gj::Buffer<Word>>& buffers) {
    for (const Op& op : graph.ops) {
        launches<Backend>[op.kernel](recorder, buffers[op.a], buffers[op.b], buffers[op.o], op.v);
    }
}

template <class Backend>
gj::OpListOf<Backend> record(const Graph& graph, const Memory& memory) {
    gj::Recorder<Backend> recorder;
    const std::vector<gj::Buffer<Word>> buffers = register_buffers(recorder, graph, memory);
    for (const Op& op : graph.ops) {
        if (!op.joins) {
            launches<Backend>[op.kernel](recorder, buffers[op.a], buffers[op.b], buffers[op.o], op.v);
            continue;
        }
        const auto all = recorder.buffer("all", memory.buffer(1), std::int64_t{op.o - 1} * words_per_buffer);
        recorder.launch(gj::kernel<step<0>>, buffers[op.a], buffers[op.b], buffers[op.o], op.v, gj::reads(all));
    }
    return std::move(recorder).finish().value();
}

}  // namespace bench
