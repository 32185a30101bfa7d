#include "options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace audio {

std::string parse(int count, const char* const* words, Options& options) {
    const std::string program = count > 0 ? words[0] : "";
    const std::size_t slash = program.find_last_of('/');
    options.out = (slash == std::string::npos ? std::string() : program.substr(0, slash + 1)) + "audio_chain_out.wav";

    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--help" || word == "-h") {
            options.help = true;
            return {};
        }
        if (word == "--in-place" || word == "--flip-bit") {
            (word == "--in-place" ? options.in_place : options.flip_bit) = true;
            continue;
        }
        std::string* text = word == "--out" ? &options.out : word == "--dot" ? &options.dot : &options.wav;
        if (word == "--wav" || word == "--out" || word == "--dot" || word == "--repeat") {
            if (++i == count) return std::string(word) + " needs a value";
            if (words[i][0] == 0) return std::string(word) + " is given an empty value";
        } else if (word.empty() || word[0] == '-') {
            return "unknown option '" + std::string(word) + "'; see --help";
        }
        const std::string_view value = words[i];
        if (word == "--repeat") {
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.repeat);
            if (error != std::errc() || end != value.data() + value.size() || options.repeat < 1) {
                return "--repeat takes a whole number from 1 on, not '" + std::string(value) + "'";
            }
            continue;
        }
        if (text == &options.wav && !options.wav.empty()) return "more than one input file; see --help";
        *text = value;
    }
    if (options.wav.empty()) return "no input file; see --help";
    return {};
}

}  // namespace audio
