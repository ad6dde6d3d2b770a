#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a new virtual environment and runs the package's tests.
# Usage: scripts/test-python.sh [hosts]. With hosts: also installs datasets, polars, DuckDB, scikit-learn, datatrove,
# NeMo Curator, Jupyter and, where there is Java, Spark, and runs the tests of the adapters and of the notebook.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "the Python package needs Python 3.11 or later; install it, or name it by PYTHON" >&2
    exit 1
fi
target=${CARGO_TARGET_DIR:-target}/python
rm -rf "$target"
mkdir -p "$target"
"$python" -m venv "$target/venv"
# Windows has them in another folder.
programs=$target/venv/bin
[ -d "$programs" ] || programs=$target/venv/Scripts
programs=$(cd "$programs" && pwd)
pip() {
    "$programs/python" -m pip --disable-pip-version-check install --quiet "$@"
}
pip 'maturin>=1.16,<2'
"$programs/maturin" build --quiet --release --locked --compression-level 9 --manifest-path python/Cargo.toml --out "$target/wheels"
bytes=$(wc -c <"$(echo "$target"/wheels/simgpu-*.whl)")
if [ "$bytes" -gt 20000000 ]; then
    echo "the wheel has $bytes bytes; leave out of it what fills more than 20,000,000" >&2
    exit 1
fi
pip "$target"/wheels/simgpu-*.whl -r python/tests/requirements.txt
if [ "${1:-}" = hosts ]; then
    pip -r python/tests/requirements-hosts.txt
    # NeMo Curator runs on Linux only. What it names as its dependencies takes gigabytes; the stage needs little of it.
    if [ "$(uname)" = Linux ]; then
        pip -r python/tests/requirements-nemo.txt
        pip --no-deps nemo-curator==1.4.0 cosmos-xenna==0.3.0
    fi
    if java -version >/dev/null 2>&1; then
        pip -r python/tests/requirements-spark.txt
    else
        echo "no Java: the tests on Spark are skipped; install a runtime of Java 17 or later, on PATH" >&2
    fi
fi
# From another folder, so that no test finds the sources.
tests=$PWD/python/tests
cd "$target"
"$programs/python" -m pytest --quiet -p no:cacheprovider --rootdir "$tests" "$tests"
