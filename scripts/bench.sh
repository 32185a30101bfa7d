#!/usr/bin/env bash
# Builds the benchmarks as a release and runs them: scripts/bench.sh [--json FILE] [NAME...]
set -euo pipefail
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need g++ meson ninja-build pkg-config python3 libtbb-dev libbenchmark-dev nlohmann-json3-dev

log=build/bench.log
mkdir -p build
if ! { configure build/bench "${CXX:-g++}" -Dbuildtype=release -Dtests=disabled -Dexamples=disabled -Dbenchmarks=enabled &&
    ninja -C build/bench bench/graphjit_bench; } >"$log" 2>&1; then
    tail -n 50 "$log" >&2
    die "bench: could not be built"
fi

# Files are named where the user stands.
cd "$caller"
exec "$ROOT/build/bench/bench/graphjit_bench" "$@"
