// Waves over a picture, on several devices and on one: the graph of one step, with the grid cut into blocks or not.
#include "options.hpp"
#include "picture.hpp"
#include "rates.hpp"
#include "step_graph.hpp"

#include <graphjit/observe/profile.hpp>
#include <graphjit/observe/trace.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

namespace {

using namespace wave;

constexpr int rounds = 7;

/// File names come from anywhere; a message stays one line.
int fail(int exit_code, std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20) c = '?';
    }
    std::fprintf(stderr, "wave_multi_device: %s\n", text.c_str());
    return exit_code;
}

int fail(const gj::Status& status) { return fail(1, status.message().c_str()); }

std::string count_of(int count, const char* things) {
    const std::string text = std::to_string(count) + " " + things;
    return count == 1 ? text.substr(0, text.size() - 1) : text;
}

/// Says where two results differ first; empty: nowhere. Bits are compared: -0 is not 0.
std::string difference(const Grid& a, const Grid& b) {
    const auto same = [](float x, float y) { return std::memcmp(&x, &y, sizeof x) == 0; };
    const auto [x, y] = std::mismatch(a.cells.begin(), a.cells.end(), b.cells.begin(), same);
    if (x == a.cells.end()) return {};
    const std::ptrdiff_t place = x - a.cells.begin();
    char text[120];
    std::snprintf(text, sizeof text, "row %d, column %d: %.9g and %.9g", static_cast<int>(place / a.width),
                  static_cast<int>(place % a.width), static_cast<double>(*x), static_cast<double>(*y));
    return text;
}

/// One of the ways to run a step.
template <class Runner>
struct Way {
    Simulation<Runner> simulation;
    Rates rates = {};

    [[nodiscard]] gj::Status run(const Grid& start, int steps) {
        simulation.start(start);
        return rates.run(steps, [&] { return simulation.run(steps); });
    }
};

struct Ways {
    Way<gj::EagerRunner<gj::ThreadBackend>> eager;
    Way<gj::MultiGraphRunner<gj::ThreadBackend>> single;  // on one device
    Way<gj::MultiGraphRunner<gj::ThreadBackend>> multi;   // on all
};

/// Runs all ways from the same start, some times, and compares. Returns the exit code.
int run_and_compare(const Options& options, const Grid& start, Ways& ways, Grid& result) {
    // They take turns, so that a busy moment of the machine meets all of them alike.
    for (int round = 0; round < rounds; ++round) {
        if (gj::Status status = ways.eager.run(start, options.steps); !status) return fail(status);
        if (gj::Status status = ways.single.run(start, options.steps); !status) return fail(status);
        if (gj::Status status = ways.multi.run(start, options.steps); !status) return fail(status);

        const Grid expected = ways.single.simulation.result();
        std::string where = difference(expected, ways.eager.simulation.result());
        if (!where.empty()) return fail(1, "one device and the eager run differ in " + where);

        result = ways.multi.simulation.result();
        if (options.flip_bit) result.cells.front() = -result.cells.front();
        where = difference(expected, result);
        if (!where.empty()) return fail(1, "one device and all of them differ in " + where);
    }
    return 0;
}

/// Runs a few steps with stamps around each op, and writes down the last one. Returns the exit code.
int trace_step(const Options& options, const gj::ThreadDevices& devices, const Grid& start) {
    auto simulation = simulate<gj::MultiGraphRunner>(gj::ProfiledThreadBackend(devices), start, options.devices);
    if (!simulation) return fail(simulation.status());
    simulation->start(start);
    if (gj::Status status = simulation->run(10); !status) return fail(status);
    const auto profile = gj::collect_profile(simulation->runner());
    if (!profile) return fail(profile.status());

    std::FILE* file = std::fopen(options.trace.c_str(), "wb");
    if (file == nullptr) return fail(2, options.trace + " cannot be written: " + std::strerror(errno));
    gj::write_trace(simulation->runner(), *profile,
                    [&](const char* text, std::size_t size) { std::fwrite(text, 1, size, file); });
    const bool written = std::ferror(file) == 0;
    if (std::fclose(file) != 0 || !written) return fail(2, options.trace + " cannot be written to the end");
    std::printf("trace:     %s\n", options.trace.c_str());
    return 0;
}

int run(const Options& options, const Grid& start) {
    // Each queue is a thread. A halo row is copied sooner than a thread is woken to do it, so that copies get queues of
    // their own only where each has a core to itself.
    const unsigned cores = std::thread::hardware_concurrency();
    const auto count = static_cast<unsigned>(options.devices);
    const gj::ThreadDevices devices({.devices = count, .copy_queues = cores > 2 * count});
    if (!options.trace.empty()) {
        if (const int code = trace_step(options, devices, start); code != 0) return code;
    }

    const gj::ThreadBackend backend(devices);
    auto eager = simulate<gj::EagerRunner>(backend, start, options.devices);
    if (!eager) return fail(eager.status());
    auto single = simulate<gj::MultiGraphRunner>(backend, start, 1);
    if (!single) return fail(single.status());
    auto multi = simulate<gj::MultiGraphRunner>(backend, start, options.devices);
    if (!multi) return fail(multi.status());

    Ways ways{{std::move(*eager)}, {std::move(*single)}, {std::move(*multi)}};
    Grid result;
    if (const int code = run_and_compare(options, start, ways, result); code != 0) return code;
    if (std::string error = write_png(options.output, to_picture(result)); !error.empty()) {
        return fail(2, options.output + " " + error);
    }

    const std::string all = count_of(options.devices, "devices");
    const auto& graph = ways.multi.simulation.runner();
    std::printf("graph:     %s, %s, on %s\n", count_of(static_cast<int>(graph.ops().size()), "ops").c_str(),
                count_of(static_cast<int>(graph.dag().edge_count()), "edges").c_str(), all.c_str());
    std::printf("identical: yes (eager, replayed on 1 device, and on %s, bit for bit)\n", all.c_str());
    std::printf("written:   %s\n", options.output.c_str());
    std::printf("steps per second, in %d runs of %s each that took turns, on a machine of %s:\n", rounds,
                count_of(options.steps, "steps").c_str(), count_of(static_cast<int>(cores), "cores").c_str());
    Rates::print_head();
    ways.eager.rates.print("eager");
    ways.single.rates.print("replay, 1 device");
    ways.multi.rates.print(("replay, " + all).c_str());
    return 0;
}

/// Reads or draws what the water is at first. Returns the exit code.
int make_picture(const Options& options, Picture& picture) {
    if (options.image.empty()) {
        picture = draw_drops(options.width == 0 ? 512 : options.width, options.height == 0 ? 512 : options.height);
        return 0;
    }
    if (std::string error = read_png(options.image, picture); !error.empty()) {
        return fail(2, options.image + " " + error);
    }
    std::error_code ignored;
    for (const std::string& written : {options.output, options.trace}) {
        if (!std::filesystem::equivalent(options.image, written, ignored)) continue;
        return fail(2, options.image + " would be overwritten by what is written to " + written);
    }
    if (options.width != 0) picture = scaled(picture, options.width, options.height);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    Options options;
    if (std::string error = parse(count, words, options); !error.empty()) return fail(2, error);
    if (options.help) return std::fputs(usage, stdout), 0;

    Picture picture;
    if (const int code = make_picture(options, picture); code != 0) return code;
    if (options.devices > picture.height) {
        return fail(2, std::to_string(options.devices) + " devices need as many rows, but there are " +
                           std::to_string(picture.height));
    }
    std::printf("picture:   %s, %dx%d\n", options.image.empty() ? "three drops" : options.image.c_str(), picture.width,
                picture.height);
    return run(options, to_water(picture));
}
