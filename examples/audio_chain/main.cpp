// A real-time audio engine in small: a recording goes through the chain of engine.hpp block by block, three ways.
#include "engine.hpp"
#include "options.hpp"
#include "timing.hpp"
#include "wav.hpp"

#include <graphjit/observe/dot.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

namespace {

namespace gj = graphjit;
using namespace audio;

using Samples = std::vector<float>[2];

constexpr std::int64_t blocks_for_percentiles = 20'000;
constexpr std::int64_t most_blocks = 50'000'000;

/// What a result holds before it is written: nothing that a chain puts out.
constexpr float not_written = std::numeric_limits<float>::quiet_NaN();

/// File names come from anywhere; a message stays one line.
int fail(int exit_code, std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20) c = '?';
    }
    std::fprintf(stderr, "audio_chain: %s\n", text.c_str());
    return exit_code;
}

int fail(const gj::Status& status) { return fail(1, status.message().c_str()); }

/// One of the ways to play: what plays, what it remembers and how long it took.
template <class Engine>
struct Way {
    Engine engine;
    const ChainMemory& memory;
    Timing timing = {};
};

/// Sends the whole file through a way. `pass` counts how often it went through before: state and automation go on.
template <class Engine>
gj::Status play(Way<Engine>& way, const Settings& settings, const Samples& in, std::int64_t pass, Samples& out) {
    const std::int64_t blocks = static_cast<std::int64_t>(in[0].size()) / block_frames;
    return way.timing.blocks([&]() -> gj::Status {
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::int64_t number = pass * blocks + i;
            Block block{.in = {},
                        .out = {},
                        .position = static_cast<int>(number % settings.ring_blocks),
                        .gain = automated_gain(number)};
            for (std::size_t c = 0; c < way.memory.channels.size(); ++c) {
                block.in[c] = in[c].data() + i * block_frames;
                block.out[c] = out[c].data() + i * block_frames;
            }
            if (gj::Status status = way.timing.block([&] { return way.engine.process(block); }); !status) return status;
        }
        return {};
    });
}

/// Says where two results differ first; empty: nowhere. Bits are compared: -0 is not 0.
std::string difference(const Samples& a, const Samples& b) {
    for (int c = 0; c < 2; ++c) {
        if (a[c].empty() || std::memcmp(a[c].data(), b[c].data(), a[c].size() * sizeof(float)) == 0) continue;
        std::size_t i = 0;
        while (std::memcmp(&a[c][i], &b[c][i], sizeof(float)) == 0) ++i;
        char text[120];
        std::snprintf(text, sizeof text, "channel %d from frame %zu on: %.9g and %.9g", c, i,
                      static_cast<double>(a[c][i]), static_cast<double>(b[c][i]));
        return text;
    }
    return {};
}

bool same_meters(const ChainMemory& a, const ChainMemory& b) {
    const auto same = [](const ChannelMemory& x, const ChannelMemory& y) { return x.meter == y.meter; };
    return std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), same);
}

bool write_dot_file(const std::string& path, const gj::OpList& ops, const gj::Dag& dag) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    gj::write_dot(ops, dag, [&](const char* text, std::size_t size) { std::fwrite(text, 1, size, file); });
    const bool written = std::ferror(file) == 0;
    return std::fclose(file) == 0 && written;
}

struct Ways {
    Way<PlainEngine> plain;
    Way<GraphEngine<gj::EagerRunner<gj::CpuBackend>>> eager;
    Way<GraphEngine<gj::MultiGraphRunner<gj::CpuBackend>>> replay;
};

int print_differs(const std::string& where) {
    std::printf("identical: no\n");
    return fail(1, where);
}

void print_meters(const ChainMemory& memory) {
    const auto decibels = [](double amplitude) { return 20.0 * std::log10(amplitude); };
    for (const ChannelMemory& channel : memory.channels) {
        const Meter& meter = channel.meter;
        const double mean = meter.sum_of_squares / static_cast<double>(meter.frames);
        std::printf("meter:     peak %.1f dBFS, RMS %.1f dBFS\n", decibels(static_cast<double>(meter.peak)),
                    decibels(std::sqrt(mean)));
    }
}

/// Plays the file `repeat` times in each way, compares, and writes what came out the first time. Returns the exit code.
int play_and_compare(const Options& options, const Wav& wav, const Settings& settings, std::int64_t repeat,
                     Ways& ways) {
    Samples expected = {}, result = {};
    const auto spoil = [&](Samples& samples) {
        for (int c = 0; c < wav.channels; ++c) samples[c].assign(wav.samples[c].size(), not_written);
    };
    // They take turns, file by file, so that a busy moment of the machine meets all of them alike.
    for (std::int64_t pass = 0; pass < repeat; ++pass) {
        spoil(expected);
        if (gj::Status s = play(ways.plain, settings, wav.samples, pass, expected); !s) return fail(s);

        spoil(result);
        if (gj::Status s = play(ways.eager, settings, wav.samples, pass, result); !s) return fail(s);
        std::string where = difference(expected, result);
        if (!where.empty()) return print_differs("plain loop and eager differ in " + where);

        spoil(result);
        for (int c = 0; options.in_place && c < wav.channels; ++c) result[c] = wav.samples[c];
        const Samples& in = options.in_place ? result : wav.samples;
        if (gj::Status s = play(ways.replay, settings, in, pass, result); !s) return fail(s);
        if (options.flip_bit) result[0].front() = -result[0].front();
        where = difference(expected, result);
        if (!where.empty()) return print_differs("eager and replay differ in " + where);

        if (pass != 0) continue;
        if (std::string error = write_wav(options.out, wav, result); !error.empty()) {
            return fail(2, options.out + " " + error);
        }
    }
    const bool same = same_meters(ways.plain.memory, ways.eager.memory) &&
                      same_meters(ways.eager.memory, ways.replay.memory);
    return same ? 0 : print_differs("the meters differ");
}

int run(const Options& options, const Wav& wav) {
    const std::int64_t blocks = static_cast<std::int64_t>(wav.samples[0].size()) / block_frames;
    const std::int64_t repeat = options.repeat != 0 ? options.repeat : (blocks_for_percentiles + blocks - 1) / blocks;
    if (repeat > most_blocks / blocks) return fail(2, "--repeat " + std::to_string(repeat) + " is too often");

    // A memory for each way, so that none starts with what another left behind; hence a recording for each, too.
    const Settings settings(wav.rate);
    ChainMemory plain_memory(wav.channels, settings.ring_blocks);
    ChainMemory eager_memory(wav.channels, settings.ring_blocks);
    ChainMemory graph_memory(wav.channels, settings.ring_blocks);
    Slots eager_slots, graph_slots;

    auto eager_list = record_chain(settings, eager_memory, eager_slots);
    if (!eager_list) return fail(eager_list.status());
    auto eager = gj::EagerRunner<gj::CpuBackend>::create(std::move(*eager_list));
    if (!eager) return fail(eager.status());

    auto graph_list = record_chain(settings, graph_memory, graph_slots);
    if (!graph_list) return fail(graph_list.status());
    auto graph = gj::instantiate(std::move(*graph_list));
    if (!graph) return fail(graph.status());
    if (!options.dot.empty() && !write_dot_file(options.dot, graph->ops(), graph->dag())) {
        return fail(2, options.dot + " cannot be written");
    }

    Ways ways{{{settings, plain_memory}, plain_memory},
              {{*eager, eager_slots, wav.channels}, eager_memory},
              {{*graph, graph_slots, wav.channels}, graph_memory}};
    Timing* const timings[] = {&ways.plain.timing, &ways.eager.timing, &ways.replay.timing};
    for (Timing* timing : timings) timing->reserve(blocks * repeat);
    if (const int code = play_and_compare(options, wav, settings, repeat, ways); code != 0) return code;

    const double deadline = 1e6 * block_frames / wav.rate;
    const gj::ReplayCounters& counters = graph->counters();
    std::printf("graph:     %d ops, %d edges, %.2f patches per replay\n", static_cast<int>(graph->ops().size()),
                static_cast<int>(graph->dag().edge_count()),
                static_cast<double>(counters.patches) / static_cast<double>(counters.replays));
    std::printf("played:    %" PRId64 " blocks of %d frames (the file %" PRId64 " times)\n", blocks * repeat,
                block_frames, repeat);
    std::printf("identical: yes (plain loop, eager and replay, bit for bit)\n");
    print_meters(graph_memory);
    std::printf("written:   %s\n", options.out.c_str());
    std::printf("microseconds per block, and how many blocks missed the deadline of %.1f:\n", deadline);
    Timing::print_head();
    ways.plain.timing.print("plain loop", deadline);
    ways.eager.timing.print("eager", deadline);
    ways.replay.timing.print("replay", deadline);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    Options options;
    if (std::string error = parse(count, words, options); !error.empty()) return fail(2, error);
    if (options.help) return std::fputs(usage, stdout), 0;

    Wav wav;
    if (std::string error = read_wav(options.wav, block_frames, wav); !error.empty()) {
        return fail(2, options.wav + " " + error);
    }
    std::error_code ignored;
    for (const std::string& written : {options.out, options.dot}) {
        if (!std::filesystem::equivalent(options.wav, written, ignored)) continue;
        return fail(2, options.wav + " would be overwritten by what is written to " + written);
    }
    std::printf("file:      %s, %d Hz, %s, %s, %" PRId64 " frames (%.2f s)\n", options.wav.c_str(), wav.rate,
                wav.channels == 1 ? "mono" : "stereo", wav.encoding, wav.frames,
                static_cast<double>(wav.frames) / wav.rate);
    if (wav.mended != 0) std::printf("           %" PRId64 " samples were not finite or far too loud\n", wav.mended);
    return run(options, wav);
}
