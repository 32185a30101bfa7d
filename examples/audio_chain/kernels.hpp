// What runs on each block: plain functions that allocate nothing, wait for nothing and throw nothing.
// A function's state is memory of its caller. All loops run from front to back and look at each element before they
// write it, so that a kernel may be given one buffer as input and output.
#pragma once

#include <graphjit/record/access.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace audio {

using graphjit::Out;

inline constexpr int block_frames = 128;

/// Decaying signals never end: they become denormal, and then a block costs many times what it did.
template <class T>
[[nodiscard]] inline T without_tail(T x) noexcept {
    return std::abs(x) < T(1e-15) ? T(0) : x;
}

/// Glides from the last block's gain to this one's: a step would click.
inline void input_gain(float gain, float* last_gain, const float* in, Out<float> out) noexcept {
    const float step = (gain - *last_gain) / static_cast<float>(block_frames);
    float now = *last_gain;
    for (int i = 0; i < block_frames; ++i) {
        now += step;
        out[i] = now * in[i];
    }
    *last_gain = gain;
}

/// A second-order section, scaled so that a0 is 1. In double: at 384 kHz the poles of an 80 Hz high-pass are so near to
/// 1 that float coefficients would move them audibly.
struct Biquad {
    double b0, b1, b2, a1, a2;
};

inline void biquad(Biquad c, double* state, const float* in, Out<float> out) noexcept {
    double s1 = state[0];
    double s2 = state[1];
    for (int i = 0; i < block_frames; ++i) {
        const double x = static_cast<double>(in[i]);
        const double y = c.b0 * x + s1;
        s1 = c.b1 * x - c.a1 * y + s2;
        s2 = c.b2 * x - c.a2 * y;
        out[i] = static_cast<float>(y);
    }
    state[0] = without_tail(s1);
    state[1] = without_tail(s2);
}

/// A one-pole low-pass: each echo is duller than the one before.
inline void damp(float amount, float* state, const float* in, Out<float> out) noexcept {
    float s = *state;
    for (int i = 0; i < block_frames; ++i) {
        s += (in[i] - s) * amount;
        out[i] = s;
    }
    *state = without_tail(s);
}

inline void delay_read(const float* ring, Out<float> echo) noexcept {
    for (int i = 0; i < block_frames; ++i) echo[i] = ring[i];
}

inline void delay_write(float feedback, const float* in, const float* echo, Out<float> ring) noexcept {
    for (int i = 0; i < block_frames; ++i) ring[i] = without_tail(in[i] + feedback * echo[i]);
}

inline void add(float level, const float* in, const float* echo, Out<float> out) noexcept {
    for (int i = 0; i < block_frames; ++i) out[i] = in[i] + level * echo[i];
}

/// The louder of both channels, so that one gain for both keeps the stereo image. Mono is linked with itself.
inline void linked_level(const float* left, const float* right, Out<float> level) noexcept {
    for (int i = 0; i < block_frames; ++i) level[i] = std::max(std::abs(left[i]), std::abs(right[i]));
}

struct Compressor {
    float attack, release;  // part of the way to the new level, per frame
    float threshold;
    float makeup;
};

/// Four to one: above the threshold the gain is (level / threshold) to the power of -3/4, by two square roots.
inline void compressor_gain(Compressor c, float* envelope, const float* level, Out<float> gain) noexcept {
    float e = *envelope;
    for (int i = 0; i < block_frames; ++i) {
        e += (level[i] - e) * (level[i] > e ? c.attack : c.release);
        const float root = std::sqrt(c.threshold / std::max(e, c.threshold));
        gain[i] = c.makeup * root * std::sqrt(root);
    }
    *envelope = without_tail(e);
}

inline void apply_gain(const float* gain, const float* in, Out<float> out) noexcept {
    for (int i = 0; i < block_frames; ++i) out[i] = gain[i] * in[i];
}

inline void mix(float wetness, const float* dry, const float* wet, Out<float> out) noexcept {
    for (int i = 0; i < block_frames; ++i) out[i] = dry[i] + wetness * (wet[i] - dry[i]);
}

struct Limiter {
    float ceiling;
    float release;  // part of the way back to 1, per frame
};

/// Attacks at once, so that nothing passes the ceiling.
inline void limiter_gain(Limiter l, float* last_gain, const float* level, Out<float> gain) noexcept {
    float g = *last_gain;
    for (int i = 0; i < block_frames; ++i) {
        g = std::min(g + (1.0f - g) * l.release, l.ceiling / std::max(level[i], l.ceiling));
        gain[i] = g;
    }
    *last_gain = g;
}

struct Meter {
    float peak = 0.0f;
    double sum_of_squares = 0.0;
    std::int64_t frames = 0;
    friend bool operator==(const Meter&, const Meter&) = default;
};

inline void measure(const float* in, Meter* meter) noexcept {
    float peak = meter->peak;
    double sum = 0.0;
    for (int i = 0; i < block_frames; ++i) {
        const double x = static_cast<double>(in[i]);
        peak = std::max(peak, std::abs(in[i]));
        sum += x * x;
    }
    meter->peak = peak;
    meter->sum_of_squares += sum;
    meter->frames += block_frames;
}

}  // namespace audio
