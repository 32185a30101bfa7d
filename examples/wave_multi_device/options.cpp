#include "options.hpp"

#include "picture.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace wave {
namespace {

constexpr int most_devices = 8;
constexpr int most_steps = 1'000'000;

bool read_number(std::string_view text, int most, int& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most;
}

std::string set_number(const char* option, std::string_view text, int most, int& number) {
    if (read_number(text, most, number)) return {};
    return std::string(option) + " takes a whole number from 1 to " + std::to_string(most) + ", not '" +
           std::string(text) + "'";
}

std::string set_size(std::string_view text, Options& options) {
    const std::size_t cross = text.find('x');
    const bool good = cross != std::string_view::npos &&
                      read_number(text.substr(0, cross), longest_side, options.width) &&
                      read_number(text.substr(cross + 1), longest_side, options.height) &&
                      std::int64_t{options.width} * options.height <= most_cells;
    if (good) return {};
    return "--size takes a width and a height such as 640x480, at most " + std::to_string(longest_side) +
           " a side and " + std::to_string(most_cells) + " points, not '" + std::string(text) + "'";
}

}  // namespace

std::string parse(int count, const char* const* words, Options& options) {
    const std::string program = count > 0 ? words[0] : "";
    const std::size_t slash = program.find_last_of('/');
    options.output = (slash == std::string::npos ? "" : program.substr(0, slash + 1)) + "wave_multi_device.png";

    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--help" || word == "-h") {
            options.help = true;
            return {};
        }
        if (word == "--flip-bit") {
            options.flip_bit = true;
            continue;
        }
        std::string* const file = word == "--image"    ? &options.image
                                  : word == "--output" ? &options.output
                                  : word == "--trace"  ? &options.trace
                                                       : nullptr;
        if (file == nullptr && word != "--devices" && word != "--steps" && word != "--size") {
            return "unknown option '" + std::string(word) + "'; see --help";
        }
        if (++i == count) return std::string(word) + " needs a value";
        const std::string_view value = words[i];
        if (value.empty()) return std::string(word) + " is given an empty value";
        std::string error;
        if (file != nullptr) *file = value;
        if (word == "--devices") error = set_number("--devices", value, most_devices, options.devices);
        if (word == "--steps") error = set_number("--steps", value, most_steps, options.steps);
        if (word == "--size") error = set_size(value, options);
        if (!error.empty()) return error;
    }
    if (options.output == options.trace) return "--output and --trace are the same file";
    return {};
}

}  // namespace wave
