"""Brings the compilers to a folder. Nothing is installed on the system, and no root is needed."""

import json
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import intel
import mesa
import nvidia
from tools import run

HERE = Path(__file__).parent
# Debian's newest packages: older ones of Mesa have no shims, or know fewer chips.
SUITE = "sid"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
VERSIONS = "versions.json"


class FetchError(Exception):
    """A compiler cannot be had."""


@dataclass
class Compilers:
    """Compilers that belong together, and the targets that they compile for."""

    name: str
    version: str
    root: Path
    targets: tuple
    # A module with compile_program(compilers, program, target, stem).
    module: object


def nvidia_compilers(cache):
    """NVRTC, ptxas and nvdisasm, as Python packages."""
    requested = HERE / "nvidia.txt"
    root = cached(cache / "nvidia", requested.read_text(), lambda root: install_wheels(root, requested))
    compilers = Compilers("NVRTC and ptxas", versions(root), root, tuple(nvidia.TARGETS), nvidia)
    packages = next(root.glob("lib/python3*/site-packages/nvidia"))
    compilers.nvrtc = next(packages.glob("cuda_nvrtc/lib/libnvrtc.so*"))
    compilers.ptxas = packages / "cuda_nvcc/bin/ptxas"
    compilers.nvdisasm = next(packages.glob("*/bin/nvdisasm"))
    return compilers


def mesa_compilers(cache):
    """Mesa's drivers and shims, and the program that asks a driver for machine code."""
    packages = ["mesa-vulkan-drivers", "mesa-drm-shim", "libvulkan1", "libc6", "libgcc-s1", "libstdc++6"]
    # Only its own files are needed: the headers.
    headers = ["libvulkan-dev"]
    root = cached(
        cache / "mesa",
        " ".join(packages + headers),
        lambda root: unpack_debian(root, packages, headers, shown=["mesa-vulkan-drivers"]),
    )
    compilers = Compilers("Mesa", versions(root), root, tuple(mesa.TARGETS), mesa)
    compilers.driver_listing = cache / "driver_listing"
    libraries = root / mesa.LIBRARIES
    command = ["cc", "-O1", HERE / "driver_listing.c", "-o", compilers.driver_listing]
    # The libraries need a newer C library than this machine may have; it is there when the program runs.
    command += ["-I", root / "usr/include", "-L", libraries, "-lvulkan", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    must(command, "a C compiler")
    return compilers


def intel_compilers(cache):
    """Intel's offline compiler."""
    packages = ["intel-ocloc", "libigc2", "libigdfcl2", "libc6", "libgcc-s1", "libstdc++6"]
    root = cached(
        cache / "intel",
        " ".join(packages),
        lambda root: unpack_debian(root, packages, [], shown=["intel-ocloc", "libigc2"]),
    )
    compilers = Compilers("ocloc", versions(root), root, intel.TARGETS, intel)
    compilers.ocloc = next(root.glob("usr/bin/ocloc*"))
    return compilers


# How each is fetched, and the targets that are missing without it.
SOURCES = (
    ("NVRTC and ptxas", nvidia_compilers, tuple(nvidia.TARGETS)),
    ("Mesa", mesa_compilers, tuple(mesa.TARGETS)),
    ("ocloc", intel_compilers, intel.TARGETS),
)


def cached(folder, requested, fetch):
    """The folder, filled by `fetch` unless the same was fetched before."""
    marker = folder / VERSIONS
    if marker.exists() and json.loads(marker.read_text())["requested"] == requested:
        return folder
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise FetchError("it is fetched for Linux on x86-64 only")
    print(f"fetching {folder.name} to {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = fetch(folder)
    # Written last, so that half a folder is fetched again.
    marker.write_text(json.dumps({"requested": requested, "versions": found}))
    return folder


def versions(root):
    """The versions of what was fetched, in words."""
    found = json.loads((root / VERSIONS).read_text())["versions"]
    return ", ".join(f"{name} {version}" for name, version in found.items())


def must(command, needed, environment=None):
    """Runs a program whose failure means that there is no compiler."""
    try:
        failed, output = run(command, environment, timeout=600)
    except FileNotFoundError:
        raise FetchError(f"{command[0]} is missing; it needs {needed}") from None
    except subprocess.TimeoutExpired:
        raise FetchError(f"{command[0]} took longer than ten minutes") from None
    if failed:
        raise FetchError(f"{command[0]} failed: {output.strip()[-300:]}")
    return output


def install_wheels(root, requirements):
    """Installs Python packages to a virtual environment."""
    must([sys.executable, "-m", "venv", root], "Python's venv")
    pip = [root / "bin/python", "-m", "pip", "--disable-pip-version-check", "--timeout", "20", "--retries", "1"]
    must([*pip, "install", "--quiet", "--no-deps", "-r", requirements], "a registry of Python packages")
    found = dict(line.split("==") for line in requirements.read_text().split())
    return {name.removeprefix("nvidia-cuda-"): version for name, version in found.items()}


def unpack_debian(root, packages, alone, shown):
    """Unpacks Debian's packages with all that they need, and those in `alone` without."""
    if not KEYRING.exists():
        raise FetchError("it is a Debian package, and this machine has no keys of Debian's archive")
    apt = root / "apt"
    for folder in ("parts", "lists/partial", "cache", "packages"):
        (apt / folder).mkdir(parents=True)
    (apt / "status").touch()
    (apt / "list").write_text(f"deb [signed-by={KEYRING}] {debian_mirror()} {SUITE} main\n")
    (apt / "conf").write_text(
        f'Dir::Etc::sourcelist "{apt}/list"; Dir::Etc::sourceparts "{apt}/parts";\n'
        f'Dir::State::Lists "{apt}/lists"; Dir::State::status "{apt}/status"; Dir::Cache "{apt}/cache";\n'
        'APT::Install-Recommends "false"; APT::Sandbox::User "root"; APT::Update::Error-Mode "any";\n'
        'Acquire::Languages "none"; Acquire::Retries "1"; Acquire::http::Timeout "20";\n'
    )
    environment = {"APT_CONFIG": str(apt / "conf")}
    needed = "Debian's apt and dpkg"
    must(["apt-get", "-q", "update"], needed, environment)
    planned = must(["apt-get", "-s", "install", *packages], needed, environment)
    planned = dict(re.findall(r"^Inst (\S+) \((\S+)", planned, flags=re.M))
    subprocess_in = ["env", "-C", apt / "packages", "apt-get", "-q", "download", *planned, *alone]
    must(subprocess_in, needed, environment)
    for package in sorted((apt / "packages").glob("*.deb")):
        must(["dpkg", "-x", package, root], needed)
    shutil.rmtree(apt)
    return {name: planned[name] for name in shown}


def debian_mirror():
    """Where this machine gets Debian's packages from."""
    sources = sorted(Path("/etc/apt/sources.list.d").glob("*")) + [Path("/etc/apt/sources.list")]
    for path in sources:
        if path.exists():
            found = re.search(r"^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(https?://\S+)", path.read_text(), flags=re.M)
            if found:
                return found.group(1)
    raise FetchError("it is a Debian package, and this machine names no mirror of Debian")


def fetch(cache, targets):
    """The compilers of some targets, and in words those that cannot be had."""
    compilers, missing = [], []
    for name, source, all_targets in SOURCES:
        wanted = tuple(target for target in targets if target in all_targets)
        if not wanted:
            continue
        try:
            found = source(cache)
            found.targets = wanted
            compilers.append(found)
        except FetchError as error:
            missing.append((name, wanted, str(error)))
    return compilers, missing
