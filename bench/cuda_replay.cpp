// cuda_replay MODULE: a chain of kernels on a GPU, replayed by graphjit and by hand. Prints JSON as scripts/bench.sh
// does. scripts/device_cuda.sh builds and runs it, with the kernels of the tests.
#include "cuda/kernels.hpp"

#include <graphjit/graph.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace test;
using Clock = std::chrono::steady_clock;

constexpr Int n = 256;
constexpr unsigned threads = 256;

void require(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "cuda_replay: %s failed (%d)\n", what, static_cast<int>(result));
    std::exit(1);
}
void require(const gj::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "cuda_replay: %s\n", status.message().c_str());
    std::exit(1);
}

/// Op i reads buffer i % 2 and writes the other one; `k` is what changes.
struct Chain {
    explicit Chain(const gj::CudaDevices& devices, const CudaKernels& kernels, unsigned ops)
        : count(ops), stream(devices.stream(gj::DeviceId{0})), mix(kernels.mix.function->functions[0]) {
        for (CUdeviceptr& buffer : buffers) require(cuMemAlloc(&buffer, n * sizeof(Int)), "cuMemAlloc");
        require(cuMemsetD32(buffers[0], 1, n), "cuMemsetD32");
    }
    ~Chain() {
        for (const CUdeviceptr buffer : buffers) (void)cuMemFree(buffer);
    }
    [[nodiscard]] Int* data(unsigned i) const {
        return reinterpret_cast<Int*>(static_cast<std::uintptr_t>(buffers[i % 2]));
    }

    void launch(unsigned i, Int k) const {
        CUdeviceptr to = buffers[(i + 1) % 2], from = buffers[i % 2];
        Int size = n;
        void* arguments[] = {&to, &from, &k, &size};
        require(cuLaunchKernel(mix, 1, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
    }

    unsigned count;
    CUstream stream;
    CUfunction mix;
    CUdeviceptr buffers[2] = {};
};

/// A CUDA graph as one would write it by hand.
class ByHand {
public:
    explicit ByHand(const Chain& chain) : chain_(chain) {
        require(cuGraphCreate(&graph_, 0), "cuGraphCreate");
        for (unsigned i = 0; i < chain.count; ++i) {
            nodes_.emplace_back();
            with_params(i, 0, [&](const CUDA_KERNEL_NODE_PARAMS& params) {
                require(cuGraphAddKernelNode(&nodes_[i], graph_, i == 0 ? nullptr : &nodes_[i - 1], i == 0 ? 0 : 1,
                                             &params),
                        "cuGraphAddKernelNode");
            });
        }
        require(cuGraphInstantiate(&exec_, graph_, 0), "cuGraphInstantiate");
    }
    ~ByHand() {
        (void)cuGraphExecDestroy(exec_);
        (void)cuGraphDestroy(graph_);
    }
    void change(Int k) {
        for (unsigned i = 0; i < chain_.count; ++i) {
            with_params(i, k, [&](const CUDA_KERNEL_NODE_PARAMS& params) {
                require(cuGraphExecKernelNodeSetParams(exec_, nodes_[i], &params), "cuGraphExecKernelNodeSetParams");
            });
        }
    }
    void launch() { require(cuGraphLaunch(exec_, chain_.stream), "cuGraphLaunch"); }
    /// Captures the chain again and updates the executable from that.
    void recapture(Int k) {
        CUgraph graph = nullptr;
        require(cuStreamBeginCapture(chain_.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
        for (unsigned i = 0; i < chain_.count; ++i) chain_.launch(i, k);
        require(cuStreamEndCapture(chain_.stream, &graph), "cuStreamEndCapture");
        CUgraphExecUpdateResultInfo info = {};
        require(cuGraphExecUpdate(exec_, graph, &info), "cuGraphExecUpdate");
        require(cuGraphDestroy(graph), "cuGraphDestroy");
    }

private:
    template <class Use>
    void with_params(unsigned i, Int k, Use use) {
        CUdeviceptr to = chain_.buffers[(i + 1) % 2], from = chain_.buffers[i % 2];
        Int size = n;
        void* arguments[] = {&to, &from, &k, &size};
        CUDA_KERNEL_NODE_PARAMS params = {};
        params.func = chain_.mix;
        params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
        params.blockDimX = threads;
        params.kernelParams = arguments;
        use(params);
    }

    const Chain& chain_;
    CUgraph graph_ = nullptr;
    CUgraphExec exec_ = nullptr;
    std::vector<CUgraphNode> nodes_;
};

struct Replayed {
    gj::MultiGraphRunner<gj::CudaBackend> graph;
    gj::Slot<Int> k;
};
template <class Kernel>
Replayed record(const gj::CudaDevices& devices, const Chain& chain, const Kernel& kernel) {
    gj::Recorder<gj::CudaBackend> rec(devices);
    const auto k = rec.slot<Int>("k", 0);
    const gj::Buffer<Int> buffers[] = {rec.buffer("a", chain.data(0), n), rec.buffer("b", chain.data(1), n)};
    for (unsigned i = 0; i < chain.count; ++i) {
        rec.launch(kernel, {.groups = {1}, .group_size = {threads}}, buffers[(i + 1) % 2], buffers[i % 2], k, n);
    }
    return {gj::instantiate(std::move(rec)).value(), k};
}

/// Microseconds a replay, of `turns` that follow each other without a wait; the median of samples that take turns.
std::vector<double> measure(const Chain& chain, const std::vector<std::function<void(Int)>>& contestants) {
    const unsigned turns = 2000 / chain.count + 5;
    std::vector<std::vector<double>> samples(contestants.size());
    for (int round = 0; round < 15; ++round) {
        for (std::size_t c = 0; c < contestants.size(); ++c) {
            require(cuStreamSynchronize(chain.stream), "cuStreamSynchronize");
            const Clock::time_point start = Clock::now();
            for (unsigned i = 0; i < turns; ++i) contestants[c](static_cast<Int>(i));
            require(cuStreamSynchronize(chain.stream), "cuStreamSynchronize");
            samples[c].push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / turns);
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& of : samples) {
        std::sort(of.begin(), of.end());
        medians.push_back(of[of.size() / 2]);
    }
    return medians;
}

void print(bool& first, const std::string& name, double value, double against) {
    std::printf("%s\n  {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"us\", \"against\": %.4g, \"ratio\": %.4g}",
                first ? "[" : ",", name.c_str(), value, against, value / against);
    first = false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: cuda_replay MODULE\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
    image.push_back(0);
    const auto devices = gj::CudaDevices::primary().value();
    const auto module = gj::CudaModule::load(devices, image.data()).value();
    const CudaKernels kernels = CudaKernels::of(module);
    const gj::detail::CudaCurrent<gj::LinkedCuda> current(devices.context(gj::DeviceId{0}));
    bool first = true;
    for (const unsigned count : {20u, 100u, 1000u}) {
        const Chain chain(devices, kernels, count);
        ByHand by_hand(chain), recaptured(chain);
        Replayed nodes = record(devices, chain, kernels.mix), block = record(devices, chain, kernels.mix_via);
        const auto unchanged = [&](Int) { require(nodes.graph.replay()); };
        const auto changed = [](Replayed& it) { return [&](Int k) { require(it.graph.set(it.k, k).replay()); }; };
        const std::vector<double> time = measure(chain, {unchanged, changed(nodes), changed(block),
                                                         [&](Int) { by_hand.launch(); },
                                                         [&](Int k) {
                                                             by_hand.change(k);
                                                             by_hand.launch();
                                                         },
                                                         [&](Int k) {
                                                             recaptured.recapture(k);
                                                             recaptured.launch();
                                                         },
                                                         [&](Int k) {
                                                             for (unsigned i = 0; i < count; ++i) chain.launch(i, k);
                                                         }});
        const std::string name = "cuda.replay.chain." + std::to_string(count);
        print(first, name + ".vs_hand", time[0], time[3]);
        print(first, name + ".vs_launches", time[0], time[6]);
        print(first, name + ".changed.vs_hand", time[1], time[4]);
        print(first, name + ".changed.vs_launches", time[1], time[6]);
        print(first, name + ".changed.vs_recapture", time[1], time[5]);
        print(first, name + ".block.vs_hand", time[2], time[4]);
        print(first, name + ".block.vs_recapture", time[2], time[5]);
    }
    std::printf("\n]\n");
}
