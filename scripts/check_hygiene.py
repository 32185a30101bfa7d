#!/usr/bin/env python3
"""Looks for what must not be committed: paths of one machine, and notes of unfinished work. check_hygiene.py [ROOT]"""
import pathlib
import re
import subprocess
import sys

# The words are written in parts, so that this file does not find itself.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.~$}-])/(?:work|root|home/\w+|Users/\w+)" r"/\w"),
    "a note of unfinished work": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"),
}


def files(root):
    """What git tracks or would track; everything, where the tree is not a git checkout."""
    git = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True
    )
    if git.returncode == 0:
        return sorted(root / name for name in git.stdout.split("\0") if name)
    return sorted(path for path in root.rglob("*") if "build" not in path.relative_to(root).parts)


def check(root):
    for path in files(root):
        if not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a recording or a picture
        for number, line in enumerate(text.splitlines(), 1):
            for what, regex in FORBIDDEN.items():
                if regex.search(line):
                    yield f"{path.relative_to(root)}:{number}: {what}: {line.strip()[:160]}"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    faults = list(check(root))
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
