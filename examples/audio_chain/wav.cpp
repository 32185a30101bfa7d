#include "wav.hpp"

#include <sndfile.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

namespace audio {
namespace {

// Beyond that a float file holds no sound but a fault, and a filter would carry it on for ever.
constexpr float loudest = 16.0f;

// Three quarters of an hour at 48 kHz: all of it is kept in memory, several times.
constexpr std::int64_t most_frames = std::int64_t{1} << 27;

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
    void operator()(SNDFILE* file) const { sf_close(file); }
};
using File = std::unique_ptr<std::FILE, Close>;
using SoundFile = std::unique_ptr<SNDFILE, Close>;

/// libsndfile reads many formats and names faults loosely, so that this much is asked first.
std::string check_is_wav(const std::string& path) {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) return std::string("cannot be opened: ") + std::strerror(errno);
    char head[12] = {};
    const std::size_t size = std::fread(head, 1, sizeof head, file.get());
    if (std::ferror(file.get())) return std::string("cannot be read: ") + std::strerror(errno);
    const bool riff = size >= 4 && (std::memcmp(head, "RIFF", 4) == 0 || std::memcmp(head, "RF64", 4) == 0);
    if (!riff || (size == sizeof head && std::memcmp(head + 8, "WAVE", 4) != 0)) return "is not a WAV file";
    if (size < sizeof head) return "ends inside its header";
    return {};
}

/// libsndfile takes "-" for the standard streams.
std::string plain_file(const std::string& path) { return path == "-" ? "./-" : path; }

std::string check_format(const SF_INFO& info) {
    if (info.frames <= 0) return "has no frames";
    if (info.frames > most_frames) return "is too long: " + std::to_string(info.frames) + " frames";
    if (info.samplerate < 8000 || info.samplerate > 384000) {
        return "has " + std::to_string(info.samplerate) + " frames per second; 8000 to 384000 are supported";
    }
    if (info.channels != 1 && info.channels != 2) {
        return "has " + std::to_string(info.channels) + " channels; 1 and 2 are supported";
    }
    const int encoding = info.format & SF_FORMAT_SUBMASK;
    if (encoding != SF_FORMAT_PCM_16 && encoding != SF_FORMAT_FLOAT) {
        return "has an unsupported encoding; 16-bit PCM and 32-bit float are supported";
    }
    return {};
}

float mend(float sample, std::int64_t& mended) {
    if (std::abs(sample) <= loudest) return sample;
    ++mended;
    return std::isfinite(sample) ? std::copysign(loudest, sample) : 0.0f;
}

constexpr std::int64_t chunk_frames = 4096;

}  // namespace

std::string read_wav(const std::string& path, int block_frames, Wav& wav) {
    if (std::string error = check_is_wav(path); !error.empty()) return error;
    SF_INFO info = {};
    const SoundFile file(sf_open(plain_file(path).c_str(), SFM_READ, &info));
    if (!file) return "has a damaged or unknown header";
    if (std::string error = check_format(info); !error.empty()) return error;

    wav.rate = info.samplerate;
    wav.channels = info.channels;
    wav.frames = info.frames;
    wav.encoding = (info.format & SF_FORMAT_SUBMASK) == SF_FORMAT_FLOAT ? "32-bit float" : "16-bit PCM";
    const std::int64_t blocks = (info.frames + block_frames - 1) / block_frames;
    for (int c = 0; c < wav.channels; ++c) wav.samples[c].assign(static_cast<std::size_t>(blocks * block_frames), 0.0f);

    std::vector<float> chunk(static_cast<std::size_t>(chunk_frames * info.channels));
    for (std::int64_t done = 0; done < wav.frames;) {
        const std::int64_t count = sf_readf_float(file.get(), chunk.data(), std::min(chunk_frames, wav.frames - done));
        if (count <= 0) return "ends before its last frame";
        for (std::int64_t i = 0; i < count * info.channels; ++i) {
            const auto frame = static_cast<std::size_t>(done + i / info.channels);
            wav.samples[i % info.channels][frame] = mend(chunk[static_cast<std::size_t>(i)], wav.mended);
        }
        done += count;
    }
    return {};
}

std::string write_wav(const std::string& path, const Wav& wav, const std::vector<float> (&samples)[2]) {
    SF_INFO info = {};
    info.samplerate = wav.rate;
    info.channels = wav.channels;
    info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    SoundFile file(sf_open(plain_file(path).c_str(), SFM_WRITE, &info));
    if (!file) return std::string("cannot be written: ") + sf_strerror(nullptr);
    // The chunk that libsndfile adds otherwise holds the time: the same sound would not be the same file.
    sf_command(file.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);

    std::vector<float> chunk(static_cast<std::size_t>(chunk_frames * info.channels));
    for (std::int64_t done = 0; done < wav.frames;) {
        const std::int64_t count = std::min(chunk_frames, wav.frames - done);
        for (std::int64_t i = 0; i < count * info.channels; ++i) {
            const auto frame = static_cast<std::size_t>(done + i / info.channels);
            chunk[static_cast<std::size_t>(i)] = samples[i % info.channels][frame];
        }
        if (sf_writef_float(file.get(), chunk.data(), count) != count) return "cannot be written to the end";
        done += count;
    }
    return sf_close(file.release()) == 0 ? "" : "cannot be written to the end";
}

}  // namespace audio
