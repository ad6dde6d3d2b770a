#!/usr/bin/env bash
# Runs the test suite under AddressSanitizer, and the fuzz target for a minute. Needs a nightly toolchain
# (`rustup toolchain install nightly`) and `cargo install cargo-fuzz`.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=target/sanitize \
    cargo +nightly test --quiet --workspace --all-features --target x86_64-unknown-linux-gnu --lib --bins --tests
cargo +nightly fuzz run every_isa --target-dir target/fuzz -- -max_total_time=60
