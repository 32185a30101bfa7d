#!/usr/bin/env python3
"""Tests the audio chain from outside, on files made here: test_audio_chain.py PROGRAM"""
import array
import itertools
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
BLOCK = 128
PCM16 = (1, 16)
FLOAT = (3, 32)


def wav_bytes(samples, channels=1, rate=48000, encoding=PCM16):
    """A WAV file of interleaved samples: integers for PCM16, else floats. The tag and the bits may lie."""
    tag, bits = encoding
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * frame & 0xFFFFFFFF, frame & 0xFFFF, bits)
    data = array.array("f" if tag == 3 else "h", samples)
    if sys.byteorder == "big":
        data.byteswap()
    data = data.tobytes()
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def read_float_wav(path):
    """(rate, channels, samples by channel) of what the program wrote."""
    data = path.read_bytes()
    assert data[:4] == b"RIFF" and data[8:12] == b"WAVE", data[:12]
    at, form, sound = 12, None, None
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if name == b"fmt ":
            form = struct.unpack_from("<HHIIHH", data, at + 8)
        elif name == b"data":
            sound = data[at + 8 : at + 8 + size]
            assert len(sound) == size, "the file ends inside its samples"
        at += 8 + size + size % 2
    assert form[0] == 3 and form[5] == 32, form
    values = struct.unpack(f"<{len(sound) // 4}f", sound)
    return form[2], form[1], [values[c :: form[1]] for c in range(form[1])]


def sine(frames, hertz=440.0, rate=48000, level=0.5):
    return [level * math.sin(2 * math.pi * hertz * i / rate) for i in range(frames)]


def pcm(samples):
    return [round(32767 * x) for x in samples]


def interleaved(left, right):
    return list(itertools.chain.from_iterable(zip(left, right)))


class AudioChain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.wav"

    def file(self, data, name="in.wav"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120)

    def play(self, data, *words):
        """Plays a good file; returns what was printed, and the samples that were written."""
        path = self.file(data)
        run = self.run_program("--wav", path, "--out", self.out, *(words or ("--repeat", "2")))
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertEqual(run.stderr, "")
        self.assertEqual(re.findall(r"^identical: (\w+)", run.stdout, re.M), ["yes"], run.stdout)
        rate, channels, samples = read_float_wav(self.out)
        self.assertIn(f" {rate} Hz, {('mono', 'stereo')[channels - 1]}, ", run.stdout)
        self.assertIn(f" {len(samples[0])} frames ", run.stdout)
        for value in itertools.chain(*samples):
            self.assertTrue(math.isfinite(value) and abs(value) <= 0.9701, value)
        return run.stdout, samples

    def refused(self, *words, says=""):
        """A run that must end with 2 and one line that tells why."""
        run = self.run_program(*words)
        self.assertEqual(run.returncode, 2, run.stderr + run.stdout)
        self.assertRegex(run.stderr, r"\Aaudio_chain: [^\n]+\n\Z")
        self.assertIn(says, run.stderr)
        return run

    def bad_file(self, data, says=""):
        run = self.refused(self.file(data), "--out", self.out, says=says)
        self.assertEqual(run.stdout, "")
        self.assertFalse(self.out.exists())

    # Good files.

    def test_mono_pcm(self):
        printed, samples = self.play(wav_bytes(pcm(sine(4096))))
        self.assertEqual(len(samples), 1)
        self.assertEqual(len(samples[0]), 4096)
        self.assertGreater(max(map(abs, samples[0])), 0.1)
        self.assertIn("16-bit PCM", printed)

    def test_stereo_float(self):
        printed, samples = self.play(wav_bytes(interleaved(sine(2000), sine(2000, 880)), 2, 44100, FLOAT))
        self.assertEqual([len(channel) for channel in samples], [2000, 2000])
        self.assertGreater(min(max(map(abs, channel)) for channel in samples), 0.1)
        self.assertNotEqual(samples[0], samples[1])
        self.assertIn("32-bit float", printed)

    def test_lengths_around_a_block(self):
        for frames in (1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1001):
            with self.subTest(frames=frames):
                _, samples = self.play(wav_bytes(pcm([0.5] * frames)))
                self.assertEqual(len(samples[0]), frames)
                self.assertNotEqual(samples[0][-1], 0.0)

    def test_sample_rates(self):
        for rate in (8000, 11025, 96000, 384000):
            with self.subTest(rate=rate):
                _, samples = self.play(wav_bytes(pcm(sine(3000, 300, rate)), rate=rate))
                self.assertGreater(max(map(abs, samples[0])), 0.05)

    def test_silence_stays_silent(self):
        printed, samples = self.play(wav_bytes([0] * 1000))
        self.assertEqual(set(samples[0]), {0.0})
        self.assertIn("-inf dBFS", printed)

    def test_channels_are_kept_apart(self):
        for quiet in (0, 1):
            channels = [sine(2000), sine(2000)]
            channels[quiet] = [0.0] * 2000
            _, samples = self.play(wav_bytes(interleaved(*channels), 2, encoding=FLOAT))
            self.assertEqual(set(samples[quiet]), {0.0})
            self.assertGreater(max(map(abs, samples[1 - quiet])), 0.1)

    def test_echo_comes_when_it_should(self):
        for rate in (8000, 48000):
            with self.subTest(rate=rate):
                delay = (int(0.25 * rate / BLOCK) + 1) * BLOCK
                _, samples = self.play(wav_bytes([0.5] + [0.0] * rate, rate=rate, encoding=FLOAT), "--repeat", "1")
                quiet = max(map(abs, samples[0][delay * 3 // 4 : delay]))
                first = max(map(abs, samples[0][delay : delay + BLOCK]))
                second = max(map(abs, samples[0][2 * delay : 2 * delay + BLOCK]))
                self.assertLess(quiet, 1e-4)
                self.assertGreater(first, 0.02)
                self.assertTrue(0.002 < second < first, (first, second))

    def test_loud_noise_is_limited(self):
        generator = random.Random(1)
        self.play(wav_bytes([generator.uniform(-15, 15) for _ in range(20000)], encoding=FLOAT))

    def test_samples_that_are_no_sound(self):
        sound = sine(2000)
        for place, value in ((10, math.nan), (20, math.inf), (1000, -math.inf), (1500, 1e30), (1501, -17.0)):
            sound[place] = value
        printed, samples = self.play(wav_bytes(sound, encoding=FLOAT))
        self.assertIn(" 5 samples ", printed)
        self.assertGreater(max(map(abs, samples[0][-100:])), 0.01)

    def test_a_file_that_is_cut_short_plays_as_far_as_it_goes(self):
        _, samples = self.play(wav_bytes(pcm(sine(1000)))[: 44 + 2 * 300])
        self.assertEqual(len(samples[0]), 300)

    def test_in_place(self):
        data = wav_bytes(interleaved(sine(5000), sine(5000, 777)), 2, encoding=FLOAT)
        self.play(data)
        expected = self.out.read_bytes()
        self.play(data, "--in-place", "--repeat", "3")
        self.assertEqual(self.out.read_bytes(), expected)

    def test_repeats_change_no_output(self):
        data = wav_bytes(pcm(sine(3000)))
        self.play(data, "--repeat", "1")
        once = self.out.read_bytes()
        self.play(data, "--repeat", "7")
        self.assertEqual(self.out.read_bytes(), once)

    def test_what_is_printed(self):
        for channels in (1, 2):
            with self.subTest(channels=channels):
                dot = self.folder / "graph.dot"
                printed, _ = self.play(wav_bytes(pcm(sine(channels * BLOCK * 50)), channels), "--dot", dot)
                ops, edges, patches = re.search(r"(\d+) ops, (\d+) edges, ([\d.]+) patches", printed).groups()
                self.assertGreaterEqual(int(ops), 14)
                # in once, out twice (limiter, meter), the ring twice, and the gain.
                self.assertLess(abs(float(patches) - 6 * channels), 0.1)
                blocks, times = map(int, re.search(r"(\d+) blocks .* (\d+) times", printed).groups())
                self.assertEqual(blocks, 50 * times)
                self.assertGreaterEqual(blocks, 20000)
                for name in ("plain loop", "eager", "replay"):
                    row = re.search(rf"^  {name}" + r" +([\d.]+)" * 4 + r" +(\d+) +\d+$", printed, re.M)
                    times = [float(text) for text in row.groups()[:4]]
                    self.assertEqual(times, sorted(times))
                    self.assertLessEqual(int(row[5]), blocks)

                text = dot.read_text()
                self.assertEqual(len(re.findall(r"^  op\d+ \[", text, re.M)), int(ops))
                self.assertEqual(len(re.findall(r"^  op\d+ -> op\d+ \[", text, re.M)), int(edges))
                if shutil.which("dot"):
                    drawn = subprocess.run(["dot", "-Tsvg", dot], capture_output=True, text=True, timeout=60)
                    self.assertEqual(drawn.returncode, 0, drawn.stderr)
                    self.assertIn("<svg", drawn.stdout)

    def test_comparison_sees_one_bit(self):
        for samples in (pcm(sine(1000)), [0] * 10):
            run = self.run_program(self.file(wav_bytes(samples)), "--out", self.out, "--flip-bit")
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("\nidentical: no\n", run.stdout)
            self.assertRegex(run.stderr, r"\Aaudio_chain: eager and replay differ [^\n]+\n\Z")

    # Bad files.

    def test_no_such_file(self):
        self.refused("--wav", self.folder / "nowhere.wav", says="cannot be opened")
        self.refused(self.folder, says="cannot be read")
        self.refused(self.folder / "two\nlines.wav", says="two?lines.wav")

    def test_not_a_wav(self):
        for data in (b"hello, world\n" * 10, b"FORM\0\0\1\0AIFF" + bytes(100), b"RIFF\0\1\0\0AVI " + bytes(100), b"\x89PNG\r\n"):
            self.bad_file(data, "is not a WAV file")
        self.bad_file(b"", "is not a WAV file")

    def test_truncated_header(self):
        good = wav_bytes(pcm(sine(100)))
        for size in range(44):
            with self.subTest(size=size):
                self.bad_file(good[:size])
        self.bad_file(good[:8], "ends inside its header")
        self.bad_file(good[:20], "has a damaged or unknown header")

    def test_no_frames(self):
        self.bad_file(wav_bytes([]), "has no frames")

    def test_absurd_rates(self):
        for rate in (0, 1, 7999, 384001, 2**31 - 1, 2**31, 2**32 - 1):
            with self.subTest(rate=rate):
                self.bad_file(wav_bytes([0] * 100, rate=rate))

    def test_absurd_channels(self):
        for channels in (0, 3, 6, 255, 65535):
            with self.subTest(channels=channels):
                self.bad_file(wav_bytes([0] * 0x10000, channels))

    def test_unsupported_encodings(self):
        for encoding in ((1, 8), (1, 24), (1, 32), (3, 64), (6, 8), (7, 8), (2, 4), (0x55, 0), (0x1234, 16), (1, 0)):
            with self.subTest(encoding=encoding):
                self.bad_file(wav_bytes([0] * 1000, encoding=encoding))

    def test_damaged_files(self):
        """Whatever stands in a file: it is played or refused, and nothing else."""
        generator = random.Random(7)
        good = wav_bytes(pcm(sine(60)))
        codes = []
        for _ in range(200):
            data = bytearray(good)
            for _ in range(generator.randint(1, 4)):
                data[generator.randrange(48)] = generator.choice((0, 1, 2, 3, 0x7F, 0x80, 0xFF, generator.randrange(256)))
            run = self.run_program(self.file(data), "--out", self.out, "--repeat", "1")
            codes.append(run.returncode)
            self.assertIn(run.returncode, (0, 2), (bytes(data), run.stderr))
            self.assertEqual(run.stderr.count("\n"), run.returncode // 2, (bytes(data), run.stderr))
        self.assertEqual(set(codes), {0, 2})

    # Options.

    def test_bad_options(self):
        good = self.file(wav_bytes([0] * 10))
        self.refused(says="no input file")
        self.refused(good, "--loud", says="unknown option '--loud'")
        self.refused(good, "-", says="unknown option '-'")
        self.refused(good, "", says="unknown option ''")
        self.refused(good, good, says="more than one input")
        self.refused("--wav", good, good, says="more than one input")
        for option in ("--wav", "--out", "--dot", "--repeat"):
            self.refused(option, says=f"{option} needs a value")
            self.refused(option, "", says=f"{option} is given an empty value")
        for count in ("0", "-1", "x", "1x", "1.5", " 1", "99999999999999999999"):
            self.refused(good, "--repeat", count, says="--repeat takes")
        self.refused(good, "--repeat", str(10**15), "--out", self.out, says="too often")

    def test_outputs_that_cannot_be_written(self):
        good = self.file(wav_bytes([0] * 10))
        data = good.read_bytes()
        self.refused(good, "--out", self.folder / "nowhere" / "out.wav", "--repeat", "1", says="cannot be written")
        self.refused(good, "--out", self.out, "--dot", self.folder / "nowhere" / "x.dot", says="cannot be written")
        for option in ("--out", "--dot"):
            self.refused(good, option, f"{self.folder}/./in.wav", says="would be overwritten")
        self.assertEqual(good.read_bytes(), data)
        if os.path.exists("/dev/full"):
            self.refused(good, "--out", self.out, "--dot", "/dev/full", says="cannot be written")

    def test_help(self):
        run = self.run_program("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("usage: audio_chain "))

    def test_default_output_lies_beside_the_program(self):
        copy = self.folder / "audio_chain"
        shutil.copy(PROGRAM, copy)
        run = subprocess.run([copy, self.file(wav_bytes([100] * 10)), "--repeat", "1"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "audio_chain_out.wav").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
