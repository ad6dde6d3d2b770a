"""Attributes of native indexes that a program may assign, as it may those of datasketch."""

from typing import Any


def part(name: str, documented: str, *, holds_keys: bool = False) -> property:
    """An attribute of an index. The first other value that a program assigns moves the index from native tables to
    dictionaries; if the attribute holds keys, the first value of any kind does."""

    def get(self: Any) -> Any:
        return self._native_part(name) if self._is_native else self._parts[name]

    def assign(self: Any, value: Any) -> None:
        if self._is_native:
            if not holds_keys and value == self._native_part(name):
                return
            self._move_to_dictionaries()
        self._parts[name] = value

    return property(get, assign, doc=documented)
