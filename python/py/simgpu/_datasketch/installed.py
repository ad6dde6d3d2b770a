"""The installed datasketch, also where ``simgpu.datasketch`` stands in its place."""

import importlib
import pathlib
import sys
import threading
from types import ModuleType
from typing import Any

OURS = "simgpu.datasketch"
THEIRS = "datasketch"

# datasketch's own modules while ``sys.modules["datasketch"]`` is simgpu's.
_hidden: dict[str, ModuleType] = {}
_lock = threading.RLock()


def _by_their_names() -> dict[str, ModuleType]:
    """The modules by the name of datasketch."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == THEIRS
    }


def _is_ours(module: ModuleType) -> bool:
    folder = pathlib.Path(__file__).parent.with_name("datasketch")
    return folder in pathlib.Path(getattr(module, "__file__", None) or "").parents


def installed(module: str = "") -> ModuleType:
    """A module of the installed datasketch; without a name, datasketch itself.

    Raises:
        ImportError: If datasketch is not installed.

    """
    name = f"{THEIRS}.{module}" if module else THEIRS
    try:
        with _lock:
            root = sys.modules.get(THEIRS)
            if root is None or not _is_ours(root):
                importlib.import_module(THEIRS)
                return importlib.import_module(name)
            found = _by_their_names()
            ours = {each: found[each] for each in found if _is_ours(found[each])}
            for each in ours:
                del sys.modules[each]
            sys.modules.update(_hidden)
            try:
                return importlib.import_module(name)
            finally:
                _hidden.update({k: v for k, v in _by_their_names().items() if k not in found or k in ours})
                for each in _hidden:
                    sys.modules.pop(each, None)
                sys.modules.update(ours)
    except ImportError as error:
        raise ImportError(
            f"{name.replace(THEIRS, OURS, 1)} is datasketch's own; install it: pip install datasketch"
        ) from error


def name_of_installed(module: str, name: str) -> Any:
    """A name of a module of the installed datasketch, for the ``__getattr__`` of a module of ours."""
    if not name.startswith("__"):  # Python asks modules for names such as __path__
        found = getattr(installed(module), name, installed)
        if found is not installed:
            return found
    raise AttributeError(f"module {f'{OURS}.{module}'!r} has no attribute {name!r}")


def stand_in(name: str) -> None:
    """Puts the installed datasketch's module in the place of the module of this name, which has nothing of its own."""
    sys.modules[name] = installed(name.partition(f"{THEIRS}.")[2])
