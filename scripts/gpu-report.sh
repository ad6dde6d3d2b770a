#!/usr/bin/env bash
# Checks and measures the GPU backend on a machine that has a device and nothing else: no compiler, no network.
#
#   scripts/gpu-report.sh FOLDER [DEVICE]
#
# Needs beside itself, or in the folder that SIMGPU_BIN names, what was built elsewhere:
#
#   cargo build --release                     target/release/simgpu
#   cargo bench --no-run --bench gpu          target/release/deps/gpu-*           as gpu-bench
#   cargo test --release --no-run --test gpu  target/release/deps/gpu-*           as gpu-tests
#
# Leaves environment.json, runs.csv and summary.md in FOLDER, and what the checks said.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '2,13s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
folder=$1
device=${2:-0}
bin=${SIMGPU_BIN:-$(cd "$(dirname "$0")" && pwd)}
for needed in simgpu gpu-bench gpu-tests; do
    if [ ! -x "$bin/$needed" ]; then
        echo "$bin/$needed is missing; build it as the head of this script says" >&2
        exit 1
    fi
done

export NODEVICE_SELECT=1
mkdir -p "$folder"
"$bin/simgpu" devices | tee "$folder/devices.txt"
echo "selftest, in both forms of the kernels"
"$bin/simgpu" selftest --backend gpu --device "$device" >"$folder/selftest.txt"
tail -n 1 "$folder/selftest.txt"
echo "agreement with the CPU"
SIMGPU_REQUIRE_GPU=1 "$bin/gpu-tests" --test-threads 2 >"$folder/agreement.txt" 2>&1 || {
    cat "$folder/agreement.txt" >&2
    exit 1
}
grep '^test result' "$folder/agreement.txt"
"$bin/gpu-bench" --bench --device "$device" --results "$folder"
