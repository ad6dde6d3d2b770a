"""The ``simgpu`` command: ``python -m simgpu``."""

import signal
import sys

from . import _simgpu


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    # The command listens for signals itself. Python's handler would raise KeyboardInterrupt too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _simgpu.command(["simgpu", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
