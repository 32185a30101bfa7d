// A device of its own memory: it runs the arguments it was told of and no others, so an update that is forgotten shows
// as an old value. It notes every call, counts what is alive, and can refuse the n-th call.
#pragma once

#include <graphjit/backend/host.hpp>
#include <graphjit/base/array.hpp>
#include <graphjit/record/recorder.hpp>
#include <graphjit/run/multi_graph_runner.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace test {

namespace gj = graphjit;

enum class Call : std::uint8_t { supports, create, add_node, instantiate, update, launch, wait, run, reaches };
inline constexpr unsigned call_kinds = 9;

/// What a device was asked to do. Fixed in size, since replay must not allocate.
struct DeviceLog {
    struct Entry {
        Call call = Call::wait;
        gj::OpIndex op = gj::OpIndex::none;
    };

    std::uint32_t counts[call_kinds] = {};
    std::uint32_t calls = 0;
    std::uint32_t fail_at = 0;    // the call that fails, counted from 1; 0: none
    std::uint32_t alive = 0;      // native graphs and executables
    std::uint64_t reachable = 0;  // bit d: memory of device d can be used from any other
    gj::OpIndex unsupported = gj::OpIndex::none;
    Entry entries[256] = {};  // the first calls since `forget`
    std::uint32_t entry_count = 0;

    [[nodiscard]] std::uint32_t count(Call call) const noexcept { return counts[static_cast<unsigned>(call)]; }
    void forget() noexcept {
        for (std::uint32_t& count : counts) count = 0;
        calls = 0;
        entry_count = 0;
    }
    /// False: this call is the one to fail.
    [[nodiscard]] bool note(Call call, gj::OpIndex op = gj::OpIndex::none) noexcept {
        ++counts[static_cast<unsigned>(call)];
        if (entry_count < 256) entries[entry_count++] = {call, op};
        return ++calls != fail_at;
    }
    /// For instance "update 0, update 2, launch".
    [[nodiscard]] std::string text() const {
        constexpr const char* names[] = {"supports", "create", "add_node", "instantiate", "update",
                                         "launch",   "wait",   "run",      "reaches"};
        std::string line;
        for (std::uint32_t i = 0; i < entry_count; ++i) {
            if (i != 0) line += ", ";
            line += names[static_cast<unsigned>(entries[i].call)];
            if (entries[i].op != gj::OpIndex::none) line += " " + std::to_string(to_integer(entries[i].op));
        }
        return line;
    }
};

struct RecordingBackend {
    using kernel_family = gj::HostFamily;
    static constexpr const char* name = "recording";
    static constexpr gj::BackendLimits limits = {
        .groups = {1000, 100, 10}, .group_size = {64, 8, 4}, .group_items = 128, .shared_bytes = 4096};
    static constexpr std::int64_t native_code = 719;

    DeviceLog* log = nullptr;

    /// Counts itself in the log for as long as it lives.
    class Handle {
    public:
        explicit Handle(DeviceLog* log) noexcept : log_(log) { ++log_->alive; }
        Handle(Handle&& other) noexcept : log_(std::exchange(other.log_, nullptr)) {}
        Handle& operator=(Handle&& other) noexcept {
            std::swap(log_, other.log_);
            return *this;
        }
        ~Handle() {
            if (log_ != nullptr) --log_->alive;
        }

    private:
        DeviceLog* log_;
    };

    struct NativeGraph {
        Handle handle;
        gj::detail::Array<gj::OpRecord> nodes;
        gj::detail::Array<std::byte> blocks;
    };
    struct NativeExec {
        Handle handle;
        gj::detail::Array<gj::OpRecord> nodes;
        gj::detail::Array<std::byte> blocks;  // what the runner writes
        gj::detail::Array<std::byte> device;  // what runs
    };

    [[nodiscard]] gj::Status supports(const gj::OpView& op) const noexcept {
        if (!log->note(Call::supports, op.index)) return failure("supports", op.index, op.name);
        if (op.index == log->unsupported) {
            gj::Error error;
            error.code = gj::ErrorCode::unsupported;
            error.text = "this device cannot take the op";
            error.op = op.index;
            error.op_name = gj::ShortName(op.name);
            return error;
        }
        return {};
    }

    [[nodiscard]] gj::Result<NativeGraph> create(const gj::OpList& list) const noexcept {
        if (!log->note(Call::create)) return failure("create");
        NativeGraph graph{Handle(log), {}, {}};
        if (!graph.nodes.reserve(list.size()) ||
            !graph.blocks.append_copy(list.blocks().data(), list.blocks().size())) {
            return list.error(gj::ErrorCode::out_of_memory, "no memory for a recording graph");
        }
        return graph;
    }
    [[nodiscard]] gj::Status add_node(NativeGraph& graph, const gj::OpView& op,
                                      gj::Span<const gj::OpIndex>) const noexcept {
        if (!log->note(Call::add_node, op.index)) return failure("add_node", op.index, op.name);
        (void)graph.nodes.push(*op.record);  // reserved in create
        return {};
    }
    [[nodiscard]] gj::Result<NativeExec> instantiate(NativeGraph&& graph) const noexcept {
        if (!log->note(Call::instantiate)) return failure("instantiate");
        NativeExec exec{Handle(log), std::move(graph.nodes), std::move(graph.blocks), {}};
        if (!exec.device.copy_from(exec.blocks)) {
            gj::Error error;
            error.code = gj::ErrorCode::out_of_memory;
            error.text = "no memory for a recording executable";
            return error;
        }
        return exec;
    }
    [[nodiscard]] std::byte* block(NativeExec& exec, gj::OpIndex op) const noexcept {
        return exec.blocks.data() + exec.nodes[to_integer(op)].block;
    }
    [[nodiscard]] gj::Status update(NativeExec& exec, const gj::OpView& op) const noexcept {
        if (!log->note(Call::update, op.index)) return failure("update", op.index, op.name);
        const gj::OpRecord& node = exec.nodes[to_integer(op.index)];
        std::memcpy(exec.device.data() + node.block, op.block, node.info->block_bytes);
        return {};
    }
    [[nodiscard]] gj::Status launch(NativeExec& exec) const noexcept {
        if (!log->note(Call::launch)) return failure("launch");
        for (const gj::OpRecord& node : exec.nodes) { (void)gj::host_entry(node)(exec.device.data() + node.block); }
        return {};
    }
    [[nodiscard]] gj::Status wait(NativeExec&) const noexcept {
        if (!log->note(Call::wait)) return failure("wait");
        return {};
    }
    [[nodiscard]] gj::Status run(const gj::OpView& op) const noexcept {
        if (!log->note(Call::run, op.index)) return failure("run", op.index, op.name);
        (void)gj::host_entry (*op.record)(op.block);
        return {};
    }
    [[nodiscard]] bool reaches(gj::DeviceId, gj::DeviceId memory) const noexcept {
        if (!log->note(Call::reaches)) return false;
        return (log->reachable >> static_cast<unsigned>(memory) & 1) != 0;
    }

private:
    [[nodiscard]] static gj::Error failure(const char* call, gj::OpIndex op = gj::OpIndex::none,
                                           gj::Span<const char> op_name = {}) noexcept {
        gj::Error error;
        error.code = gj::ErrorCode::backend_failure;
        error.text = "the device refused a call";
        error.op = op;
        error.op_name = gj::ShortName(op_name);
        error.native = native_code;
        error.native_name = call;
        return error;
    }
};
static_assert(gj::graph_backend<RecordingBackend>);
static_assert(gj::has_update<RecordingBackend> && gj::has_supports<RecordingBackend> &&
              gj::has_reaches<RecordingBackend>);

using RecordingList = gj::OpListOf<RecordingBackend>;
using RecordingRecorder = gj::Recorder<RecordingBackend>;
using RecordingRunner = gj::MultiGraphRunner<RecordingBackend>;

}  // namespace test
