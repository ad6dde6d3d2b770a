"""NeMo Curator's stage, against cuDF's formula computed with other packages."""

import pytest

pytest.importorskip("nemo_curator")
mmh3 = pytest.importorskip("mmh3")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from nemo_curator.tasks import DocumentBatch  # noqa: E402

import simgpu  # noqa: E402
from simgpu.nemo import MinHashStage  # noqa: E402

TEXTS = [
    "A text of more than twenty-four characters, some of them not ASCII: naïve café.",
    "short",
    "A text of more than twenty-four characters, some of them not ASCII: naive cafe.",
]


def by_formula(text, width, num_hashes, seed):
    """NeMo draws a, b per slot; cuDF hashes windows of characters and takes the least of (a*h + b) mod 2^32."""
    generator = np.random.RandomState(seed)
    p31 = np.uint32((1 << 31) - 1)
    draws = [
        (
            int(generator.randint(1, p31, dtype=np.uint32)),
            int(generator.randint(0, p31, dtype=np.uint32)),
        )
        for _ in range(num_hashes)
    ]
    windows = [text[i : i + width] for i in range(max(1, len(text) - width + 1))]
    hashes = [max(1, mmh3.hash(window, draws[0][0], signed=False)) for window in windows]
    return [min((a * h + b) % 2**32 for h in hashes) for a, b in draws]


def batch(texts):
    table = pa.table({"_curator_dedup_id": pa.array(range(10, 10 + len(texts))), "body": texts})
    task = DocumentBatch(dataset_name="texts", data=table)
    # NeMo's executors do this.
    task._set_task_id("", 7)
    return task


@pytest.mark.parametrize("as_pandas", [False, True])
def test_a_batch_of_documents_is_signed_as_by_cudf(tmp_path, as_pandas):
    task = batch(TEXTS)
    if as_pandas:
        task.data = task.data.to_pandas()
    stage = MinHashStage(str(tmp_path), text_field="body", num_hashes=20, char_ngrams=24, seed=42)
    done = stage.process(task)
    table = pq.read_table(done.data[0])
    assert table.schema.field("_minhash_signature").type == pa.list_(pa.uint32())
    assert table["_curator_dedup_id"].to_pylist() == [10, 11, 12]
    expected = [by_formula(text, 24, 20, 42) for text in TEXTS]
    assert table["_minhash_signature"].to_pylist() == expected
    assert done._metadata["num_hashes"] == 20


def test_64_bits(tmp_path):
    stage = MinHashStage(str(tmp_path), text_field="body", num_hashes=8, use_64bit_hash=True)
    table = pq.read_table(stage.process(batch(TEXTS)).data[0])
    assert table.schema.field("_minhash_signature").type == pa.list_(pa.uint64())
    shingling = simgpu.Shingling("chars", 24, keep_whitespace=True)
    signer = simgpu.Signer("nemo64", num_perm=8, shingling=shingling)
    assert table["_minhash_signature"].to_pylist() == signer.sign(TEXTS).slots.tolist()


def test_what_it_cannot_do_is_named(tmp_path):
    with pytest.raises(simgpu.UnsupportedError, match="normalize_text"):
        MinHashStage(str(tmp_path), normalize_text=True)
    with pytest.raises(KeyError, match="text"):
        MinHashStage(str(tmp_path)).process(batch(TEXTS))
