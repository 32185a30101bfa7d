#!/usr/bin/env bash
# Builds the benchmarks as a release and runs them: scripts/bench.sh [--json FILE] [NAME...]
#   NAME          measure only metrics whose names begin like this
#   --json FILE   write [{"name", "value", "unit", "against", "ratio"}, …]
#   --processes N, --callgrind: see scripts/bench_run.py
set -euo pipefail
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(g++ meson ninja-build pkg-config python3 libtbb-dev)
[[ " $* " != *" --callgrind "* ]] || packages+=(valgrind)
need "${packages[@]}"

log=build/bench.log
mkdir -p build
if ! { configure build/bench "${CXX:-g++}" -Dbuildtype=release -Dtests=disabled -Dexamples=disabled -Dbenchmarks=enabled &&
    ninja -C build/bench -j "$JOBS" bench/graphjit_bench; } >"$log" 2>&1; then
    tail -n 50 "$log" >&2
    die "bench: could not be built"
fi

# Files are named where the user stands.
cd "$caller"
exec python3 "$ROOT/scripts/bench_run.py" "$ROOT/build/bench/bench/graphjit_bench" "$@"
