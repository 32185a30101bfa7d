// What the device does: kernels, copies, sets and host functions. On the workers, without the lock of the state.
#include "engine.hpp"
#include "memory.hpp"
#include "transfer.hpp"

namespace test::cuda {

namespace {

bool context_is_there(const ContextPtr& context, const char* what) {
    if (context && !context->destroyed) return true;
    report_locked(Violation::destroyed_handle, std::string(what) + " in a context that was destroyed");
    return false;
}

/// Pointers that are declared, and any other eight bytes which happen to point into memory of ours.
bool check_arguments(const KernelParams& params) {
    const Context& context = *params.function->context;
    const Kernel& kernel = *params.function->kernel;
    bool good = true;
    for (std::size_t offset = 0; offset + sizeof(std::uintptr_t) <= params.arguments.size(); offset += 8) {
        std::uintptr_t word;
        std::memcpy(&word, params.arguments.data() + offset, sizeof word);
        bool declared = false;
        for (const Parameter& p : kernel.parameters) declared |= p.is_pointer && p.offset == offset;
        good &= check_pointer(context, word, declared, kernel.name + ": argument at " + std::to_string(offset));
    }
    return good;
}

void check_guards_of(const KernelParams& params) {
    for (std::size_t offset = 0; offset + sizeof(std::uintptr_t) <= params.arguments.size(); offset += 8) {
        std::uintptr_t word;
        std::memcpy(&word, params.arguments.data() + offset, sizeof word);
        const Allocation* found = find_live(word);
        if (found != nullptr) check_guards(*found, params.function->kernel->name);
    }
}

void perform(const KernelParams& params) {
    const Function& function = *params.function;
    {
        const std::lock_guard lock(state().mutex);
        if (function.unloaded) {
            report_locked(Violation::destroyed_handle, function.kernel->name + " of a module that was unloaded");
            return;
        }
        if (!context_is_there(function.context, function.kernel->name.c_str()) || !check_arguments(params)) return;
    }
    std::vector<std::max_align_t> shared(
        (function.kernel->static_shared + params.shared + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    if (!shared.empty()) std::memset(shared.data(), 0, shared.size() * sizeof shared[0]);
    // A block of its own, so that arguments have the alignment their offsets promise.
    std::vector<std::max_align_t> arguments(params.arguments.size() / sizeof(std::max_align_t) + 1);
    if (!params.arguments.empty()) std::memcpy(arguments.data(), params.arguments.data(), params.arguments.size());
    const Launch launch{params.grid,
                        params.block,
                        params.shared,
                        reinterpret_cast<std::byte*>(shared.data()),
                        reinterpret_cast<const std::byte*>(arguments.data()),
                        params.arguments.size(),
                        function.context->handle,
                        function.context->device};
    function.kernel->function(launch);
    const std::lock_guard lock(state().mutex);
    check_guards_of(params);
}

void perform(const CopyParams& params) {
    const CUDA_MEMCPY3D& what = params.what;
    const Operand from = source(what), to = destination(what);
    if (span_of(from, what) == 0) return;
    {
        const std::lock_guard lock(state().mutex);
        if (!context_is_there(params.context, "a copy")) return;
        if (!check_access(*params.context, from.address, span_of(from, what), Access::copy, "a copy reads") ||
            !check_access(*params.context, to.address, span_of(to, what), Access::copy, "a copy writes"))
            return;
        // A device operand was known when the copy was asked for; the block may be gone altogether since.
        for (const Operand& operand : {from, to}) {
            if (operand.is_host || find_live(operand.address) != nullptr) continue;
            report_locked(Violation::freed, "a copy of device memory that is no longer there");
            return;
        }
    }
    for (std::size_t z = 0; z < what.Depth; ++z) {
        for (std::size_t y = 0; y < what.Height; ++y) {
            std::memmove(reinterpret_cast<void*>(to.address + z * to.slice + y * to.pitch),
                         reinterpret_cast<const void*>(from.address + z * from.slice + y * from.pitch),
                         what.WidthInBytes);
        }
    }
}

void perform(const SetParams& params) {
    const CUDA_MEMSET_NODE_PARAMS& what = params.what;
    if (what.width == 0 || what.height == 0) return;
    const std::size_t row = what.width * what.elementSize;
    {
        const std::lock_guard lock(state().mutex);
        const std::size_t bytes = (what.height - 1) * what.pitch + row;
        if (!context_is_there(params.context, "a set")) return;
        if (!check_access(*params.context, what.dst, what.height > 1 ? bytes : row, Access::kernel, "a set writes"))
            return;
    }
    for (std::size_t y = 0; y < what.height; ++y) {
        auto* const first = reinterpret_cast<std::byte*>(what.dst + y * what.pitch);
        for (std::size_t x = 0; x < what.width; ++x)
            std::memcpy(first + x * what.elementSize, &what.value, what.elementSize);  // little endian
    }
}

}  // namespace

std::function<void()> work_of(const Params& params) {
    if (const auto* kernel = std::get_if<KernelParams>(&params)) return [p = *kernel] { perform(p); };
    if (const auto* copy = std::get_if<CopyParams>(&params)) return [p = *copy] { perform(p); };
    if (const auto* set = std::get_if<SetParams>(&params)) return [p = *set] { perform(p); };
    if (const auto* host = std::get_if<HostParams>(&params)) return [p = *host] { p.function(p.data); };
    return {};
}

bool Launch::check(const void* memory, std::size_t bytes) const {
    const std::lock_guard lock(state().mutex);
    const ContextPtr its_context = state().contexts.find(context);
    if (!context_is_there(its_context, "a kernel")) return false;
    return check_access(*its_context, reinterpret_cast<std::uintptr_t>(memory), bytes, Access::kernel,
                        "a kernel touches");
}

}  // namespace test::cuda
