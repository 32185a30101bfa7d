// record.plan: from the first launch to the reduced Dag, beside the least that such a thing can do.
// plan.signals: from the Dag to the queue, waits and signals of every op, for several devices.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <graphjit/plan/signals.hpp>
#include <graphjit/plan/verify.hpp>
#include <graphjit/plan/verify_signals.hpp>

#include <bit>
#include <optional>

namespace bench {
namespace {

/// Appends each op and finds what it must wait for with a table of pointers: no ranges, no views, no checks, edges not
/// reduced. All storage is kept.
class BareRecorder {
public:
    explicit BareRecorder(std::uint32_t buffers) : mask_(std::bit_ceil(4 * buffers) - 1), table_(mask_ + 1) {}

    void clear() {
        calls_.clear();
        edges_.clear();
        ends_.clear();
        readers_.clear();
        found_by_.clear();
        for (Place& place : table_) place = {};
    }

    void launch(Step fn, const Word* a, const Word* b, gj::Out<Word> o, Word v) {
        const auto op = static_cast<std::uint32_t>(calls_.size());
        calls_.push_back({fn, a, b, o, v});
        found_by_.push_back(none);
        read(op, a);
        read(op, b);
        write(op, o);
        ends_.push_back(static_cast<std::uint32_t>(edges_.size()));
    }

    [[nodiscard]] bool has_edge(std::uint32_t from, std::uint32_t to) const {
        for (std::uint32_t i = to == 0 ? 0 : ends_[to - 1]; i < ends_[to]; ++i) {
            if (edges_[i] == from) return true;
        }
        return false;
    }
    [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }

private:
    static constexpr std::uint32_t none = 0xffff'ffffu;

    struct Place {
        const Word* pointer = nullptr;
        std::uint32_t writer = none;
        std::uint32_t readers = none;
    };
    struct Reader {
        std::uint32_t op;
        std::uint32_t next;
    };

    Place& find(const Word* pointer) {
        std::size_t i = (reinterpret_cast<std::uintptr_t>(pointer) * 0x9e37'79b9'7f4a'7c15u >> 32) & mask_;
        while (table_[i].pointer != pointer && table_[i].pointer != nullptr) i = (i + 1) & mask_;
        table_[i].pointer = pointer;
        return table_[i];
    }
    void add_edge(std::uint32_t op, std::uint32_t before) {
        if (before == none || before == op || found_by_[before] == op) return;
        found_by_[before] = op;
        edges_.push_back(before);
    }
    void read(std::uint32_t op, const Word* pointer) {
        Place& place = find(pointer);
        add_edge(op, place.writer);
        readers_.push_back({op, place.readers});
        place.readers = static_cast<std::uint32_t>(readers_.size() - 1);
    }
    void write(std::uint32_t op, const Word* pointer) {
        Place& place = find(pointer);
        add_edge(op, place.writer);
        for (std::uint32_t i = place.readers; i != none; i = readers_[i].next) add_edge(op, readers_[i].op);
        place.writer = op;
        place.readers = none;
    }

    std::size_t mask_;
    std::vector<Place> table_;
    std::vector<Call> calls_;
    std::vector<std::uint32_t> edges_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> found_by_;
    std::vector<Reader> readers_;
};

// Also through a call for each kernel, as a recording is, so that both pay for not knowing which is next.
template <std::size_t I>
void launch_bare(BareRecorder& recorder, const Word* a, const Word* b, gj::Out<Word> o, Word v) {
    recorder.launch(&step<I>, a, b, o, v);
}
using LaunchBare = void (*)(BareRecorder&, const Word*, const Word*, gj::Out<Word>, Word);
constexpr std::array launches_bare = for_each_kernel([]<std::size_t I>() -> LaunchBare { return &launch_bare<I>; });

class Bench {
    using List = gj::OpListOf<gj::CpuBackend>;

public:
    explicit Bench(std::uint32_t n) : n_(n), graph_(random_graph(n)), memory_(graph_.buffers), bare_(graph_.buffers) {}

    // Nanoseconds per op. What is made outlives the time that is taken.

    double record_and_plan() {
        gj::Recorder<gj::CpuBackend> recorder;
        const std::vector<gj::Buffer<Word>> buffers = register_buffers(recorder, graph_, memory_);
        std::optional<List> list;
        std::optional<gj::Dag> dag;
        return timed([&] {
                   record(recorder, graph_, buffers);
                   list.emplace(InPlace{[&] { return std::move(recorder).finish().value(); }});
                   dag.emplace(InPlace{[&] { return planner_.plan(*list).value(); }});
               }) /
               n_;
    }

    double record_only() {
        gj::Recorder<gj::CpuBackend> recorder;
        const std::vector<gj::Buffer<Word>> buffers = register_buffers(recorder, graph_, memory_);
        std::optional<List> list;
        return timed([&] {
                   record(recorder, graph_, buffers);
                   list.emplace(InPlace{[&] { return std::move(recorder).finish().value(); }});
               }) /
               n_;
    }

    double plan_only() {
        const List list = bench::record<gj::CpuBackend>(graph_, memory_);
        std::optional<gj::Dag> dag;
        return timed([&] { dag.emplace(InPlace{[&] { return planner_.plan(list).value(); }}); }) / n_;
    }

    double bare() {
        return timed([&] {
                   bare_.clear();
                   for (const Op& op : graph_.ops) {
                       launches_bare[op.kernel](bare_, memory_.buffer(op.a), memory_.buffer(op.b),
                                                {memory_.buffer(op.o)}, op.v);
                   }
               }) /
               n_;
    }

    void check() {
        const List list = bench::record<gj::CpuBackend>(graph_, memory_);
        const gj::Dag dag = planner_.plan(list).value();
        require(bool(gj::verify(list, dag)), "a plan is wrong");
        bare();
        for (std::uint32_t to = 0; to < n_; ++to) {
            for (const gj::OpIndex from : dag.dependencies(static_cast<gj::OpIndex>(to))) {
                require(bare_.has_edge(to_integer(from), to), "the bare recorder missed an edge");
            }
        }
    }

private:
    std::uint32_t n_;
    Graph graph_;
    Memory memory_;
    gj::Planner planner_;
    BareRecorder bare_;
};

/// Kernels that work on their own device's buffers, and copies between devices.
class SignalBench {
    static constexpr std::uint32_t devices = 4;
    static constexpr std::uint32_t copies_percent = 30;

public:
    explicit SignalBench(std::uint32_t n)
        : n_(n), graph_(device_graph(n)), memory_(graph_.buffers), list_(record()),
          dag_(gj::Planner().plan(list_).value()), bare_(graph_.buffers) {}

    // Nanoseconds per op. What is made outlives the time that is taken.

    double plan() {
        std::optional<gj::QueuePlan> queues;
        std::optional<gj::SignalPlan> plan;
        return timed([&] {
                   queues.emplace(InPlace{[&] { return assign(); }});
                   plan.emplace(InPlace{[&] { return planner_.plan(list_, dag_, *queues, order).value(); }});
               }) /
               n_;
    }

    double bare() {
        return timed([&] {
                   bare_.clear();
                   for (const Op& op : graph_.ops) {
                       launches_bare[op.kernel](bare_, memory_.buffer(op.a), memory_.buffer(op.b),
                                                {memory_.buffer(op.o)}, op.v);
                   }
               }) /
               n_;
    }

    void check() {
        gj::QueuePlan queues = assign();
        const gj::SignalPlan plan = planner_.plan(list_, dag_, queues, order).value();
        require(queues.queues().size() == 2 * devices, "not every device has two queues");
        require(bool(gj::SignalOracle(list_, queues, plan, order).verify()), "a signal plan is wrong");
    }

private:
    static constexpr gj::QueueOrder order = gj::QueueOrder::kept;

    [[nodiscard]] gj::QueuePlan assign() const {
        return gj::ByDevice()(list_, [](gj::DeviceId) { return true; }).value();
    }

    /// An op with `a` and `b` the same is a copy.
    static Graph device_graph(std::uint32_t n) {
        constexpr std::uint32_t per_device = 16;
        Builder builder(devices * per_device);
        for (std::uint32_t i = 0; i < n; ++i) {
            const bool is_copy = builder.any(100) < copies_percent;
            const std::uint32_t to = builder.any(devices);
            const std::uint32_t from = is_copy ? (to + 1 + builder.any(devices - 1)) % devices : to;
            const auto buffer = [&](std::uint32_t device) { return builder.any(per_device) * devices + device; };
            const std::uint32_t a = buffer(from);
            std::uint32_t b = a;
            while (!is_copy && b == a) b = buffer(from);
            builder.op(a, b, buffer(to));
        }
        return builder.take();
    }

    [[nodiscard]] gj::OpListOf<gj::CpuBackend> record() const {
        gj::Recorder<gj::CpuBackend> recorder;
        std::vector<gj::Buffer<Word>> buffers;
        for (std::uint32_t i = 0; i < graph_.buffers; ++i) {
            buffers.push_back(recorder.buffer("buffer", memory_.buffer(i), std::int64_t{words_per_buffer},
                                              static_cast<gj::DeviceId>(i % devices)));
        }
        for (const Op& op : graph_.ops) {
            recorder.on(static_cast<gj::DeviceId>(op.o % devices));
            if (op.a == op.b) {
                recorder.copy(buffers[op.o], buffers[op.a]);
            } else {
                launches<gj::CpuBackend>[op.kernel](recorder, buffers[op.a], buffers[op.b], buffers[op.o], op.v);
            }
        }
        return std::move(recorder).finish().value();
    }

    std::uint32_t n_;
    Graph graph_;
    Memory memory_;
    gj::OpListOf<gj::CpuBackend> list_;
    gj::Dag dag_;
    gj::SignalPlanner planner_;
    BareRecorder bare_;
};

void signal_benchmarks(const Report& report) {
    const std::string name = "plan.signals.random";
    if (!report.wants_any(name)) return;
    if (report.wants(name + ".1000")) SignalBench(100).check();
    double of_1k = 0;
    for (const std::uint32_t n : {1000u, 10'000u}) {
        const std::string full = name + "." + std::to_string(n);
        const bool compared = n == 1000 && report.wants(name + ".10000.vs_1000");
        if (!compared && !report.wants(full) && !report.wants_any(full + ".")) continue;
        SignalBench bench(n);
        const auto [plan, bare] = alternate_timed(
            n <= 1000 ? 1001 : 101, [&] { return bench.plan(); }, [&] { return bench.bare(); });
        report.add(full, plan, "ns/op", bare);
        if (n == 1000) of_1k = plan;
        if (n == 10'000 && of_1k != 0) report.add(full + ".vs_1000", plan, "ns/op", of_1k);
    }
}

}  // namespace

void plan_benchmarks(const Report& report) {
    signal_benchmarks(report);
    const std::string name = "record.plan.random";
    if (!report.wants_any(name)) return;
    if (report.wants(name + ".100")) Bench(1000).check();
    double of_10k = 0;
    for (const std::uint32_t n : {10u, 100u, 1000u, 10'000u, 100'000u}) {
        const std::string full = name + "." + std::to_string(n);
        const bool compared = n == 10'000 && report.wants(name + ".100000.vs_10000");
        if (!compared && !report.wants(full) && !report.wants_any(full + ".")) continue;
        Bench bench(n);
        const int rounds = n <= 1000 ? 1001 : n <= 10'000 ? 101 : 11;
        const auto [all, bare, record_part, plan_part] = alternate_timed(
            rounds, [&] { return bench.record_and_plan(); }, [&] { return bench.bare(); },
            [&] { return bench.record_only(); }, [&] { return bench.plan_only(); });
        report.add(full, all, "ns/op", bare);
        report.add(full + ".record_part", record_part, "ns/op");
        report.add(full + ".plan_part", plan_part, "ns/op");
        if (n == 10'000) of_10k = all;
        if (n == 100'000 && of_10k != 0) report.add(full + ".vs_10000", all, "ns/op", of_10k);
    }
}

}  // namespace bench
