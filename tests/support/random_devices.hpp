// Random recordings for several devices, of which only the plan counts: nothing runs them.
#pragma once

#include "support/kernels.hpp"
#include "support/random.hpp"
#include "support/ways.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace test {

/// Kernels, copies, fills and host calls over views of four elements that overlap by halves, in memory of several
/// devices, some of it registered twice, and in inputs. A kernel may run on a device that holds none of its memory.
class RandomDevices {
public:
    /// Where registered memory lies: it must make no difference.
    enum class Layout : std::uint8_t { forwards, backwards };

    RandomDevices(std::uint64_t seed, unsigned ops, unsigned devices) : random_(seed) {
        arenas_ = devices + random_.below(1 + ops);
        for (unsigned i = 0; i < arenas_; ++i) memories_.push_back({.device = i % devices, .place = i});
        for (unsigned i = 0, count = random_.below(3); i < count; ++i)
            memories_.push_back(memories_[random_.below(arenas_)]);
        for (unsigned i = 0, count = random_.below(3); i < count; ++i) {
            memories_.push_back({.device = random_.below(devices), .place = arenas_ + i, .is_input = true});
        }
        const auto memory = [&] { return random_.below(static_cast<unsigned>(memories_.size())); };
        const auto view = [&] { return View{memory(), 2 * random_.below(elements / 2 - 1)}; };
        while (ops_.size() < ops) {
            Op op{.kind = Op::add, .device = 0, .out = view(), .a = view(), .b = view()};
            const unsigned kind = random_.below(100);
            if (kind >= 50) op.kind = kind < 80 ? Op::copy : kind < 88 ? Op::fill : kind < 95 ? Op::inc : Op::host_inc;
            if (op.kind == Op::copy && meet(op.out, op.a)) continue;  // a copy onto itself is refused
            op.device = random_.chance(80) ? memories_[op.out.memory].device : random_.below(devices);
            ops_.push_back(op);
        }
    }

    /// Registers memory that lies in `words`.
    [[nodiscard]] CpuList record(std::vector<std::int32_t>& words, Layout layout = Layout::forwards) const {
        words.assign(std::size_t{arenas_} * elements, 0);
        CpuRecorder rec;
        std::vector<gj::Buffer<std::int32_t>> buffers;
        for (const Memory& memory : memories_) {
            const auto device = static_cast<gj::DeviceId>(memory.device);
            if (memory.is_input) {
                buffers.push_back(rec.input<std::int32_t>("input", elements, device));
                continue;
            }
            const unsigned place = layout == Layout::forwards ? memory.place : arenas_ - 1 - memory.place;
            buffers.push_back(rec.buffer("memory", words.data() + std::size_t{place} * elements, elements, device));
        }
        for (const Op& op : ops_) {
            const auto slice = [&](const View& view) { return buffers[view.memory].slice(view.first, 4); };
            rec.on(static_cast<gj::DeviceId>(op.device));
            switch (op.kind) {
                case Op::add: rec.launch(add<>, slice(op.out), slice(op.a), slice(op.b)); break;
                case Op::copy: rec.copy(slice(op.out), slice(op.a)); break;
                case Op::fill: rec.fill(slice(op.out), 1); break;
                case Op::inc: rec.launch(inc<>, slice(op.out)); break;
                case Op::host_inc: rec.host_call(inc<>, slice(op.out)); break;
            }
        }
        return std::move(rec).finish().value();
    }

private:
    static constexpr unsigned elements = 16;  // of every memory

    struct Memory {
        unsigned device = 0;
        unsigned place = 0;  // which of the arenas, or behind them an input
        bool is_input = false;
    };
    struct View {
        unsigned memory = 0;
        unsigned first = 0;
    };
    struct Op {
        enum Kind : std::uint8_t { add, copy, fill, inc, host_inc } kind = add;
        unsigned device = 0;
        View out, a, b;
    };

    [[nodiscard]] bool meet(const View& x, const View& y) const {
        return memories_[x.memory].place == memories_[y.memory].place && x.first < y.first + 4 && y.first < x.first + 4;
    }

    Random random_;
    unsigned arenas_ = 0;
    std::vector<Memory> memories_;
    std::vector<Op> ops_;
};

}  // namespace test
