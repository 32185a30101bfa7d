// Makes one call of operator new fail. Only in the program replay_contract, whose operator new is replaced for it.
#pragma once

#include <cstdint>

namespace test {

/// While it lives, the `n`-th call (from 1 on) of `operator new(size, std::nothrow)` by this thread returns null.
class NthFailure {
public:
    explicit NthFailure(std::uint64_t n) noexcept;
    NthFailure(const NthFailure&) = delete;
    NthFailure& operator=(const NthFailure&) = delete;
    ~NthFailure();

    /// Whether it came to the n-th call.
    [[nodiscard]] bool happened() const noexcept;
    /// Calls of the operator new that throws, which graphjit must not use.
    [[nodiscard]] std::uint64_t throwing_calls() const noexcept;

    /// Blocks of operator new that are not deleted yet, of all threads.
    [[nodiscard]] static std::int64_t alive() noexcept;
};

}  // namespace test
