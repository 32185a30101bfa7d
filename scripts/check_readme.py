#!/usr/bin/env python3
"""Checks that README.md shows the first example and its output as they are: check_readme.py [ROOT]"""
import difflib
import pathlib
import re
import sys

PROGRAM = "examples/01_record_replay.cpp"
OUTPUT = "examples/expected/01_record_replay.txt"


def block(text, tag, start=0):
    """The first fenced block with this tag at or after `start`, as (its text, where it ends), or None."""
    found = re.compile(rf"^```{tag}[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S).search(text, start)
    return (found[1], found.end()) if found else None


def compare(shown, path, root):
    if not (root / path).is_file():
        return [f"{path} is missing"]
    real = (root / path).read_text()
    return list(difflib.unified_diff(shown.splitlines(), real.splitlines(), "README.md", path, lineterm=""))


def check(root):
    if not (root / "README.md").is_file():
        return ["README.md is missing"]
    text = (root / "README.md").read_text()
    program = block(text, "cpp")
    if not program:
        return ["README.md: no ```cpp block"]
    output = block(text, "text", program[1])
    if not output:
        return ["README.md: no ```text block with the program's output after the first ```cpp block"]
    return compare(program[0], PROGRAM, root) + compare(output[0], OUTPUT, root)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    faults = check(root)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
