// Random recordings, made from a seed, and a plain executor of the same program that knows nothing of graphjit's
// recording, planning or patching: it works out every place itself, and runs ops one after another.
#pragma once

#include "support/random.hpp"
#include "support/ways.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// All memory that a random program touches. Two worlds of one program have the same shape.
struct World {
    std::vector<std::vector<std::uint32_t>> arenas;  // registered memory
    std::vector<std::uint32_t> pool;                 // where inputs are put
    std::vector<std::uint32_t> constants;            // where inputs are put that nothing writes; they may overlap
    std::vector<std::uint32_t> hidden;               // seen through no access: only tokens order its users

    bool operator==(const World&) const = default;
};

namespace ops {

using Word = std::uint32_t;
struct Cell {
    Word* word;
};

inline void combine(Word* out, const Word* a, const Word* b, std::int64_t n, Word k) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = 5 * out[i] + 3 * a[i] + 7 * b[i] + k;
}
inline void derive(gj::Out<Word> out, const Word* a, std::int64_t n, Word k) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = 3 * a[i] + k;
}
inline void bump(Word* x, std::int64_t n, Word k) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = 9 * x[i] + k;
}
inline void count_up(const gj::LaunchDims& dims, gj::Out<Word> out, Word k) {
    for (std::uint64_t i = 0; i < work_items_x(dims); ++i) out[i] = static_cast<Word>(i) + k;
}
inline void stir(Cell cell, Word k) { *cell.word = 31 * *cell.word + k; }
inline void peek(Cell cell, gj::Out<Word> out, Word k) { out[0] = *cell.word + k; }
inline void nothing(Word) {}

}  // namespace ops

class RandomProgram {
public:
    using Word = ops::Word;

    struct Options {
        std::uint64_t seed = 1;
        unsigned most_ops = 500;
        bool aliases = true;
        unsigned devices = 1;  // that memory lies on; ops run on as many, but two at least
    };

    /// What the slots hold.
    struct Values {
        std::vector<std::pair<unsigned, std::int64_t>> inputs;  // room, first element; see `place_of`
        std::vector<std::int64_t> variables;
        std::vector<Word> slots;
    };

    explicit RandomProgram(const Options& options) : devices_(options.devices), random_(options.seed) {
        for (unsigned i = 0, count = 1 + random_.below(3); i < count; ++i) {
            arena_sizes_.push_back(random_.between(8, 120));
            for (unsigned j = 0, views = 1 + random_.below(3); j < views; ++j) {
                const bool whole = j == 0 || random_.chance(30);
                const std::int64_t first = whole ? 0 : random_.between(0, arena_sizes_[i] - 1);
                const std::int64_t size = whole ? arena_sizes_[i] : random_.between(1, arena_sizes_[i] - first);
                memories_.push_back({.kind = Memory::arena, .index = i, .first = first, .size = size});
            }
        }
        tokens_ = random_.below(3);
        for (unsigned i = 0; i < tokens_; ++i) memories_.push_back({.kind = Memory::token, .index = i});
        for (unsigned i = 0, count = random_.below(6); i < count; ++i) {
            const std::int64_t size = random_.between(1, 40);
            const bool is_const = random_.chance(30);
            memories_.push_back({.kind = Memory::input, .index = i, .size = size, .is_const = is_const});
            inputs_.push_back({static_cast<unsigned>(memories_.size() - 1), pool_size_});
            if (!is_const) pool_size_ += 3 * size;  // room to move
        }
        if (options.aliases) make_aliases();
        for (unsigned i = 0, count = random_.below(4); i < count; ++i) {
            const std::int64_t least = random_.between(0, 3);
            variables_.push_back({least, least + random_.between(0, 6)});
        }
        slot_count_ = random_.below(4);
        const unsigned size = log_uniform(2, options.most_ops);
        while (ops_.size() < size) ops_.push_back(make_op());
    }

    [[nodiscard]] std::size_t size() const { return ops_.size(); }

    [[nodiscard]] World world() const {
        World world;
        Random random(size() + 17);
        const auto fill = [&](std::vector<Word>& words, std::int64_t count) {
            words.resize(static_cast<std::size_t>(count));
            for (Word& word : words) word = static_cast<Word>(random.next());
        };
        for (const std::int64_t count : arena_sizes_) fill(world.arenas.emplace_back(), count);
        fill(world.pool, pool_size_);
        fill(world.constants, 100);
        fill(world.hidden, tokens_);
        return world;
    }

    /// Values that every replay accepts; `former` says which stay. All inputs are apart, except where that is allowed.
    [[nodiscard]] Values values(Random& random, const Values* former) const {
        Values values;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Memory& memory = memories_[inputs_[i].memory];
            const bool keep = former != nullptr && random.chance(40);
            if (keep && inputs_[i].twin < 0) {
                values.inputs.push_back(former->inputs[i]);
            } else if (memory.is_const) {
                values.inputs.push_back({constant_room, random.between(0, 100 - memory.size)});
            } else if (inputs_[i].arena >= 0) {
                const std::int64_t room = arena_sizes_[static_cast<unsigned>(inputs_[i].arena)] - memory.size;
                values.inputs.push_back({static_cast<unsigned>(inputs_[i].arena), random.between(0, room)});
            } else if (inputs_[i].twin >= 0 && random.chance(60)) {
                const Memory& other = memories_[inputs_[static_cast<unsigned>(inputs_[i].twin)].memory];
                const std::int64_t at = values.inputs[static_cast<unsigned>(inputs_[i].twin)].second;
                const std::int64_t low = inputs_[static_cast<unsigned>(inputs_[i].twin)].home;
                const std::int64_t high = low + 3 * other.size - memory.size;
                std::int64_t first = at + random.between(-other.size, other.size);
                first = first < low ? low : first > high ? high : first;
                values.inputs.push_back({pool_room, high < low ? inputs_[i].home : first});
            } else {
                values.inputs.push_back({pool_room, inputs_[i].home + random.between(0, 2 * memory.size)});
            }
        }
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            const bool keep = former != nullptr && random.chance(40);
            values.variables.push_back(keep ? former->variables[i]
                                            : random.between(variables_[i].first, variables_[i].second));
        }
        for (unsigned i = 0; i < slot_count_; ++i) {
            const bool keep = former != nullptr && random.chance(40);
            values.slots.push_back(keep ? former->slots[i] : static_cast<Word>(random.next()));
        }
        return values;
    }

    /// Inputs anywhere, over each other and over registered memory: most often wrong.
    [[nodiscard]] Values anywhere(Random& random, const Values* former) const {
        Values values = this->values(random, nullptr);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (former != nullptr && random.chance(40)) {
                values.inputs[i] = former->inputs[i];
                continue;
            }
            if (random.chance(50)) continue;
            const std::int64_t size = memories_[inputs_[i].memory].size;
            const unsigned room = random.chance(50) ? random.below(static_cast<unsigned>(arena_sizes_.size()))
                                                    : pool_room;
            const std::int64_t space = (room == pool_room ? pool_size_ : arena_sizes_[room]) - size;
            if (space >= 0) values.inputs[i] = {room, random.between(0, space)};
        }
        return values;
    }

    /// Sets Variables that some op uses outside of their range; returns how many.
    [[nodiscard]] unsigned spoil(Values& values, Random& random) const {
        unsigned spoiled = 0;
        for (const Op& op : ops_) {
            for (const int used : {op.n_variable, op.k_variable}) {
                if (used < 0 || op.kind == Op::copy || !random.chance(30)) continue;
                if (used == op.k_variable && op.slot >= 0) continue;  // the slot goes before it
                const auto variable = static_cast<unsigned>(used);
                values.variables[variable] = random.chance(50) ? variables_[variable].second + 1
                                                               : variables_[variable].first - 1;
                ++spoiled;
            }
        }
        return spoiled;
    }

    /// Memory that was recorded stays where it is.
    static void restore(World& world, const World& start) {
        const auto copy = [](const std::vector<Word>& from, std::vector<Word>& to) {
            for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
        };
        for (std::size_t i = 0; i < start.arenas.size(); ++i) copy(start.arenas[i], world.arenas[i]);
        copy(start.pool, world.pool);
        copy(start.hidden, world.hidden);
    }

    // --- as graphjit has it ------------------------------------------------------------------------------------------

    struct Recorded {
        CpuList list;
        std::vector<gj::Input<Word>> inputs;
        std::vector<gj::Input<const Word>> const_inputs;  // by input as well; one of the two is empty
        std::vector<gj::Variable> variables;
        std::vector<gj::Slot<Word>> slots;
        std::vector<gj::Buffer<Word>> buffers;              // by memory
        std::vector<gj::Buffer<const Word>> const_buffers;  // by memory
    };

    [[nodiscard]] Recorded record(World& world) const {
        CpuRecorder rec;
        Recorded out = declare(rec, world);
        for (const Op& op : ops_) record_op(rec, out, op, world);
        out.list = std::move(rec).finish().value();
        return out;
    }

    /// The same accesses of ops that do nothing, each op's in an order of its own.
    [[nodiscard]] CpuList record_accesses(World& world, std::uint64_t seed) const {
        Random random(seed);
        CpuRecorder rec;
        Recorded out = declare(rec, world);
        for (const Op& op : ops_) {
            using Use = gj::ExtraAccess<gj::SymbolicBuffer<const Word>>;
            std::vector<Use> uses;
            for (const View& view : op.views) uses.push_back({symbolic(out, view), view.access});
            for (std::size_t i = uses.size(); i > 1; --i)
                std::swap(uses[i - 1], uses[random.below(static_cast<unsigned>(i))]);
            rec.on(static_cast<gj::DeviceId>(op.device));
            switch (uses.size()) {
                case 1: rec.launch(gj::kernel<ops::nothing>, 0u, uses[0]); break;
                case 2: rec.launch(gj::kernel<ops::nothing>, 0u, uses[0], uses[1]); break;
                case 3: rec.launch(gj::kernel<ops::nothing>, 0u, uses[0], uses[1], uses[2]); break;
                default: rec.launch(gj::kernel<ops::nothing>, 0u, uses[0], uses[1], uses[2], uses[3]); break;
            }
        }
        return std::move(rec).finish().value();
    }

    template <class Runner>
    void set(Runner& runner, const Recorded& recorded, const Values& values, World& world) const {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            Word* data = place_of(world, values.inputs[i].first) + values.inputs[i].second;
            if (memories_[inputs_[i].memory].is_const) {
                runner.set(recorded.const_inputs[i], data);
            } else {
                runner.set(recorded.inputs[i], data, memories_[inputs_[i].memory].size);
            }
        }
        for (std::size_t i = 0; i < variables_.size(); ++i) runner.set(recorded.variables[i], values.variables[i]);
        for (std::size_t i = 0; i < slot_count_; ++i) runner.set(recorded.slots[i], values.slots[i]);
    }

    // --- and by itself -----------------------------------------------------------------------------------------------

    void run(World& world, const Values& values) const {
        for (const Op& op : ops_) {
            const auto at = [&](std::size_t i) { return op.views[i]; };
            const auto data = [&](std::size_t i) {
                const Memory& memory = memories_[at(i).memory];
                std::int64_t first = at(i).first +
                                     (at(i).variable < 0 ? 0 : at(i).stride * variable(values, at(i).variable));
                if (memory.kind == Memory::arena) return world.arenas[memory.index].data() + memory.first + first;
                const auto& [room, begin] = values.inputs[memory.index];
                return place_of(world, room) + begin + first;
            };
            const std::int64_t n = count(op, values);
            const Word k = op.slot >= 0         ? values.slots[static_cast<unsigned>(op.slot)]
                           : op.k_variable >= 0 ? static_cast<Word>(3 * variable(values, op.k_variable) + op.k)
                                                : static_cast<Word>(op.k);
            switch (op.kind) {
                case Op::combine: ops::combine(data(0), data(1), data(2), n, k); break;
                case Op::derive: ops::derive({data(0)}, data(1), n, k); break;
                case Op::bump:
                case Op::host_bump: ops::bump(data(0), n, k); break;
                case Op::fill:
                    for (std::int64_t i = 0; i < n; ++i) data(0)[i] = k;
                    break;
                case Op::copy:
                    for (std::int64_t i = 0; i < n; ++i) data(0)[i] = data(1)[i];
                    break;
                case Op::count_up:
                    for (std::int64_t i = 0; i < 2 * n; ++i) data(0)[i] = static_cast<Word>(i) + k;
                    break;
                case Op::stir: ops::stir({&world.hidden[memories_[at(0).memory].index]}, k); break;
                case Op::peek: ops::peek({&world.hidden[memories_[at(0).memory].index]}, {data(1)}, k); break;
            }
        }
    }

    /// Edges as `edges` gives them: the transitive reduction of all pairs that conflict, by looking at every pair.
    [[nodiscard]] std::string reduced_edges() const {
        const std::size_t n = ops_.size();
        std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
        std::string text;
        for (std::size_t j = 0; j < n; ++j) {
            std::vector<std::size_t> kept;
            for (std::size_t i = j; i-- > 0;) {
                if (before[j][i] || !conflict(ops_[i], ops_[j])) continue;
                kept.push_back(i);
                before[j][i] = true;
                for (std::size_t h = 0; h < i; ++h) before[j][h] = before[j][h] || before[i][h];
            }
            for (std::size_t i = kept.size(); i-- > 0;) {
                if (!text.empty()) text += ' ';
                text += std::to_string(kept[i]) + ">" + std::to_string(j);
            }
        }
        return text;
    }

    /// Whether these inputs share bytes with something in a way that `dag` does not order: the rule of run/overlap.hpp,
    /// for every pair of accesses.
    [[nodiscard]] bool is_new_overlap(const gj::Dag& dag, const Values& values) const {
        std::vector<std::vector<bool>> before(ops_.size(), std::vector<bool>(ops_.size(), false));
        for (unsigned j = 0; j < ops_.size(); ++j) {
            for (const gj::OpIndex edge : dag.dependencies(op(j))) {
                const unsigned i = to_integer(edge);
                before[j][i] = true;
                for (unsigned h = 0; h < i; ++h) before[j][h] = before[j][h] || before[i][h];
            }
        }
        for (unsigned i = 0; i < ops_.size(); ++i) {
            for (unsigned j = i; j < ops_.size(); ++j) {
                for (const View& x : ops_[i].views) {
                    for (const View& y : ops_[j].views) {
                        if (x.memory == y.memory || is_alias(x.memory, y.memory)) continue;
                        const Memory& first = memories_[x.memory];
                        const Memory& second = memories_[y.memory];
                        if (first.kind != Memory::input && second.kind != Memory::input)
                            continue;  // known when recorded
                        if (!gj::writes(x.access) && !gj::writes(y.access)) continue;
                        if (!share(bound(x, values), bound(y, values))) continue;
                        const bool in_order = i != j && before[j][i] && !(gj::writes(x.access) && gj::reads(y.access));
                        if (!in_order) return true;
                    }
                }
            }
        }
        return false;
    }

private:
    static constexpr unsigned pool_room = 1000;
    static constexpr unsigned constant_room = 1001;

    struct Memory {
        enum Kind : std::uint8_t { arena, input, token } kind = arena;
        unsigned index = 0;  // of its arena, input or token
        std::int64_t first = 0;
        std::int64_t size = 0;
        bool is_const = false;
    };
    struct InputPlace {
        unsigned memory = 0;
        std::int64_t home = 0;  // in the pool
        int arena = -1;         // lies in this arena instead
        int twin = -1;          // may lie over this earlier input
    };
    struct View {
        unsigned memory = 0;
        gj::Access access = gj::Access::in;
        std::int64_t first = 0;
        int variable = -1;  // first + stride x variable
        std::int64_t stride = 0;
        std::int64_t most = 0;  // elements, whatever the Variables are
    };
    struct Op {
        enum Kind : std::uint8_t { combine, derive, bump, host_bump, fill, copy, count_up, stir, peek } kind = bump;
        std::vector<View> views;
        std::int64_t n = 1;
        int n_variable = -1;  // n x variable
        std::int64_t k = 0;
        int slot = -1;
        int k_variable = -1;
        unsigned device = 0;
    };
    struct Place {
        std::uint64_t room = 0;
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };

    // --- making one --------------------------------------------------------------------------------------------------

    [[nodiscard]] unsigned log_uniform(unsigned least, unsigned most) {
        unsigned bits = 1;
        while ((least << bits) < most) ++bits;
        const unsigned top = least << (1 + random_.below(bits));
        return least + random_.below((top < most ? top : most) - least + 1);
    }

    void make_aliases() {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            Memory& memory = memories_[inputs_[i].memory];
            if (memory.is_const || random_.chance(50)) continue;
            if (random_.chance(50)) {
                const unsigned arena = random_.below(static_cast<unsigned>(arena_sizes_.size()));
                if (arena_sizes_[arena] < memory.size) continue;
                inputs_[i].arena = static_cast<int>(arena);
                for (unsigned m = 0; m < memories_.size(); ++m) {
                    const bool of_arena = memories_[m].kind == Memory::arena && memories_[m].index == arena;
                    if (of_arena) aliases_.push_back({inputs_[i].memory, m});
                }
                for (std::size_t j = 0; j < i; ++j) {
                    if (inputs_[j].arena == static_cast<int>(arena))
                        aliases_.push_back({inputs_[j].memory, inputs_[i].memory});
                }
            } else if (i > 0) {
                const InputPlace& other = inputs_[i - 1];
                if (other.arena >= 0 || other.twin >= 0 || memories_[other.memory].is_const) continue;
                inputs_[i].twin = static_cast<int>(i - 1);
                aliases_.push_back({inputs_[i].memory, other.memory});
            }
        }
    }

    [[nodiscard]] bool is_alias(unsigned a, unsigned b) const {
        for (const auto& [x, y] : aliases_) {
            if ((x == a && y == b) || (x == b && y == a)) return true;
        }
        return false;
    }

    /// A view of at most `size` elements of memory that may be accessed so. Small memories give small views.
    [[nodiscard]] View make_view(gj::Access access, std::int64_t size) {
        View view;
        view.access = access;
        do {
            view.memory = random_.below(static_cast<unsigned>(memories_.size()));
        } while (memories_[view.memory].kind == Memory::token ||
                 (gj::writes(access) && memories_[view.memory].is_const));
        const std::int64_t room = memories_[view.memory].size;
        view.most = size < room ? size : room;
        if (!variables_.empty() && random_.chance(25)) {
            const int variable = static_cast<int>(random_.below(static_cast<unsigned>(variables_.size())));
            const auto& [least, most] = variables_[static_cast<unsigned>(variable)];
            const std::int64_t stride = random_.between(1, 3);
            if (stride * most + view.most <= room) {
                view.variable = variable;
                view.stride = stride;
                view.first = random_.between(-stride * least, room - view.most - stride * most);
                return view;
            }
        }
        view.first = random_.between(0, room - view.most);
        return view;
    }

    [[nodiscard]] Op make_op() {
        Op op;
        op.device = random_.below(devices_ < 2 ? 2 : devices_);
        op.k = random_.between(0, 1000);
        if (slot_count_ != 0 && random_.chance(30)) {
            op.slot = static_cast<int>(random_.below(slot_count_));
        } else if (!variables_.empty() && random_.chance(30)) {
            op.k_variable = static_cast<int>(random_.below(static_cast<unsigned>(variables_.size())));
        }
        const unsigned kind = random_.below(tokens_ == 0 ? 80 : 100);
        const std::int64_t size = random_.chance(10) ? 1000 : random_.between(1, 12);
        using gj::Access;
        if (kind >= 80) {
            const unsigned token = random_.below(tokens_);
            unsigned memory = 0;
            while (memories_[memory].kind != Memory::token || memories_[memory].index != token) ++memory;
            if (random_.chance(50)) {
                op.kind = Op::stir;
                op.views = {{.memory = memory, .access = Access::in_out}};
            } else {
                op.kind = Op::peek;
                op.views = {{.memory = memory, .access = Access::in}, make_view(Access::out, 1)};
            }
            return op;
        }
        if (kind < 20) {
            op.kind = Op::combine;
            op.views = {make_view(Access::in_out, size), make_view(Access::in, size), make_view(Access::in, size)};
        } else if (kind < 40) {
            op.kind = Op::derive;
            op.views = {make_view(Access::out, size), make_view(Access::in, size)};
        } else if (kind < 48) {
            op.kind = random_.chance(50) ? Op::bump : Op::host_bump;
            op.views = {make_view(Access::in_out, size)};
        } else if (kind < 58) {
            op.kind = Op::fill;
            op.views = {make_view(Access::out, size)};
        } else if (kind < 65) {
            op.kind = Op::count_up;
            op.views = {make_view(Access::out, 12)};
        } else {
            op.kind = Op::copy;
            op.views = {make_view(Access::out, size), make_view(Access::in, size)};
            if (may_meet(op.views[0], op.views[1])) {
                op.kind = Op::derive;
                op.views.clear();
                op.views = {make_view(Access::out, size), make_view(Access::in, size)};
            }
        }
        op.n = op.views[0].most;
        for (const View& view : op.views) op.n = view.most < op.n ? view.most : op.n;
        if (op.kind == Op::count_up) op.n /= 2;  // groups of two
        if (!variables_.empty() && random_.chance(25)) {
            const unsigned variable = random_.below(static_cast<unsigned>(variables_.size()));
            if (op.n >= variables_[variable].second && variables_[variable].second > 0) {
                op.n_variable = static_cast<int>(variable);
                op.n /= variables_[variable].second;
            }
        }
        if (op.kind == Op::fill || op.kind == Op::copy) {  // their views end where the op does
            const auto variable = static_cast<unsigned>(op.n_variable);
            const std::int64_t most = op.n * (op.n_variable < 0 ? 1 : variables_[variable].second);
            for (View& view : op.views) view.most = most;
        }
        return op;
    }

    // --- where things are
    // ----------------------------------------------------------------------------------------------

    [[nodiscard]] static std::int64_t variable(const Values& values, int index) {
        return values.variables[static_cast<unsigned>(index)];
    }
    [[nodiscard]] static std::int64_t count(const Op& op, const Values& values) {
        return op.n_variable < 0 ? op.n : op.n * variable(values, op.n_variable);
    }
    [[nodiscard]] static Word* place_of(World& world, unsigned room) {
        return room == pool_room       ? world.pool.data()
               : room == constant_room ? world.constants.data()
                                       : world.arenas[room].data();
    }

    /// All elements that a view may touch, in the memory it names.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> reach(const View& view) const {
        const auto variable = static_cast<unsigned>(view.variable);
        const std::int64_t low = view.variable < 0 ? 0 : view.stride * variables_[variable].first;
        const std::int64_t high = view.variable < 0 ? 0 : view.stride * variables_[variable].second;
        return {view.first + low, view.first + high + view.most};
    }
    [[nodiscard]] static bool share(const Place& x, const Place& y) {
        return x.room == y.room && x.begin < y.end && y.begin < x.end;
    }
    /// As recorded: inputs and tokens are places of their own.
    [[nodiscard]] Place recorded(const View& view) const {
        const Memory& memory = memories_[view.memory];
        if (memory.kind == Memory::token) return {100 + view.memory, 0, 1};
        const auto [begin, end] = reach(view);
        if (memory.kind == Memory::input) return {100 + view.memory, begin, end};
        return {memory.index, memory.first + begin, memory.first + end};
    }
    /// As bound.
    [[nodiscard]] Place bound(const View& view, const Values& values) const {
        const Memory& memory = memories_[view.memory];
        Place place = recorded(view);
        if (memory.kind == Memory::input) {
            const auto& [room, first] = values.inputs[memory.index];
            place = {room, first + place.begin, first + place.end};
        }
        return place;
    }
    [[nodiscard]] bool may_meet(const View& x, const View& y) const {
        return is_alias(x.memory, y.memory) || share(recorded(x), recorded(y));
    }
    [[nodiscard]] bool conflict(const Op& a, const Op& b) const {
        for (const View& x : a.views) {
            for (const View& y : b.views) {
                if ((gj::writes(x.access) || gj::writes(y.access)) && may_meet(x, y)) return true;
            }
        }
        return false;
    }

    // --- recording it
    // ----------------------------------------------------------------------------------------------------

    /// Memory lies on one device, whatever it is named: what may be bound over something lies where that does.
    [[nodiscard]] gj::DeviceId device_of(std::size_t m) const {
        const Memory& memory = memories_[m];
        if (memory.kind == Memory::input) {
            const InputPlace& input = inputs_[memory.index];
            if (input.arena >= 0) return static_cast<gj::DeviceId>(static_cast<unsigned>(input.arena) % devices_);
            if (input.twin >= 0) return device_of(inputs_[static_cast<unsigned>(input.twin)].memory);
        }
        return static_cast<gj::DeviceId>(memory.index % devices_);
    }

    [[nodiscard]] Recorded declare(CpuRecorder& rec, World& world) const {
        Recorded out;
        out.buffers.resize(memories_.size());
        out.const_buffers.resize(memories_.size());
        for (std::size_t m = 0; m < memories_.size(); ++m) {
            const Memory& memory = memories_[m];
            if (memory.kind == Memory::arena) {
                out.buffers[m] = rec.buffer("arena", world.arenas[memory.index].data() + memory.first, memory.size,
                                            device_of(m));
            } else if (memory.kind == Memory::token) {
                out.buffers[m] = rec.buffer("token", static_cast<Word*>(nullptr), 0, device_of(m));
            } else if (memory.is_const) {
                out.inputs.emplace_back();
                out.const_inputs.push_back(rec.input<const Word>("const input", memory.size, device_of(m)));
                out.const_buffers[m] = out.const_inputs.back();
                continue;
            } else {
                out.inputs.push_back(rec.input<Word>("input", memory.size, device_of(m)));
                out.const_inputs.emplace_back();
                out.buffers[m] = out.inputs.back();
            }
            out.const_buffers[m] = out.buffers[m];
        }
        for (const auto& [a, b] : aliases_) rec.may_alias(out.const_buffers[a], out.const_buffers[b]);
        for (const auto& [least, most] : variables_) out.variables.push_back(rec.variable("v", {least, most}));
        for (unsigned i = 0; i < slot_count_; ++i) out.slots.push_back(rec.slot<Word>("k"));
        return out;
    }

    [[nodiscard]] static gj::Expr first_of(const Recorded& out, const View& view) {
        gj::Expr first = view.first;
        if (view.variable >= 0) first = first + out.variables[static_cast<unsigned>(view.variable)] * view.stride;
        return first;
    }
    [[nodiscard]] static gj::SymbolicBuffer<const Word> symbolic(const Recorded& out, const View& view) {
        return out.const_buffers[view.memory].slice(first_of(out, view), gj::Expr(view.most));
    }

    template <class Run>
    static void with_views(const Recorded& out, const Op& op, Run run) {
        bool fixed = true;
        for (const View& view : op.views) fixed = fixed && view.variable < 0;
        const View& first = op.views[0];
        const View& second = op.views[op.views.size() > 1 ? 1 : 0];
        const View& third = op.views[op.views.size() > 2 ? 2 : 0];
        const auto input = [&](const View& view) {
            return out.const_buffers[view.memory].slice(view.first, view.most);
        };
        if (fixed) {
            run(out.buffers[first.memory].slice(first.first, first.most), input(second), input(third));
        } else {
            run(out.buffers[first.memory].slice(first_of(out, first), gj::Expr(first.most)), symbolic(out, second),
                symbolic(out, third));
        }
    }
    template <class Run>
    static void with_k(const Recorded& out, const Op& op, Run run) {
        if (op.slot >= 0) {
            run(out.slots[static_cast<unsigned>(op.slot)]);
        } else if (op.k_variable >= 0) {
            run(out.variables[static_cast<unsigned>(op.k_variable)] * 3 + op.k);
        } else {
            run(static_cast<Word>(op.k));
        }
    }

    void record_op(CpuRecorder& rec, const Recorded& out, const Op& op, World& world) const {
        rec.on(static_cast<gj::DeviceId>(op.device));
        gj::Expr n = op.n;
        if (op.n_variable >= 0) n = n * out.variables[static_cast<unsigned>(op.n_variable)];
        if (op.kind == Op::stir || op.kind == Op::peek) {
            const auto token = out.buffers[op.views[0].memory];
            const ops::Cell cell{&world.hidden[memories_[op.views[0].memory].index]};
            with_k(out, op, [&](const auto& k) {
                if (op.kind == Op::stir) {
                    rec.launch(gj::kernel<ops::stir>, cell, k, updates(token));
                } else {
                    const View& view = op.views[1];
                    const auto result = out.buffers[view.memory].slice(first_of(out, view), gj::Expr(1));
                    rec.launch(gj::kernel<ops::peek>, cell, result, k, reads(token));
                }
            });
            return;
        }
        with_views(out, op, [&](const auto& first, const auto& second, const auto& third) {
            // Fills and copies know their size by their views, kernels by an argument.
            if (op.kind == Op::copy) {
                const View& to = op.views[0];
                const View& from = op.views[1];
                if (op.n_variable < 0 && to.variable < 0 && from.variable < 0) {
                    rec.copy(out.buffers[to.memory].slice(to.first, op.n),
                             out.const_buffers[from.memory].slice(from.first, op.n));
                } else {
                    rec.copy(out.buffers[to.memory].slice(first_of(out, to), n),
                             out.const_buffers[from.memory].slice(first_of(out, from), n));
                }
                return;
            }
            with_k(out, op, [&](const auto& k) {
                switch (op.kind) {
                    case Op::combine: rec.launch(gj::kernel<ops::combine>, first, second, third, n, k); break;
                    case Op::derive: rec.launch(gj::kernel<ops::derive>, first, second, n, k); break;
                    case Op::bump: rec.launch("bump", gj::kernel<ops::bump>, first, n, k); break;
                    case Op::host_bump: rec.host_call(gj::kernel<ops::bump>, first, n, k); break;
                    case Op::count_up:
                        rec.launch(gj::kernel<ops::count_up>, {.groups = {n}, .group_size = {2}}, first, k);
                        break;
                    case Op::fill: {
                        const View& view = op.views[0];
                        if (op.n_variable < 0 && view.variable < 0) {
                            rec.fill(out.buffers[view.memory].slice(view.first, op.n), k);
                        } else {
                            rec.fill(out.buffers[view.memory].slice(first_of(out, view), n), k);
                        }
                        break;
                    }
                    default: break;
                }
            });
        });
    }

    unsigned devices_;
    Random random_;
    std::vector<std::int64_t> arena_sizes_;
    std::vector<Memory> memories_;
    std::vector<InputPlace> inputs_;
    std::vector<std::pair<unsigned, unsigned>> aliases_;  // memories
    std::vector<std::pair<std::int64_t, std::int64_t>> variables_;
    std::vector<Op> ops_;
    std::int64_t pool_size_ = 0;
    unsigned tokens_ = 0;
    unsigned slot_count_ = 0;
};

}  // namespace test
