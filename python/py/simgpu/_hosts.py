"""The packages that simgpu plugs into, with the oldest version of each that it works with.

The extras of ``pyproject.toml`` state the same versions; a test compares them.
"""

import re
import sys
from importlib import metadata

#: The oldest version of each package.
OLDEST = {
    "datasets": "2.18",
    "datatrove": "0.10.1",
    "duckdb": "1.0",
    "nemo-curator": "1.4",
    "numpy": "1.23.2",
    "pandas": "1.5.3",
    "polars": "1.3",
    "pyarrow": "14.0.1",
    "pyspark": "3.5",
    "ray": "2.46",
    "scikit-learn": "1.2",
}

#: The packages of each extra, as ``pip install "simgpu[spark]"`` installs them.
EXTRAS = {
    "datatrove": ["datatrove"],
    "duckdb": ["duckdb", "pyarrow"],
    "hf": ["datasets", "pyarrow"],
    "nemo": ["nemo-curator", "pandas", "pyarrow"],
    "pandas": ["pandas"],
    "polars": ["polars"],
    "pyarrow": ["pyarrow"],
    "ray": ["ray", "pyarrow"],
    "sklearn": ["scikit-learn"],
    # The extra also has pandas, which Spark's workers import.
    "spark": ["pyspark", "pyarrow"],
}


def require(user, extra):
    """Checks that the packages of an extra are installed, and new enough.

    Args:
        user: What needs them, as messages call it.
        extra: The extra that has them.

    Raises:
        ImportError: One is missing or too old; the message says which, and how to install it.
    """
    for package in EXTRAS[extra]:
        check(user, package, f"simgpu[{extra}]")


def check(user, package, wanted=None):
    """The same of one package. ``wanted`` is what pip shall install."""
    oldest = OLDEST[package]
    installed = _version_of(package)
    command = f'pip install --upgrade "{wanted or f"{package}>={oldest}"}"'
    if installed is None:
        raise ImportError(f"{user} needs {package} {oldest} or later, which is not installed; {command}", name=package)
    if _numbers(installed) < _numbers(oldest):
        raise ImportError(
            f"{user} needs {package} {oldest} or later, and {package} {installed} is installed; {command}", name=package
        )


def _version_of(package):
    """The version of a package; ``None`` if it is not installed."""
    # A module that is loaded decides: metadata may be of another copy, and are slow to find.
    module = sys.modules.get(_MODULES.get(package, package))
    version = getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _other_name(package)


def _other_name(package):
    """The version of a distribution of another name that has the module of a package."""
    module = _MODULES.get(package, package)
    for name in metadata.packages_distributions().get(module, ()):
        return metadata.version(name)
    return None


#: The modules whose names differ from those of the packages.
_MODULES = {"nemo-curator": "nemo_curator", "scikit-learn": "sklearn"}


def _numbers(version):
    """The numbers with which a version begins. A release candidate counts as its release."""
    return [int(number) for number in re.match(r"\d*(?:\.\d+)*", version)[0].split(".") if number]
