"""The stages of a search that is divided among machines, without the engine that moves their tables.

A stage takes an iterator of Arrow batches and returns another: what ``mapInArrow`` of Spark calls. ``simgpu.spark`` and
``simgpu.ray`` say how the tables between them are partitioned and sorted.
"""

from .identical import Identical
from .edges import Contract, Members, gather, connect
from .items import HITS, ScanItems
from .ordered import Order, Ordered, ascending
from .plan import Plan, check_numbers, settings_of
from .raised import raised
from .report import (
    add_clusters,
    add_losses,
    add_reference,
    added_counts,
    report_of,
    skipped_of,
)
from .search import Search
from .side import ALONE, INPUT, REACH, REFERENCE, Side, keys_at
from .signing import Band, Number, Sign, SignAlone
from .tables import (
    DOCUMENTS,
    LEAST,
    CONNECTED,
    EDGES,
    PAIRS,
    REMOVALS,
    SIGNED,
    Batches,
    batch_of,
    column_named,
    kind_named,
    schema_of,
)

__all__ = [
    "ALONE",
    "DOCUMENTS",
    "LEAST",
    "CONNECTED",
    "EDGES",
    "HITS",
    "INPUT",
    "PAIRS",
    "REACH",
    "REFERENCE",
    "REMOVALS",
    "SIGNED",
    "Band",
    "Batches",
    "Contract",
    "Identical",
    "Members",
    "Number",
    "Order",
    "Ordered",
    "Plan",
    "ScanItems",
    "Search",
    "Side",
    "Sign",
    "SignAlone",
    "add_clusters",
    "add_losses",
    "add_reference",
    "added_counts",
    "ascending",
    "batch_of",
    "check_numbers",
    "column_named",
    "gather",
    "keys_at",
    "kind_named",
    "connect",
    "raised",
    "report_of",
    "schema_of",
    "settings_of",
    "skipped_of",
]
