#!/usr/bin/env python3
"""Prints the files under FOLDER that match one of the patterns, relative to it and sorted: list_files.py FOLDER PATTERN...

Meson has no globbing on purpose. Here files are added often, and scripts/test.sh reconfigures each time, so that a new
test cannot be forgotten. A folder that does not exist has no files.
"""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
found = {path.relative_to(folder).as_posix() for pattern in sys.argv[2:] for path in folder.glob(pattern)}
print("\n".join(sorted(found)))
