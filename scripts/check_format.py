#!/usr/bin/env python3
"""Checks the layout of all C++ files, or lays them out anew: check_format.py [--fix] [--clang-format PROGRAM] [ROOT]"""
import argparse
import pathlib
import subprocess
import sys

FOLDERS = ("include", "tests", "examples", "bench")


def main():
    parser = argparse.ArgumentParser(description="Checks or mends the layout of all C++ files.")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--clang-format", default="clang-format-19")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()

    files = [
        path.relative_to(options.root)
        for folder in FOLDERS
        for pattern in ("*.hpp", "*.cpp", "*.h")
        for path in sorted((options.root / folder).rglob(pattern))
    ]
    if not files:
        sys.exit(f"{options.root}: no C++ files")
    mode = ["-i"] if options.fix else ["--dry-run", "--Werror"]
    run = subprocess.run([options.clang_format, "--style=file", *mode, *files], cwd=options.root)
    if run.returncode != 0:
        sys.exit("`scripts/check_format.py --fix` lays these files out")


if __name__ == "__main__":
    main()
