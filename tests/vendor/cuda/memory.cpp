#include "memory.hpp"

#include "engine.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <sys/mman.h>
#include <unistd.h>

namespace test::cuda {

namespace {

// Memory comes filled, has guard bytes around it, and stays filled for a while after it was freed.
constexpr unsigned char fresh_byte = 0xcd, guard_byte = 0xa5, freed_byte = 0xdb;
constexpr std::size_t guard = 256;
constexpr std::size_t most_freed_bytes = std::size_t{64} << 20;

struct Block {
    Allocation allocation;
    std::byte* memory = nullptr;  // with the guards; null if it is not ours
    std::size_t bytes = 0;
    std::byte* second_view = nullptr;
};

// Never ended: workers and tests may still look when the process ends.
std::map<std::uintptr_t, Block>& blocks() {
    static auto& all = *new std::map<std::uintptr_t, Block>;
    return all;
}

std::deque<std::uintptr_t>& freed_blocks() {
    static auto& all = *new std::deque<std::uintptr_t>;
    return all;
}

std::size_t& freed_bytes() {
    static std::size_t bytes = 0;
    return bytes;
}

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

std::string text_of(const Allocation& allocation) {
    static constexpr const char* names[] = {"device memory", "pinned memory", "registered memory"};
    char text[120];
    std::snprintf(text, sizeof text, "%s [0x%jx, +%zu) of device %d", names[allocation.kind],
                  static_cast<std::uintmax_t>(allocation.base), allocation.size,
                  allocation.context ? allocation.context->device : -1);
    return text;
}

std::string hex(std::uintptr_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%jx", static_cast<std::uintmax_t>(address));
    return text;
}

std::uintptr_t add(Block block, std::size_t size) {
    block.memory = static_cast<std::byte*>(std::aligned_alloc(guard, block.bytes));
    if (block.memory == nullptr) return 0;
    std::memset(block.memory, guard_byte, block.bytes);
    std::memset(block.memory + guard, fresh_byte, size);
    block.allocation.base = reinterpret_cast<std::uintptr_t>(block.memory + guard);
    block.allocation.size = size;
    const std::uintptr_t base = block.allocation.base;
    blocks().insert_or_assign(base, std::move(block));
    return base;
}

std::size_t with_guards(std::size_t size) { return (size + guard - 1) / guard * guard + 2 * guard; }

void release(Block& block) {
    if (block.second_view != nullptr) {
        munmap(block.memory, block.bytes);
        munmap(block.second_view, block.bytes);
    } else {
        std::free(block.memory);
    }
}

bool all_are(const std::byte* first, std::size_t count, unsigned char value) {
    return std::all_of(first, first + count, [=](std::byte b) { return std::to_integer<unsigned char>(b) == value; });
}

bool is_whole_freed(const Block& block) {
    return block.memory == nullptr || block.second_view != nullptr ||
           all_are(at(block.allocation.base), block.allocation.size, freed_byte);
}

void forget_oldest_freed() {
    const auto found = blocks().find(freed_blocks().front());
    freed_blocks().pop_front();
    if (found == blocks().end()) return;
    freed_bytes() -= found->second.allocation.size;
    release(found->second);
    blocks().erase(found);
}

void free_block(Block& block) {
    check_guards(block.allocation, "freeing");
    block.allocation.freed = true;
    block.allocation.context.reset();
    if (block.memory != nullptr) std::memset(at(block.allocation.base), freed_byte, block.allocation.size);
    freed_blocks().push_back(block.allocation.base);
    freed_bytes() += block.allocation.size;
}

}  // namespace

const Allocation* find_allocation(std::uintptr_t address) {
    auto next = blocks().upper_bound(address + guard);
    if (next == blocks().begin()) return nullptr;
    const Allocation* found = &(--next)->second.allocation;
    // The guard before one block may be reached from the next lower block as well: inside counts first.
    if (address < found->base && next != blocks().begin()) {
        const Allocation& lower = std::prev(next)->second.allocation;
        if (address < lower.base + lower.size) found = &lower;
    }
    const bool has_guards = found->kind != Allocation::registered && found->other_view == 0;
    const std::size_t around = has_guards ? guard : 0;
    if (address + around < found->base || address >= found->base + found->size + around) return nullptr;
    return found;
}

const Allocation* find_live(std::uintptr_t address, std::size_t bytes) {
    const Allocation* found = find_allocation(address);
    if (found == nullptr || found->freed || address < found->base) return nullptr;
    const std::size_t offset = address - found->base;
    return offset <= found->size && bytes <= found->size - offset ? found : nullptr;
}

std::size_t bytes_in_use(int device) {
    std::size_t bytes = 0;
    for (const auto& [base, block] : blocks()) {
        const Allocation& a = block.allocation;
        if (a.kind == Allocation::device && !a.freed && a.context->device == device) bytes += a.size;
    }
    return bytes;
}

std::uintptr_t allocate_device(const ContextPtr& context, std::size_t bytes, bool is_variable) {
    const std::size_t used = bytes_in_use(context->device);
    const std::size_t memory = state().options.memory;
    if (used > memory || bytes > memory - used) return 0;
    Block block{{.kind = Allocation::device, .context = context, .is_variable = is_variable, .id = state().new_id()},
                nullptr,
                with_guards(bytes)};
    return add(std::move(block), bytes);
}

std::uintptr_t allocate_pinned(const ContextPtr& context, std::size_t bytes, unsigned flags) {
    Allocation allocation{.kind = Allocation::pinned, .context = context, .flags = flags, .id = state().new_id()};
    if (bytes > state().options.memory) return 0;
    if ((flags & CU_MEMHOSTALLOC_WRITECOMBINED) == 0) return add({allocation, nullptr, with_guards(bytes)}, bytes);

    // Two views of the same pages. The device's is found by its own block, which owns no memory.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t mapped = (bytes + page - 1) / page * page;
    const int file = memfd_create("write-combined", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(mapped)) != 0) return 0;
    void* const host = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* const device = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (host == MAP_FAILED || device == MAP_FAILED) return 0;
    allocation.size = bytes;
    allocation.base = reinterpret_cast<std::uintptr_t>(host);
    allocation.other_view = reinterpret_cast<std::uintptr_t>(device);
    allocation.host_only = true;
    Block host_block{allocation, static_cast<std::byte*>(host), mapped, static_cast<std::byte*>(device)};
    std::swap(allocation.base, allocation.other_view);
    std::swap(allocation.host_only, allocation.device_only);
    blocks().insert_or_assign(allocation.base, Block{allocation});
    blocks().insert_or_assign(allocation.other_view, std::move(host_block));
    return allocation.other_view;
}

bool register_host(const ContextPtr& context, std::uintptr_t base, std::size_t bytes, unsigned flags) {
    for (const auto& [start, block] : blocks()) {
        const Allocation& a = block.allocation;
        if (!a.freed && base < a.base + a.size && a.base < base + bytes) return false;
    }
    Allocation allocation{.kind = Allocation::registered,
                          .base = base,
                          .size = bytes,
                          .context = context,
                          .flags = flags,
                          .id = state().new_id()};
    blocks().insert_or_assign(base, Block{allocation});
    return true;
}

bool free_memory(std::uintptr_t base, Allocation::Kind kind) {
    const auto found = blocks().find(base);
    if (found == blocks().end()) return false;
    Block& block = found->second;
    const Allocation& a = block.allocation;
    if (a.freed || a.kind != kind || a.device_only || a.is_variable) return false;
    if (kind == Allocation::registered) {
        blocks().erase(found);
        return true;
    }
    if (a.other_view != 0) blocks().erase(a.other_view);
    free_block(block);
    while (freed_bytes() > most_freed_bytes) forget_oldest_freed();
    return true;
}

void free_variable(std::uintptr_t base) {
    const auto found = blocks().find(base);
    if (found == blocks().end()) return;
    found->second.allocation.is_variable = false;
    (void)free_memory(base, Allocation::device);
}

void free_all_of(const Context* context) {
    std::vector<std::uintptr_t> bases;
    for (const auto& [base, block] : blocks())
        if (!block.allocation.freed && block.allocation.context.get() == context) bases.push_back(base);
    for (const std::uintptr_t base : bases) {
        const auto found = blocks().find(base);
        if (found == blocks().end() || found->second.allocation.freed) continue;
        found->second.allocation.is_variable = false;
        (void)free_memory(base, found->second.allocation.kind);
    }
}

void free_everything() {
    for (auto& [base, block] : blocks()) release(block);
    blocks().clear();
    freed_blocks().clear();
    freed_bytes() = 0;
}

MemoryCounts count_memory() {
    MemoryCounts counts;
    for (const auto& [base, block] : blocks()) {
        const Allocation& a = block.allocation;
        if (a.freed || a.device_only || a.is_variable) continue;
        if (a.kind == Allocation::device) ++counts.device;
        if (a.kind == Allocation::pinned) ++counts.pinned;
        if (a.kind == Allocation::registered) ++counts.registered;
    }
    return counts;
}

bool check_access(const Context& context, std::uintptr_t address, std::size_t bytes, Access access,
                  const std::string& what) {
    if (bytes == 0) return true;
    const Allocation* found = find_allocation(address);
    // A copy may have any host memory; whether it is there at all, nobody but the system knows.
    if (found == nullptr) {
        if (access == Access::copy) return true;
        report_locked(Violation::unknown_memory, what + " " + hex(address) + ", which no call gave out");
        return false;
    }
    const std::string where = what + " " + hex(address) + " +" + std::to_string(bytes) + " in " + text_of(*found);
    if (found->freed) {
        report_locked(Violation::freed, where + ", which was freed");
        return false;
    }
    if (find_live(address, bytes) == nullptr) {
        report_locked(Violation::out_of_bounds, where + ", out of bounds");
        return false;
    }
    if (found->host_only && access == Access::kernel) {
        report_locked(Violation::unknown_memory, where + ", the host's address of write-combined memory");
        return false;
    }
    const bool needs_peer = access == Access::kernel || state().options.copies_need_peer_access;
    if (found->kind == Allocation::device && needs_peer && found->context.get() != &context &&
        !context.peers.contains(found->context->handle)) {
        report_locked(Violation::no_peer_access,
                      where + ", without peer access from a context of device " + std::to_string(context.device));
        return false;
    }
    return true;
}

bool check_pointer(const Context& context, std::uintptr_t pointer, bool declared, const std::string& what) {
    if (pointer == 0) return true;
    const Allocation* found = find_allocation(pointer);
    if (found == nullptr && !declared) return true;
    // The end of a buffer is a pointer too; it is not in it.
    const bool behind = found != nullptr && pointer == found->base + found->size && found->size > 0;
    return check_access(context, behind ? pointer - 1 : pointer, 1, Access::kernel, what);
}

bool check_guards(const Allocation& allocation, const std::string& what) {
    const auto found = blocks().find(allocation.base);
    if (found == blocks().end() || found->second.memory == nullptr || found->second.second_view != nullptr) return true;
    const Block& block = found->second;
    const std::byte* const end = at(allocation.base) + allocation.size;
    const auto behind = static_cast<std::size_t>(block.memory + block.bytes - end);
    if (all_are(block.memory, guard, guard_byte) && all_are(end, behind, guard_byte)) return true;
    report_locked(Violation::out_of_bounds, what + ": written beside " + text_of(allocation));
    std::memset(block.memory, guard_byte, guard);
    std::memset(at(allocation.base) + allocation.size, guard_byte, behind);
    return false;
}

void check_freed_memory() {
    for (const auto& [base, block] : blocks()) {
        if (!block.allocation.freed || is_whole_freed(block)) continue;
        report_locked(Violation::freed, "written after it was freed: " + text_of(block.allocation));
        std::memset(at(base), freed_byte, block.allocation.size);
    }
}

}  // namespace test::cuda
