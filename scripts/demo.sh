#!/usr/bin/env bash
# Shows graphjit at work: scripts/demo.sh [--wav FILE] [OPTION...]
# Runs the first example, the audio chain on FILE or on a recorded voice, the waves over two devices, and the transformer
# on the CPU. Other options go to the audio chain.
set -euo pipefail
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

wav=/usr/share/sounds/alsa/Front_Center.wav
packages=(g++ meson ninja-build pkg-config python3 libsndfile1-dev libpng-dev)
options=()
own_wav=false
while (($#)); do
    case $1 in
        --wav)
            (($# > 1)) || die "usage: scripts/demo.sh [--wav FILE] [OPTION...]"
            wav=$2 own_wav=true
            shift
            ;;
        --wav=*) wav=${1#--wav=} own_wav=true ;;
        *) options+=("$1") ;;
    esac
    shift
done
if $own_wav; then
    # The name was given where the user stands, not where this script goes.
    [[ $wav == /* ]] || wav=$caller/$wav
    [[ -r $wav ]] || die "demo: cannot read $wav"
else
    packages+=(alsa-utils)
fi
need "${packages[@]}"
[[ -r $wav ]] || die "demo: cannot read $wav; name a recording with --wav FILE"

log=build/demo.log
mkdir -p build
programs=(examples/01_record_replay examples/audio_chain/audio_chain examples/wave_multi_device/wave_multi_device
    examples/cuda_decode/cuda_decode_cpu)
if ! { configure build/demo "${CXX:-g++}" -Dbuildtype=release -Dtests=disabled -Dbenchmarks=disabled -Dexamples=enabled &&
    ninja -C build/demo "${programs[@]}"; } >"$log" 2>&1; then
    tail -n 50 "$log" >&2
    die "demo: could not be built"
fi

say "== examples/01_record_replay"
build/demo/examples/01_record_replay
say "== examples/audio_chain --wav $wav ${options[*]}"
(cd "$caller" && "$ROOT/build/demo/examples/audio_chain/audio_chain" --wav "$wav" "${options[@]}")
trace=$ROOT/build/demo/wave_multi_device.json
say "== examples/wave_multi_device --devices 2 --trace $trace"
"$ROOT/build/demo/examples/wave_multi_device/wave_multi_device" --devices 2 --trace "$trace"
say "== examples/cuda_decode (on the CPU)"
build/demo/examples/cuda_decode/cuda_decode_cpu
