"""What the programs of docs/index.md do with an index, in place of a MinHashLSH in Redis or in a pickle."""

import random
import re

import pytest
import simgpu
from corpora import corpus
from simgpu import Index, Shingling


def jaccard(a, b):
    return len(a & b) / len(a | b)


def test_news_that_resemble_each_other_are_found(tmp_path):
    """As doc_deduplicator: all articles go in, then each is asked for the others that it resembles."""
    articles = {f"{row}.json": " ".join(text.split()) for row, text in enumerate(corpus(300, seed=6)) if re.search(r"\w", text)}
    index = Index.create(tmp_path / "lsh_model", threshold=0.75, kind="exact", shingling=Shingling("words", 1))
    keys, texts = zip(*articles.items(), strict=True)
    index.add_many(texts, id=keys)
    index.close()
    index = Index(tmp_path / "lsh_model")
    found = {(key, hit.id) for key, text in articles.items() for hit in index.check(text)} - {(key, key) for key in articles}
    sets = {key: set(re.findall(r"\w+", text)) for key, text in articles.items()}
    assert found == {(a, b) for a in keys for b in keys if a != b and jaccard(sets[a], sets[b]) >= 0.75} != set()
    index.close()


def test_values_of_a_database_are_found_by_keyword(tmp_path):
    """As CHESS: the values of columns go in one by one, and a keyword is asked for the ten most similar ones."""
    rng = random.Random(2)
    letters = "abcdefghiklmnoprstu"
    names = ["".join(rng.choice(letters) for _ in range(rng.randrange(3, 8))) for _ in range(80)]
    values = [f"{rng.choice(names)} {rng.choice(names)} school".title() for _ in range(300)]
    index = Index.create(tmp_path / "lsh", threshold=0.01, kind="exact", shingling=Shingling("chars", 3), durability="sync")
    for row, value in enumerate(values):
        index.add(value, f"schools_name_{row}")
    index.close()

    def grams(text):
        return {text[start : start + 3] for start in range(len(text) - 2)}

    with Index(tmp_path / "lsh") as index:
        for keyword in [*values[:20], "Rob School", names[3]]:
            similarities = [hit.similarity for hit in index.check(keyword, limit=10)]
            all_of_them = sorted((jaccard(grams(keyword), grams(value)) for value in values), reverse=True)
            assert similarities == [similarity for similarity in all_of_them if similarity >= 0.01][:10]


def test_a_stream_is_deduplicated_and_goes_on(tmp_path):
    """As NLPDedup: each document is kept if it resembles none that was kept, also those of an earlier run."""
    texts = corpus(300, seed=8)
    kept = []
    for run in (range(150), range(150, 300)):
        with Index.create(tmp_path / "lsh_cache", threshold=0.8, verify="exact", durability="sync", exist_ok=True) as cache:
            kept += [row for row in run if not cache.check_or_add(texts[row], row)]
    assert kept == simgpu.dedup(texts, threshold=0.8, candidates="lsh").keep.nonzero()[0].tolist()


def test_an_empty_index_is_true(tmp_path):
    """Programs ask ``if not self.lsh`` for whether there is one."""
    index = Index.create(tmp_path / "lsh")
    assert len(index) == 0 and index
    index.close()
    assert not index


def test_candidates_of_datasketch_that_are_similar_are_found(tmp_path):
    datasketch = pytest.importorskip("datasketch")
    texts = [" ".join(text.split()) for text in corpus(200, seed=12) if re.search(r"\w", text)]
    lsh = datasketch.MinHashLSH(threshold=0.6, num_perm=128)
    sets, sketches = [set(re.findall(r"\w+", text)) for text in texts], []
    for row, words in enumerate(sets):
        sketch = datasketch.MinHash(num_perm=128)
        sketch.update_batch([word.encode() for word in words])
        lsh.insert(row, sketch)
        sketches.append(sketch)
    similar = {(a, b) for a, sketch in enumerate(sketches) for b in lsh.query(sketch) if jaccard(sets[a], sets[b]) >= 0.6}
    with Index.create(tmp_path / "lsh", threshold=0.6, kind="exact", shingling=Shingling("words", 1)) as index:
        index.add_many(texts, id=range(len(texts)))
        found = index.check_many(texts)
        assert similar <= set(zip(found["row"].tolist(), found["hit_id"].tolist(), strict=True))
