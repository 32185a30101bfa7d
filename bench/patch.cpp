// cpu.patch: what it costs to give a graph other buffers, other numbers.
//
// Measured with the null backend, whose blocks lie in memory as those of the CPU backend do and whose launch is empty:
// so the time of a replay is the time of its patches. What is divided is all of it: every `set`, the checks, the
// writes.
#include "graphs.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <cstring>
#include <memory>

namespace bench {
namespace {

using Runner = gj::MultiGraphRunner<gj::NullBackend>;

/// A graph whose first `inputs` buffers are inputs. They are given one bank of memory and the other in turn.
class Patched {
public:
    Patched(const Graph& graph, std::uint32_t inputs)
        : own_(graph.buffers), banks_{std::make_unique<Memory>(graph.buffers), std::make_unique<Memory>(graph.buffers)},
          runner_(make(graph, inputs)), stores_(inputs) {
        list_stores(graph);
        use(1);
        require_pointers(graph, 1);
        use(0);
        require_pointers(graph, 0);
    }

    /// Gives all inputs the other bank.
    void flip() { use(1 - bank_); }
    /// Gives one input its other buffer, and the rest nothing.
    void flip(std::uint32_t input) {
        bank_ = 1 - bank_;
        runner_.set(inputs_[input], banks_[bank_]->buffer(input), words_per_buffer);
        replay();
    }
    /// Gives all inputs what they have.
    void set_same() { use(bank_); }
    void replay() { require(runner_.replay().ok(), "a replay was refused"); }

    /// The same stores from a list, into blocks of its own.
    void flip_bare() {
        bare_bank_ = 1 - bare_bank_;
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            Word* const address = banks_[bare_bank_]->buffer(static_cast<std::uint32_t>(i));
            for (Word** const place : stores_[i]) *place = address;
        }
    }

    [[nodiscard]] double place_count() const {
        std::size_t count = 0;
        for (const std::vector<Word**>& places : stores_) count += places.size();
        return static_cast<double>(count);
    }

private:
    struct Block {
        Word* a;
        Word* b;
        Word* o;
        Word v;
    };

    Runner make(const Graph& graph, std::uint32_t inputs) {
        gj::Recorder<gj::NullBackend> recorder;
        std::vector<gj::Buffer<Word>> buffers;
        for (std::uint32_t i = 0; i < graph.buffers; ++i) {
            if (i < inputs) {
                inputs_.push_back(recorder.input<Word>("input", words_per_buffer));
                buffers.push_back(inputs_.back());
            } else {
                buffers.push_back(recorder.buffer("buffer", own_.buffer(i), std::int64_t{words_per_buffer}));
            }
        }
        record(recorder, graph, buffers);
        return gj::instantiate(std::move(recorder)).value();
    }

    void list_stores(const Graph& graph) {
        blocks_.resize(graph.ops.size());
        for (std::size_t i = 0; i < graph.ops.size(); ++i) {
            const Op& op = graph.ops[i];
            if (op.a < stores_.size()) stores_[op.a].push_back(&blocks_[i].a);
            if (op.b < stores_.size()) stores_[op.b].push_back(&blocks_[i].b);
            if (op.o < stores_.size()) stores_[op.o].push_back(&blocks_[i].o);
        }
    }

    void use(std::size_t bank) {
        bank_ = bank;
        const Memory& memory = *banks_[bank];
        for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
            runner_.set(inputs_[i], memory.buffer(i), words_per_buffer);
        }
        replay();
    }

    void require_pointers(const Graph& graph, std::size_t bank) {
        const auto address = [&](std::uint32_t buffer) {
            return (buffer < inputs_.size() ? *banks_[bank] : own_).buffer(buffer);
        };
        for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
            const Op& op = graph.ops[i];
            Block block;
            std::memcpy(&block, runner_.backend().block(runner_.native(), static_cast<gj::OpIndex>(i)), sizeof block);
            require(block.a == address(op.a) && block.b == address(op.b) && block.o == address(op.o) && block.v == op.v,
                    "a patch is not where it should be");
        }
    }

    Memory own_;
    std::array<std::unique_ptr<Memory>, 2> banks_;
    std::vector<gj::Input<Word>> inputs_;
    Runner runner_;
    std::vector<std::vector<Word**>> stores_;  // by input
    std::vector<Block> blocks_;                // of the bare store list
    std::size_t bank_ = 0;
    std::size_t bare_bank_ = 0;
};

/// Each input is used by one op: every other one is read, the rest are written.
Graph single_uses(std::uint32_t inputs) {
    Builder builder(inputs + 64);
    for (std::uint32_t i = 0; i < inputs; ++i) {
        const std::uint32_t a = inputs + builder.any(64);
        const std::uint32_t b = inputs + builder.any(64);
        if (i % 2 == 0) {
            builder.op(i, a, b);
        } else {
            builder.op(a, b, i);
        }
    }
    return builder.take();
}

/// All ops read the one input twice.
Graph one_input(std::uint32_t n) {
    Builder builder(64);
    for (std::uint32_t i = 0; i < n; ++i) builder.op(0, 0, 1 + builder.any(63));
    return builder.take();
}

void pointer_metric(const Report& report, const char* name, const Graph& graph, std::uint32_t inputs) {
    if (!report.wants(name)) return;
    Patched patched(graph, inputs);
    const auto [ours,
                bare] = alternate(usual_rounds, usual_sample, [&] { patched.flip(); }, [&] { patched.flip_bare(); });
    report.add(name, ours / patched.place_count(), "ns", bare / patched.place_count());
}

void unchanged_metrics(const Report& report) {
    if (!report.wants_any("cpu.patch.unchanged") && !report.wants_any("cpu.patch.set_same")) return;
    constexpr std::uint32_t few = 2;
    constexpr std::uint32_t most = 1000;
    constexpr std::uint32_t written = 1;
    Patched with_few(single_uses(few), few);
    Patched with_most(single_uses(most), most);
    const auto [most_time, few_time, same_time] = alternate(
        usual_rounds, usual_sample, [&] { with_most.flip(written); }, [&] { with_few.flip(written); },
        [&] { with_most.set_same(); });
    report.add("cpu.patch.unchanged", (most_time - few_time) / (most - few), "ns");
    report.add("cpu.patch.set_same", same_time / most, "ns");
}

// Launch dims.

void sized_step(gj::LaunchDims dims, const Word* a, gj::Out<Word> o) { *o = *a + dims.groups.x; }

/// 1000 launches whose sizes depend on eight Variables, all of which change: with one Expr for each Variable, or with
/// one for each launch.
void dims_metric(const Report& report, const char* name, bool distinct) {
    constexpr std::int64_t n = 1000;
    constexpr std::int64_t group = 256;
    if (!report.wants(name)) return;
    const Memory memory(2);
    gj::Recorder<gj::NullBackend> recorder;
    const auto in = recorder.buffer("in", memory.buffer(0), std::int64_t{words_per_buffer});
    const auto out = recorder.buffer("out", memory.buffer(1), std::int64_t{words_per_buffer});
    std::vector<gj::Variable> sizes;
    for (int i = 0; i < 8; ++i) sizes.push_back(recorder.variable("size", {.min = 1, .max = 1 << 24}));
    for (std::int64_t i = 0; i < n; ++i) {
        const gj::Expr size = sizes[static_cast<std::size_t>(i) % sizes.size()];
        const gj::Expr groups = gj::ceil_div(distinct ? size + gj::Expr(i * group) : size, gj::Expr(group));
        recorder.launch(gj::kernel<sized_step>, {.groups = {groups}, .group_size = {group}}, in, out);
    }
    auto runner = gj::instantiate(std::move(recorder)).value();
    bool odd = false;
    const auto flip = [&] {
        odd = !odd;
        std::int64_t value = odd ? 1 << 20 : 1 << 16;
        for (const gj::Variable& size : sizes) runner.set(size, value += group);
        require(runner.replay().ok(), "a replay was refused");
    };
    flip();
    const std::uint64_t before = runner.counters().patches;
    flip();
    require(runner.counters().patches - before == n, "not every launch was given its dims");
    const auto [time] = alternate(usual_rounds, usual_sample, flip);
    constexpr double tinygrad = 640;  // ns, tinygrad 0.10, where this was measured elsewhere: 620 to 660
    report.add(name, time / n, "ns", tinygrad);
}

}  // namespace

void patch_benchmarks(const Report& report) {
    pointer_metric(report, "cpu.patch", random_graph(1000), 64);
    pointer_metric(report, "cpu.patch.one_slot", one_input(1000), 1);
    pointer_metric(report, "cpu.patch.single_use", single_uses(1000), 1000);
    unchanged_metrics(report);
    dims_metric(report, "cpu.patch.dims", false);
    dims_metric(report, "cpu.patch.dims.distinct", true);
}

}  // namespace bench
