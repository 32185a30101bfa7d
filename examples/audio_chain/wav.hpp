// WAV files: whole ones in memory, a vector per channel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace audio {

struct Wav {
    int rate = 0;
    int channels = 0;
    std::int64_t frames = 0;
    const char* encoding = "";
    std::int64_t mended = 0;        // samples that were no sound: not finite, now 0, or far too loud, now at the limit
    std::vector<float> samples[2];  // with zeros behind the end, to fill the last block
};

/// Reads 16-bit PCM or 32-bit float, one or two channels, 8 to 384 kHz. Returns why it can not, in one line; empty:
/// done.
[[nodiscard]] std::string read_wav(const std::string& path, int block_frames, Wav& wav);

/// Writes the first `wav.frames` of `samples` as 32-bit float. Returns why it can not, in one line; empty: done.
[[nodiscard]] std::string write_wav(const std::string& path, const Wav& wav, const std::vector<float> (&samples)[2]);

}  // namespace audio
