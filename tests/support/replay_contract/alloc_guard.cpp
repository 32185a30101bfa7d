#include "support/alloc_guard.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif

namespace {

// Plain thread-locals of the program itself need no allocation when they are first touched.
thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t locks = 0;

}  // namespace

#if defined(TEST_SANITIZED)

// g++ comes without the header that declares it.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));

namespace {

// A malloc of our own would hide memory from the sanitizer.
void count_allocation(const volatile void*, std::size_t) { ++allocations; }
void ignore_free(const volatile void*) {}
[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(&count_allocation, &ignore_free);

}  // namespace

bool test::AllocGuard::sees_locks() noexcept { return false; }

#elif defined(__GLIBC__)

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) noexcept {
    ++allocations;
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
    ++allocations;
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
    ++allocations;
    return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t align, std::size_t bytes) noexcept {
    ++allocations;
    return __libc_memalign(align, bytes);
}
void* aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
    ++allocations;
    return __libc_memalign(align, bytes);
}
int posix_memalign(void** memory, std::size_t align, std::size_t bytes) noexcept {
    ++allocations;
    *memory = __libc_memalign(align, bytes);
    return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) noexcept { __libc_free(memory); }

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    using Lock = int (*)(pthread_mutex_t*);
    static const Lock real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    ++locks;
    return real(mutex);
}

}  // extern "C"

bool test::AllocGuard::sees_locks() noexcept { return true; }

#else
#error "counting allocations is written for glibc and for the allocators of the sanitizers"
#endif

namespace test {

AllocGuard::AllocGuard() noexcept : allocations_before_(::allocations), locks_before_(::locks) {}
AllocGuard::~AllocGuard() = default;
std::uint64_t AllocGuard::allocations() const noexcept { return ::allocations - allocations_before_; }
std::uint64_t AllocGuard::locks() const noexcept { return ::locks - locks_before_; }

}  // namespace test
