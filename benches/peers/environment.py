"""What decides the numbers, beside the code."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def environment(core, peers):
    """The environment.json of a folder that `simgpu bench` did not make; `peers` says which tools were measured
    and how they are called."""
    changes = said("git", "status", "--porcelain", "--", "src", "benches", "Cargo.toml", "Cargo.lock")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "rustc": said("rustc", "--version"),
        "commit": said("git", "rev-parse", "HEAD"),
        "uncommitted_changes": None if changes is None else changes != "",
        "peers": {"python": platform.python_version(), "pinned_to_core": core, "tools": peers},
    }


def folder_name(environment):
    """Date, CPU model and cores: results/<date>-<machine>-peers."""
    model = environment["cpu"].lower().replace("(r)", "").replace("(tm)", "")
    words = "-".join(re.findall(r"[a-z0-9]+", model))
    return f"{environment['date']}-{words}-{environment['cores']}-cores-peers"


def said(*command):
    """What a program prints about this machine or this source tree, if it is there."""
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


def cpu_model():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return said("sysctl", "-n", "machdep.cpu.brand_string") or f"unknown {platform.machine()} CPU"


def memory_bytes():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
