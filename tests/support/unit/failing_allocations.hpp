// Makes the library's allocations fail. Only those: graphjit allocates with `operator new(size, std::nothrow)`, which
// the programs of tests replace, and nothing else in them does.
#pragma once

#include <cstddef>

namespace test {

/// In its scope, and on its thread, the first `allowed` allocations succeed and all later ones fail.
class FailingAllocations {
public:
    explicit FailingAllocations(std::size_t allowed) noexcept;
    FailingAllocations(const FailingAllocations&) = delete;
    FailingAllocations& operator=(const FailingAllocations&) = delete;
    ~FailingAllocations();

    /// How many were refused.
    [[nodiscard]] std::size_t refused() const noexcept;
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
