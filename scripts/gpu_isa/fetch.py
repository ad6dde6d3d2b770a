"""Brings the compilers to a folder. Nothing is installed on the system, and no root is needed."""

import json
import platform
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import intel
import mesa
import nvidia
from tools import run

HERE = Path(__file__).parent
NVIDIA_PACKAGES = HERE / "nvidia.txt"
# What programs of Debian's newest packages need of their own system.
C_LIBRARIES = ["libc6", "libgcc-s1", "libstdc++6"]
MESA_PACKAGES = ["mesa-vulkan-drivers", "mesa-drm-shim", "libvulkan1", *C_LIBRARIES]
INTEL_PACKAGES = ["intel-ocloc", "libigc2", "libigdfcl2", *C_LIBRARIES]
# Older suites have a Mesa without shims, or one that knows fewer chips.
SUITE = "sid"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
VERSIONS = "versions.json"


class FetchError(Exception):
    """A compiler cannot be had."""


@dataclass
class Compilers:
    """Compilers that belong together."""

    name: str
    version: str
    root: Path
    targets: list
    # Has compile_program(compilers, program, target, stem).
    module: object
    # The programs and libraries that the module runs, by name.
    files: dict


@dataclass(frozen=True)
class Source:
    """Where compilers come from."""

    name: str
    targets: tuple
    module: object
    # Returns the folder and the files of the compilers, which it fetches unless they are there.
    fetch: callable


def fetch_nvidia(cache):
    """NVRTC, ptxas and nvdisasm, as Python packages."""
    root = cached(cache / "nvidia", NVIDIA_PACKAGES.read_text(), install_wheels)
    packages = next(root.glob("lib/python3*/site-packages/nvidia"))
    return root, {
        "nvrtc": next(packages.glob("cuda_nvrtc/lib/libnvrtc.so*")),
        "ptxas": packages / "cuda_nvcc/bin/ptxas",
        "nvdisasm": next(packages.glob("*/bin/nvdisasm")),
    }


def fetch_mesa(cache):
    """Mesa's drivers and shims, and the program that asks a driver for machine code."""
    # Of the headers' package, its own files are enough.
    headers = ["libvulkan-dev"]

    def unpack(root):
        return unpack_debian(root, MESA_PACKAGES, headers, shown=["mesa-vulkan-drivers"])

    root = cached(cache / "mesa", " ".join(MESA_PACKAGES + headers), unpack)
    program = root / "driver_listing"
    command = ["cc", "-O1", HERE / "driver_listing.c", "-o", program, "-I", root / "usr/include"]
    # The library needs a newer C library than this machine may have. When it runs, that is there.
    command += ["-L", root / mesa.LIBRARIES, "-lvulkan"]
    command += ["-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    must(command, "a C compiler")
    return root, {"driver_listing": program}


def fetch_intel(cache):
    """Intel's offline compiler."""

    def unpack(root):
        return unpack_debian(root, INTEL_PACKAGES, [], shown=["intel-ocloc", "libigc2"])

    root = cached(cache / "intel", " ".join(INTEL_PACKAGES), unpack)
    return root, {"ocloc": next(root.glob("usr/bin/ocloc*"))}


SOURCES = (
    Source("NVRTC and ptxas", tuple(nvidia.TARGETS), nvidia, fetch_nvidia),
    Source("Mesa", tuple(mesa.TARGETS), mesa, fetch_mesa),
    Source("ocloc", intel.TARGETS, intel, fetch_intel),
)


def fetch(cache, targets):
    """The compilers of some targets, and in words those that cannot be had."""
    found, missing = [], []
    for source in SOURCES:
        wanted = [target for target in source.targets if target in targets]
        if not wanted:
            continue
        try:
            root, files = source.fetch(cache)
        except FetchError as error:
            missing.append(f"{', '.join(wanted)}, for {source.name} cannot be fetched: {error}")
            continue
        version = versions(root)
        found.append(Compilers(source.name, version, root, wanted, source.module, files))
    return found, missing


def cached(folder, requested, fill):
    """The folder, filled unless the same was fetched before. `fill` returns versions by name."""
    marker = folder / VERSIONS
    if marker.exists() and json.loads(marker.read_text())["requested"] == requested:
        return folder
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise FetchError("it is there for Linux on x86-64 alone")
    print(f"fetching compilers to {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = fill(folder)
    # Written last, so that half a folder is fetched again.
    marker.write_text(json.dumps({"requested": requested, "versions": found}))
    return folder


def versions(root):
    """The versions of what was fetched, in words."""
    found = json.loads((root / VERSIONS).read_text())["versions"]
    return ", ".join(f"{name} {version}" for name, version in found.items())


def must(command, needed, environment=None):
    """Runs a program without which there is no compiler; returns its output."""
    try:
        failed, output = run(command, environment, timeout=600)
    except FileNotFoundError:
        raise FetchError(f"{command[0]} is missing; this needs {needed}") from None
    if failed:
        raise FetchError(f"{command[0]} failed: {' '.join(output.split())[-300:]}")
    return output


def install_wheels(root):
    """Installs Python packages to a virtual environment."""
    must([sys.executable, "-m", "venv", root], "Python's venv")
    pip = [root / "bin/python", "-m", "pip", "--disable-pip-version-check"]
    pip += ["--timeout", "20", "--retries", "1"]
    must([*pip, "install", "--quiet", "--no-deps", "-r", NVIDIA_PACKAGES], "pip")
    found = dict(line.split("==") for line in NVIDIA_PACKAGES.read_text().split())
    return {name.removeprefix("nvidia-cuda-"): version for name, version in found.items()}


def unpack_debian(root, packages, alone, shown):
    """Unpacks Debian's packages with all that they need, and those in `alone` without."""
    if not KEYRING.exists():
        raise FetchError("it is a Debian package, and this machine has no keys of Debian's archive")
    apt, needed = root / "apt", "Debian's apt and dpkg"
    for folder in ("parts", "lists/partial", "cache", "packages"):
        (apt / folder).mkdir(parents=True)
    # As if nothing were installed, so that apt names everything.
    (apt / "status").touch()
    (apt / "list").write_text(f"deb [signed-by={KEYRING}] {debian_mirror()} {SUITE} main\n")
    (apt / "conf").write_text(
        f'Dir::Etc::sourcelist "{apt}/list"; Dir::Etc::sourceparts "{apt}/parts";\n'
        f'Dir::State::Lists "{apt}/lists"; Dir::State::status "{apt}/status";\n'
        f'Dir::Cache "{apt}/cache"; APT::Install-Recommends "false";\n'
        'APT::Sandbox::User "root"; APT::Update::Error-Mode "any"; Acquire::Languages "none";\n'
        'Acquire::Retries "1"; Acquire::http::Timeout "20"; Acquire::https::Timeout "20";\n'
    )
    environment = {"APT_CONFIG": str(apt / "conf")}
    must(["apt-get", "-q", "update"], needed, environment)
    plan = must(["apt-get", "-s", "install", *packages], needed, environment)
    planned = dict(re.findall(r"^Inst (\S+) \((\S+)", plan, flags=re.M))
    download = ["env", "-C", apt / "packages", "apt-get", "-q", "download", *planned, *alone]
    must(download, needed, environment)
    for package in sorted((apt / "packages").glob("*.deb")):
        must(["dpkg", "-x", package, root], needed)
    shutil.rmtree(apt)
    return {name: planned[name] for name in shown}


def debian_mirror():
    """Where this machine gets Debian's packages from."""
    folder = Path("/etc/apt/sources.list.d")
    for path in [*sorted(folder.glob("*")), Path("/etc/apt/sources.list")]:
        text = path.read_text() if path.is_file() else ""
        found = re.search(r"^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(https?://\S+)", text, flags=re.M)
        if found:
            return found.group(1)
    raise FetchError("it is a Debian package, and this machine names no mirror of Debian")
