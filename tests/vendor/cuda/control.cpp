#include "control.hpp"

#include "call.hpp"
#include "engine.hpp"
#include "memory.hpp"

#include <algorithm>

namespace test::cuda {

void register_kernel(Kernel kernel) {
    const std::lock_guard lock(state().mutex);
    const std::string name = kernel.name;
    state().kernels[name] = std::make_shared<const Kernel>(std::move(kernel));
}

std::vector<Parameter> parameters_of(const std::vector<std::size_t>& sizes) {
    std::vector<Parameter> parameters;
    std::size_t end = 0;
    for (const std::size_t size : sizes) {
        std::size_t alignment = 1;
        while (alignment < 16 && size % (2 * alignment) == 0) alignment *= 2;
        const std::size_t offset = (end + alignment - 1) / alignment * alignment;
        parameters.push_back({size, offset});
        end = offset + size;
    }
    return parameters;
}

std::string image_of(const std::vector<std::string>& kernels,
                     const std::vector<std::pair<std::string, std::size_t>>& variables) {
    std::string image = ".version 8.0\n.target sm_90\n.address_size 64\n";
    for (const auto& [name, bytes] : variables)
        image += ".visible .global .align 16 .b8 " + name + "[" + std::to_string(bytes) + "];\n";
    for (const std::string& name : kernels) image += ".visible .entry " + name + "()\n{\n\tret;\n}\n";
    return image;
}

void reset(const Options& options) {
    {
        State& s = state();
        std::unique_lock lock(s.mutex);
        drop_work(lock);
        for (const auto& [handle, context] : s.contexts.all) {
            context->destroyed = true;
            context->legacy.reset();
        }
        s.captures.clear();
        s.streams.all.clear();
        s.events.all.clear();
        s.functions.all.clear();
        s.modules.all.clear();
        s.execs.all.clear();
        s.nodes.all.clear();
        s.graphs.all.clear();
        s.contexts.all.clear();
        s.primaries.clear();
        free_everything();
        s.options = options;
        s.options.devices = std::clamp(options.devices, 0, 8);
        ++s.generation;
        s.initialized = false;
        s.fault.reset();
        s.violations.clear();
        s.calls.clear();
        s.all_calls = 0;
        s.failures.clear();
        seed_engine(options.seed);
    }
    stop_workers();
}

void set_seed(std::uint64_t seed) {
    const std::lock_guard lock(state().mutex);
    seed_engine(seed);
}

void set_slow(bool slow) {
    const std::lock_guard lock(state().mutex);
    state().options.slow = slow;
}

void hold() {
    const std::lock_guard lock(state().mutex);
    set_held(true);
}

void release() {
    const std::lock_guard lock(state().mutex);
    set_held(false);
}

std::size_t in_flight() {
    const std::lock_guard lock(state().mutex);
    return commands_in_flight();
}

std::size_t calls(std::string_view name) {
    const std::lock_guard lock(state().mutex);
    const auto found = state().calls.find(name);
    return found == state().calls.end() ? 0 : found->second;
}

std::size_t calls() {
    const std::lock_guard lock(state().mutex);
    return state().all_calls;
}

void fail_call(std::size_t k, CUresult result, std::string_view name) {
    const std::lock_guard lock(state().mutex);
    if (k > 0) state().failures.push_back({k, result, std::string(name)});
}

void fail_no_call() {
    const std::lock_guard lock(state().mutex);
    state().failures.clear();
}

Ledger live() {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const MemoryCounts memory = count_memory();
    Ledger ledger;
    ledger.contexts = s.contexts.all.size();
    ledger.streams = s.streams.all.size();
    ledger.events = s.events.all.size();
    ledger.modules = s.modules.all.size();
    ledger.execs = s.execs.all.size();
    for (const auto& [handle, graph] : s.graphs.all) ledger.graphs += graph->is_child ? 0U : 1U;
    ledger.device_allocations = memory.device;
    ledger.host_allocations = memory.pinned;
    ledger.registrations = memory.registered;
    return ledger;
}

std::vector<Violation> violations() {
    const std::lock_guard lock(state().mutex);
    // A test of freed memory is worth something only while nothing runs.
    if (commands_in_flight() == 0) check_freed_memory();
    return state().violations;
}

}  // namespace test::cuda
