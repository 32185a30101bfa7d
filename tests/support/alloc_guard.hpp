// Counts what the current thread takes from the heap, and the locks it takes. Only in the program replay_contract,
// whose malloc and pthread_mutex_lock are replaced for it.
#pragma once

#include <cstdint>

namespace test {

class AllocGuard {
public:
    AllocGuard() noexcept;
    AllocGuard(const AllocGuard&) = delete;
    AllocGuard& operator=(const AllocGuard&) = delete;
    ~AllocGuard();

    /// Since the guard was made.
    [[nodiscard]] std::uint64_t allocations() const noexcept;
    [[nodiscard]] std::uint64_t locks() const noexcept;

    /// Whether locks can be seen in this build: sanitizers have a pthread_mutex_lock of their own.
    [[nodiscard]] static bool sees_locks() noexcept;

private:
    std::uint64_t allocations_before_;
    std::uint64_t locks_before_;
};

}  // namespace test
