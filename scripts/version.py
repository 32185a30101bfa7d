#!/usr/bin/env python3
"""Prints the version that version.hpp states; with --check also compares it with the newest entry of CHANGELOG.md."""
import pathlib
import re
import sys

HEADER = "include/graphjit/base/version.hpp"


def read_version(root):
    header = root / HEADER
    if not header.is_file():
        sys.exit(f"{HEADER} is missing: it states the project's version")
    text = header.read_text()
    parts = []
    for part in ("MAJOR", "MINOR", "PATCH"):
        found = re.search(rf"^\s*#\s*define\s+GRAPHJIT_VERSION_{part}\s+(\d+)\s*$", text, re.M)
        if not found:
            sys.exit(f"{HEADER}: no line `#define GRAPHJIT_VERSION_{part} <number>`")
        parts.append(found[1])
    return ".".join(parts)


def check_changelog(root, version):
    changelog = root / "CHANGELOG.md"
    if not changelog.is_file():
        sys.exit("CHANGELOG.md is missing")
    heading = re.search(r"^## (.*)$", changelog.read_text(), re.M)
    if not heading:
        sys.exit("CHANGELOG.md: no entry; it should start like `## 0.1.0`")
    found = re.match(r"\[?v?(\d+\.\d+\.\d+)\b", heading[1])
    if not found or found[1] != version:
        sys.exit(f"CHANGELOG.md: its newest entry is `{heading[1]}`, but {HEADER} says {version}")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    version = read_version(root)
    if "--check" in sys.argv[1:]:
        check_changelog(root, version)
    print(version)


if __name__ == "__main__":
    main()
