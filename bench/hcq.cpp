// hcq.replay and hcq.patch: what a graph on queues costs the host, with a device that only takes note of what it is
// given: streams are words, submitting copies them into a ring, and everything is over at once.
#include "graphs.hpp"
#include "patching.hpp"
#include "report.hpp"
#include "sampling.hpp"

#include <graphjit/backend/hcq.hpp>

#include <cstring>
#include <deque>
#include <memory>

namespace bench {
namespace {

/// A device of words. Launch dims and copies stand in the commands, as in packets, and are patched there; kernels find
/// their other arguments in memory.
class WordDevice {
public:
    using kernel_family = gj::HostFamily;
    using Value = std::uint64_t;
    static constexpr gj::BackendLimits limits = {};
    static constexpr gj::QueueOrder compute_order = gj::QueueOrder::kept;
    static constexpr Value max_value = ~Value{0};

    struct Signal {
        std::uint64_t* value = nullptr;
    };
    struct Ring {
        std::vector<std::uint64_t> words = std::vector<std::uint64_t>(1 << 16);
        std::size_t tail = 0;
        std::uint64_t doorbell = 0;
    };
    struct Stream {
        std::vector<std::uint64_t> words;
        std::vector<std::size_t> packets = {};  // by op
        Ring* ring = nullptr;
    };
    struct Arguments {
        std::vector<std::byte> bytes;
        [[nodiscard]] std::byte* data() noexcept { return bytes.data(); }
    };
    using Line = gj::Timeline<Signal, Value>;
    struct Shared {
        std::deque<std::uint64_t> signals;
        std::deque<Line> timelines;
        std::deque<Ring> rings;
        gj::Turnstile turnstile;
    };

    WordDevice() noexcept = default;
    explicit WordDevice(std::uint32_t devices) : shared_(std::make_shared<Shared>()) {
        for (std::uint32_t d = 0; d < devices; ++d) shared_->timelines.emplace_back(new_signal(), Value{0});
    }

    [[nodiscard]] gj::Status open(const gj::OpList&) const { return {}; }
    [[nodiscard]] gj::Result<gj::QueuePlan> assign(const gj::OpList& list, const gj::Dag&,
                                                   const gj::HcqOptions&) const {
        return gj::ByDevice()(list, [](gj::DeviceId) { return true; });
    }
    [[nodiscard]] gj::Result<Signal> make_signal(gj::DeviceId) { return new_signal(); }
    [[nodiscard]] gj::Result<Arguments> make_arguments(std::size_t bytes) {
        return Arguments{std::vector<std::byte>(bytes)};
    }
    [[nodiscard]] gj::Result<Stream> make_stream(const gj::QueueRecord&, const gj::StreamSize& size) {
        shared_->rings.emplace_back();
        Stream stream{.words = {}, .ring = &shared_->rings.back()};
        stream.words.reserve(std::size_t{8} * (size.ops + size.waits + size.signals + size.stamps + 1));
        return stream;
    }

    [[nodiscard]] gj::Status barrier(Stream& stream) const { return push(stream, 1, 0); }
    [[nodiscard]] gj::Status wait(Stream& stream, const Signal& signal, Value*& place) const {
        (void)push(stream, 2, reinterpret_cast<std::uintptr_t>(signal.value));
        place = &stream.words[stream.words.size() - 6];
        return {};
    }
    [[nodiscard]] gj::Status signal(Stream& stream, const Signal& signal, Value*& place) const {
        (void)push(stream, 3, reinterpret_cast<std::uintptr_t>(signal.value));
        place = &stream.words[stream.words.size() - 6];
        return {};
    }
    [[nodiscard]] gj::Status exec(Stream& stream, const gj::OpView& op) const {
        stream.packets.resize(to_integer(op.index) + 1);
        stream.packets[to_integer(op.index)] = stream.words.size();
        (void)push(stream, 4, reinterpret_cast<std::uintptr_t>(op.block));
        return patch(stream, op);
    }
    [[nodiscard]] gj::Status finish(Stream&) const { return {}; }

    [[nodiscard]] gj::Status map(gj::DeviceId, const gj::MemoryView&) const noexcept { return {}; }
    [[nodiscard]] gj::Turnstile& turnstile() const noexcept { return shared_->turnstile; }
    [[nodiscard]] Line& timeline(gj::DeviceId device) const noexcept { return shared_->timelines[to_integer(device)]; }
    [[nodiscard]] gj::Status make_room(Stream&) const noexcept { return {}; }
    [[nodiscard]] bool has_room(Stream&) const noexcept { return true; }
    void submit(Stream& stream) const noexcept {
        Ring& ring = *stream.ring;
        if (ring.words.size() - ring.tail < stream.words.size()) ring.tail = 0;
        std::memcpy(ring.words.data() + ring.tail, stream.words.data(), stream.words.size() * sizeof(std::uint64_t));
        ring.tail += stream.words.size();
        __atomic_store_n(&ring.doorbell, ring.tail, __ATOMIC_RELEASE);
    }
    [[nodiscard]] gj::Status patch(Stream& stream, const gj::OpView& op) const noexcept {
        std::uint64_t* packet = &stream.words[stream.packets[to_integer(op.index)]];
        const gj::KernelInfo& info = *op.record->info;
        if (op.record->kind == gj::OpKind::copy) {
            std::memcpy(packet + 2, op.block, sizeof(gj::CopyBlock));
        } else if (info.dims_offset != gj::KernelInfo::no_dims) {
            std::memcpy(packet + 2, op.block + info.dims_offset, sizeof(gj::LaunchDims));
        }
        return {};
    }
    [[nodiscard]] gj::Status take_failure(Stream&) const noexcept { return {}; }

    [[nodiscard]] Value value(const Signal&) const noexcept { return max_value; }
    void set_value(const Signal&, Value) const noexcept {}
    [[nodiscard]] gj::Status wait_change(const Signal&, Value) const noexcept { return {}; }
    [[nodiscard]] gj::Status run(const gj::OpView&) const noexcept { return {}; }

protected:
    [[nodiscard]] Signal new_signal() const {
        shared_->signals.push_back(0);
        return {&shared_->signals.back()};
    }
    /// Eight words, as a packet of HSA has.
    static gj::Status push(Stream& stream, std::uint64_t kind, std::uint64_t what) {
        const std::uint64_t packet[8] = {kind, what};
        stream.words.insert(stream.words.end(), packet, packet + 8);
        return {};
    }

    std::shared_ptr<Shared> shared_;
};

/// The same with a clock.
class ClockDevice : public WordDevice {
public:
    using WordDevice::WordDevice;
    ClockDevice(const WordDevice& device) : WordDevice(device) {}
    [[nodiscard]] gj::Status stamp(Stream& stream, std::uint64_t*) const { return push(stream, 5, 0); }
    [[nodiscard]] gj::ClockPoint read_clock(gj::DeviceId) const noexcept { return {}; }
};

using Backend = gj::HcqBackend<WordDevice>;
using Runner = gj::MultiGraphRunner<Backend>;

/// A kernel and a copy to the next device, `steps` times on each.
template <class Backend>
gj::OpListOf<Backend> ring_of_devices(std::uint32_t devices, std::uint32_t steps, const Memory& memory) {
    gj::Recorder<Backend> recorder{WordDevice(devices)};
    std::vector<gj::Buffer<Word>> own, received;
    for (std::uint32_t d = 0; d < devices; ++d) {
        const auto device = static_cast<gj::DeviceId>(d);
        own.push_back(recorder.buffer("own", memory.buffer(2 * d), std::int64_t{words_per_buffer}, device));
        received.push_back(
            recorder.buffer("received", memory.buffer(2 * d + 1), std::int64_t{words_per_buffer}, device));
    }
    for (std::uint32_t i = 0; i < steps; ++i) {
        for (std::uint32_t d = 0; d < devices; ++d) {
            recorder.on(static_cast<gj::DeviceId>(d));
            recorder.launch(gj::kernel<step<0>>, own[d], received[d], own[d], Word{i});
            recorder.copy(received[(d + 1) % devices], own[d]);
        }
    }
    return std::move(recorder).finish().value();
}

/// What a replay costs when nothing changed.
void fixed_metric(const Report& report, const char* name, std::uint32_t devices) {
    if (!report.wants(name)) return;
    constexpr double tinygrad_one = 4000, tinygrad_four = 23'000;  // ns, tinygrad 0.10, measured elsewhere
    const Memory memory(2 * devices);
    Runner runner = gj::instantiate(ring_of_devices<Backend>(devices, 4, memory)).value();
    const auto [time] = alternate(usual_rounds, usual_sample,
                                  [&] { require(runner.replay().ok(), "a replay was refused"); });
    report.add(name, time, "ns", devices == 1 ? tinygrad_one : tinygrad_four);
}

template <class Runner>
[[gnu::noinline]] void replay(Runner& runner) {  // or the compiler would inline one more than the other
    require(runner.replay().ok(), "a replay was refused");
}

/// What a clock costs where nobody looks at it: the same graph on a device that has none; and where somebody does.
void profile_metrics(const Report& report) {
    if (!report.wants("hcq.profile.off") && !report.wants("hcq.profile.on")) return;
    const Memory memory(8);
    const auto graph = [&]<class B>(std::type_identity<B>) {
        return gj::instantiate(ring_of_devices<B>(4, 4, memory)).value();
    };
    auto none = graph(std::type_identity<Backend>());
    auto off = graph(std::type_identity<gj::HcqBackend<ClockDevice>>());
    auto on = graph(std::type_identity<gj::HcqBackend<ClockDevice, gj::Profiling::on>>());
    if (report.wants("hcq.profile.off")) {
        const auto [time, bare] = alternate(usual_rounds, usual_sample, [&] { replay(off); }, [&] { replay(none); });
        report.add("hcq.profile.off", time, "ns", bare);
    }
    if (report.wants("hcq.profile.on")) {
        const auto [time, bare] = alternate(usual_rounds, usual_sample, [&] { replay(on); }, [&] { replay(none); });
        report.add("hcq.profile.on", time, "ns", bare);
    }
}

void sized_step(gj::LaunchDims dims, const Word* a, gj::Out<Word> o) { *o = *a + dims.groups.x; }

void patch_metrics(const Report& report) {
    const Memory memory(4);
    const auto buffer = [&](gj::Recorder<Backend>& recorder, std::uint32_t i) {
        return recorder.buffer("buffer", memory.buffer(i), std::int64_t{words_per_buffer});
    };
    if (report.wants("hcq.patch.pointer")) {
        gj::Recorder<Backend> recorder{WordDevice(1)};
        const auto in = recorder.input<const Word>("in", words_per_buffer);
        const auto own = buffer(recorder, 0), out = buffer(recorder, 1);
        for (Word i = 0; i < launches_count; ++i) recorder.launch(gj::kernel<step<0>>, in, own, out, i);
        Runner runner = gj::instantiate(std::move(recorder)).value();
        const double time = patch_time(runner,
                                       [&](bool odd) { runner.set(in, memory.buffer(odd ? 2 : 3), words_per_buffer); });
        report.add("hcq.patch.pointer", time, "ns", 107);
    }
    if (report.wants("hcq.patch.variable")) {
        gj::Recorder<Backend> recorder{WordDevice(1)};
        const auto v = recorder.variable("v", {.min = 0, .max = 1 << 30});
        const auto own = buffer(recorder, 0), out = buffer(recorder, 1);
        for (std::int64_t i = 0; i < launches_count; ++i) recorder.launch(gj::kernel<step<0>>, own, own, out, v);
        Runner runner = gj::instantiate(std::move(recorder)).value();
        report.add("hcq.patch.variable", patch_time(runner, [&](bool odd) { runner.set(v, odd ? 1 : 2); }), "ns", 200);
    }
    if (report.wants("hcq.patch.dims")) {
        gj::Recorder<Backend> recorder{WordDevice(1)};
        const auto v = recorder.variable("v", {.min = 0, .max = 1 << 30});
        const auto own = buffer(recorder, 0), out = buffer(recorder, 1);
        for (std::int64_t i = 0; i < launches_count; ++i) {
            recorder.launch(gj::kernel<sized_step>, {.groups = {v}, .group_size = {64}}, own, out);
        }
        Runner runner = gj::instantiate(std::move(recorder)).value();
        report.add("hcq.patch.dims", patch_time(runner, [&](bool odd) { runner.set(v, odd ? 1 : 2); }), "ns", 640);
    }
}

}  // namespace

void hcq_benchmarks(const Report& report) {
    fixed_metric(report, "hcq.replay.fixed.1dev", 1);
    fixed_metric(report, "hcq.replay.fixed.4dev", 4);
    profile_metrics(report);
    patch_metrics(report);
}

}  // namespace bench
