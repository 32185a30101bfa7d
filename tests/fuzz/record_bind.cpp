// Bytes become a recording, with handles, views and expressions that may be wrong, and bindings that may be wrong, too.
// Whatever they are: nothing crashes, the oracle finds the plan right, every runner gives the same verdict, what is
// accepted gives the values of an eager run, and what is refused leaves memory as it was.
#include <graphjit/graph.hpp>
#include <graphjit/observe/dot.hpp>
#include <graphjit/plan/verify.hpp>
#include <graphjit/run/adversarial_runner.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

namespace gj = graphjit;
using Word = std::uint32_t;
using List = gj::OpListOf<gj::CpuBackend>;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] bool empty() const { return size_ == 0; }
    std::uint8_t next() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }
    unsigned below(unsigned n) { return n == 0 ? 0 : next() % n; }
    /// Small most often, and now and then as far out as can be.
    std::int64_t number() {
        const std::uint8_t byte = next();
        if (byte < 250) return static_cast<std::int64_t>(byte % 50) - 8;
        constexpr std::int64_t far[] = {INT64_MIN, INT64_MAX, INT64_MAX / 2, -1, std::int64_t{1} << 32, 1 << 20};
        return far[byte - 250];
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

/// Memory of the user: the recorded part, and the part that inputs are bound to.
struct Memory {
    alignas(16) std::array<Word, 64> arena;
    alignas(16) std::array<Word, 160> pool;
    bool operator==(const Memory&) const = default;
};

void bump(Word* x, std::int64_t n, Word k) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = 9 * x[i] + k;
}
void derive(gj::Out<Word> out, const Word* a, std::int64_t n, Word k) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = 3 * a[i] + k;
}
void count_up(const gj::LaunchDims& dims, gj::Out<Word> out, std::int64_t n) {
    const std::uint64_t items = is_empty(dims) ? 0 : work_items_x(dims);
    for (std::int64_t i = 0; i < n && static_cast<std::uint64_t>(i) < items; ++i) out[i] = static_cast<Word>(i);
}
void barrier() {}

/// A view and how many elements it has.
struct View {
    gj::SymbolicBuffer<Word> view;
    gj::SymbolicBuffer<const Word> as_const;
    gj::Expr count;
};

class Session {
public:
    explicit Session(Bytes& bytes) : bytes_(bytes) {
        const auto all = rec_.buffer("all", memory_.arena);
        buffers_.push_back(all);
        const_buffers_.push_back(all);
        (void)foreign_.buffer("foreign", memory_.arena);
    }

    void record() {
        for (unsigned i = 0, count = 1 + bytes_.below(40); i < count && !bytes_.empty(); ++i) {
            step();
            if (!rec_.status().ok() && bytes_.below(4) != 0) rec_.clear_error();
        }
        gj::Result<List> list = std::move(rec_).finish();
        if (!list.ok()) {
            require(list.message().c_str()[0] != 0, "an error without a message");
            rec_.clear_error();
            list = std::move(rec_).finish();
        }
        list_ = std::move(list).value();
    }

    void replay() {
        gj::Planner planner;
        const gj::Dag dag = planner.plan(list_).value();
        require(static_cast<bool>(gj::verify(list_, dag, !aliases_recorded_memory())), "the plan is not right");
        std::size_t characters = 0;
        gj::write_dot(list_, dag, [&](const char*, std::size_t size) { characters += size; });
        require(characters > 20, "no picture");

        // Runners that live on are compared with one that was never refused, updated or told anything twice.
        auto graph = gj::instantiate(list_).value();
        const gj::AdversaryOptions options{.seed = bytes_.next() + 1u, .threads = 1};
        auto adversary = gj::AdversarialRunner<gj::CpuBackend>::create(list_, options).value();
        for (unsigned round = 0; round < 5; ++round) {
            choose();
            for (std::size_t i = 0; i < memory_.arena.size(); ++i) memory_.arena[i] = static_cast<Word>(7 * i + round);
            for (std::size_t i = 0; i < memory_.pool.size(); ++i) memory_.pool[i] = static_cast<Word>(11 * i + round);
            const Memory before = memory_;
            auto fresh = gj::EagerRunner<gj::CpuBackend>::create(list_).value();
            set(fresh, true);
            const gj::Status expected = fresh.replay();
            require(expected.ok() || expected.message().c_str()[10] != 0, "an error without a message");
            const Memory after = memory_;
            require(expected.ok() || after == before, "a refused replay wrote something");
            memory_ = before;
            set(graph, false);
            require(graph.replay().ok() == expected.ok(), "a graph is not refused as a fresh eager run is");
            require(memory_ == after, "a graph gives other values than a fresh eager run");
            memory_ = before;
            set(adversary, false);
            require(adversary.replay().ok() == expected.ok(), "a random order is not refused as a fresh eager run is");
            require(memory_ == after, "a random order gives other values than a fresh eager run");
        }
    }

private:
    /// An alias of registered memory reaches the same bytes under other names, and may order an op more than it must.
    [[nodiscard]] bool aliases_recorded_memory() const {
        for (const gj::AliasRecord& alias : list_.aliases()) {
            if (!list_.memory(alias.a).is_input || !list_.memory(alias.b).is_input) return true;
        }
        return false;
    }

    gj::Expr expr(unsigned depth) {
        const unsigned kind = bytes_.below(depth == 0 ? 3 : 12);
        if (kind == 0 || variables_.empty()) return bytes_.number();
        if (kind < 3) return variables_[bytes_.below(static_cast<unsigned>(variables_.size()))].variable;
        if (kind == 3) return kept_.empty() ? gj::Expr(1) : kept_[bytes_.below(static_cast<unsigned>(kept_.size()))];
        const gj::Expr a = expr(depth - 1);
        const gj::Expr b = expr(depth - 1);
        switch (kind) {
            case 4: return a + b;
            case 5: return a - b;
            case 6: return a * b;
            case 7: return a / b;
            case 8: return a % b;
            case 9: return ceil_div(a, b);
            case 10: return (gj::min)(a, b);
            default: return (gj::max)(a, b);
        }
    }

    /// Right most often: what is refused leaves nothing to look at.
    View view() {
        const unsigned kind = bytes_.below(10);
        if (kind == 0) {  // of another recording, or of none
            const auto other = bytes_.below(2) == 0 ? foreign_.buffer("foreign", memory_.arena) : gj::Buffer<Word>();
            const auto one = other.slice(gj::Expr(0), gj::Expr(1));
            return {one, one, 1};
        }
        const unsigned which = bytes_.below(static_cast<unsigned>(buffers_.size()));
        const auto& buffer = buffers_[which];
        const auto& as_const = const_buffers_[which];
        const auto size = static_cast<unsigned>(as_const.size());
        const auto symbolic = [&](const gj::Expr& first, const gj::Expr& count) {
            return View{buffer.slice(first, count), as_const.slice(first, count), count};
        };
        if (kind == 1) {
            const gj::Expr first = expr(2);
            return symbolic(first, expr(2));
        }
        if (kind < 6 || variables_.empty()) {
            const bool wild = kind == 2;
            const std::int64_t first = wild ? bytes_.number() : bytes_.below(size + 1);
            const std::int64_t count = wild ? bytes_.number() : bytes_.below(size - static_cast<unsigned>(first) + 1);
            return {buffer.slice(first, count).slice(gj::Expr(0), gj::Expr(count)),
                    as_const.slice(first, count).slice(gj::Expr(0), gj::Expr(count)), count};
        }
        const Range& range = variables_[bytes_.below(static_cast<unsigned>(variables_.size()))];
        const gj::Expr from_zero = range.variable - range.min;
        const std::int64_t space = std::int64_t{size} - (range.max - range.min);
        if (space <= 0) return symbolic(from_zero, 1);
        const unsigned room = static_cast<unsigned>(space);
        switch (kind) {
            case 6: return symbolic(from_zero, bytes_.below(room + 1));
            case 7: return symbolic(bytes_.below(room + 1), from_zero);
            case 8: return symbolic(from_zero + bytes_.below(room), 1);
            default: return symbolic(from_zero / 2, from_zero / 2);
        }
    }

    template <class Run>
    void with_k(Run run) {
        switch (bytes_.below(3)) {
            case 0: run(Word{bytes_.next()}); break;
            case 1:
                run(slots_.empty() ? gj::Slot<Word>()
                                   : slots_[bytes_.below(static_cast<unsigned>(slots_.size()))].slot);
                break;
            default: run(expr(2)); break;
        }
    }

    void step() {
        rec_.on(static_cast<gj::DeviceId>(bytes_.below(2)));
        switch (bytes_.below(14)) {
            case 0: {
                const unsigned first = bytes_.below(64), count = bytes_.below(65 - first);
                buffers_.push_back(rec_.buffer("part", memory_.arena.data() + first, count));
                const_buffers_.push_back(buffers_.back());
                break;
            }
            case 1: {
                const std::int64_t count = bytes_.below(40);
                inputs_.emplace_back();
                inputs_.back().size = count;
                inputs_.back().input = rec_.input<Word>("in", count);
                buffers_.push_back(inputs_.back().input);
                const_buffers_.push_back(buffers_.back());
                break;
            }
            case 2: {
                const std::int64_t count = bytes_.below(40);
                inputs_.emplace_back();
                inputs_.back().size = count;
                inputs_.back().const_input = rec_.input<const Word>("const in", count);
                buffers_.push_back({});  // cannot be written: a handle of no recording stands for that
                const_buffers_.push_back(inputs_.back().const_input);
                break;
            }
            case 3: {
                const bool wild = bytes_.below(16) == 15;
                const std::int64_t min = wild ? bytes_.number() : static_cast<std::int64_t>(bytes_.below(50)) - 8;
                const std::int64_t max = wild ? bytes_.number() : min + bytes_.below(20);
                const std::int64_t initial = wild ? bytes_.number() : max;
                const bool known = bytes_.below(2) == 0;
                const auto variable = known ? rec_.variable("v", {min, max}, initial) : rec_.variable("v", {min, max});
                // Of a wild one only its least value is taken for good.
                if (variable.slot() != gj::SlotIndex::none) {
                    variables_.emplace_back();
                    variables_.back().variable = variable;
                    variables_.back().min = min;
                    variables_.back().max = wild ? min : max;
                }
                break;
            }
            case 4: {
                slots_.emplace_back();
                slots_.back().slot = bytes_.below(2) == 0 ? rec_.slot<Word>("k", 5) : rec_.slot<Word>("k");
                break;
            }
            case 5: kept_.push_back(rec_.let(expr(3))); break;
            case 6: {
                const unsigned a = bytes_.below(static_cast<unsigned>(buffers_.size()));
                const unsigned b = bytes_.below(static_cast<unsigned>(buffers_.size()));
                rec_.may_alias(const_buffers_[a], const_buffers_[b]);
                break;
            }
            case 7: {
                const View to = view(), from = view();
                rec_.copy("copy", to.view, from.as_const);
                break;
            }
            case 8: {
                const View to = view();
                with_k([&](const auto& k) { rec_.fill("fill", to.view, k); });
                break;
            }
            case 9:
            case 10: {
                const View out = view(), in = view();
                with_k([&](const auto& k) {
                    const gj::Expr n = (gj::max)((gj::min)(out.count, in.count), 0);
                    rec_.launch("derive", gj::kernel<derive>, out.view, in.as_const, n, k);
                });
                break;
            }
            case 11: {
                const View out = view();
                rec_.launch(gj::kernel<count_up>, {.groups = {expr(1)}, .group_size = {expr(1), 1 + expr(0)}}, out.view,
                            out.count);
                break;
            }
            case 12: {
                const View all = view(), extra = view();
                with_k([&](const auto& k) {
                    rec_.host_call(gj::kernel<bump>, all.view, all.count, k, reads(extra.as_const), writes(extra.view));
                });
                break;
            }
            default: rec_.launch("barrier", gj::kernel<barrier>, updates(rec_.token("token"))); break;
        }
    }

    /// Chooses what the slots hold from now on.
    void choose() {
        for (In& in : inputs_) {
            const auto anywhere_in = [&](auto& room) {
                const auto last = static_cast<unsigned>(room.size() - static_cast<std::size_t>(in.size));
                return room.data() + bytes_.below(last + 1);
            };
            const unsigned kind = bytes_.below(24);
            in.is_new = kind != 0;
            if (kind == 0) continue;
            in.is_set = true;
            in.count = kind == 2 ? bytes_.number() : in.size;
            if (in.count > 40) in.count = 40;
            in.device = static_cast<gj::DeviceId>(kind == 3 ? bytes_.below(3) : 0);
            in.given = kind == 2 ? Given::sized : kind == 3 ? Given::on_device : Given::bare;
            in.data = kind == 1   ? nullptr
                      : kind <= 3 ? memory_.pool.data()
                      : kind == 4 ? anywhere_in(memory_.arena)
                                  : anywhere_in(memory_.pool);
        }
        for (Range& range : variables_) {
            const unsigned kind = bytes_.below(16);
            range.is_new = kind >= 4;
            if (!range.is_new) continue;
            range.is_set = true;
            const auto span = static_cast<unsigned>(range.max - range.min);
            range.value = kind == 15 ? bytes_.number() : range.min + bytes_.below(span + 1);
        }
        for (Number& number : slots_) {
            number.is_new = bytes_.below(4) != 0;
            if (!number.is_new) continue;
            number.is_set = true;
            number.value = bytes_.next();
        }
        foreign_is_new_ = bytes_.below(32) == 31;
    }

    /// Sets what was chosen now, or all that was ever chosen.
    template <class Runner>
    void set(Runner& runner, bool all) const {
        for (const In& in : inputs_) {
            if (!(all ? in.is_set : in.is_new)) continue;
            const auto give = [&](const auto& input) {
                switch (in.given) {
                    case Given::bare: runner.set(input, in.data); break;
                    case Given::sized: runner.set(input, in.data, in.count); break;
                    case Given::on_device: runner.set(input, in.data, in.count, in.device); break;
                }
            };
            in.const_input.slot() != gj::SlotIndex::none ? give(in.const_input) : give(in.input);
        }
        for (const Range& range : variables_) {
            if (all ? range.is_set : range.is_new) runner.set(range.variable, range.value);
        }
        for (const Number& number : slots_) {
            if (all ? number.is_set : number.is_new) runner.set(number.slot, number.value);
        }
        if (foreign_is_new_) runner.set(gj::Slot<Word>(), Word{1});
    }

    struct Chosen {
        bool is_set = false;
        bool is_new = false;
    };
    struct Range : Chosen {
        gj::Variable variable;
        std::int64_t min = 0;
        std::int64_t max = 0;
        std::int64_t value = 0;
    };
    struct Number : Chosen {
        gj::Slot<Word> slot;
        Word value = 0;
    };
    enum class Given : std::uint8_t { bare, sized, on_device };
    struct In : Chosen {
        gj::Input<Word> input;
        gj::Input<const Word> const_input;
        std::int64_t size = 0;
        Given given = Given::bare;
        Word* data = nullptr;
        std::int64_t count = 0;
        gj::DeviceId device = {};
    };

    Bytes& bytes_;
    Memory memory_{};
    gj::Recorder<gj::CpuBackend> rec_;
    gj::Recorder<gj::CpuBackend> foreign_;
    std::vector<gj::Buffer<Word>> buffers_;
    std::vector<gj::Buffer<const Word>> const_buffers_;
    std::vector<In> inputs_;
    std::vector<Range> variables_;
    std::vector<Number> slots_;
    std::vector<gj::Expr> kept_;
    bool foreign_is_new_ = false;
    List list_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    Session session(bytes);
    session.record();
    session.replay();
    return 0;
}
