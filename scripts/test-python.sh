#!/usr/bin/env bash
# Runs the tests of the Python package on a wheel, in a virtual environment.
# Usage: scripts/test-python.sh [--release] [--packages] [hosts | oldest]
#   --release    builds the wheel as it is published. Else it holds the extension module that the tests in Rust have
#                compiled, because compiling all once more takes minutes; the tests are the same.
#   --packages   installs what the tests need, and runs none
#   hosts        also installs datasets, polars, DuckDB, scikit-learn, datatrove, NeMo Curator, Jupyter and, where there is
#                Java, Spark, and runs the tests of the adapters and of the notebook
#   oldest       takes the oldest versions that python/pyproject.toml states, of all packages that go together, and runs the
#                tests of the adapters, too
# Packages stay in the target folder until the lists of python/tests change.
set -euo pipefail
cd "$(dirname "$0")/.."

release="" packages="" hosts="" oldest=""
for argument in "$@"; do
    case $argument in
    --release) release=1 ;;
    --packages) packages=1 ;;
    hosts) hosts=1 ;;
    oldest) oldest=1 ;;
    *)
        echo "$argument is no option; --release, --packages, hosts and oldest are" >&2
        exit 2
        ;;
    esac
done
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "the Python package needs Python 3.11 or later; install it, or name it by PYTHON" >&2
    exit 1
fi
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/python"
target=$(cd "$target" && pwd)
here=$target/python

venv=$here/venv${oldest:+-oldest}

# Sets where the programs of the virtual environment are: Windows has them in another folder.
find_programs() {
    programs=$venv/bin
    [ ! -d "$venv/Scripts" ] || programs=$venv/Scripts
}

pip() {
    "$programs/python" -m pip --disable-pip-version-check install --quiet --no-compile "$@"
}

install_packages() {
    local lists=(python/tests/requirements.txt) alone=() wanted
    [ -z "$oldest" ] || lists=(python/tests/requirements-oldest.txt)
    if [ "$hosts" ]; then
        lists+=(python/tests/requirements-hosts.txt)
        # NeMo Curator runs on Linux only. What it names as its dependencies takes gigabytes; the stage needs little of it.
        if [ "$(uname)" = Linux ]; then
            lists+=(python/tests/requirements-nemo.txt)
            alone=(nemo-curator==1.4.0 cosmos-xenna==0.3.0)
        fi
        if java -version >/dev/null 2>&1; then
            lists+=(python/tests/requirements-spark.txt)
        else
            echo "no Java: the tests on Spark are skipped; install a runtime of Java 17 or later, on PATH" >&2
        fi
    fi
    wanted=$("$python" -VV && cat "${lists[@]}" && echo "${alone[*]}")
    find_programs
    if "$programs/python" -c "" 2>/dev/null && [ "$(cat "$venv/installed" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    rm -rf "$venv"
    "$python" -m venv "$venv"
    find_programs
    pip 'maturin>=1.16,<2' wheel "${lists[@]/#/-r}"
    [ -z "${alone[*]}" ] || pip --no-deps "${alone[@]}"
    # Written last, so that half of an environment is made again.
    echo "$wanted" >"$venv/installed"
}

# Puts the extension module of the workspace's build into a wheel: the metadata are maturin's.
pack_compiled() {
    local module=$target/debug/lib_simgpu.so name=_simgpu.abi3.so
    case $(uname) in
    Darwin) module=$target/debug/lib_simgpu.dylib ;;
    MINGW* | MSYS* | CYGWIN*) module=$target/debug/_simgpu.dll name=_simgpu.pyd ;;
    esac
    # With an example, cargo counts the features that tests ask of libraries, and compiles none again.
    cargo build --quiet --workspace --all-features --lib --example gpu_programs
    "$programs/maturin" pep517 write-dist-info --quiet --interpreter "$programs/python" \
        --manifest-path python/Cargo.toml --metadata-directory "$here/package" >/dev/null
    cp -R python/py/simgpu "$here/package/"
    rm -rf "$here"/package/simgpu/_simgpu.abi3.so "$here"/package/simgpu/__pycache__
    cp "$module" "$here/package/simgpu/$name"
    "$programs/python" -m wheel pack "$here/package" --dest-dir "$here/wheels" >/dev/null
}

build_release() {
    "$programs/maturin" build --quiet --locked --compression-level 9 --manifest-path python/Cargo.toml \
        --out "$here/wheels"
    local bytes
    bytes=$(wc -c <"$(echo "$here"/wheels/simgpu-*.whl)")
    if [ "$bytes" -gt 20000000 ]; then
        echo "the wheel has $bytes bytes; leave out of it what fills more than 20,000,000" >&2
        exit 1
    fi
}

install_packages
[ -z "$packages" ] || exit 0
rm -rf "$here/wheels" "$here/package"
mkdir "$here/wheels" "$here/package"
if [ "$release" ]; then
    build_release
else
    pack_compiled
fi
pip --no-deps --force-reinstall "$here"/wheels/simgpu-*.whl
# From another folder, so that no test finds the sources.
tests=$PWD/python/tests
cd "$here"
run() {
    "$programs/python" -m pytest --quiet -p no:cacheprovider --rootdir "$tests" "$@"
}
# Spark mostly waits for its own processes, so its tests run beside the others.
spark=$here/spark.log
run "$tests/test_spark.py" >"$spark" 2>&1 &
running=$!
trap 'kill "$running" 2>/dev/null || true' EXIT
run --ignore "$tests/test_spark.py" "$tests" || failed=1
# 5: no test was found, since Spark or Java is not there.
wait "$running" || [ $? = 5 ] || failed=1
cat "$spark"
[ -z "${failed:-}" ]
