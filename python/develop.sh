#!/usr/bin/env bash
# Builds the extension module with the workspace's development profile and puts it beside the Python sources.
# Then PYTHONPATH=python/py runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --workspace --all-features
cp -f "${CARGO_TARGET_DIR:-target}/debug/lib_simgpu.so" python/py/simgpu/_simgpu.abi3.so
