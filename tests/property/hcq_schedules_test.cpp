// Graphs for several devices with the waits that another scheduler gave them: ours are never more, and on queues that
// keep order the fewest there can be. tests/data/hcq/README.md says what the files mean.
#include "support/kernels.hpp"
#include "support/signal_plans.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace test;
using Json = nlohmann::json;

/// Stands for a kernel of which only the accesses count.
void only_accesses(std::int32_t) {}

struct Flavour {
    const char* name;
    gj::QueueOrder order;
};
constexpr Flavour flavours[] = {
    {"AMD", gj::QueueOrder::kept}, {"NV", gj::QueueOrder::chains_two}, {"GENERIC", gj::QueueOrder::not_kept}};

std::vector<std::string> files() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(GRAPHJIT_TEST_DATA "/hcq")) {
        if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// One memory per buffer, with the numbers of the file.
CpuList record(const Json& graph, std::vector<std::int32_t>& words) {
    words.assign(graph["buf_dev"].size(), 0);
    CpuRecorder rec;
    std::vector<gj::Buffer<std::int32_t>> buffers;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto device = static_cast<gj::DeviceId>(graph["buf_dev"][i].get<std::uint32_t>());
        buffers.push_back(rec.buffer("b" + std::to_string(i), &words[i], 1, device));
    }
    for (const Json& op : graph["ops"]) {
        const auto used = op["b"].get<std::vector<std::size_t>>();
        rec.on(static_cast<gj::DeviceId>(op["dev"].get<std::uint32_t>()));
        if (op["t"] == "c") {
            rec.copy(buffers[used[0]], buffers[used[1]]);
            continue;
        }
        // A kernel has as many inputs as it likes, a recording says at compile time how many: the last one again.
        const auto input = [&](std::size_t i) { return reads(buffers[used[std::min(i, used.size() - 1)]]); };
        REQUIRE(used.size() <= 8);
        rec.launch(gj::kernel<only_accesses>, 0, writes(buffers[used[0]]), input(1), input(2), input(3), input(4),
                   input(5), input(6), input(7));
    }
    return std::move(rec).finish().value();
}

struct Counts {
    std::size_t waits = 0;
    std::size_t signals = 0;  // that some op waits for; a graph's end may wait for more
    std::size_t ready_waits = 0;
};

Counts counts_of(const gj::OpList& list, const gj::SignalPlan& plan) {
    Counts counts;
    std::set<std::pair<gj::QueueIndex, std::uint32_t>> awaited;
    for (unsigned i = 0; i < list.size(); ++i) {
        for (const gj::Wait& wait : plan.waits(op(i))) awaited.insert({wait.queue, wait.count});
        counts.waits += plan.waits(op(i)).size();
        counts.ready_waits += plan.ready_waits(op(i)).size();
    }
    counts.signals = awaited.size();
    return counts;
}

TEST_CASE("schedules of another scheduler: the same queues, never more waits, and the fewest where order is kept") {
    const std::vector<std::string> paths = files();
    REQUIRE(paths.size() == 15);
    std::vector<std::int32_t> words;
    for (const std::string& path : paths) {
        INFO(path);
        std::ifstream file(path);
        const Json graph = Json::parse(file);
        const CpuList list = record(graph, words);
        REQUIRE(list.size() == graph["ops"].size());
        CHECK(plan_of(list).is_minimal());
        for (const Flavour& flavour : flavours) {
            INFO(flavour.name);
            const Signalled signalled(list, flavour.order);
            CHECK(signalled.verdict() == "right");

            std::string queues;
            for (const Json& op : graph["sched"][flavour.name]["ops"]) {
                queues += (queues.empty() ? "" : " ") + op["q"].get<std::string>();
            }
            CHECK(signalled.all_queues() == queues);

            const Counts counts = counts_of(list, signalled.plan());
            const Json& theirs = graph["counts"][flavour.name];
            CHECK(counts.waits <= theirs["w"].get<std::size_t>());
            CHECK(counts.signals <= theirs["s"].get<std::size_t>());
            CHECK(counts.ready_waits <= theirs["k"].get<std::size_t>());
            if (flavour.order != gj::QueueOrder::kept) continue;
            const Json& fewest = graph["counts"]["vc"];
            CHECK(counts.waits == fewest["w"].get<std::size_t>());
            CHECK(counts.signals == fewest["s"].get<std::size_t>());
        }
    }
}

}  // namespace
