"""Running programs, those of an unpacked Debian among them."""

import os
import subprocess

TIMED_OUT = 124


class CompileError(Exception):
    """A compiler refused a program."""


def run(command, environment=None, timeout=300):
    """Runs a program; returns its exit status and all its output."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **(environment or {})},
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TIMED_OUT, f"error: no end within {timeout} seconds"
    return done.returncode, done.stdout


def in_unpacked(root, command, preload=None):
    """How a program is started with the C library of an unpacked Debian: a newer one."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    start = [root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries]
    if preload:
        start += ["--preload", libraries / preload]
    return start + command
