#include "options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace decode {
namespace {

bool read_number(std::string_view text, int& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// An option that takes a number, and which it takes.
struct NumberOption {
    const char* name;
    int* number;
    int least, most, step;
};

std::string set_number(const NumberOption& option, std::string_view text) {
    const bool good = read_number(text, *option.number) && *option.number >= option.least &&
                      *option.number <= option.most && *option.number % option.step == 0;
    if (good) return {};
    return std::string(option.name) + " takes a " +
           (option.step == 1 ? "whole number" : "multiple of " + std::to_string(option.step)) + " from " +
           std::to_string(option.least) + " to " + std::to_string(option.most) + ", not '" + std::string(text) + "'";
}

}  // namespace

std::string parse(int count, const char* const* words, Options& options) {
    const std::string program = count > 0 ? words[0] : "";
    const std::size_t slash = program.find_last_of('/');
    options.kernels = (slash == std::string::npos ? "" : program.substr(0, slash + 1)) + "kernels.fatbin";
    const NumberOption numbers[] = {{"--layers", &options.layers, 1, 64, 1},
                                    {"--width", &options.width, 32, 4096, 32},
                                    {"--tokens", &options.tokens, 2, 4096, 1}};

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
        const NumberOption* number = nullptr;
        for (const NumberOption& option : numbers) {
            if (word == option.name) number = &option;
        }
        if (number == nullptr && word != "--kernels") {
            return "unknown option '" + std::string(word) + "'; see --help";
        }
        if (++i == count) return std::string(word) + " needs a value";
        if (number == nullptr) {
            options.kernels = words[i];
        } else if (std::string error = set_number(*number, words[i]); !error.empty()) {
            return error;
        }
    }
    return {};
}

}  // namespace decode
