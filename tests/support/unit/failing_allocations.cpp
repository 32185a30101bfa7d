#include "support/unit/failing_allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

struct Limit {
    bool active = false;
    std::size_t allowed = 0;
    std::size_t refused = 0;
};
thread_local Limit limit;

void* allocate(std::size_t bytes) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }

}  // namespace

namespace test {

FailingAllocations::FailingAllocations(std::size_t allowed) noexcept { limit = {true, allowed, 0}; }
FailingAllocations::~FailingAllocations() { limit = {}; }
std::size_t FailingAllocations::refused() const noexcept { return limit.refused; }

}  // namespace test

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    if (limit.active) {
        if (limit.allowed == 0) {
            ++limit.refused;
            return nullptr;
        }
        --limit.allowed;
    }
    return allocate(bytes);
}

// All that frees what the one above allocated, and so all that allocates what these free.
void* operator new(std::size_t bytes) {
    void* memory = allocate(bytes);
    if (memory == nullptr) std::abort();
    return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
