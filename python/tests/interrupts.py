"""Programs that get Ctrl-C."""

import signal
import subprocess
import sys
import textwrap
import time


def seconds_until_interrupted(code, timeout=60):
    """Runs code in an interpreter of its own, and sends it Ctrl-C once it prints ``began``. Returns the seconds until it
    prints ``interrupted`` and its ``time.monotonic()``, which must be its last line."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    rest, _ = process.communicate(timeout=timeout)
    last = rest.splitlines()[-1].split()
    assert last[0] == "interrupted"
    return float(last[1]) - sent
