#!/usr/bin/env python3
"""Counts what including each header costs: non-empty lines after preprocessing, standard headers and all.

include_cost.py [--json] [--compiler 'g++'] FOLDER      FOLDER is include/graphjit

Exits with 1 when a header is over its budget. The budgets are for g++ 12, whose standard headers are what is counted;
another compiler's lines are another measure.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

import headers as tree

UMBRELLA_BUDGET = 30000
ROOM_BUDGET = 20000
ROOMS_WITH_BUDGET = {"base", "record", "plan"}


def budget(name):
    if name == "graph.hpp":
        return UMBRELLA_BUDGET
    return ROOM_BUDGET if name.split("/")[0] in ROOMS_WITH_BUDGET else None


def cost(compiler, root, name):
    command = [*compiler, "-std=c++20", "-E", "-P", "-I", root.parent, "-x", "c++", root / name]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{name}: cannot be preprocessed:\n{run.stderr}")
    return sum(1 for line in run.stdout.splitlines() if line.strip())


def main():
    parser = argparse.ArgumentParser(description="Counts the lines that including each header costs.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()

    headers = tree.read(options.folder)
    # A vendor's header may be absent here, and its size is not ours to answer for.
    names = [name for name in headers if not tree.vendor_includes(headers, name)]
    compiler = shlex.split(options.compiler)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = dict(zip(names, pool.map(lambda name: cost(compiler, options.folder, name), names)))
    over = [name for name in names if budget(name) is not None and costs[name] > budget(name)]

    if options.json:
        print(json.dumps({name: {"lines": costs[name], "budget": budget(name)} for name in names}, indent=2))
    else:
        width = max(map(len, names), default=0)
        for name in sorted(names, key=lambda name: -costs[name]):
            note = "" if budget(name) is None else f" of {budget(name)}"
            print(f"{name:{width}} {costs[name]:7}{note}{'  OVER BUDGET' if name in over else ''}")
    sys.exit(bool(over) or not names)


if __name__ == "__main__":
    main()
