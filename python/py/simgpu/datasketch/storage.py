"""datasketch's module ``storage``: storages in memory, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._datasketch.storage import DictListStorage as DictListStorage
from simgpu._datasketch.storage import DictSetStorage as DictSetStorage
from simgpu._datasketch.storage import OrderedStorage as OrderedStorage
from simgpu._datasketch.storage import Storage as Storage
from simgpu._datasketch.storage import UnorderedStorage as UnorderedStorage
from simgpu._datasketch.storage import _random_name  # noqa: F401
from simgpu._datasketch.storage import ordered_storage as ordered_storage
from simgpu._datasketch.storage import unordered_storage as unordered_storage


def __getattr__(name: str) -> Any:
    return name_of_installed("storage", name)
