#!/usr/bin/env python3
"""Runs the benchmark program in several processes and takes medians.

bench_run.py PROGRAM [--json FILE] [--processes N] [--callgrind] [NAME...]

NAMEs select metrics by how their names begin. `value` and `against` are medians over the processes, `ratio` is the one
divided by the other. The exit status says whether the benchmarks ran, not whether their goals were met.
  --callgrind   counts instructions instead of taking time, for a few metrics: these repeat on any machine
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import headers as tree
import include_cost

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "graphjit"

# What each metric should reach, as the most that its value or its ratio may be.
GOALS = [
    (r"cpu\.replay\.(chain|fan|stencil|random)\.10{2,}", "ratio", 1.10),
    (r"cpu\.replay\.random\.\d+\.vs_tbb", "ratio", 0.05),
    (r"cpu\.replay\.fixed", "value", 40),
    (r"cpu\.patch(\.single_use|\.one_slot)?", "value", 1.5),
    (r"cpu\.patch\.unchanged", "value", 0.5),
    (r"cpu\.patch\.dims", "value", 10),
    (r"record\.plan\.random\.(100|1000|10000)", "value", 60),
    (r"record\.plan\.random\.100000\.vs_10000", "ratio", 1.5),
    (r"plan\.signals\.random\.\d+", "value", 100),
    (r"plan\.signals\.random\.10000\.vs_1000", "ratio", 1.5),
    (r"cpu\.instantiate\.\d+", "value", 20),
    (r"cpu\.latency\.random\.100\.p99", "ratio", 1.3),
    (r"hcq\.replay\.fixed\.1dev", "value", 150),
    (r"hcq\.replay\.fixed\.4dev", "value", 500),
    (r"hcq\.patch\.(pointer|variable)", "value", 2),
    (r"hcq\.patch\.dims", "value", 10),
    (r"cuda\.host\.(via_block\.)?untouched", "value", 1),
    (r"cuda\.host\.(via_block\.)?touched", "value", 30),
    (r"threads\.replay\.\w+\.1000\.work\d+", "ratio", 1.25),
    (r"threads\.replay\.\w+\.1000\.work\d+\.vs_tbb", "ratio", 1.0),
    (r"threads\.replay\.\w+\.1000\.work(0|256)\.vs_one", "ratio", 1.0),
    (r"threads\.replay\.\w+\.1000\.work(1280|12800)\.vs_one", "ratio", 1 / 1.7),
    (r"threads\.latency\.random\.100\.p(50|99)", "ratio", 0.3),
    (r"include\.graph_hpp", "value", include_cost.UMBRELLA_BUDGET),
    (r"include\.(base|record|plan)", "value", include_cost.ROOM_BUDGET),
]
NOTES = [
    (r"cpu\.patch\.dims(\..*)?", "against: a constant, tinygrad 0.10 measured elsewhere (620 to 660 ns)"),
    (r"hcq\.(replay|patch)\..*", "against: a constant, tinygrad 0.10 measured elsewhere"),
]
COUNTED = [
    "cpu.replay.random.100",
    "cpu.replay.random.1000",
    "cpu.patch",
    "cpu.patch.single_use",
    "cpu.patch.dims",
    "record.plan.random.1000",
    "cpu.instantiate.1000",
    "hcq.profile.off",
]


def find(table, name):
    return next((entry[1:] for entry in table if re.fullmatch(entry[0], name)), None)


def wanted(name, prefixes):
    return not prefixes or any(name.startswith(prefix) for prefix in prefixes)


def run(command):
    """The program's lines as {name: (value, unit, against or None)}, in order."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}")
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return {name: (float(value), unit, float(against) if against else None) for name, value, unit, against in lines}


def metric(name, value, unit, against=None, spread=None):
    ratio = value / against if against else None
    made = {"name": name, "value": value, "unit": unit, "against": against, "ratio": ratio}
    note = find(NOTES, name)
    if note:
        made["note"] = note[0]
    return made, spread


def middle(name, samples):
    """The medians over the processes, and how far the processes lie apart."""
    values, units, againsts = zip(*samples)
    if againsts[0] is None:
        return metric(name, statistics.median(values), units[0], None, (min(values), max(values)))
    ratios = [value / against for value, against in zip(values, againsts)]
    spread = (min(ratios), max(ratios))
    return metric(name, statistics.median(values), units[0], statistics.median(againsts), spread)


def measure(program, processes, prefixes):
    runs = []
    for seed in range(1, processes + 1):
        runs.append(run([program, "--seed", seed, *prefixes]))
    return [middle(name, [one[name] for one in runs]) for name in runs[0]]


def count(program, prefixes):
    """Instructions of one replay, plan … of both contestants; inside of graphjit_bench_counted only."""
    metrics = []
    for name in (name for name in COUNTED if wanted(name, prefixes)):
        instructions = []
        for contestant in (0, 1):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out"
                valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
                valgrind.append("--toggle-collect=graphjit_bench_counted")
                factors = run([*valgrind, program, "--count", contestant, name])
                total = int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.M).group(1))
            value, unit, against = factors[name]
            instructions.append(total * (value, against)[contestant] if against else total * value)
        unit = unit.replace("ns", "instructions")
        against = instructions[1] if name != "cpu.patch.dims" else None
        metrics.append((metric("instructions." + name, instructions[0], unit, against)[0], None))
    return metrics


def seconds_to_compile(compiler, text):
    command = [*compiler, "-std=c++20", "-I", INCLUDE.parent, "-fsyntax-only", "-x", "c++", "-"]
    start = time.monotonic()
    subprocess.run(command, input=text, text=True, check=True)
    return time.monotonic() - start


def include(processes, prefixes):
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    metrics = []
    if wanted("include.graph_hpp", prefixes) or wanted("include.graph_hpp.seconds", prefixes):
        with tempfile.TemporaryDirectory() as folder:
            vector = pathlib.Path(folder) / "vector.hpp"
            vector.write_text("#include <vector>\n")
            lines = [include_cost.cost(compiler, INCLUDE, name) for name in (INCLUDE / "graph.hpp", vector)]
        texts = ["#include <graphjit/graph.hpp>\n", "#include <vector>\n"]
        seconds = [[seconds_to_compile(compiler, text) for text in texts] for _ in range(processes)]
        medians = [statistics.median(column) for column in zip(*seconds)]
        metrics += [
            metric("include.graph_hpp", lines[0], "lines", lines[1]),
            metric("include.graph_hpp.seconds", round(medians[0], 3), "s", round(medians[1], 3)),
        ]
    headers = tree.read(INCLUDE)
    for room in sorted(include_cost.ROOMS_WITH_BUDGET):
        if not wanted(f"include.{room}", prefixes):
            continue
        names = [name for name in headers if name.startswith(room + "/") and not tree.vendor_includes(headers, name)]
        most, name = max((include_cost.cost(compiler, INCLUDE, name), name) for name in names)
        made, spread = metric(f"include.{room}", most, "lines")
        metrics.append(({**made, "note": f"the most that a header of this room costs: {name}"}, spread))
    return [(made, spread) for made, spread in metrics if wanted(made["name"], prefixes)]


def show(number):
    if number is None:
        return ""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def verdict(made):
    goal = find(GOALS, made["name"])
    if not goal:
        return ""
    key, most = goal
    return f"{key} <= {most}: {'met' if made[key] <= most else 'MISSED'}"


def table(metrics):
    rows = [("metric", "value", "unit", "against", "ratio", "processes", "goal")]
    for made, spread in metrics:
        apart = f"{show(spread[0])} … {show(spread[1])}" if spread else ""
        numbers = (show(made["value"]), made["unit"], show(made["against"]), show(made["ratio"]))
        rows.append((made["name"], *numbers, apart, verdict(made)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = zip(row, widths, (str.ljust, str.rjust, str.ljust, str.rjust, str.rjust, str.ljust, str.ljust))
        print("  ".join(justify(cell, width) for cell, width, justify in cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description="Runs the benchmarks and takes medians over processes.")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--processes", type=int, default=5, metavar="N")
    parser.add_argument("--callgrind", action="store_true", help="count instructions in place of time")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="how the names of the wanted metrics begin")
    options = parser.parse_intermixed_args()
    if options.processes < 1:
        parser.error("at least one process")

    load = os.getloadavg()[0]
    if options.callgrind:
        metrics = count(options.program, options.names)
    else:
        metrics = measure(options.program, options.processes, options.names)
        metrics += include(options.processes, options.names)
    if not metrics:
        sys.exit("no metric has such a name")
    table(metrics)
    if not options.callgrind:
        print(f"\nMedians of {options.processes} processes, between … the least and the most of one (ratio or value). Load of the machine before: {load:.2f}")
    if options.json:
        options.json.write_text(json.dumps([made for made, _ in metrics], indent=1) + "\n")


if __name__ == "__main__":
    main()
