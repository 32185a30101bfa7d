#!/usr/bin/env python3
"""Tests the waves over several devices from outside, on pictures made here: test_wave_multi_device.py PROGRAM"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = os.path.abspath(sys.argv[1])
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by PNG's colour type: grey, RGB, grey and alpha, RGB and alpha
STILL = 128


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, samples, colour=0):
    """A PNG file of 8-bit samples."""
    row = width * CHANNELS[colour]
    assert len(samples) == row * height
    lines = b"".join(b"\0" + bytes(samples[y * row : (y + 1) * row]) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def read_png(data):
    """(width, height, greys) of an 8-bit grey PNG file."""
    assert data[:8] == SIGNATURE, data[:8]
    at, packed, end = 8, b"", False
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(name + body), name
        if name == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlaced) == (8, 0, 0)
        packed += body if name == b"IDAT" else b""
        end = name == b"IEND"
        at += 12 + size
    assert end, "the file ends too early"
    lines = zlib.decompress(packed)
    assert len(lines) == (width + 1) * height
    above, greys = [0] * width, []
    for y in range(height):
        kind, *line = lines[y * (width + 1) : (y + 1) * (width + 1)]
        for x in range(width):
            left, corner = (line[x - 1], above[x - 1]) if x else (0, 0)
            guess = left + above[x] - corner
            nearest = min((left, above[x], corner), key=lambda value: abs(guess - value))
            line[x] = (line[x] + (0, left, above[x], (left + above[x]) // 2, nearest)[kind]) & 0xFF
        greys += line
        above = line
    return width, height, greys


def waves(width, height, greys, steps):
    """What the program should make of a picture, up to rounding."""
    now = [[0.0] * (width + 2) for _ in range(height + 2)]
    for i, grey in enumerate(greys):
        now[i // width + 1][i % width + 1] = (grey - STILL) / 127
    before = [row[:] for row in now]
    for _ in range(steps):
        for y in range(1, height + 1):
            for x in range(1, width + 1):
                pull = now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x]
                before[y][x] = now[y][x] + 0.9995 * (now[y][x] - before[y][x]) + 0.25 * pull
        now, before = before, now
    most = max(abs(value) for row in now for value in row) or 1.0
    return [STILL + 127 * value / most for row in now[1:-1] for value in row[1:-1]]


class WaveMultiDevice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "out.png"
        self.trace = self.folder / "trace.json"

    def file(self, data, name="in.png"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120)

    def play(self, *words):
        """A good run; returns what was printed, and the picture that was written."""
        run = self.run_program("--output", self.output, *words)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertEqual(run.stderr, "")
        self.assertEqual(re.findall(r"^identical: (\w+)", run.stdout, re.M), ["yes"], run.stdout)
        return run.stdout, read_png(self.output.read_bytes())

    def refused(self, *words, says):
        """A run that must end with 2 and one line that tells why."""
        run = self.run_program("--output", self.output, *words)
        self.assertEqual(run.returncode, 2, run.stderr + run.stdout)
        self.assertRegex(run.stderr, r"\Awave_multi_device: [^\n]+\n\Z")
        self.assertIn(says, run.stderr)

    # What comes out.

    def test_the_number_of_devices_changes_nothing(self):
        files = set()
        for devices in (1, 2, 3, 4, 8):
            _, (width, height, _) = self.play("--devices", devices, "--size", "61x47", "--steps", 30)
            self.assertEqual((width, height), (61, 47))
            files.add(self.output.read_bytes())
        self.assertEqual(len(files), 1)

    def test_blocks_of_few_rows(self):
        for devices in (2, 3, 8):
            for height in (devices, devices + 1, 2 * devices, 3 * devices - 1):
                with self.subTest(devices=devices, height=height):
                    greys = [(37 * i) % 256 for i in range(5 * height)]
                    image = self.file(png(5, height, greys))
                    _, picture = self.play("--image", image, "--devices", devices, "--steps", 9)
                    self.assert_near(picture[2], waves(5, height, greys, 9))

    def assert_near(self, greys, expected):
        for i, (grey, value) in enumerate(zip(greys, expected, strict=True)):
            self.assertLess(abs(grey - value), 0.6, i)

    def test_waves_are_waves(self):
        greys = [STILL] * (23 * 17)
        greys[7 * 23 + 5], greys[8 * 23 + 5], greys[12 * 23 + 19] = 255, 200, 10
        image = self.file(png(23, 17, greys))
        for steps in (1, 2, 25):
            _, (width, height, result) = self.play("--image", image, "--devices", 3, "--steps", steps)
            self.assertEqual((width, height), (23, 17))
            self.assert_near(result, waves(23, 17, greys, steps))

    def test_still_water_stays_still(self):
        image = self.file(png(9, 9, [STILL] * 81))
        _, (_, _, greys) = self.play("--image", image, "--steps", 5)
        self.assertEqual(set(greys), {STILL})

    def test_other_pictures(self):
        """Colours become their brightness; what is transparent is still."""
        greys = [(5 * i) % 256 for i in range(48)]
        expected = self.play("--image", self.file(png(8, 6, greys)), "--steps", 4)[1]
        rgb = [grey for grey in greys for _ in range(3)]
        self.assertEqual(self.play("--image", self.file(png(8, 6, rgb, 2)), "--steps", 4)[1], expected)
        opaque = [sample for grey in greys for sample in (grey, grey, grey, 255)]
        self.assertEqual(self.play("--image", self.file(png(8, 6, opaque, 6)), "--steps", 4)[1], expected)
        clear = [sample for grey in greys for sample in (grey, 0)]
        self.assertEqual(set(self.play("--image", self.file(png(8, 6, clear, 4)), "--steps", 4)[1][2]), {STILL})

    def test_size_scales_a_picture(self):
        greys = [10 * i for i in range(24)]
        for width, height in ((12, 8), (3, 2), (6, 4), (1, 1), (5, 9)):
            chosen = [greys[y * 4 // height * 6 + x * 6 // width] for y in range(height) for x in range(width)]
            expected = self.play("--image", self.file(png(width, height, chosen)), "--devices", 1, "--steps", 2)[1]
            image = self.file(png(6, 4, greys))
            scaled = self.play("--image", image, "--size", f"{width}x{height}", "--devices", 1, "--steps", 2)[1]
            self.assertEqual(scaled, expected)

    def test_what_is_printed(self):
        printed, _ = self.play("--devices", 4, "--size", "64x64", "--steps", 20)
        self.assertIn("three drops, 64x64", printed)
        self.assertIn("graph:     16 ops, 6 edges, on 4 devices\n", printed)
        self.assertIn("runs of 20 steps each", printed)
        for name in ("eager", "replay, 1 device", "replay, 4 devices"):
            row = re.search(rf"^  {name} +(\d+) +(\d+) +(\d+)$", printed, re.M)
            median, slowest, fastest = map(int, row.groups())
            self.assertTrue(0 < slowest <= median <= fastest, row[0])

    def test_trace(self):
        for devices in (1, 2, 3, 4):
            with self.subTest(devices=devices):
                printed, _ = self.play("--devices", devices, "--size", "40x40", "--steps", 3, "--trace", self.trace)
                ops = int(re.search(r"(\d+) ops?, ", printed)[1])
                self.assertEqual(ops, 1 if devices == 1 else 5 * devices - 4)
                events = [event for event in json.loads(self.trace.read_text())["traceEvents"] if event["ph"] == "X"]
                self.assertEqual(sorted(event["args"]["op"] for event in events), list(range(ops)))
                names = [event["name"] for event in events]
                self.assertEqual(len(set(names)), ops)
                self.assertEqual({event["pid"] for event in events}, set(range(devices)))
                for d in range(devices):
                    inner = [event for event in events if event["name"] == f"inner rows of {d}"]
                    self.assertEqual([event["pid"] for event in inner], [d])
                    self.assertGreater(inner[0]["dur"], 0)
                    if d > 0:
                        self.assertLessEqual({f"halo {d} to {d - 1}", f"halo {d - 1} to {d}"}, set(names))

    def test_comparison_sees_one_bit(self):
        run = self.run_program("--output", self.output, "--size", "20x20", "--steps", 1, "--flip-bit")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertNotIn("identical", run.stdout)
        says = r"\Awave_multi_device: one device and all of them differ in row 0, column 0[^\n]+\n\Z"
        self.assertRegex(run.stderr, says)
        self.assertFalse(self.output.exists())

    # Bad files.

    def test_no_such_file(self):
        self.refused("--image", self.folder / "nowhere.png", says="cannot be opened: No such file")
        self.refused("--image", self.folder, says="cannot be read")
        self.refused("--image", self.folder / "two\nlines.png", says="two?lines.png")

    def test_damaged_pictures(self):
        good = png(8, 8, range(64))
        for data in (b"", b"hello, world\n" * 10, b"\xff\xd8\xff\xe0JFIF", good[1:], SIGNATURE, good[:20]):
            self.refused("--image", self.file(data), says="cannot be read as a PNG file")
        self.refused("--image", self.file(good[:50]), says="cannot be read to the end")
        self.refused("--image", self.file(good.replace(b"IDAT", b"IDOT")), says="cannot be read")
        self.refused("--image", self.file(png(0, 8, [])), says="cannot be read as a PNG file")
        self.assertFalse(self.output.exists())

    def test_pictures_that_are_too_large(self):
        for width, height in ((8193, 1), (1, 8193), (8192, 2049), (999_999, 999_999)):
            head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
            data = SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
            self.refused("--image", self.file(data), says=f"is too large: {width}x{height}")

    def test_outputs_that_cannot_be_written(self):
        small = ("--size", "8x8", "--steps", 1)
        nowhere = self.folder / "nowhere" / "file"
        self.refused(*small, "--output", nowhere, says="cannot be written: No such file")
        self.refused(*small, "--trace", nowhere, says="cannot be written: No such file")
        if os.path.exists("/dev/full"):
            self.refused(*small, "--output", "/dev/full", says="cannot be written")
            self.refused(*small, "--trace", "/dev/full", says="cannot be written")
        image = self.file(png(8, 8, range(64)))
        for option in ("--output", "--trace"):
            self.refused("--image", image, option, f"{self.folder}/./in.png", says="would be overwritten")
        self.assertEqual(image.read_bytes(), png(8, 8, range(64)))
        self.refused("--trace", self.output, says="are the same file")

    # Options.

    def test_bad_options(self):
        for option in ("--devices", "--steps", "--size", "--image", "--output", "--trace"):
            self.refused(option, says=f"{option} needs a value")
            self.refused(option, "", says=f"{option} is given an empty value")
        for word in ("--loud", "-", "", "image.png"):
            self.refused(word, says=f"unknown option '{word}'")
        for number in ("0", "-1", "9", "x", "2x", "1.5", " 1", "+1", "99999999999999999999"):
            self.refused("--devices", number, says=f"--devices takes a whole number from 1 to 8, not '{number}'")
        for number in ("0", "-5", "ten", "1000001"):
            self.refused("--steps", number, says="--steps takes a whole number from 1 to 1000000")
        for size in ("0x5", "5x0", "5", "5x", "x5", "5X5", "5x5x5", "-3x3", "8193x1", "8192x8192"):
            self.refused("--size", size, says="--size takes a width and a height such as 640x480")

    def test_more_devices_than_rows(self):
        self.refused("--devices", 4, "--size", "100x3", says="4 devices need as many rows, but there are 3")
        self.refused("--image", self.file(png(9, 1, range(9))), says="2 devices need as many rows, but there are 1")

    def test_help(self):
        run = self.run_program("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("usage: wave_multi_device "))

    def test_default_output_lies_beside_the_program(self):
        copy = self.folder / "wave_multi_device"
        shutil.copy(PROGRAM, copy)
        run = subprocess.run([copy, "--size", "8x8", "--steps", "1"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "wave_multi_device.png").is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
