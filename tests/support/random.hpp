// Random numbers that are the same on every platform for one seed, which std's distributions are not.
#pragma once

#include <cstdint>

namespace test {

class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed * 0x9e37'79b9'7f4a'7c15u + 0x1234'5678'9abc'def1u) {
        if (state_ == 0) state_ = 1;
        for (int i = 0; i < 4; ++i) (void)next();
    }

    [[nodiscard]] std::uint64_t next() noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545'f491'4f6c'dd1du;
    }
    /// 0 to n - 1.
    [[nodiscard]] unsigned below(unsigned n) noexcept { return static_cast<unsigned>((next() >> 33) % n); }
    /// Both ends included.
    [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
        return least + static_cast<std::int64_t>((next() >> 1) % static_cast<std::uint64_t>(most - least + 1));
    }
    [[nodiscard]] bool chance(unsigned percent) noexcept { return below(100) < percent; }

private:
    std::uint64_t state_;
};

}  // namespace test
