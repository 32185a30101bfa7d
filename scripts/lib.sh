# Shared by the scripts beside it; sourced, never run. Defines ROOT and JOBS, and goes to ROOT.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
JOBS=${GRAPHJIT_JOBS:-$(getconf _NPROCESSORS_ONLN)}
cd "$ROOT"

say() { printf '%s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# Where there is no apt-get a package is looked for by what it brings: a command, or a header.
is_present() {
    case $1 in
        g++ | cmake | pkg-config | python3 | valgrind | clang-format-*) command -v "$1" ;;
        meson) command -v meson ;;
        ninja-build) command -v ninja ;;
        clang-[0-9]*) command -v "${1/clang/clang++}" ;;
        libclang-rt-*) return 0 ;; # comes with clang elsewhere
        graphviz) command -v dot ;;
        alsa-utils) [[ -d /usr/share/sounds/alsa ]] ;;
        doctest-dev) has_header doctest/doctest.h ;;
        libtbb-dev) has_header tbb/task_arena.h ;;
        libbenchmark-dev) has_header benchmark/benchmark.h ;;
        libsndfile1-dev) has_header sndfile.h ;;
        libpng-dev) has_header png.h ;;
        nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
        *) die "scripts/lib.sh does not know how to look for $1" ;;
    esac >/dev/null 2>&1
}
has_header() { "${CXX:-c++}" -x c++ -E - <<<"#include <$1>"; }

# need PACKAGE...: installs what is missing, named as Debian and Ubuntu name it. Says nothing when nothing is missing.
need() {
    local package missing=() unknown=() known=() as_root=()
    local check=is_installed
    command -v apt-get >/dev/null || check=is_present
    for package; do "$check" "$package" || missing+=("$package"); done
    ((${#missing[@]})) || return 0

    [[ $check == is_installed ]] || die "graphjit: please install what Debian calls: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "graphjit: please run as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq || say "apt-get update failed; trying with the lists at hand"
    for package in "${missing[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then known+=("$package"); else unknown+=("$package"); fi
    done
    if ((${#known[@]})); then
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${known[@]}" </dev/null >/dev/null
    fi
    if ((${#unknown[@]})); then
        say "graphjit: this release of $(. /etc/os-release && echo "$PRETTY_NAME") has no package ${unknown[*]};" \
            "what needs it will fail (the scripts are written for Debian 12)"
    fi
}

# configure FOLDER COMPILER MESON-ARGUMENT...: sets up a build folder, or brings one up to date.
configure() {
    local folder=$1 compiler=$2
    shift 2
    if [[ -f $folder/build.ninja ]] && CXX=$compiler meson setup --reconfigure "$folder" "$@"; then return 0; fi
    # New, or left by another Meson or with options that are gone.
    rm -rf "$folder"
    CXX=$compiler meson setup "$folder" "$@"
}
