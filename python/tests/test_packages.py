"""The versions of other packages that simgpu states, and what it says of older ones."""

import importlib
import re
import subprocess
import sys
import textwrap
import tomllib
import types
import warnings
from importlib import metadata

import numpy as np
import pytest
from conftest import REPOSITORY

import simgpu
from simgpu import _hosts

PROJECT = tomllib.loads((REPOSITORY / "python" / "pyproject.toml").read_text())["project"]
ADAPTERS = {
    "simgpu.datatrove": "datatrove",
    "simgpu.duckdb": "duckdb",
    "simgpu.hf": "hf",
    "simgpu.nemo": "nemo",
    "simgpu.polars": "polars",
    "simgpu.ray": "ray",
    "simgpu.sklearn": "sklearn",
    "simgpu.spark": "spark",
}


def bounds(requirements):
    """The lower bound of each package."""
    parts = (re.match(r"([a-z-]+)(?:\[\w+\])?(?:>=([\d.]+))?$", requirement) for requirement in requirements)
    return {part[1]: part[2] for part in parts}


def test_extras_state_the_versions_that_are_checked():
    extras = PROJECT["optional-dependencies"]
    assert sorted(extras) == sorted(_hosts.EXTRAS)
    assert bounds(PROJECT["dependencies"]) == {"numpy": _hosts.OLDEST["numpy"]}
    for extra, packages in _hosts.EXTRAS.items():
        stated = bounds(extras[extra])
        assert set(packages) <= set(stated)
        for package, bound in stated.items():
            assert bound == _hosts.OLDEST.get(package), (extra, package)


def test_the_installed_package_has_these_extras():
    if not metadata.metadata("simgpu").get_all("Provides-Extra"):
        pytest.fail("the wheel has no extras")
    assert sorted(metadata.metadata("simgpu").get_all("Provides-Extra")) == sorted(_hosts.EXTRAS)


def test_classifiers_name_no_system_without_a_wheel():
    classifiers = PROJECT["classifiers"]
    assert "Operating System :: OS Independent" not in classifiers
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in classifiers


def pretended(monkeypatch, versions):
    """Makes packages look installed in these versions, or not at all."""
    real = metadata.version

    def version(name):
        if name not in versions:
            return real(name)
        if versions[name] is None:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "packages_distributions", dict)
    for name in versions:
        monkeypatch.delitem(sys.modules, _hosts._MODULES.get(name, name), raising=False)


@pytest.mark.parametrize("module", ADAPTERS)
def test_each_adapter_refuses_old_packages(module, monkeypatch):
    extra = ADAPTERS[module]
    monkeypatch.delitem(sys.modules, module, raising=False)
    for package in _hosts.EXTRAS[extra]:
        others = {other: "99.0" for other in _hosts.EXTRAS[extra] if other != package}
        for version, said in [("0.1.9", f"and {package} 0.1.9 is installed"), (None, "which is not installed")]:
            with monkeypatch.context() as patched:
                pretended(patched, {**others, package: version})
                with pytest.raises(ImportError) as raised:
                    importlib.import_module(module)
            message = str(raised.value)
            oldest = _hosts.OLDEST[package]
            assert message.startswith(f"{module} needs {package} {oldest} or later, ") and said in message
            assert message.endswith(f'; pip install --upgrade "simgpu[{extra}]"')


@pytest.mark.parametrize(
    ("version", "is_fine"),
    [("14.0.1", True), ("14.1", True), ("14.0.1.post3", True), ("100.0", True), ("14.0.0", False), ("9.9.9", False)],
)
def test_versions_are_compared_as_numbers(version, is_fine, monkeypatch):
    pretended(monkeypatch, {"pyarrow": version})
    if is_fine:
        _hosts.check("x", "pyarrow")
    else:
        with pytest.raises(ImportError, match=f"x needs pyarrow 14.0.1 or later, and pyarrow {version} is installed"):
            _hosts.check("x", "pyarrow")


def test_data_frames_refuse_old_packages(monkeypatch):
    table = simgpu.dedup(["a", "a"]).removed
    for method, package in [("to_pandas", "pandas"), ("to_polars", "polars")]:
        with monkeypatch.context() as patched:
            pretended(patched, {package: "0.20.1"})
            with pytest.raises(ImportError, match=rf"{method} needs {package} .*{package} 0.20.1 is installed; pip install"):
                getattr(table, method)()


class OldArray:
    """An array of pyarrow before 14, which has no interface."""

    __module__ = "pyarrow.lib"


def test_a_pyarrow_without_the_interface_is_named(monkeypatch):
    pretended(monkeypatch, {"pyarrow": "13.0.0"})
    with pytest.raises(simgpu.UnsupportedError, match="needs pyarrow 14.0.1 or later, and pyarrow 13.0.0 is installed"):
        simgpu.dedup(OldArray())


class OldChunkedArray:
    """A chunked array of pyarrow before 16: its chunks alone have the interface."""

    __module__ = "pyarrow.lib"

    def __init__(self, array):
        self._array = array
        self.chunks = array.chunks
        self.combine_chunks = array.combine_chunks


def test_chunked_arrays_of_older_pyarrow_are_read():
    pa = pytest.importorskip("pyarrow")
    texts = ["a rose is a rose", None, "by any other name", "a rose is a rose"]
    for chunks in [[texts[:2], texts[2:]], [texts], [[], texts]]:
        array = pa.chunked_array(chunks, pa.string())
        found = simgpu.dedup(OldChunkedArray(array), id=OldChunkedArray(pa.chunked_array([[1, 2], [3, 4]])))
        assert found.removed.to_pylist() == simgpu.dedup(texts, id=[1, 2, 3, 4]).removed.to_pylist() != []
    empty = simgpu.dedup(OldChunkedArray(pa.chunked_array([], pa.string())))
    assert len(empty) == 0


# Warnings


def caught(program):
    """The warnings of a program as Python shows them: under its default filters, each with a line."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=True
    )
    return [line for line in done.stderr.splitlines() if "Warning: " in line]


def test_warnings_name_the_line_of_the_caller_once(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent(
            """
            import warnings
            import simgpu
            from simgpu.datasketch import MinHash
            short = ["one", "two words", "three short words", "four"] * 300
            for _ in range(5):
                simgpu.dedup(short, progress=True)  # line 7
            for _ in range(3):
                simgpu.pairs(short, identical="star")  # line 9
            simgpu.dedup(short)  # line 10
            warnings.simplefilter("default")
            MinHash(hashobj=1)  # line 12
            MinHash.bulk([], hashobj=1)  # line 13
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=True)
    named = re.findall(r"^(.*):(\d+): (\w+): ", done.stderr, flags=re.M)
    assert {path for path, _, _ in named} == {str(script)}, done.stderr
    by_line = [(int(line), category) for _, line, category in named]
    assert by_line == [
        (7, "SimgpuWarning"),
        (9, "SimgpuWarning"),
        (10, "SimgpuWarning"),
        (12, "DeprecationWarning"),
        (13, "DeprecationWarning"),
    ], done.stderr


def test_warnings_skip_the_frames_of_the_package():
    from simgpu import _caller

    def given_out(name, source):
        """Calls `warn` from a module with this file name."""
        module = types.ModuleType("some")
        exec(compile(source, name, "exec"), module.__dict__)
        module.run(lambda: _caller.warn("text", simgpu.SimgpuWarning))

    inside = _caller._PACKAGE + "spark/inner.py"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        given_out(inside, "def run(call):\n    call()\n")
        given_out("outside.py", "def run(call):\n\n    call()\n")
    assert [(warning.filename, warning.lineno) for warning in found] != []
    assert all(warning.filename == __file__ for warning in found)


def test_numpy_is_not_newer_than_needed():
    """The package works with the NumPy that is installed; the environment with the oldest one runs this, too."""
    numbers = [int(part) for part in re.findall(r"\d+", np.__version__)[:3]]
    assert numbers >= _hosts._numbers(_hosts.OLDEST["numpy"])
    assert simgpu.Signer(num_perm=8).sign(["a"]).slots.dtype == np.uint32


def test_the_readme_states_the_oldest_versions():
    readme = (REPOSITORY / "python" / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("## Packages it plugs into") : readme.index("## Manners")]
    names = {"duckdb": "DuckDB", "nemo-curator": "NeMo Curator", "numpy": "NumPy", "pyspark": "PySpark", "ray": "Ray"}
    for package, oldest in _hosts.OLDEST.items():
        stated = set(re.findall(rf"\b{names.get(package, package)} (\d[\d.]*\d)", table))
        assert stated == {oldest}, package
    assert {f"`simgpu[{extra}]`" for extra in _hosts.EXTRAS} == set(re.findall(r"`simgpu\[\w+\]`", table))
