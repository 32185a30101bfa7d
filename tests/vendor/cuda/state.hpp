// The objects behind the driver's handles, and the one lock over all of them.
#pragma once

#include "control.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>
#include <variant>

namespace test::cuda {

struct Context;
struct Function;
struct Stream;
struct Event;
struct Graph;
struct Node;
struct Capture;
using ContextPtr = std::shared_ptr<Context>;
using FunctionPtr = std::shared_ptr<Function>;
using StreamPtr = std::shared_ptr<Stream>;
using EventPtr = std::shared_ptr<Event>;
using GraphPtr = std::shared_ptr<Graph>;
using NodePtr = std::shared_ptr<Node>;
using CapturePtr = std::shared_ptr<Capture>;

/// One thing to execute once everything before it is done. Without work it only orders others.
struct Command {
    std::uint64_t id = 0;
    ContextPtr owner;
    std::function<void()> work;
    std::vector<std::shared_ptr<Command>> successors;
    std::size_t pending = 0;
    bool done = false;
    std::chrono::steady_clock::time_point finished{};
};
using CommandPtr = std::shared_ptr<Command>;

struct Context {
    CUcontext handle = nullptr;
    int device = 0;
    unsigned flags = 0;
    bool primary = false;
    bool destroyed = false;
    std::set<CUcontext> peers;  // whose memory may be accessed from here
    StreamPtr legacy;
    std::vector<std::weak_ptr<Stream>> streams;  // all but the legacy one
    std::set<std::uint64_t> in_flight;           // ids of commands
};

struct Stream {
    CUstream handle = nullptr;
    std::weak_ptr<Context> context;
    unsigned flags = CU_STREAM_DEFAULT;
    int priority = 0;
    CommandPtr tail;
    CapturePtr capture;
    std::vector<CUgraphNode> capture_tail;

    [[nodiscard]] bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct Capture {
    std::uint64_t id = 0;
    GraphPtr graph;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    std::weak_ptr<Stream> origin;
    std::vector<std::weak_ptr<Stream>> streams;  // those that took part, the first one too
    bool invalidated = false;
    bool ended = false;
    bool into_given_graph = false;
};

struct Event {
    CUevent handle = nullptr;
    ContextPtr context;
    unsigned flags = CU_EVENT_DEFAULT;
    CommandPtr recorded;
    CapturePtr capture;
    std::vector<CUgraphNode> captured;
};

struct Module {
    CUmodule handle = nullptr;
    ContextPtr context;
    std::vector<std::string> entries;
    std::map<std::string, FunctionPtr> functions;
    std::map<std::string, CUdeviceptr> variables;
};

struct Function {
    CUfunction handle = nullptr;
    CUmodule module = nullptr;
    ContextPtr context;
    std::shared_ptr<const Kernel> kernel;
    int max_dynamic_shared = 0;
    int carveout = -1;
    bool unloaded = false;
};

// --- nodes -----------------------------------------------------------------------------------------------------------

struct KernelParams {
    FunctionPtr function;
    Extent grid{}, block{};
    unsigned shared = 0;
    std::vector<std::byte> arguments;
    bool as_extra = false;
};

/// What kind of memory an operand was when it was given, and of which context: an update must not change it.
struct Mapping {
    int kind = -1;  // of the allocation; -1 for pageable memory
    CUcontext context = nullptr;

    bool operator==(const Mapping&) const = default;
};

struct CopyParams {
    CUDA_MEMCPY3D what{};  // memory types are resolved: host or device, never unified
    ContextPtr context;
    CUDA_MEMCPY3D given{};
    Mapping from{}, to{};
};

struct SetParams {
    CUDA_MEMSET_NODE_PARAMS what{};
    ContextPtr context;
    Mapping to{};
};

struct HostParams {
    CUhostFn function = nullptr;
    void* data = nullptr;
};

struct ChildParams {
    GraphPtr graph;
};

struct EmptyParams {};

struct EventParams {
    EventPtr event;
    bool waits = false;
};

using Params = std::variant<KernelParams, CopyParams, SetParams, HostParams, ChildParams, EmptyParams, EventParams>;

struct Node {
    CUgraphNode handle = nullptr;
    Graph* graph = nullptr;
    Params params;
    std::vector<Node*> dependencies;
    bool enabled = true;
    // What cuGraphKernelNodeGetParams hands out.
    std::vector<void*> pointers;
    std::size_t argument_bytes = 0;
};

struct Graph {
    CUgraph handle = nullptr;
    std::vector<NodePtr> nodes;
    bool is_child = false;
    CapturePtr capture;
    CUgraph cloned_from = nullptr;
    std::map<CUgraphNode, CUgraphNode> clones;  // by the node of the graph that this one was cloned from
};

/// The plan is a copy of the graph, so nothing done to the graph later reaches it.
struct Exec {
    CUgraphExec handle = nullptr;
    GraphPtr plan;
    std::map<CUgraphNode, Node*> by_source;  // nodes of the graph itself, not of child graphs
    std::map<const Node*, Params> original;  // at instantiation; of child graphs too
    CommandPtr last, last_upload;
};

// --- memory ----------------------------------------------------------------------------------------------------------

struct Allocation {
    enum Kind { device, pinned, registered };
    Kind kind = device;
    std::uintptr_t base = 0;
    std::size_t size = 0;
    ContextPtr context;
    unsigned flags = 0;
    std::uintptr_t other_view = 0;  // write-combined memory has one address for the host and one for devices
    bool host_only = false, device_only = false;
    bool is_variable = false;  // of a module
    bool freed = false;
    std::uint64_t id = 0;
};

// --- all of it -------------------------------------------------------------------------------------------------------

template <class Handle, class T>
class Registry {
public:
    [[nodiscard]] std::shared_ptr<T> find(Handle handle) const {
        const auto found = all.find(handle);
        return found == all.end() ? nullptr : found->second;
    }

    std::map<Handle, std::shared_ptr<T>> all;
};

struct Failure {
    std::size_t after;
    CUresult result;
    std::string name;
};

struct State {
    std::mutex mutex;
    std::condition_variable changed;  // a command was finished

    Options options;
    std::uint64_t generation = 1;
    bool initialized = false;
    std::optional<CUresult> fault;
    std::vector<Violation> violations;

    std::map<std::string, std::size_t, std::less<>> calls;
    std::size_t all_calls = 0;
    std::vector<Failure> failures;

    Registry<CUcontext, Context> contexts;
    Registry<CUstream, Stream> streams;
    Registry<CUevent, Event> events;
    Registry<CUmodule, Module> modules;
    Registry<CUfunction, Function> functions;
    Registry<CUgraph, Graph> graphs;
    Registry<CUgraphNode, Node> nodes;
    Registry<CUgraphExec, Exec> execs;
    std::vector<CapturePtr> captures;
    std::map<int, std::pair<ContextPtr, unsigned>> primaries;  // with how often each is retained
    std::map<std::string, std::shared_ptr<const Kernel>> kernels;

    /// Handles are never used twice, so an old one is never taken for a new one.
    template <class Handle>
    Handle new_handle() {
        next_handle_ += 16;
        return reinterpret_cast<Handle>(next_handle_);  // NOLINT: an opaque number
    }
    std::uint64_t new_id() { return next_handle_ += 16; }

private:
    std::uintptr_t next_handle_ = 0x10000;
};

[[nodiscard]] State& state();

/// What the driver keeps for each thread.
struct ThreadState {
    std::uint64_t generation = 0;
    std::vector<ContextPtr> stack;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::map<CUcontext, StreamPtr> streams;  // the per-thread default streams
    bool executing = false;                  // a worker inside a kernel or a host function
};
[[nodiscard]] ThreadState& this_thread();

}  // namespace test::cuda
