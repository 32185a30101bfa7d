// A backend is a plain class without a base. This one runs kernels on the calling thread and prints what it is told;
// where it prints, one for a device calls the device. Forget a member and the compiler says in one sentence which.
#include <graphjit/graph.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace gj = graphjit;

struct LoggingBackend {
    using kernel_family = gj::HostFamily;  // the kernels that may be launched on it
    static constexpr gj::BackendLimits limits = {};

    struct Node {
        std::string name;
        gj::HostEntry run;
        std::vector<std::byte> block;  // the arguments
    };
    using NativeGraph = std::vector<Node>;
    using NativeExec = NativeGraph;  // what can be launched; devices have another type for it

    // Building: `create`, `add_node` for each op in recorded order, `instantiate`.
    gj::Result<NativeGraph> create(const gj::OpList& list) const {
        for (const gj::OpRecord& op : list.ops()) {
            if (op.kind != gj::OpKind::kernel) return list.error(gj::ErrorCode::unsupported, "runs kernels only");
        }
        return NativeGraph{};
    }
    gj::Status add_node(NativeGraph& graph, const gj::OpView& op, gj::Span<const gj::OpIndex> after) const {
        const std::size_t bytes = op.record->info->block_bytes;
        graph.push_back({{op.name.begin(), op.name.end()},
                         gj::host_entry(*op.record),
                         std::vector<std::byte>(gj::host_block_stride(bytes))});
        std::copy_n(op.block, bytes, graph.back().block.begin());
        std::printf("add    %s", graph.back().name.c_str());
        for (gj::OpIndex before : after) std::printf(", after %s", graph[to_integer(before)].name.c_str());
        std::printf("\n");
        return {};
    }
    gj::Result<NativeExec> instantiate(NativeGraph&& graph) const { return std::move(graph); }
    // Replaying: new arguments are written into `block`, `update` tells of it, `launch` runs, `wait` waits.
    std::byte* block(NativeExec& exec, gj::OpIndex op) const noexcept { return exec[to_integer(op)].block.data(); }
    gj::Status update(NativeExec& exec, const gj::OpView& op) const noexcept {
        std::printf("patch  %s\n", exec[to_integer(op.index)].name.c_str());
        return {};
    }
    gj::Status launch(NativeExec& exec) const noexcept {
        for (const Node& node : exec) {
            std::printf("run    %s\n", node.name.c_str());
            node.run(node.block.data());
        }
        return {};
    }
    gj::Status wait(NativeExec&) const noexcept { return {}; }
    gj::Status run(const gj::OpView& op) const noexcept {  // one op without a graph, for EagerRunner
        gj::host_entry (*op.record)(op.block);
        return {};
    }
};

void twice(const int* in, gj::Out<int> out) { *out = 2 * *in; }
void add(int bias, const int* a, const int* b, gj::Out<int> sum) { *sum = bias + *a + *b; }

int main() {
    int memory[4] = {1};
    gj::Recorder<LoggingBackend> rec;
    auto bias = rec.slot<int>("bias", 0);
    auto all = rec.buffer("memory", memory);
    rec.launch("left", gj::kernel<twice>, all.slice(0, 1), all.slice(1, 1));
    rec.launch("right", gj::kernel<twice>, all.slice(0, 1), all.slice(2, 1));
    rec.launch("sum", gj::kernel<add>, bias, all.slice(1, 1), all.slice(2, 1), all.slice(3, 1));

    auto graph = gj::instantiate(std::move(rec)).value();
    for (int value : {0, 100, 100}) {  // the third replay changes nothing: no patch
        if (gj::Status status = graph.set(bias, value).replay(); !status) return std::puts(status.message().c_str()), 1;
        std::printf("the sum is %d\n", memory[3]);
    }
}
