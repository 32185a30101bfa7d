#!/usr/bin/env python3
"""Tests the decoder from outside: test_cuda_decode.py PROGRAM... with a program for each backend"""
import os
import re
import subprocess
import sys
import unittest

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:]]


def decode(program, *options):
    return subprocess.run([program, *options], capture_output=True, text=True)


class Decode(unittest.TestCase):
    def line(self, run, name):
        """What stands behind `name:` in a run's output."""
        self.assertEqual(run.returncode, 0, run.stderr)
        found = re.search(rf"^{name}: +(.+)$", run.stdout, re.M)
        self.assertIsNotNone(found, run.stdout)
        return found[1]

    def test_all_backends_write_the_same(self):
        runs = [decode(program, "--layers", "2", "--tokens", "48") for program in PROGRAMS]
        for run in runs:
            self.assertIn("yes", self.line(run, "identical"))
        for name in ("written", "checksum"):
            self.assertEqual(len({self.line(run, name) for run in runs}), 1, [run.stdout for run in runs])

    def test_other_sizes(self):
        # A single layer, heads of half a group, and a text that is longer than the context of the default.
        for options in (("--layers", "1", "--width", "64", "--tokens", "200"), ("--width", "96", "--tokens", "2")):
            runs = [decode(program, *options) for program in PROGRAMS]
            self.assertEqual(len({self.line(run, "checksum") for run in runs}), 1, [run.stdout for run in runs])

    def test_each_layer_is_told_of_the_position_only(self):
        # By layer: the angles' place for two rotations, the places of a key and a value, the groups of the scores, two
        # counts of positions, and the five views that grow with them.
        def patches(layers):
            run = decode(PROGRAMS[0], "--width", "32", "--layers", str(layers), "--tokens", "30")
            return float(re.search(r"([0-9.]+) patches", self.line(run, "changes"))[1])

        one, three = patches(1), patches(3)
        self.assertLessEqual(one, 13)  # with the place of the embedding
        self.assertTrue(2 * 7 - 1 <= three - one <= 2 * 12 + 1, (one, three))

    def test_a_wrong_bit_is_seen(self):
        for program in PROGRAMS:
            run = decode(program, "--width", "32", "--tokens", "5", "--flip-bit")
            self.assertEqual(run.returncode, 1)
            found = re.match(r"cuda_decode: token 4: logit 0 is (\S+) and (\S+), run op by op and replayed$", run.stderr)
            self.assertIsNotNone(found, run.stderr)
            self.assertEqual(float(found[1]), -float(found[2]))
            self.assertNotIn("identical", run.stdout)

    def test_bad_options(self):
        for options, words in (
            (("--width", "33"), "--width takes a multiple of 32 from 32 to 4096, not '33'"),
            (("--tokens", "1"), "--tokens takes a whole number from 2 to 4096, not '1'"),
            (("--layers", "4x"), "--layers takes a whole number from 1 to 64, not '4x'"),
            (("--layers",), "--layers needs a value"),
            (("--speed",), "unknown option '--speed'; see --help"),
        ):
            run = decode(PROGRAMS[0], *options)
            self.assertEqual((run.returncode, run.stderr, run.stdout), (2, f"cuda_decode: {words}\n", ""))

    def test_help(self):
        run = decode(PROGRAMS[0], "--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("--flip-bit", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
