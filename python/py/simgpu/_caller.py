"""Warnings at the line that called simgpu: the package's own lines tell a reader nothing, and repeat."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message, category):
    """Gives out a warning at the innermost line outside of this package: once per line, under Python's default filter."""
    # Now: NumPy changes the filters when it is loaded, and then Python forgets which warnings it has shown.
    import numpy  # noqa: F401

    frame = sys._getframe(1)
    # The command has no other lines than the package's.
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__") or "<unknown>"
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)
