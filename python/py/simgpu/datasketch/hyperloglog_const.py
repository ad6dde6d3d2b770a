"""datasketch's module ``hyperloglog_const``, of the installed datasketch."""

from typing import TYPE_CHECKING, Any

from simgpu._datasketch.installed import stand_in

stand_in(__name__)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
