#!/usr/bin/env bash
# Runs all tests. Needs a Rust toolchain (https://rustup.rs), a C compiler, for zstd, Python 3.11, and a device for Vulkan:
# where there is none, Mesa's lavapipe, a device in software, is installed if that is possible, and so are Chromium, for the
# test of the report page, and Java, for the tests on Spark.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo >/dev/null; then
    echo "cargo is missing; install Rust from https://rustup.rs" >&2
    exit 1
fi

# A driver is found by its manifest, as the Vulkan loader finds it.
has_vulkan() {
    # Not by a pipe: grep ends at once, and pipefail would count the signal that ldconfig then gets.
    [[ "$(ldconfig -p 2>/dev/null)" == *libvulkan.so.1* ]] || return 1
    [ -n "${VK_DRIVER_FILES:-}" ] || compgen -G "/usr/share/vulkan/icd.d/*.json" >/dev/null ||
        compgen -G "/etc/vulkan/icd.d/*.json" >/dev/null
}

# Installs Debian's packages, if that is possible.
install() {
    local become=""
    [ "$(id -u)" = 0 ] || become="sudo -n"
    command -v apt-get >/dev/null && $become true 2>/dev/null || return 1
    $become apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $become apt-get install -qq --no-install-recommends "$@" >/dev/null
}

install_lavapipe() {
    echo "installing lavapipe, a Vulkan device in software, for the tests of the GPU backend" >&2
    install mesa-vulkan-drivers libvulkan1
}

has_browser() {
    [ -n "${CHROME:-}" ] || command -v chromium google-chrome chromium-browser google-chrome-stable >/dev/null
}

install_browser() {
    echo "installing Chromium, for the test of the report page" >&2
    install chromium fonts-dejavu-core
}

install_java() {
    echo "installing Java, for the tests on Spark" >&2
    install default-jre-headless
}

if [ "$(uname -s)" = Linux ] && ! has_vulkan && ! install_lavapipe; then
    echo "no Vulkan device; install one for the tests of the GPU backend, such as Debian's" \
        "mesa-vulkan-drivers and libvulkan1, or leave them out with SIMGPU_REQUIRE_GPU=0" >&2
    [ "${SIMGPU_REQUIRE_GPU:-1}" = 0 ] || exit 1
fi
# So that no test of the GPU backend is skipped without a word.
export SIMGPU_REQUIRE_GPU="${SIMGPU_REQUIRE_GPU:-1}"
if has_browser || install_browser; then
    export SIMGPU_REQUIRE_BROWSER="${SIMGPU_REQUIRE_BROWSER:-1}"
else
    echo "no browser: the test of the report page is skipped; install Chromium, or name a browser by CHROME" >&2
fi
# scripts/test-python.sh says what it leaves out without it.
command -v java >/dev/null || install_java || true
# Mesa's choice of a device talks on stderr where there is no desktop.
export NODEVICE_SELECT=1

# Packages come over the network while Rust compiles.
packages=$(mktemp)
scripts/test-python.sh --packages hosts >"$packages" 2>&1 &
installing=$!
trap 'kill "$installing" 2>/dev/null || true; rm -f "$packages"' EXIT

. scripts/step.sh

# The library as embedders compile it, bare and with all features, and the command as the Python package has it, without a GPU.
check_features() {
    cargo check --quiet --package simgpu --no-default-features --lib
    cargo check --quiet --package simgpu --no-default-features --features gpu,selftest --lib
    cargo check --quiet --package simgpu-cli --no-default-features
}
step "checks of features" check_features

step "compilation of tests" cargo test --quiet --workspace --all-features --tests --benches --no-run
# All failures at once: to compile takes longer than to run.
step "tests of Rust" cargo test --quiet --workspace --all-features --tests --benches --no-fail-fast
step "examples in documentation" cargo test --quiet --workspace --all-features --doc

# The model of a GPU's way: its own tests, its runs beside their predictions, and what pages say of it.
check_gpu_model() {
    "${PYTHON:-python3}" -B scripts/gpu_model/test_model.py --quiet
    scripts/gpu-model.sh check >/dev/null
    scripts/gpu-model.sh tables
}
step "model of a GPU" check_gpu_model

wait "$installing" || {
    cat "$packages" >&2
    exit 1
}
step "tests of Python" scripts/test-python.sh hosts
