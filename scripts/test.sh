#!/usr/bin/env bash
# Runs all tests. Needs a Rust toolchain (https://rustup.rs) and a C compiler, for zstd.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo >/dev/null; then
    echo "cargo is missing; install Rust from https://rustup.rs" >&2
    exit 1
fi

# The library as an embedder compiles it, and then everything.
cargo check --quiet --no-default-features --lib
cargo check --quiet --no-default-features --features io --lib
cargo test --quiet --all-targets
cargo test --quiet --doc
