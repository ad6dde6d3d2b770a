"""NeMo Curator: the MinHash stage of fuzzy deduplication, on the CPU.

:class:`MinHashStage` takes the place of ``nemo_curator.stages.deduplication.fuzzy.minhash.MinHashStage``, which needs
CUDA, and writes the same signatures. Needs the package ``nemo-curator``:
``pip install "simgpu[nemo]"``.
"""

from __future__ import annotations

from typing import Any, Literal

from ._hosts import require

require("simgpu.nemo", "nemo")

import pandas as pd
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet
from loguru import logger
from nemo_curator.stages.base import ProcessingStage
from nemo_curator.stages.deduplication.id_generator import (
    CURATOR_DEDUP_ID_STR,
    get_id_generator_actor,
)
from nemo_curator.stages.resources import Resources
from nemo_curator.tasks import DocumentBatch, FileGroupTask
from nemo_curator.utils.file_utils import create_or_overwrite_dir, get_fs

from . import Shingling, Signer
from .errors import UnsupportedError

__all__ = ["MinHashStage"]


class MinHashStage(ProcessingStage[FileGroupTask | DocumentBatch, FileGroupTask]):  # type: ignore[misc]
    """Computes MinHash signatures on the CPU, with the values of NeMo Curator's own stage.

    Takes the paths of input files (``FileGroupTask``) or documents in memory with a column ``_curator_dedup_id``
    (``DocumentBatch``). Writes one Parquet file per task with the columns ``_curator_dedup_id`` (int64) and
    ``minhash_field`` (list<uint32>, or list<uint64> with ``use_64bit_hash``), and returns its path.

    Args:
        output_path: The folder for the signatures; the stage writes into its subfolder ``MinHashStage``.
        text_field: The field of the text. A null is signed as an empty text.
        minhash_field: The column of the signatures.
        char_ngrams: Characters per shingle.
        num_hashes: Slots per signature.
        seed: The seed of the permutations.
        use_64bit_hash: Whether to hash to 64 bits.
        normalize_text: Must be ``False``: cuDF alone normalises as NeMo's stage does. Normalise in a stage before.
        read_format: ``"jsonl"`` or ``"parquet"``, for ``FileGroupTask`` only.
        read_kwargs: Arguments of ``pyarrow.json.read_json`` or ``pyarrow.parquet.read_table``.
        write_kwargs: ``storage_options``, for fsspec, and arguments of ``pyarrow.parquet.write_table``.
        pool: Ignored; there is no GPU memory to pool.
        threads: Threads of a worker, which are also the cores that it asks Ray for.

    Raises:
        simgpu.UnsupportedError: With ``normalize_text``.
    """

    def __init__(
        self,
        output_path: str,
        text_field: str = "text",
        minhash_field: str = "_minhash_signature",
        char_ngrams: int = 24,
        num_hashes: int = 260,
        seed: int = 42,
        use_64bit_hash: bool = False,
        normalize_text: bool = False,
        read_format: Literal["jsonl", "parquet"] | None = None,
        read_kwargs: dict[str, Any] | None = None,
        write_kwargs: dict[str, Any] | None = None,
        pool: bool = True,
        threads: int = 1,
    ):
        if normalize_text:
            raise UnsupportedError(
                "normalize_text runs on a GPU only; normalise the text in an earlier stage, and leave it out here"
            )
        self.name = self.__class__.__name__
        self.resources = Resources(cpus=float(threads))
        self.text_field = text_field
        self.minhash_field = minhash_field
        self.char_ngrams = char_ngrams
        self.num_hashes = num_hashes
        self.seed = seed
        self.use_64bit_hash = use_64bit_hash
        self.read_format = read_format
        self.read_kwargs = read_kwargs or {}
        self.write_kwargs = dict(write_kwargs or {})
        self.storage_options = self.write_kwargs.pop("storage_options", {})
        self.threads = threads
        self.id_generator: Any = None
        self.output_fs = get_fs(output_path, self.storage_options)
        self.output_path = self.output_fs.sep.join([output_path, self.name])
        create_or_overwrite_dir(self.output_path, storage_options=self.storage_options)

    def setup(self, _worker_metadata: Any = None) -> None:
        """Finds the actor that gives out ids. Documents in memory bring their own and need none."""
        try:
            self.id_generator = get_id_generator_actor()
        except ValueError:
            logger.warning(
                "found no IdGenerator actor; tasks with paths of files will fail, tasks with documents will not"
            )
            self.id_generator = None

    def inputs(self) -> dict[type, tuple[list[str], list[str]]]:
        """What a task must have."""
        return {
            FileGroupTask: (["data"], []),
            DocumentBatch: (["data"], [CURATOR_DEDUP_ID_STR, self.text_field]),
        }

    def outputs(self) -> tuple[list[str], list[str]]:
        """What the returned task has."""
        return (["data"], [])

    def process(self, task: FileGroupTask | DocumentBatch) -> FileGroupTask:
        """Signs the documents of a task and writes the signatures.

        Raises:
            RuntimeError: If a task has paths, and no IdGenerator actor runs.
            ValueError: If a task has paths, and ``read_format`` is not set.
            KeyError: If a column is missing.
        """
        if isinstance(task, DocumentBatch):
            table = _as_table(task.data)
        else:
            table = self._read_files(task.data)
        for column in (CURATOR_DEDUP_ID_STR, self.text_field):
            if column not in table.column_names:
                raise KeyError(f"no column {column!r} in task {task.task_id}")
        signatures = pa.array(self._signer().sign(table[self.text_field]))
        result = pa.table(
            {
                CURATOR_DEDUP_ID_STR: table[CURATOR_DEDUP_ID_STR].cast(pa.int64()),
                # NeMo's later stages read lists of variable length.
                self.minhash_field: signatures.cast(pa.list_(signatures.type.value_type)),
            }
        )
        path = self.output_fs.sep.join([self.output_path, f"{task.task_id}.parquet"])
        with self.output_fs.open(path, "wb") as file:
            pyarrow.parquet.write_table(result, file, **self.write_kwargs)
        return FileGroupTask(
            dataset_name=f"{task.dataset_name}_minhash",
            data=[path],
            _metadata={
                **task._metadata,
                "minhash_field": self.minhash_field,
                "num_hashes": self.num_hashes,
                "storage_options": self.storage_options or None,
            },
            _stage_perf=task._stage_perf,
        )

    def _signer(self) -> Signer:
        """Made for each task: stages travel between processes without one."""
        return Signer(
            "nemo64" if self.use_64bit_hash else "nemo",
            num_perm=self.num_hashes,
            seed=self.seed,
            shingling=Shingling("chars", self.char_ngrams, keep_whitespace=True),
            threads=self.threads,
        )

    def _read_files(self, paths: list[str]) -> pa.Table:
        """The texts of files, with the ids that NeMo's actor gives them."""
        if self.id_generator is None:
            raise RuntimeError(
                "found no IdGenerator actor; call create_id_generator_actor(), or give a DocumentBatch with a column "
                f"{CURATOR_DEDUP_ID_STR}"
            )
        tables = [self._read_file(path) for path in paths]
        table = pa.concat_tables(tables, promote_options="default")
        if CURATOR_DEDUP_ID_STR in table.column_names:
            return table
        import ray

        registered = self.id_generator.register_batch.remote(paths, len(table))
        first = ray.get(registered)
        ids = pa.array(range(first, first + len(table)), pa.int64())
        return table.append_column(CURATOR_DEDUP_ID_STR, ids)

    def _read_file(self, path: str) -> pa.Table:
        wanted = [self.text_field, CURATOR_DEDUP_ID_STR]
        with get_fs(path, self.storage_options).open(path, "rb") as file:
            if self.read_format == "jsonl":
                table = pyarrow.json.read_json(file, **self.read_kwargs)
            elif self.read_format == "parquet":
                table = pyarrow.parquet.read_table(file, **self.read_kwargs)
            else:
                raise ValueError(
                    f"read_format is {self.read_format!r}; give 'jsonl' or 'parquet' for tasks with paths of files"
                )
        return table.select([name for name in wanted if name in table.column_names])


def _as_table(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data, preserve_index=False)
    raise TypeError(f"the task holds a {type(data).__name__}; give a pyarrow.Table or a DataFrame")
