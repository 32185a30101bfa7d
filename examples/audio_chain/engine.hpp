// The chain, three ways: recorded and replayed, recorded and run op by op, and as a plain loop over the same kernels.
#pragma once

#include "kernels.hpp"
#include "settings.hpp"

#include <graphjit/graph.hpp>

#include <string>
#include <vector>

namespace audio {

namespace gj = graphjit;

/// All that the chain remembers and all that it computes on the way, for one channel …
struct ChannelMemory {
    explicit ChannelMemory(int ring_blocks) : ring(static_cast<std::size_t>(ring_blocks) * block_frames) {}

    float last_gain = automated_gain(0);
    double high_pass[2] = {};
    double presence[2] = {};
    double air[2] = {};
    float damping = 0.0f;
    std::vector<float> ring;
    Meter meter;

    float dry[block_frames] = {};
    float wet[block_frames] = {};
    float echo[block_frames] = {};
};

/// … and for all of them. It stays where it is: recordings hold its addresses.
struct ChainMemory {
    ChainMemory(int channel_count, int ring_blocks)
        : channels(static_cast<std::size_t>(channel_count), ChannelMemory(ring_blocks)) {}
    ChainMemory(const ChainMemory&) = delete;
    ChainMemory& operator=(const ChainMemory&) = delete;

    std::vector<ChannelMemory> channels;
    float envelope = 0.0f;
    float limiter_gain = 1.0f;

    float level[block_frames] = {};
    float gain[block_frames] = {};
};

/// What is different for each block.
struct Block {
    const float* in[2];
    float* out[2];
    int position;  // in the delay's ring, in blocks
    float gain;
};

/// The slots for it.
struct Slots {
    gj::Input<const float> in[2];
    gj::Input<float> out[2];
    gj::Variable position;
    gj::Slot<float> gain;
};

/// Records with the channel's side in front of each name.
struct SideRecorder {
    gj::Recorder<gj::CpuBackend>& rec;
    std::string side;

    template <class T>
    gj::Buffer<T> buffer(const char* name, T* data, std::int64_t count) {
        return rec.buffer((side + name).c_str(), data, count);
    }
    template <class T>
    gj::Input<T> input(const char* name) {
        return rec.input<T>((side + name).c_str(), block_frames);
    }
    template <class Kernel, class... Arguments>
    void launch(const char* name, const Kernel& kernel, const Arguments&... arguments) {
        rec.launch((side + name).c_str(), kernel, arguments...);
    }
};

/// Writes the chain down. An output may be the very block its input was: every channel has been read before the
/// limiter, which listens to all of them, lets any output be written. The runner sees that by itself (run/overlap.hpp),
/// so that no `may_alias` has to say it.
[[nodiscard]] inline gj::Result<gj::OpListOf<gj::CpuBackend>> record_chain(const Settings& settings,
                                                                           ChainMemory& memory, Slots& slots) {
    using gj::kernel;
    gj::Recorder<gj::CpuBackend> rec;
    slots.position = rec.variable("position", {.min = 0, .max = settings.ring_blocks - 1});
    slots.gain = rec.slot<float>("gain");

    const std::size_t count = memory.channels.size();
    SideRecorder sides[2] = {{rec, count == 1 ? "" : "left "}, {rec, "right "}};
    gj::Buffer<float> dry[2], wet[2];
    for (std::size_t c = 0; c < count; ++c) {
        ChannelMemory& m = memory.channels[c];
        SideRecorder& side = sides[c];
        slots.in[c] = side.input<const float>("in");
        slots.out[c] = side.input<float>("out");
        dry[c] = side.buffer("dry", m.dry, block_frames);
        wet[c] = side.buffer("wet", m.wet, block_frames);
        const auto echo = side.buffer("echo", m.echo, block_frames);
        const auto ring = side.buffer("ring", m.ring.data(), std::int64_t{settings.ring_blocks} * block_frames);
        const auto last_gain = side.buffer("last gain", &m.last_gain, 1);
        const auto high_pass = side.buffer("high-pass state", m.high_pass, 2);
        const auto presence = side.buffer("presence state", m.presence, 2);
        const auto air = side.buffer("air state", m.air, 2);
        const auto damping = side.buffer("damping state", &m.damping, 1);

        const auto now = ring.slice(slots.position * block_frames, block_frames);
        side.launch("input gain", kernel<input_gain>, slots.gain, last_gain, slots.in[c], dry[c]);
        side.launch("high-pass", kernel<biquad>, settings.high_pass, high_pass, dry[c], wet[c]);
        side.launch("presence", kernel<biquad>, settings.presence, presence, wet[c], wet[c]);
        side.launch("air", kernel<biquad>, settings.air, air, wet[c], wet[c]);
        side.launch("delay read", kernel<delay_read>, now, echo);
        side.launch("damp", kernel<damp>, settings.damping, damping, echo, echo);
        side.launch("delay write", kernel<delay_write>, settings.feedback, wet[c], echo, now);
        side.launch("add echo", kernel<add>, settings.echo_level, wet[c], echo, wet[c]);
    }

    const auto level = rec.buffer("level", memory.level);
    const auto gain = rec.buffer("linked gain", memory.gain);
    const auto envelope = rec.buffer("envelope", &memory.envelope, 1);
    const auto limiter_state = rec.buffer("limiter state", &memory.limiter_gain, 1);
    const auto &left = wet[0], &right = wet[count - 1];  // a mono chain is linked with itself

    rec.launch("compressor level", kernel<linked_level>, left, right, level);
    rec.launch("compressor gain", kernel<compressor_gain>, settings.compressor, envelope, level, gain);
    for (std::size_t c = 0; c < count; ++c) {
        sides[c].launch("compress", kernel<apply_gain>, gain, wet[c], wet[c]);
        sides[c].launch("mix", kernel<mix>, settings.wetness, dry[c], wet[c], wet[c]);
    }
    rec.launch("limiter level", kernel<linked_level>, left, right, level);
    rec.launch("limiter gain", kernel<limiter_gain>, settings.limiter, limiter_state, level, gain);
    for (std::size_t c = 0; c < count; ++c) {
        const auto meter = sides[c].buffer("meter", &memory.channels[c].meter, 1);
        sides[c].launch("limit", kernel<apply_gain>, gain, wet[c], slots.out[c]);
        sides[c].launch("meter", kernel<measure>, slots.out[c], meter);
    }
    return std::move(rec).finish();
}

/// Feeds a runner of the recording block by block. `Runner` is a gj::MultiGraphRunner or a gj::EagerRunner.
template <class Runner>
class GraphEngine {
public:
    GraphEngine(Runner& runner, const Slots& slots, int channels)
        : runner_(runner), slots_(slots), channels_(channels) {}

    [[nodiscard]] gj::Status process(const Block& block) noexcept {
        for (int c = 0; c < channels_; ++c) {
            runner_.set(slots_.in[c], block.in[c], block_frames).set(slots_.out[c], block.out[c], block_frames);
        }
        return runner_.set(slots_.position, block.position).set(slots_.gain, block.gain).replay();
    }

private:
    Runner& runner_;
    Slots slots_;
    int channels_;
};

/// The limit: nobody records, checks or patches anything.
class PlainEngine {
public:
    PlainEngine(const Settings& settings, ChainMemory& memory) : settings_(settings), memory_(memory) {}

    [[nodiscard]] gj::Status process(const Block& block) noexcept {
        std::vector<ChannelMemory>& channels = memory_.channels;
        for (std::size_t c = 0; c < channels.size(); ++c) {
            ChannelMemory& m = channels[c];
            float* const slot = m.ring.data() + std::ptrdiff_t{block.position} * block_frames;
            input_gain(block.gain, &m.last_gain, block.in[c], {m.dry});
            biquad(settings_.high_pass, m.high_pass, m.dry, {m.wet});
            biquad(settings_.presence, m.presence, m.wet, {m.wet});
            biquad(settings_.air, m.air, m.wet, {m.wet});
            delay_read(slot, {m.echo});
            damp(settings_.damping, &m.damping, m.echo, {m.echo});
            delay_write(settings_.feedback, m.wet, m.echo, {slot});
            add(settings_.echo_level, m.wet, m.echo, {m.wet});
        }
        linked_level(channels.front().wet, channels.back().wet, {memory_.level});
        compressor_gain(settings_.compressor, &memory_.envelope, memory_.level, {memory_.gain});
        for (ChannelMemory& m : channels) {
            apply_gain(memory_.gain, m.wet, {m.wet});
            mix(settings_.wetness, m.dry, m.wet, {m.wet});
        }
        linked_level(channels.front().wet, channels.back().wet, {memory_.level});
        limiter_gain(settings_.limiter, &memory_.limiter_gain, memory_.level, {memory_.gain});
        for (std::size_t c = 0; c < channels.size(); ++c) {
            apply_gain(memory_.gain, channels[c].wet, {block.out[c]});
            measure(block.out[c], &channels[c].meter);
        }
        return {};
    }

private:
    const Settings& settings_;
    ChainMemory& memory_;
};

}  // namespace audio
