// Which memory there is, and who may touch it.
#pragma once

#include "state.hpp"

namespace test::cuda {

// With the lock of the state held, all but fill().

/// The allocation, alive or freed, whose bytes or guard bytes hold the address; null if there is none.
[[nodiscard]] const Allocation* find_allocation(std::uintptr_t address);
/// Only one that is alive, and only inside it.
[[nodiscard]] const Allocation* find_live(std::uintptr_t address, std::size_t bytes = 1);

/// 0 if the device has not so much left.
[[nodiscard]] std::uintptr_t allocate_device(const ContextPtr& context, std::size_t bytes, bool is_variable = false);
[[nodiscard]] std::uintptr_t allocate_pinned(const ContextPtr& context, std::size_t bytes, unsigned flags);
[[nodiscard]] bool register_host(const ContextPtr& context, std::uintptr_t base, std::size_t bytes, unsigned flags);
/// False if no such allocation of that kind starts there.
[[nodiscard]] bool free_memory(std::uintptr_t base, Allocation::Kind kind);
void free_variable(std::uintptr_t base);
void free_all_of(const Context* context);
void free_everything();
[[nodiscard]] std::size_t bytes_in_use(int device);

struct MemoryCounts {
    std::size_t device = 0, pinned = 0, registered = 0;
};
[[nodiscard]] MemoryCounts count_memory();

/// Whether code that runs in the context may touch these bytes; a violation if not.
/// A copy may touch the memory of every context; `what` begins the text of the violation.
enum class Access { kernel, copy };
bool check_access(const Context& context, std::uintptr_t address, std::size_t bytes, Access access,
                  const std::string& what);

/// A pointer that a kernel gets: null, into memory it may touch, or just behind such memory.
bool check_pointer(const Context& context, std::uintptr_t pointer, bool declared, const std::string& what);

/// The bytes around an allocation are as they were.
bool check_guards(const Allocation& allocation, const std::string& what);
/// Nobody wrote to freed memory since.
void check_freed_memory();

}  // namespace test::cuda
