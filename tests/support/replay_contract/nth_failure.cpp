#include "support/nth_failure.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t calls = 0;
thread_local std::uint64_t fail_at = 0;
thread_local std::uint64_t throwing_calls = 0;
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

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    if (++calls == fail_at) return nullptr;
    return allocate(bytes);
}
void* operator new(std::size_t bytes) {
    ++throwing_calls;
    void* memory = allocate(bytes);
    if (memory == nullptr) std::abort();  // that memory really runs out is not what is tested
    return memory;
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace test {

NthFailure::NthFailure(std::uint64_t n) noexcept {
    ::calls = 0;
    ::throwing_calls = 0;
    ::fail_at = n;
}
NthFailure::~NthFailure() { fail_at = 0; }
bool NthFailure::happened() const noexcept { return calls >= fail_at; }
std::uint64_t NthFailure::throwing_calls() const noexcept { return ::throwing_calls; }
std::int64_t NthFailure::alive() noexcept { return ::alive.load(std::memory_order_relaxed); }

}  // namespace test
