#!/usr/bin/env bash
# Tests and measures the CUDA backend on a GPU: scripts/device_cuda.sh [FOLDER]
# Needs the toolkit (CUDA_PATH, or where it is installed by default), a driver and a C++20 compiler; doctest is installed
# as scripts/test.sh installs it. Some five minutes at most. Results, cuda.json and the tests' output, go to FOLDER, which
# is build/device_cuda if not named.
# The last line is `N passed, N failed`.
set -euo pipefail
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

out=${1:-build/device_cuda}
[[ $out == /* || $# == 0 ]] || out=$caller/$out
mkdir -p "$out"
cuda=$(scripts/find_cuda.py)
[[ -n $cuda ]] || die "device_cuda: no CUDA toolkit; say where it is with CUDA_PATH"
command -v nvidia-smi >/dev/null || die "device_cuda: no NVIDIA driver"
has_header doctest/doctest.h || need doctest-dev
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | tee "$out/gpu.txt"

build=build/device_cuda_build
mkdir -p "$build"
flags=(-std=c++20 -O2 -I include -I tests -isystem "$cuda/include" -DGRAPHJIT_TEST_REAL_CUDA
    "-DGRAPHJIT_TEST_CUDA_MODULE=\"$ROOT/$build/kernels.fatbin\"")
"$cuda/bin/nvcc" -std=c++20 -arch=native -fatbin tests/cuda/kernels.cu -o "$build/kernels.fatbin"
tests=(cases devices observe)
sources=(tests/main.cpp tests/support/ways.cpp tests/cuda_real/machine.cpp)
for test in "${tests[@]}"; do sources+=("tests/cuda/${test}_test.cpp"); done
objects=()
for source in "${sources[@]}"; do
    object=$build/$(basename "$source").o
    objects+=("$object")
    "${CXX:-g++}" "${flags[@]}" -c "$source" -o "$object" &
done
wait
"${CXX:-g++}" "${objects[@]}" -o "$build/cuda_tests" -L "$cuda/lib64/stubs" -lcuda -pthread -ldl
"${CXX:-g++}" "${flags[@]}" bench/cuda_replay.cpp -o "$build/cuda_replay" -L "$cuda/lib64/stubs" -lcuda -ldl

passed=0 failed=0
count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }
run_tests() { "$build/cuda_tests" --no-colors >"$out/tests.txt" 2>&1; }
run_sanitizer() {
    "$cuda/bin/compute-sanitizer" --error-exitcode 1 "$build/cuda_tests" --no-colors -tc="case 19*,case 39*,case 44*" \
        >"$out/sanitizer.txt" 2>&1
}
run_bench() { "$build/cuda_replay" "$build/kernels.fatbin" >"$out/cuda.json"; }
count run_tests
tail -n 3 "$out/tests.txt"
if [[ -x $cuda/bin/compute-sanitizer ]]; then count run_sanitizer; else say "no compute-sanitizer in the toolkit" && failed=$((failed + 1)); fi
count run_bench
cat "$out/cuda.json"
echo "$passed passed, $failed failed"
((failed == 0))
