#!/usr/bin/env bash
# Compiles the library for 64-bit ARM and runs its tests, NEON kernels included, under emulation.
#
#   scripts/neon.sh --lib        arguments go to `cargo test`: here, unit tests alone
#
# Needs Debian and, the first time, root: it installs a compiler with the standard library for arm64 from
# Debian's packages, since rustup's toolchain may have none. On an ARM machine `cargo test` does the same.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
if [ ! -d /usr/lib/rustlib/$target ]; then
    dpkg --add-architecture arm64
    apt-get update -qq
    apt-get install -qq --no-install-recommends rustc-web gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    # The package for arm64 conflicts with the one for this machine; its files are enough.
    unpacked=$(mktemp -d)
    (cd "$unpacked" && apt-get download -qq libstd-rust-web-dev:arm64 && dpkg -x ./*.deb .)
    cp -r "$unpacked/usr/lib/rustlib/$target" /usr/lib/rustlib/
    rm -r "$unpacked"
fi

export RUSTC=/usr/bin/rustc
export CARGO_TARGET_DIR=target/neon
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
cargo test --workspace --exclude simgpu-cli --exclude simgpu-bench --exclude simgpu-python --all-features --target $target "$@"
