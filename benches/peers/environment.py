"""Everything that affects the numbers, except the code: machine and build."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Sources of what is measured.
SOURCES = ["src", "shaders", "cli", "benches", "Cargo.toml", "Cargo.lock"]


def environment(core, peers):
    """Contents of environment.json for a new folder; `peers` lists the measured tools and their calls."""
    changes = output_of("git", "status", "--porcelain", "--", *SOURCES)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "rustc": output_of("rustc", "--version"),
        "commit": output_of("git", "rev-parse", "HEAD"),
        "uncommitted_changes": None if changes is None else changes != "",
        "peers": {"python": platform.python_version(), "pinned_to_core": core, "tools": peers},
    }


def folder_name(environment):
    """Date, CPU model and cores: results/<date>-<machine>-peers."""
    model = environment["cpu"].lower().replace("(r)", "").replace("(tm)", "")
    words = "-".join(re.findall(r"[a-z0-9]+", model))
    return f"{environment['date']}-{words}-{environment['cores']}-cores-peers"


def output_of(*command):
    """Standard output of a program, run at the root of the repository; None if it fails."""
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
    return output_of("sysctl", "-n", "machdep.cpu.brand_string") or f"unknown {platform.machine()} CPU"


def memory_bytes():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
