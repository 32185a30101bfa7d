// A transformer that writes token by token: run op by op, and as a graph that is replayed for each token.
#include "decoder.hpp"
#include "options.hpp"
#include "reference.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace decode;

/// More than the lanes of a group, so that sums over positions go round more than once; and all of a default run.
constexpr int tokens_checked = 64;

int fail(int exit_code, const std::string& text) {
    std::fprintf(stderr, "cuda_decode: %s\n", text.c_str());
    return exit_code;
}

int fail(const gj::Status& status) { return fail(1, status.message().c_str()); }

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// Holds numbers to the plain ones. `furthest` becomes the largest difference so far, as a part of the largest number.
std::string too_far(const char* what, const Reference::Row& plain, const float* numbers, double& furthest) {
    // Measured: at most 1e-6, from 64 layers of width 256 to 2 of width 4096.
    constexpr double allowed = 2e-5;
    double largest = 0.0;
    for (const double value : plain) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double value = static_cast<double>(numbers[i]);
        const double apart = std::abs(value - plain[i]) / largest;
        if (!(apart <= allowed)) {  // also for what is no number
            return what + (" " + std::to_string(i)) + " is " + number(value) + ", not " + number(plain[i]) +
                   " as in the plain loop";
        }
        furthest = std::max(furthest, apart);
    }
    return {};
}

/// Where two results differ first; empty: nowhere. Bits are compared: -0 is not 0.
std::string difference(const HostArray& a, const HostArray& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::memcmp(a.data() + i, b.data() + i, sizeof(float)) == 0) continue;
        return "logit " + std::to_string(i) + " is " + number(static_cast<double>(a.data()[i])) + " and " +
               number(static_cast<double>(b.data()[i]));
    }
    return {};
}

/// FNV-1a.
void add_to_checksum(const HostArray& logits, std::uint64_t& checksum) {
    for (std::size_t i = 0; i < logits.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, logits.data() + i, sizeof bits);
        for (int byte = 0; byte < 4; ++byte) checksum = (checksum ^ (bits >> 8 * byte & 0xff)) * 0x100'0000'01b3u;
    }
}

int likeliest(const HostArray& logits) {
    return static_cast<int>(std::max_element(logits.data(), logits.data() + logits.size()) - logits.data());
}

/// One of the ways to run the decoder.
template <class Runner>
struct Way {
    Decoder<Runner> decoder;
    Timing timing = {};

    [[nodiscard]] gj::Status run(int token, int position) {
        return timing.token([&] { return decoder.start(token, position); }, [&] { return decoder.wait(); });
    }
};

struct Ways {
    Way<gj::EagerRunner<Backend>> eager;
    Way<gj::MultiGraphRunner<Backend>> replay;
};

struct Written {
    std::vector<int> tokens;
    std::uint64_t checksum = 0xcbf2'9ce4'8422'2325u;  // of all logits
    double furthest = 0.0;                            // from the plain loop
    gj::ReplayCounters first = {};                    // after the first replay, which brings in everything
};

/// Lets both ways write the same text, each token in turn, and compares. Returns the exit code.
int write_and_compare(const Options& options, const Model& model, Memory& memory, Ways& ways, Written& written) {
    Reference reference(model);
    int token = 1;
    for (int position = 0; position < options.tokens; ++position) {
        if (gj::Status status = ways.eager.run(token, position); !status) return fail(status);
        if (gj::Status status = ways.replay.run(token, position); !status) return fail(status);
        if (position == 0) written.first = ways.replay.decoder.runner().counters();

        HostArray& logits = memory.host_logits;
        const std::string here = "token " + std::to_string(position) + ": ";
        if (position < tokens_checked) {
            reference.step(token);
            const std::vector<float> attended = memory.attended.download();
            std::string far = too_far("attention", reference.attended(), attended.data(), written.furthest);
            if (far.empty()) far = too_far("logit", reference.logits(), logits.data(), written.furthest);
            if (!far.empty()) return fail(1, here + far);
        }
        if (options.flip_bit && position == options.tokens - 1) logits.data()[0] = -logits.data()[0];
        if (!std::all_of(logits.data(), logits.data() + logits.size(), [](float x) { return std::isfinite(x); })) {
            return fail(1, here + "a logit is no number");
        }
        const std::string differs = difference(ways.eager.decoder.memory().host_logits, logits);
        if (!differs.empty()) return fail(1, here + differs + ", run op by op and replayed");

        add_to_checksum(logits, written.checksum);
        token = likeliest(logits);
        written.tokens.push_back(token);
    }
    return 0;
}

void print(const Options& options, Ways& ways, const Written& written) {
    auto& graph = ways.replay.decoder.runner();
    const double rest = options.tokens - 1;
    const auto per_token = [&](std::uint64_t all, std::uint64_t first) {
        return static_cast<double>(all - first) / rest;
    };
    std::printf("graph:     %d ops, %d edges%s\n", static_cast<int>(graph.ops().size()),
                static_cast<int>(graph.dag().edge_count()), native_note(graph).c_str());
    std::printf("changes:   %.2f native updates and %.2f patches per token\n",
                per_token(graph.counters().native_updates, written.first.native_updates),
                per_token(graph.counters().patches, written.first.patches));
    std::printf("written:  ");
    for (std::size_t i = 0; i < std::min<std::size_t>(written.tokens.size(), 16); ++i) {
        std::printf(" %d", written.tokens[i]);
    }
    std::printf("%s\n", written.tokens.size() > 16 ? " ..." : "");
    std::printf("checksum:  %016" PRIx64 " of the logits of %d tokens\n", written.checksum, options.tokens);
    std::printf("plain:     at most %.1e from a plain loop in double, %d tokens\n", written.furthest,
                std::min(options.tokens, tokens_checked));
    std::printf("identical: yes (eager and replay, each logit of each token, bit for bit)\n");
    Timing::print_head();
    ways.eager.timing.print("eager", "for the whole token: each op is waited for");
    ways.replay.timing.print("replay", returns_early ? "to set what changed and submit"
                                                     : "for the whole token: a replay runs on the calling thread");
}

int run(const Options& options) {
    Shape shape;
    shape.layers = options.layers;
    shape.width = options.width;
    shape.context = std::max(shape.context, options.tokens);
    std::printf("backend:   %s\n", backend_name);
    std::printf("model:     %d layers of width %d, %d heads, vocabulary %d, context %d\n", shape.layers, shape.width,
                shape.heads, shape.vocabulary, shape.context);

    Device device;
    if (gj::Status status = device.open(options.kernels); !status) return fail(status);
    const Model model = make_model(shape);
    DeviceArray weights(static_cast<std::int64_t>(model.weights.size()));
    weights.upload(model.weights);
    Memory eager_memory(shape), replay_memory(shape);
    Slots eager_slots, replay_slots;

    auto eager_list = record_token(device, model, weights, eager_memory, eager_slots);
    if (!eager_list) return fail(eager_list.status());
    auto eager = gj::EagerRunner<Backend>::create(std::move(*eager_list));
    if (!eager) return fail(eager.status());

    auto replay_list = record_token(device, model, weights, replay_memory, replay_slots);
    if (!replay_list) return fail(replay_list.status());
    auto replay = gj::instantiate(std::move(*replay_list));
    if (!replay) return fail(replay.status());

    Ways ways{{{std::move(*eager), eager_slots, eager_memory}}, {{std::move(*replay), replay_slots, replay_memory}}};
    Written written;
    if (const int code = write_and_compare(options, model, replay_memory, ways, written); code != 0) return code;
    print(options, ways, written);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    Options options;
    if (std::string error = parse(count, words, options); !error.empty()) return fail(2, error);
    if (options.help) return std::fputs(usage, stdout), 0;
    return run(options);
}
