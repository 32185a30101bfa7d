#include "support/failing_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

struct Limit {
    bool active = false;
    std::size_t allowed = 0;
    std::size_t most = 0;
    std::size_t refused = 0;
    std::uint64_t throwing_calls = 0;
};
thread_local Limit limit;
std::atomic<std::int64_t> alive = 0;

void* allocate(std::size_t bytes) noexcept {
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory != nullptr) alive.fetch_add(1, std::memory_order_relaxed);
    return memory;
}
void release(void* memory) noexcept {
    if (memory == nullptr) return;
    alive.fetch_sub(1, std::memory_order_relaxed);
    std::free(memory);
}

}  // namespace

namespace test {

FailingAllocations::FailingAllocations(std::size_t allowed, std::size_t most) noexcept {
    limit = {.active = true, .allowed = allowed, .most = most};
}
FailingAllocations::~FailingAllocations() { limit = {}; }
std::size_t FailingAllocations::refused() const noexcept { return limit.refused; }
std::uint64_t FailingAllocations::throwing_calls() const noexcept { return limit.throwing_calls; }
std::int64_t FailingAllocations::alive() noexcept { return ::alive.load(std::memory_order_relaxed); }

}  // namespace test

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    if (limit.active && limit.allowed == 0 && limit.refused < limit.most) {
        ++limit.refused;
        return nullptr;
    }
    if (limit.active && limit.allowed != 0) --limit.allowed;
    return allocate(bytes);
}

// All that frees what the one above allocated, and so all that allocates what these free.
void* operator new(std::size_t bytes) {
    ++limit.throwing_calls;
    void* memory = allocate(bytes);
    if (memory == nullptr) std::abort();  // that memory really runs out is not what is tested
    return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
