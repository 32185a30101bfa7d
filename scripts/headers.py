#!/usr/bin/env python3
"""What the headers under a folder include: the part that check_layers.py, include_cost.py and tests/meson.build share.

headers.py FOLDER           one line for each header: its name, then the vendor headers that it needs, directly or not
headers.py FOLDER --system  the other headers that those without a vendor's need, directly or not
"""
import pathlib
import re
import sys

# Headers that come with a device's toolkit or operating system, which many machines do not have.
VENDOR = re.compile(r"(cuda|nvrtc|nvml|hsa|hip|hiprtc)[\w]*\.h$|(hsa|hip|objc|Metal|Foundation|CoreFoundation|CL)/")
PREFIX = "graphjit/"


def read(root):
    """Returns {header: [(spelling, header of ours or None), ...]}, names relative to root, in the order written."""
    headers = {}
    for path in sorted(root.rglob("*.hpp")):
        includes = []
        for opening, spelling in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', path.read_text(), re.M):
            ours = None
            if spelling.startswith(PREFIX):
                ours = spelling[len(PREFIX):]
            elif opening == '"':
                beside = (path.parent / spelling).resolve()
                ours = beside.relative_to(root.resolve()).as_posix() if root.resolve() in beside.parents else spelling
            includes.append((spelling, ours))
        headers[path.relative_to(root).as_posix()] = includes
    return headers


def reach(headers, start):
    """All headers of ours that `start` brings in, itself included."""
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(ours for _, ours in headers.get(name, []) if ours)
    return seen


def system_includes(headers, names):
    return {spelling for name in names for spelling, ours in headers.get(name, []) if not ours}


def vendor_includes(headers, start):
    return sorted(name for name in system_includes(headers, reach(headers, start)) if VENDOR.match(name))


def main():
    headers = read(pathlib.Path(sys.argv[1]))
    if "--system" in sys.argv[2:]:
        plain = [name for name in headers if not vendor_includes(headers, name)]
        print("\n".join(sorted(system_includes(headers, plain))))
    else:
        print("\n".join(" ".join([name, *vendor_includes(headers, name)]) for name in headers))


if __name__ == "__main__":
    main()
