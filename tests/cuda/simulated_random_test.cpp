// Random graphs on simulated devices: what replays leave in memory is what the ops do one after the other.
#include "cuda/machine.hpp"

#include "support/random.hpp"

#include <cstdlib>

namespace {

using namespace test;

constexpr Int n = 4;
constexpr unsigned places = 4;  // views of a buffer, that overlap by halves

/// The same program for the driver and as plain code.
class Program {
public:
    Program(std::uint64_t seed, unsigned devices) : random_(seed) {
        const unsigned count = 2 + random_.below(30);
        buffers_ = 2 + random_.below(4);
        for (unsigned b = 0; b < buffers_; ++b) device_of_.push_back(random_.below(devices));
        for (unsigned i = 0; i < count; ++i) {
            Op op;
            op.kind = static_cast<Op::Kind>(random_.below(Op::kinds));
            op.to = view();
            op.from = view();
            op.other = view();
            op.value = static_cast<Int>(random_.below(100));
            op.device = random_.chance(70) ? device_of_[op.to.buffer] : random_.below(devices);
            // A device's threads would race over what is read and written at once.
            if (meet(op.to, op.from) || meet(op.to, op.other)) op.kind = random_.chance(50) ? Op::inc : Op::fill_via;
            ops_.push_back(op);
        }
    }

    [[nodiscard]] CudaList record(const CudaMachine& machine, const std::vector<DeviceInts>& memory,
                                  std::vector<gj::Slot<Int>>& values) const {
        CudaRecorder rec = machine.recorder();
        std::vector<gj::Buffer<Int>> buffers;
        for (unsigned b = 0; b < buffers_; ++b) buffers.push_back(rec.buffer("b", memory[b], device(device_of_[b])));
        const auto slice = [&](const View& view) { return buffers[view.buffer].slice(2 * view.place, n); };
        for (const Op& op : ops_) {
            values.push_back(rec.slot<Int>("value", op.value));
            rec.on(device(op.device));
            switch (op.kind) {
                case Op::fill: rec.launch(machine.kernels.fill, one_block, slice(op.to), values.back(), n); break;
                case Op::fill_via:
                    rec.launch(machine.kernels.fill_via, one_block, slice(op.to), values.back(), n);
                    break;
                case Op::mix:
                    rec.launch(machine.kernels.mix, one_block, slice(op.to), slice(op.from), values.back(), n);
                    break;
                case Op::add:
                    rec.launch(machine.kernels.add, one_block, slice(op.to), slice(op.from), slice(op.other), n);
                    break;
                case Op::inc: rec.launch(machine.kernels.inc, one_block, slice(op.to), n); break;
                case Op::copy: rec.copy(slice(op.to), slice(op.from)); break;
                case Op::set: rec.fill(slice(op.to), values.back()); break;
            }
        }
        return std::move(rec).finish().value();
    }

    void run(std::vector<std::vector<Int>>& memory) const {
        for (const Op& op : ops_) {
            std::vector<Int> from(n), other(n);
            for (unsigned i = 0; i < n; ++i) from[i] = memory[op.from.buffer][2 * op.from.place + i];
            for (unsigned i = 0; i < n; ++i) other[i] = memory[op.other.buffer][2 * op.other.place + i];
            for (unsigned i = 0; i < n; ++i) {
                Int& to = memory[op.to.buffer][2 * op.to.place + i];
                const auto wide = static_cast<std::uint32_t>(from[i]);
                switch (op.kind) {
                    case Op::fill:
                    case Op::fill_via:
                    case Op::set: to = op.value; break;
                    case Op::mix: to = static_cast<Int>(3u * wide + static_cast<std::uint32_t>(op.value)); break;
                    case Op::add: to = static_cast<Int>(wide + static_cast<std::uint32_t>(other[i])); break;
                    case Op::inc: to = static_cast<Int>(static_cast<std::uint32_t>(to) + 1); break;
                    case Op::copy: to = from[i]; break;
                }
            }
        }
    }

    /// Gives some ops another value.
    template <class Set>
    void change(Set set) {
        for (unsigned i = 0; i < ops_.size(); ++i) {
            if (!random_.chance(30)) continue;
            ops_[i].value = static_cast<Int>(random_.below(100));
            set(i, ops_[i].value);
        }
    }
    [[nodiscard]] unsigned buffers() const { return buffers_; }
    [[nodiscard]] unsigned device_of(unsigned buffer) const { return device_of_[buffer]; }

private:
    struct View {
        unsigned buffer = 0;
        unsigned place = 0;
    };
    struct Op {
        enum Kind : std::uint8_t { fill, fill_via, mix, add, inc, copy, set } kind = fill;
        static constexpr unsigned kinds = 7;
        View to, from, other;
        Int value = 0;
        unsigned device = 0;
    };
    [[nodiscard]] View view() { return {random_.below(buffers_), random_.below(places)}; }
    [[nodiscard]] static bool meet(const View& a, const View& b) {
        return a.buffer == b.buffer && a.place < b.place + 2 && b.place < a.place + 2;
    }

    Random random_;
    unsigned buffers_ = 0;
    std::vector<unsigned> device_of_;
    std::vector<Op> ops_;
};

[[nodiscard]] bool is_same(const std::vector<DeviceInts>& memory, const std::vector<std::vector<Int>>& right) {
    for (unsigned b = 0; b < right.size(); ++b) {
        if (memory[b].get() != right[b]) return false;
    }
    return true;
}

[[nodiscard]] unsigned seeds() {
    const char* asked = std::getenv("GRAPHJIT_CUDA_SEEDS");
    return asked == nullptr ? 2000 : static_cast<unsigned>(std::atoi(asked));
}

TEST_CASE("CUDA: random graphs on 1 to 4 devices compute what their ops do, replay after replay") {
    for (unsigned seed = 0; seed < seeds(); ++seed) {
        CAPTURE(seed);
        const unsigned devices = 1 + seed % 4;
        CudaMachine machine(devices);
        cuda::set_seed(seed);
        Program program(seed, devices);
        std::vector<DeviceInts> memory;
        std::vector<std::vector<Int>> right;
        for (unsigned b = 0; b < program.buffers(); ++b) {
            memory.emplace_back(machine, 2 * places + 2, static_cast<Int>(b + 1), program.device_of(b));
            right.emplace_back(2 * places + 2, static_cast<Int>(b + 1));
        }
        std::vector<gj::Slot<Int>> values;
        auto graph = gj::instantiate(program.record(machine, memory, values));
        REQUIRE(graph.ok());
        for (unsigned replay = 0; replay < 5; ++replay) {
            if (replay > 0) program.change([&](unsigned op, Int value) { graph->set(values[op], value); });
            REQUIRE(graph->replay().ok());  // two in flight at times
            program.run(right);
            if (replay % 2 == 1) continue;
            REQUIRE(graph->wait().ok());
            REQUIRE(is_same(memory, right));
        }
        REQUIRE(cuda::violations().empty());
    }
}

}  // namespace
