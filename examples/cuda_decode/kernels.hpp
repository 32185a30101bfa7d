// What the decoder's kernels work out, once for all backends: on a GPU each of these is the body of a CUDA kernel
// (kernels.cu), on the CPU a function that is called for each group (backend_host.hpp).
#pragma once

#include <graphjit/record/access.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#ifdef __CUDACC__
#define DECODE_ANYWHERE __host__ __device__
#else
#define DECODE_ANYWHERE
#endif

namespace decode {

using graphjit::Out;

/// One group of a launch. On a GPU it is a warp, and each work-item takes every 32nd element; the CPU adds in the same
/// order, so that both come to the same sums, bit for bit.
class Group {
public:
    static constexpr int lanes = 32;

    DECODE_ANYWHERE Group(unsigned x_index, unsigned y_index)
        : x(static_cast<int>(x_index)), y(static_cast<int>(y_index)) {}

    int x;
    int y;

#ifdef __CUDA_ARCH__
    /// Whether this work-item is the one to write what all of them know.
    __device__ bool leads() const { return threadIdx.x == 0; }

    template <class Use>
    __device__ void each(int count, Use use) const {
        for (int i = static_cast<int>(threadIdx.x); i < count; i += lanes) use(i);
    }
    template <class Term>
    __device__ float sum(int count, Term term) const {
        float partial = 0.0f;
        each(count, [&](int i) { partial += term(i); });
        for (int step = lanes / 2; step > 0; step /= 2) partial += __shfl_xor_sync(0xffff'ffffu, partial, step);
        return partial;
    }
    template <class Term>
    __device__ float largest(int count, Term term) const {
        float most = term(0);
        each(count, [&](int i) { most = fmaxf(most, term(i)); });
        for (int step = lanes / 2; step > 0; step /= 2) {
            most = fmaxf(most, __shfl_xor_sync(0xffff'ffffu, most, step));
        }
        return most;
    }
#else
    DECODE_ANYWHERE bool leads() const { return true; }

    template <class Use>
    DECODE_ANYWHERE void each(int count, Use use) const {
        for (int i = 0; i < count; ++i) use(i);
    }
    template <class Term>
    DECODE_ANYWHERE float sum(int count, Term term) const {
        float partial[lanes] = {};
        int i = 0;
        for (; i + lanes <= count; i += lanes) {
            for (int lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
        }
        for (int lane = 0; i + lane < count; ++lane) partial[lane] += term(i + lane);
        for (int step = lanes / 2; step > 0; step /= 2) {
            for (int lane = 0; lane < step; ++lane) partial[lane] += partial[lane + step];
        }
        return partial[0];
    }
    template <class Term>
    DECODE_ANYWHERE float largest(int count, Term term) const {
        float most = term(0);
        for (int i = 1; i < count; ++i) most = term(i) > most ? term(i) : most;
        return most;
    }
#endif
};

/// e to the power of x. Not std::exp, which each library rounds in its own way.
/// Source: range reduction to x = n ln 2 + r as in Cephes' expf; the series of e^r up to r^7.
DECODE_ANYWHERE inline float exponential(float x) {
    if (x < -87.0f) return 0.0f;
    if (x > 88.0f) x = 88.0f;
    const float twos = x * 1.44269504f;
    const int n = static_cast<int>(twos < 0.0f ? twos - 0.5f : twos + 0.5f);
    const float r = (x - static_cast<float>(n) * 0.693359375f) + static_cast<float>(n) * 2.12194440e-4f;
    float power = 1.0f / 5040.0f;
    for (const float factor : {720.0f, 120.0f, 24.0f, 6.0f, 2.0f, 1.0f, 1.0f}) power = power * r + 1.0f / factor;
    const std::uint32_t bits = static_cast<std::uint32_t>(n + 127) << 23;  // 2^n
    float scale = 0.0f;
    std::memcpy(&scale, &bits, sizeof scale);
    return power * scale;
}

/// out = x at unit mean square, times `weight`. One group.
DECODE_ANYWHERE inline void rms_norm(Group group, int width, const float* x, const float* weight, Out<float> out) {
    const float squares = group.sum(width, [&](int i) { return x[i] * x[i]; });
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(width) + 1e-5f);
    group.each(width, [&](int i) { out.pointer[i] = x[i] * scale * weight[i]; });
}

/// out = weights x. A group for each row.
DECODE_ANYWHERE inline void linear(Group group, int columns, const float* weights, const float* x, Out<float> out) {
    const float* row = weights + std::ptrdiff_t{group.x} * columns;
    const float sum = group.sum(columns, [&](int i) { return row[i] * x[i]; });
    if (group.leads()) out.pointer[group.x] = sum;
}

/// residual += weights x. A group for each row.
DECODE_ANYWHERE inline void linear_add(Group group, int columns, const float* weights, const float* x,
                                       float* residual) {
    const float* row = weights + std::ptrdiff_t{group.x} * columns;
    const float sum = group.sum(columns, [&](int i) { return row[i] * x[i]; });
    if (group.leads()) residual[group.x] += sum;
}

/// Rotary position embedding: turns the pairs (i, i + half) of a head, each by the angle whose cosine and sine `turns`
/// has. A group for each head.
DECODE_ANYWHERE inline void rotate(Group group, int head_width, const float* turns, const float* x, Out<float> out) {
    const int half = head_width / 2;
    const int first = group.x * head_width;
    group.each(half, [&](int i) {
        const float cosine = turns[2 * i], sine = turns[2 * i + 1];
        const float a = x[first + i], b = x[first + half + i];
        out.pointer[first + i] = a * cosine - b * sine;
        out.pointer[first + half + i] = a * sine + b * cosine;
    });
}

/// How well the query goes with the key of each position. A group for each position (x) and head (y).
DECODE_ANYWHERE inline void score(Group group, int heads, int head_width, float scale, const float* query,
                                  const float* keys, Out<float> scores) {
    const float* q = query + group.y * head_width;
    const float* k = keys + (std::ptrdiff_t{group.x} * heads + group.y) * head_width;
    const float sum = group.sum(head_width, [&](int i) { return q[i] * k[i]; });
    if (group.leads()) scores.pointer[group.x * heads + group.y] = sum * scale;
}

/// Makes scores into shares that add up to 1. A group for each head.
DECODE_ANYWHERE inline void softmax(Group group, int positions, int heads, float* scores) {
    float* mine = scores + group.x;
    // A work-item comes back to the same elements each time, so that none waits for another.
    const float most = group.largest(positions, [&](int t) { return mine[t * heads]; });
    const float sum = group.sum(positions, [&](int t) { return exponential(mine[t * heads] - most); });
    group.each(positions, [&](int t) { mine[t * heads] = exponential(mine[t * heads] - most) / sum; });
}

/// The values of all positions, mixed by their shares. A group for each head.
DECODE_ANYWHERE inline void attend(Group group, int positions, int heads, int head_width, const float* shares,
                                   const float* values, Out<float> out) {
    const int first = group.x * head_width;
    group.each(head_width, [&](int i) {
        float mixed = 0.0f;
        for (int t = 0; t < positions; ++t) {
            mixed += shares[t * heads + group.x] * values[std::ptrdiff_t{t} * heads * head_width + first + i];
        }
        out.pointer[first + i] = mixed;
    });
}

/// out = SiLU(gate) * up. A group for each 32 elements.
DECODE_ANYWHERE inline void swiglu(Group group, const float* gate, const float* up, Out<float> out) {
    group.each(Group::lanes, [&](int lane) {
        const int i = group.x * Group::lanes + lane;
        out.pointer[i] = gate[i] / (1.0f + exponential(-gate[i])) * up[i];
    });
}

}  // namespace decode
