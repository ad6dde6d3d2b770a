"""datasketch's own tests, run against simgpu.datasketch.

They are not in datasketch's distributions. ``DATASKETCH_TESTS`` names the folder ``test`` of a
checkout of github.com/ekzhu/datasketch, at commit 8d4bda1.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("datasketch", minversion="2.0")

FOLDER = os.environ.get("DATASKETCH_TESTS")
HERE = pathlib.Path(__file__).resolve().parent

# Tests that must pass per file. The others pass values of datasketch 1 without `scheme=`, or need
# CuPy or servers.
REQUIRED = {
    "test_minhash.py": 16,
    "test_lean_minhash.py": 12,
    "test_lsh.py": 13,
    "test_lshforest.py": 4,
    "test_lshensemble.py": 4,
    "test_minhash_gpu.py": 1,
}


@pytest.mark.skipif(FOLDER is None, reason="DATASKETCH_TESTS does not name datasketch's tests")
@pytest.mark.parametrize(("file", "required"), REQUIRED.items())
def test_suite_of_datasketch_passes(file, required):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "datasketch_in_place",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",  # of the checkout
    ]
    path = os.pathsep.join([str(HERE), *sys.path])
    ran = subprocess.run(
        [*command, "--rootdir", FOLDER, str(pathlib.Path(FOLDER) / file)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed and int(passed[1]) >= required, ran.stdout + ran.stderr
