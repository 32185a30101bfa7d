// The numbers of the chain for a sample rate. Filters: Robert Bristow-Johnson's Audio EQ Cookbook.
#pragma once

#include "kernels.hpp"

#include <cmath>
#include <numbers>

namespace audio {

/// The cookbook's intermediate values. A corner frequency stays below half the sample rate, whatever was asked for.
struct Corner {
    double cosine;
    double alpha;

    Corner(double rate, double hertz, double q) {
        const double w = 2.0 * std::numbers::pi * std::min(hertz, 0.4 * rate) / rate;
        cosine = std::cos(w);
        alpha = std::sin(w) / (2.0 * q);
    }
};

inline Biquad scaled(double b0, double b1, double b2, double a0, double a1, double a2) {
    return {b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0};
}

inline Biquad high_pass(double rate, double hertz, double q) {
    const auto [c, alpha] = Corner(rate, hertz, q);
    return scaled((1 + c) / 2, -(1 + c), (1 + c) / 2, 1 + alpha, -2 * c, 1 - alpha);
}

inline Biquad peaking(double rate, double hertz, double q, double decibels) {
    const auto [c, alpha] = Corner(rate, hertz, q);
    const double a = std::pow(10.0, decibels / 40.0);
    return scaled(1 + alpha * a, -2 * c, 1 - alpha * a, 1 + alpha / a, -2 * c, 1 - alpha / a);
}

inline Biquad high_shelf(double rate, double hertz, double q, double decibels) {
    const auto [c, alpha] = Corner(rate, hertz, q);
    const double a = std::pow(10.0, decibels / 40.0);
    const double root = 2.0 * std::sqrt(a) * alpha;
    return scaled(a * ((a + 1) + (a - 1) * c + root), -2 * a * ((a - 1) + (a + 1) * c),
                  a * ((a + 1) + (a - 1) * c - root), (a + 1) - (a - 1) * c + root, 2 * ((a - 1) - (a + 1) * c),
                  (a + 1) - (a - 1) * c - root);
}

/// How far a one-pole filter goes per frame to reach 63 % in that time.
inline float per_frame(double rate, double seconds) {
    return static_cast<float>(1.0 - std::exp(-1.0 / (seconds * rate)));
}

struct Settings {
    Biquad high_pass, presence, air;
    float damping;
    Compressor compressor;
    Limiter limiter;
    int ring_blocks;  // the delay's length
    float feedback = 0.35f;
    float echo_level = 0.4f;
    float wetness = 0.8f;

    explicit Settings(int frames_per_second) {
        const double rate = frames_per_second;
        high_pass = audio::high_pass(rate, 80.0, 0.707);
        presence = peaking(rate, 2500.0, 1.0, 3.0);
        air = high_shelf(rate, 8000.0, 0.707, 2.0);
        damping = 1.0f - static_cast<float>(std::exp(-2.0 * std::numbers::pi * std::min(4000.0, 0.4 * rate) / rate));
        compressor = {per_frame(rate, 0.005), per_frame(rate, 0.12), 0.25f, 1.5f};
        limiter = {0.97f, per_frame(rate, 0.05)};
        ring_blocks = static_cast<int>(0.25 * rate / block_frames) + 1;
    }
};

/// The automation of the input gain: a slow fade between 0.6 and 1, one value per block.
inline float automated_gain(std::int64_t block) {
    constexpr std::int64_t period = 1600;
    const std::int64_t phase = block % period;
    const std::int64_t rise = phase < period / 2 ? phase : period - phase;
    return 0.6f + 0.4f * static_cast<float>(rise) / static_cast<float>(period / 2);
}

}  // namespace audio
