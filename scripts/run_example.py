#!/usr/bin/env python3
"""Runs an example and, when a file is named, compares what it prints with it: run_example.py PROGRAM [EXPECTED.txt]"""
import difflib
import pathlib
import subprocess
import sys

run = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, text=True)
print(run.stdout, end="")
if run.returncode != 0:
    sys.exit(f"{sys.argv[1]} ended with {run.returncode}")
if len(sys.argv) > 2:
    expected = pathlib.Path(sys.argv[2])
    lines = expected.read_text().splitlines(), run.stdout.splitlines()
    difference = list(difflib.unified_diff(*lines, expected.name, "printed", lineterm=""))
    if difference:
        sys.exit("\n".join(difference))
