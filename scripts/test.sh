#!/usr/bin/env bash
# Builds and runs all tests: scripts/test.sh [--quick]
#   --quick   with g++ only, without sanitizers, and without fuzzing
# The last line is `N passed, N failed`: each doctest case counts as one, and so does each other test.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

QUICK=false
case "$*" in
    "") ;;
    --quick) QUICK=true ;;
    *) die "usage: scripts/test.sh [--quick]" ;;
esac
FUZZ_SECONDS=${GRAPHJIT_FUZZ_SECONDS:-60} # for all fuzzers together
SANITIZERS=(-Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1)

need g++ meson ninja-build doctest-dev nlohmann-json3-dev pkg-config cmake python3 clang-format-19 libsndfile1-dev \
    libpng-dev
if ! $QUICK; then need clang-16 libclang-rt-16-dev clang-19 libclang-rt-19-dev; fi

# Aborting lets doctest name the case that was running, and count those before it. addr2line comes with every g++, while
# clang's own symbolizer is a large package.
SANITIZER_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1:external_symbolizer_path=$(command -v addr2line || true)
export TSAN_OPTIONS=${TSAN_OPTIONS:-$SANITIZER_OPTIONS}
export ASAN_OPTIONS=${ASAN_OPTIONS:-$SANITIZER_OPTIONS:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-$SANITIZER_OPTIONS}

# variant NAME COMPILER "MESON TEST ARGUMENTS" MESON-SETUP-ARGUMENT...
# A variant that cannot be built leaves no results, which the report counts as a failure.
variants=()
variant() {
    local name=$1 compiler=$2 test_args=$3 start=$SECONDS
    local folder=build/$name log=build/$name.log
    shift 3
    variants+=("$name")
    mkdir -p build
    rm -f "$folder/meson-logs/testlog.json"
    # `meson test` builds what the chosen tests need, and no more.
    # shellcheck disable=SC2086 # test_args is a list of words
    if configure "$folder" "$compiler" -Dtests=enabled -Dexamples=enabled -Dbenchmarks=disabled "$@" >"$log" 2>&1; then
        NINJA_STATUS='[%f/%t] ' meson test -C "$folder" --num-processes "$JOBS" $test_args >>"$log" 2>&1 || true
    fi
    say "$name: $((SECONDS - start)) s"
}
suites() { printf -- '--suite %s ' "$@"; }

if $QUICK; then
    variant quick g++ ""
else
    # What compilers may disagree on runs once with each of them, what reads only the source tree runs once.
    variant gcc-release g++ "" -Dbuildtype=release
    # The sanitizers of two compilers differ little, and g++ takes long: whole programs rather than units. Its warnings
    # are less sure there.
    variant gcc-sanitized g++ "cases property replay_contract hcq threads cuda" "${SANITIZERS[@]}" -Dwerror=false
    variant clang-16-no-exceptions clang++-16 "$(suites doctest headers static compile_fail examples)" \
        -Dexceptions=false -Doptimization=1
    variant clang-19-sanitized clang++-19 "$(suites doctest headers static compile_fail examples)" "${SANITIZERS[@]}"

    # Whatever starts threads, under the sanitizer that cannot be had together with the other two.
    variant clang-19-threads clang++-19 "threads hcq cases property cuda simulated_cuda wave_multi_device cuda_decode" \
        -Db_sanitize=thread -Db_lundef=false -Doptimization=1

    fuzzers=(tests/fuzz/*.cpp)
    if [[ -e ${fuzzers[0]} ]]; then
        rounds=$(((${#fuzzers[@]} + JOBS - 1) / JOBS))
        variant clang-19-fuzz clang++-19 "--suite fuzz --test-args=-max_total_time=$((FUZZ_SECONDS / rounds))" \
            "${SANITIZERS[@]}" -Dfuzz=true
    fi
fi

python3 scripts/report.py build "${variants[@]}"
