"""The exceptions of simgpu. Each is also one of Python's own kinds; errors of files are plain ``OSError``."""

from __future__ import annotations

import os


class Error(Exception):
    """Base class of the errors that simgpu raises."""


class ParameterError(Error, ValueError):
    """An argument is out of range, unknown, or contradicts another one."""


class InputError(Error, ValueError):
    """An input cannot be used.

    ``path``, ``row`` (from 0), ``line`` (from 1) and ``problem`` tell where and why, as far as
    known, else ``None``.
    """

    path: str | os.PathLike[str] | None = None
    row: int | None = None
    line: int | None = None
    problem: str | None = None


class OutputError(Error, OSError):
    """An output cannot be written: ``path`` and ``problem`` tell which and why."""

    path: str | os.PathLike[str] | None = None
    problem: str | None = None


class UnsupportedError(Error, RuntimeError):
    """This machine or this build lacks a capability."""


class StoppedError(Error, RuntimeError):
    """The progress function returned ``False``, so the run stopped without a result."""


class DefectError(Error, RuntimeError):
    """simgpu or the machine computed something wrong. Please report it."""


class SimgpuWarning(UserWarning):
    """The result may differ from what you expect."""
