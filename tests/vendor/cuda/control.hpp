// What a test says to the simulated CUDA driver besides the driver's own calls: which kernels there are, what goes
// wrong, and what it has seen. See README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define TEST_CUDA_EXPORT __attribute__((visibility("default")))

namespace test::cuda {

// --- kernels ---------------------------------------------------------------------------------------------------------

struct Extent {
    unsigned x, y, z;
};

/// One launch, as the function registered for the kernel sees it. It is called once for the whole grid.
struct Launch {
    Extent grid, block;
    unsigned dynamic_shared;
    std::byte* shared;  ///< zeroed; the static bytes come first, then the dynamic ones
    const std::byte* arguments;
    std::size_t argument_bytes;
    CUcontext context;
    int device;

    template <class T>
    [[nodiscard]] T argument(std::size_t offset) const {
        T value;
        std::memcpy(&value, arguments + offset, sizeof value);
        return value;
    }

    /// False, and a violation, unless the kernel may touch all these bytes now.
    TEST_CUDA_EXPORT bool check(const void* memory, std::size_t bytes) const;
};

struct Parameter {
    std::size_t size, offset;
    bool is_pointer = false;  ///< then it must be null or point to memory that the driver knows
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::function<void(const Launch&)> function;
    std::size_t static_shared = 0;
    int max_threads = 1024;
};

/// Replaces a kernel of the same name. Kernels outlive reset().
TEST_CUDA_EXPORT void register_kernel(Kernel kernel);

/// Parameters by their sizes, each at the next multiple of the largest power of two, at most 16, that divides its size.
TEST_CUDA_EXPORT std::vector<Parameter> parameters_of(const std::vector<std::size_t>& sizes);

/// An ordinary function: its parameters after the first are the kernel's, placed as in a struct.
template <class... P>
void register_kernel(std::string name, void (*function)(const Launch&, P...), std::size_t static_shared = 0) {
    static_assert((std::is_trivially_copyable_v<P> && ...), "a kernel's parameters are copied as bytes");
    std::vector<Parameter> parameters;
    std::size_t end = 0;
    const auto place = [&](std::size_t size, std::size_t alignment, bool is_pointer) {
        const std::size_t offset = (end + alignment - 1) / alignment * alignment;
        parameters.push_back({size, offset, is_pointer});
        end = offset + size;
    };
    (place(sizeof(P), alignof(P), std::is_pointer_v<P>), ...);
    auto call = [function, parameters]<std::size_t... I>(const Launch& launch, std::index_sequence<I...>) {
        function(launch, launch.argument<P>(parameters[I].offset)...);
    };
    register_kernel({std::move(name), parameters,
                     [call](const Launch& launch) { call(launch, std::index_sequence_for<P...>{}); }, static_shared});
}

/// The text of a module with these kernels and, each with its bytes, these variables.
TEST_CUDA_EXPORT std::string image_of(const std::vector<std::string>& kernels,
                                      const std::vector<std::pair<std::string, std::size_t>>& variables = {});

// --- the machine -----------------------------------------------------------------------------------------------------

struct Options {
    int devices = 1;    ///< 0 to 8
    bool peers = true;  ///< whether two devices reach each other's memory
    int workers = 4;    ///< threads that execute
    std::uint64_t seed = 1;
    bool slow = false;                          ///< each command takes a random little time
    std::size_t memory = std::size_t{1} << 30;  ///< bytes of each device
    bool copies_need_peer_access = false;       ///< more than the manual asks for
    bool nodes_outlive_graph = false;  ///< an exec still takes the nodes of a destroyed graph: less than it asks
};

/// As a new process: waits for what is running, drops what is queued, forgets every handle, error and count.
TEST_CUDA_EXPORT void reset(const Options& options = {});

TEST_CUDA_EXPORT void set_seed(std::uint64_t seed);
TEST_CUDA_EXPORT void set_slow(bool slow);

/// While held, commands queue and none starts.
TEST_CUDA_EXPORT void hold();
TEST_CUDA_EXPORT void release();

/// Commands that are queued or running; the nodes of a graph count one each.
[[nodiscard]] TEST_CUDA_EXPORT std::size_t in_flight();

// --- calls -----------------------------------------------------------------------------------------------------------

/// By the name in the manual, without _v2 and the like.
[[nodiscard]] TEST_CUDA_EXPORT std::size_t calls(std::string_view name);
[[nodiscard]] TEST_CUDA_EXPORT std::size_t calls();

/// The k-th call from now on, of that name or of all, does nothing but return this. The next one is call 1.
TEST_CUDA_EXPORT void fail_call(std::size_t k, CUresult result, std::string_view name = {});
TEST_CUDA_EXPORT void fail_no_call();

// --- what was seen ---------------------------------------------------------------------------------------------------

/// Handles that are alive. A primary context counts while it is retained.
struct Ledger {
    std::size_t contexts = 0, streams = 0, events = 0, modules = 0, graphs = 0, execs = 0;
    std::size_t device_allocations = 0, host_allocations = 0, registrations = 0;

    bool operator==(const Ledger&) const = default;
};
[[nodiscard]] TEST_CUDA_EXPORT Ledger live();

struct Violation {
    enum Kind { freed, no_peer_access, out_of_bounds, unknown_memory, destroyed_handle };
    Kind kind;
    std::string text;
};

/// What executing found. The first one makes all further work fail with CUDA_ERROR_ILLEGAL_ADDRESS until reset().
[[nodiscard]] TEST_CUDA_EXPORT std::vector<Violation> violations();

}  // namespace test::cuda
