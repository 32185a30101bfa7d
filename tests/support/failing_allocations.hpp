// Makes the library's allocations fail. Only those: graphjit allocates with `operator new(size, std::nothrow)`, which
// the programs `unit` and `replay_contract` replace, and nothing else in them does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace test {

/// In its scope, and on its thread, the first `allowed` allocations succeed, and then the next `most` fail.
class FailingAllocations {
public:
    explicit FailingAllocations(std::size_t allowed,
                                std::size_t most = std::numeric_limits<std::size_t>::max()) noexcept;
    FailingAllocations(const FailingAllocations&) = delete;
    FailingAllocations& operator=(const FailingAllocations&) = delete;
    ~FailingAllocations();

    /// How many were refused.
    [[nodiscard]] std::size_t refused() const noexcept;
    /// Calls of the operator new that throws, which graphjit must not use.
    [[nodiscard]] std::uint64_t throwing_calls() const noexcept;

    /// Blocks of operator new that are not deleted yet, of all threads.
    [[nodiscard]] static std::int64_t alive() noexcept;
};

/// In its scope, and on its thread, the `n`-th allocation (from 1 on) fails, and no other.
class NthFailure : public FailingAllocations {
public:
    explicit NthFailure(std::uint64_t n) noexcept : FailingAllocations(n - 1, 1) {}

    /// Whether it came to the n-th allocation.
    [[nodiscard]] bool happened() const noexcept { return refused() != 0; }
};

/// Calls `attempt() -> bool` with 0, 1, 2, … allocations allowed until it succeeds without a refusal, and returns how
/// many it needs; `attempt` is to give back false if and only if an allocation was refused, else the answer is -1.
template <class Attempt>
[[nodiscard]] int allocations_needed(Attempt attempt) {
    for (int allowed = 0; allowed < 10'000; ++allowed) {
        bool succeeded = false;
        bool refused = false;
        {
            const FailingAllocations failing(static_cast<std::size_t>(allowed));
            succeeded = attempt();
            refused = failing.refused() != 0;
        }
        if (succeeded == refused) return -1;
        if (succeeded) return allowed;
    }
    return -1;
}

}  // namespace test
