#!/usr/bin/env python3
"""Checks which header includes which: check_layers.py include/graphjit

The rooms and their order are told in docs and in ROOMS below. Says every fault, not only the first.
"""
import pathlib
import re
import sys

import headers as tree

# For each room, what its headers may include besides their own room: rooms, or single headers.
ROOMS = {
    "base": [],
    "record": ["base"],
    "plan": ["base", "record"],
    "run": ["base", "record", "plan"],
    # A backend knows the contract that it fulfils, and no runner.
    "backend": ["base", "record", "plan", "run/contract.hpp"],
    "observe": ["base", "record", "plan", "run"],
    "fixed": ["base", "record", "plan", "run", "backend"],
}
UMBRELLA = "graph.hpp"
VENDOR_HOME = re.compile(r"backend/detail/\w+_api\.hpp$")

# Engines pay for each of these in hundreds of files.
LEAN_ROOMS = {"base", "record", "plan", "run"}
HEAVY = {"algorithm", "atomic", "chrono", "functional", "iostream", "map", "memory", "span", "string", "string_view", "vector"}
MAX_LINES = 400


def room_of(name):
    return name.split("/")[0] if "/" in name else None


def check_includes(name, includes, headers):
    room = room_of(name)
    for spelling, ours in includes:
        if ours is None:
            if tree.VENDOR.match(spelling) and not VENDOR_HOME.match(name):
                yield f"includes <{spelling}>, a vendor's header: those belong in backend/detail/<vendor>_api.hpp"
            if room in LEAN_ROOMS and spelling in HEAVY:
                yield f"includes <{spelling}>, which {room}/ must do without"
        elif ours not in headers:
            yield f"includes {ours}, which does not exist"
        elif room is not None and room_of(ours) != room and not {room_of(ours), ours} & set(ROOMS[room]):
            yield f"includes {ours}, but {room}/ may include only {', '.join([room, *ROOMS[room]])}"


def find_cycle(headers):
    done = set()

    def visit(name, path):
        if name in path:
            return path[path.index(name):] + [name]
        if name not in done:
            for _, ours in headers.get(name, []):
                cycle = ours and visit(ours, path + [name])
                if cycle:
                    return cycle
            done.add(name)
        return None

    for name in headers:
        cycle = visit(name, [])
        if cycle:
            return cycle
    return None


def check(root):
    headers = tree.read(root)
    if not headers:
        yield f"{root}: no headers"
    for name, includes in headers.items():
        if room_of(name) not in ROOMS and name != UMBRELLA:
            yield f"{name}: in no room; the rooms are {', '.join(ROOMS)}"
            continue
        lines = (root / name).read_text().count("\n")
        if lines > MAX_LINES:
            yield f"{name}: {lines} lines, more than {MAX_LINES}; it does more than one job"
        for fault in check_includes(name, includes, headers):
            yield f"{name}: {fault}"
    for vendor in tree.vendor_includes(headers, UMBRELLA):
        yield f"{UMBRELLA}: brings in <{vendor}>; the umbrella has everything but the vendor backends"
    cycle = find_cycle(headers)
    if cycle:
        yield "include cycle: " + " -> ".join(cycle)


def main():
    root = pathlib.Path(sys.argv[1])
    faults = list(check(root))
    print("\n".join(faults) or f"{len(tree.read(root))} headers, each includes only what it may")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
