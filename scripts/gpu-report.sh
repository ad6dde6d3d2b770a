#!/usr/bin/env bash
# Checks and measures the GPU backend on a machine with a device but without compiler or network.
#
#   scripts/gpu-report.sh --pack FOLDER      where there is a compiler: builds what the report needs
#   FOLDER/gpu-report.sh RESULTS [DEVICE]    where there is a device: the report
#
# Packing needs cargo, git and jq. It writes simgpu, gpu-tests, gpu-failure-tests, build.json (commit and compiler) and
# this script to FOLDER. SIMGPU_BIN names that folder if the script runs from elsewhere.
#
# The report writes to RESULTS the speed and error of every backend, measured by `simgpu bench`, build.json, and the
# output of the checks.
set -euo pipefail

programs="simgpu gpu-tests gpu-failure-tests"

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# Copies the executable of one target, found in the messages of a cargo command.
copy_executable() {
    local messages=$1 kind=$2 name=$3 to=$4 built
    built=$(jq -r --arg kind "$kind" --arg name "$name" \
        'select(.reason == "compiler-artifact" and .target.kind == [$kind] and .target.name == $name) | .executable // empty' \
        <<<"$messages")
    if [ ! -x "$built" ]; then
        echo "cargo built no single executable of the $kind $name" >&2
        exit 1
    fi
    cp "$built" "$to"
}

pack() {
    local folder messages needed json=--message-format=json-render-diagnostics
    for needed in cargo git jq; do
        if ! command -v "$needed" >/dev/null; then
            echo "$needed is missing; --pack needs it" >&2
            exit 1
        fi
    done
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    cp "$0" "$folder/gpu-report.sh"
    cd "$(dirname "$0")/.."
    messages=$(cargo build --profile dist --package simgpu-cli --bin simgpu $json)
    copy_executable "$messages" bin simgpu "$folder/simgpu"
    messages=$(cargo test --profile dist --no-run --package simgpu --features gpu,internals \
        --test gpu --test gpu_failures $json)
    copy_executable "$messages" test gpu "$folder/gpu-tests"
    copy_executable "$messages" test gpu_failures "$folder/gpu-failure-tests"

    local changes
    changes=$(git status --porcelain -- src shaders vectors tests cli Cargo.toml Cargo.lock)
    jq -n --arg commit "$(git rev-parse HEAD)" --arg changes "$changes" \
        --arg rustc "$(rustc --version)" --arg flags "--profile dist${RUSTFLAGS:+ RUSTFLAGS=$RUSTFLAGS}" \
        '{commit: $commit, uncommitted_changes: ($changes != ""), rustc: $rustc, flags: $flags}' \
        >"$folder/build.json"
    echo "packed in $folder"
}

# Runs tests on the device of the report and fails if one is skipped for lack of a device.
check() {
    local tests=$1 log=$2
    SIMGPU_REQUIRE_GPU=1 SIMGPU_TEST_DEVICE=$device "$bin/$tests" --test-threads 2 >"$log" 2>&1 || {
        cat "$log" >&2
        exit 1
    }
    grep '^test result' "$log"
}

report() {
    local needed
    for needed in $programs; do
        if [ ! -x "$bin/$needed" ]; then
            echo "$bin/$needed is missing; --pack writes it" >&2
            exit 1
        fi
    done
    if [ ! -r "$bin/build.json" ]; then
        echo "$bin/build.json is missing; --pack writes it" >&2
        exit 1
    fi
    export NODEVICE_SELECT=1
    mkdir -p "$folder"
    "$bin/simgpu" devices | tee "$folder/devices.txt"
    echo "selftest, in both forms of the kernels"
    "$bin/simgpu" selftest --backend gpu --device "$device" >"$folder/selftest.txt" || {
        cat "$folder/selftest.txt" >&2
        exit 1
    }
    tail -n 1 "$folder/selftest.txt"
    echo "agreement with the CPU"
    check gpu-tests "$folder/agreement.txt"
    echo "devices that fail"
    check gpu-failure-tests "$folder/failures.txt"
    "$bin/simgpu" bench --parts throughput,error --backends scalar,simd,gpu,hybrid --device "$device" --results "$folder"
    cp "$bin/build.json" "$folder/build.json"
}

case ${1:-} in
--pack)
    [ $# -eq 2 ] || usage
    pack "$2"
    ;;
'' | -*) usage ;;
*)
    [ $# -le 2 ] || usage
    folder=$1
    device=${2:-0}
    bin=${SIMGPU_BIN:-$(cd "$(dirname "$0")" && pwd)}
    report
    ;;
esac
