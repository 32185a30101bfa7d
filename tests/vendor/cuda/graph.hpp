// Graphs, their copies, and the parameters of their nodes. With the lock of the state held.
#pragma once

#include "call.hpp"
#include "engine.hpp"

namespace test::cuda {

[[nodiscard]] GraphPtr make_graph();
/// Knows from now on what kind of memory the operands are.
[[nodiscard]] Params with_mappings(Params params);
NodePtr add_node(Graph& graph, Params params, std::vector<Node*> dependencies);

/// With its nodes' copies in the same order, child graphs too. Without handles it is an executable graph's.
[[nodiscard]] GraphPtr copy_graph(const Graph& graph, bool with_handles);
void forget_graph(const GraphPtr& graph);

/// Where the arguments of a kernel are, as the caller gave them.
struct GivenLaunch {
    Extent grid, block;
    unsigned shared;
    void** arguments;
    void** extra;
};

/// Copies the arguments. The errors are those of cuLaunchKernel.
[[nodiscard]] CUresult read_launch(const FunctionPtr& function, const GivenLaunch& given, KernelParams& out);

/// The same for a node, whose calls document CUDA_ERROR_INVALID_VALUE and, for a bad handle, what is given.
[[nodiscard]] CUresult read_node(const CUDA_KERNEL_NODE_PARAMS* given, CUresult bad_handle, KernelParams& out);
[[nodiscard]] CUresult read_node(const CUDA_MEMCPY3D* given, CUcontext context, CopyParams& out);
[[nodiscard]] CUresult read_node(const CUDA_MEMSET_NODE_PARAMS* given, CUcontext context, SetParams& out);
[[nodiscard]] CUresult read_node(const CUDA_HOST_NODE_PARAMS* given, HostParams& out);

/// Whether an executable graph takes these parameters for that node.
enum class Update {
    node,   ///< the calls that set one node: copies must be flat and not empty
    graph,  ///< cuGraphExecUpdate
};
[[nodiscard]] bool can_become(const Params& original, const Params& next, Update update);

struct Mismatch {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    CUgraphNode node = nullptr, from = nullptr;
};
/// Pairs the nodes by the order in which they were added.
[[nodiscard]] Mismatch compare(const Exec& exec, const Graph& plan, const Graph& next);
void become(Graph& plan, const Graph& next);

/// One launch of the plan, behind what is in the stream and behind its last launch.
[[nodiscard]] CUresult launch(Exec& exec, const StreamPtr& stream);

[[nodiscard]] CUgraphNodeType type_of(const Params& params);
[[nodiscard]] bool has_cycle(const Graph& graph, CUgraphNode& on_it);

}  // namespace test::cuda
