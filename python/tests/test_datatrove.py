"""The files of ``simgpu.datatrove`` equal those that datatrove's own stages write."""

import io
import json
import pathlib
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("datatrove")
pytest.importorskip("spacy")

from datatrove.data import Document
from datatrove.pipeline.dedup import minhash
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig, simplify_text
from datatrove.utils.word_tokenizers import WordTokenizer, load_word_tokenizer

from simgpu import datatrove as ours

pytestmark = pytest.mark.hosts

ROOT = pathlib.Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
CORPORA = [
    ROOT / "examples" / "driver-docs.jsonl.zst",
    SHARED / "arxiv-abstracts.jsonl.zst",
    SHARED / "licenses.jsonl.zst",
    SHARED / "terms-of-service.jsonl.zst",
]

ODD_TEXTS = [
    "",
    " \n\t ",
    "one two three four",
    "one two three four five",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ. the sea and the ships",
    "İstanbul ISPARTA ǅ ẞ Straße ﬁne ½ Ⅷ ㎏ café naïve Zoë",
    "\u1ebf\u0301\u0323 a\u0323\u0307 \u302e\u0301 x\u302a\u302e y \U0001d15e \u0344 \u0f73",
    "한국어 텍스트 각 日本語の文章。 ไทย ภาษา हिन्दी ١٢٫٥ १२३ 𝟙𝟚.𝟛 1,234.5 6. 7,",
    "‘single’ “double” ‘s ‘So ‘ s it‘s ‘S ≠ D = D ; D \u037e D =D",
    "don't cannot can not id im 10am 5gb 3km 5GB $100 €5 US$ 10% a.m. p.m.",
    "e.g. i.e. U.S. (e.g., :) :-( o_O this and that",
    "x . y d . d. Apr . e.g . : ) : D = D ' cuz ' em it 's",
    "http://example.com/a?b=c me@example.com www.x.org C++ a-b a--b a/b 1-2 x… y... -z-",
    "friday in March, sundays of MAY; mondaytuesday junejuly WEEKDAY",
    "line\x85next\x1cfile\x1dgroup\xa0space\u2003em\u3000wide\u200bzero\u2028line\u180evowel\ufeffbom",
    "a\u0300 \u0300b \u0301 end \u0301",
    "IS_DIGIT and ORTH are names of spaCy",
    "\x00\x01\x7f\x9f control \U0010ffff \ue000 \ufdd0 \U000e0001",
    "a rose is a rose is a rose is a rose " * 40,
]
CONFIGS = {
    "default": {},
    "32 bits, sha1": {"hash_config": HashConfig(32, "sha1"), "n_grams": 3, "seed": 7},
    "64 bits, sha1": {
        "hash_config": HashConfig(64, "sha1"),
        "num_buckets": 3,
        "hashes_per_bucket": 5,
    },
    "32 bits": {
        "hash_config": HashConfig(32),
        "num_buckets": 20,
        "hashes_per_bucket": 1,
        "n_grams": 1,
    },
    "nothing normalised": {
        "norm_config": TextNormConfig(*[False] * 7),
        "seed": 2**32 - 1,
        "n_grams": 2,
    },
    "all normalised": {"norm_config": TextNormConfig(*[True] * 7), "num_buckets": 1},
    "punctuation kept": {"norm_config": TextNormConfig(remove_punctuation=False), "n_grams": 2},
    "white space kept": {
        "norm_config": TextNormConfig(norm_whitespace=False, norm_unicode_diacritics=False)
    },
}


def documents(texts):
    return [Document(text=text, id=str(row)) for row, text in enumerate(texts)]


def read(corpus, count, step=1):
    zstandard = pytest.importorskip("zstandard")
    if not corpus.exists():
        pytest.skip(f"{corpus} is absent")
    with corpus.open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        return [json.loads(line)["text"] for line in islice(lines, 0, count * step, step)]


def files(folder):
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def signed(stage, texts, folder, rank=0, **arguments):
    """The files of a stage, and its counts."""
    step = stage(str(folder), **arguments)
    step.run(iter(documents(texts)), rank)
    return files(folder), step.stats.stats.to_dict()


def assert_same_files(texts, folder, **arguments):
    expected = signed(minhash.MinhashDedupSignature, texts, folder / "theirs", **arguments)
    assert signed(ours.MinhashDedupSignature, texts, folder / "ours", **arguments) == expected
    return expected


def native(norm_config=None):
    config = minhash.MinhashConfig(norm_config=norm_config or TextNormConfig())
    host = ours._Host(load_word_tokenizer("en"), config.norm_config)
    return ours._simgpu._DatatroveSigner(config, host)


def expected_words(text, norm_config):
    return load_word_tokenizer("en").word_tokenize(simplify_text(text, norm_config))


@pytest.mark.parametrize("name", CONFIGS)
def test_files_equal_those_of_datatrove(tmp_path, name):
    config = minhash.MinhashConfig(**CONFIGS[name])
    expected, counts = assert_same_files(ODD_TEXTS, tmp_path, config=config, rank=12)
    assert len(expected) == config.num_buckets and counts == {"total": len(ODD_TEXTS)}
    assert "bucket_000/00012.minhash.sig" in expected and all(expected.values())


def test_texts_that_spacy_fails_on_are_left_to_it(monkeypatch):
    # spaCy forgets the text of this token: datatrove's words then depend on earlier texts, so
    # there is nothing to compare with.
    text = "some words with IS_ALPHA and IS_ALPHAbet among them"
    monkeypatch.setattr(ours._Host, "tokenize", lambda _, text: ["left", text])
    as_it_is = TextNormConfig(lowercase=False, remove_punctuation=False)
    assert native(as_it_is).words(text) == ["left", text]
    assert native().words(text) == "some words with is alpha and is alphabet among them".split()


@pytest.mark.parametrize("texts", [[], ["", "too short"]])
def test_tasks_without_records_write_empty_files(tmp_path, texts):
    expected, _ = assert_same_files(texts, tmp_path)
    assert len(expected) == 14 and not any(expected.values())


@pytest.mark.parametrize("language", ["it", "de", "el", "is", "ace_Arab"])
def test_other_languages_have_their_words(tmp_path, language):
    texts = [
        *ODD_TEXTS,
        "C'est l'été : aujourd'hui, qu'est-ce que c'est ? Rendez-vous d'1 km z.B. usw. dr. ing",
    ]
    try:
        load_word_tokenizer(language).word_tokenize("probe")
    except (ImportError, ValueError) as error:
        pytest.skip(str(error))
    config = minhash.MinhashConfig(n_grams=2)
    assert_same_files(texts, tmp_path, language=language, config=config)


class Letters(WordTokenizer):
    """A tokenizer that is not datatrove's."""

    def word_tokenize(self, text):
        return [letter for letter in text if not letter.isspace()]

    def sent_tokenize(self, text):
        raise NotImplementedError

    def span_tokenize(self, text):
        raise NotImplementedError


def test_custom_tokenizers_are_asked(tmp_path):
    assert_same_files(ODD_TEXTS, tmp_path, language=Letters())


def test_subclasses_keep_their_own_shingles(tmp_path):
    class Short(ours.MinhashDedupSignature):
        def get_shingles(self, text):
            return super().get_shingles(text[:40])

    found, _ = signed(Short, ODD_TEXTS, tmp_path / "short")
    cut = [text[:40] for text in ODD_TEXTS]
    assert found == signed(minhash.MinhashDedupSignature, cut, tmp_path / "theirs")[0]


def test_batches_and_files_do_not_change_records(tmp_path, monkeypatch):
    texts = ODD_TEXTS * 3
    expected, _ = assert_same_files(texts, tmp_path)
    monkeypatch.setattr(ours, "_BATCH_CHARACTERS", 100)
    monkeypatch.setattr(ours, "_HELD_BYTES", 3000)
    assert signed(ours.MinhashDedupSignature, texts, tmp_path / "small")[0] == expected


def test_existing_files_are_kept(tmp_path):
    expected, _ = signed(ours.MinhashDedupSignature, ODD_TEXTS, tmp_path)
    step = ours.MinhashDedupSignature(str(tmp_path), skip_existing_sigs=True)
    step.run(iter(documents(["never read by a step that skips its work"])))
    assert files(tmp_path) == expected and step.stats.stats.to_dict() == {}


def test_records_of_an_existing_file_are_sorted(tmp_path):
    expected, _ = signed(minhash.MinhashDedupSignature, ODD_TEXTS, tmp_path)
    for path in tmp_path.rglob("*.sig"):
        records = path.read_bytes()
        path.write_bytes(b"".join(records[i : i + 68] for i in range(len(records) - 68, -1, -68)))
    ours.MinhashDedupSignature(str(tmp_path), skip_existing_sigs=True).run(iter([]))
    assert files(tmp_path) == expected


def test_files_that_lose_bytes_are_noticed(tmp_path, monkeypatch):
    step = ours.MinhashDedupSignature(str(tmp_path))
    opened = step.output_folder.open

    def torn(path, mode):
        file = opened(path, mode=mode)
        if mode == "wb":
            write = file.write
            file.write = lambda data: write(data[:-1])
        return file

    monkeypatch.setattr(step.output_folder, "open", torn)
    with pytest.raises(ValueError, match="bucket 0 rank 4.*run the task again"):
        step.run(iter(documents(ODD_TEXTS)), 4)


def test_shingles_and_signatures_can_be_computed(tmp_path):
    arguments = str(tmp_path), minhash.MinhashConfig(seed=3)
    step, theirs = ours.MinhashDedupSignature(*arguments), minhash.MinhashDedupSignature(*arguments)
    for text in ODD_TEXTS:
        shingles = step.get_shingles(text)
        assert (shingles == theirs.get_shingles(text)).all()
        if len(shingles):
            assert step.get_signature(shingles) == theirs.get_signature(shingles)


def test_steps_pickle_by_dill(tmp_path):
    dill = pytest.importorskip("dill")
    step = ours.MinhashDedupSignature(str(tmp_path), minhash.MinhashConfig(num_buckets=2))
    step = dill.loads(dill.dumps(step))
    step.run(iter(documents(ODD_TEXTS)))
    dill.loads(dill.dumps(step))
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": -1},
        {"n_grams": -1},
        {"num_buckets": "many"},
        {"seed": 2**32},
        {"num_buckets": 0},
        {"hashes_per_bucket": 2**20},
        {"hash_config": HashConfig(16)},
    ],
)
def test_configurations_without_values_are_refused(tmp_path, wrong):
    step = ours.MinhashDedupSignature(str(tmp_path), minhash.MinhashConfig())
    step.config = minhash.MinhashConfig(**wrong)
    with pytest.raises(ValueError, match="give|expected"):
        step.run(iter(documents(["a b c d e f"])))


def test_surrogates_raise_as_in_datatrove(tmp_path):
    for stage in (minhash.MinhashDedupSignature, ours.MinhashDedupSignature):
        with pytest.raises(UnicodeEncodeError):
            stage(str(tmp_path)).run(iter(documents(["one two three four five \ud800"])))


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name)
def test_words_of_corpora_equal_those_of_spacy(corpus):
    texts = [text[:3000] for text in read(corpus, 30, 80)]
    for norm_config in (
        TextNormConfig(),
        TextNormConfig(remove_punctuation=False, lowercase=False),
    ):
        signer = native(norm_config)
        for text in texts:
            assert signer.words(text) == expected_words(text, norm_config)


def test_each_character_is_simplified_as_in_python():
    configs = [TextNormConfig(), TextNormConfig(remove_punctuation=False)]
    signers = [(config, native(config)) for config in configs]
    for start in range(0, 0x2200, 64):
        # Letters and digits around each character show how white space and numbers end.
        text = "".join(f"a{c}7{c}8 {c}b" for c in map(chr, range(start, start + 64)))
        for config, signer in signers:
            assert signer.words(text) == expected_words(text, config)


ODD_CHARACTERS = st.sampled_from(
    " \t\n\xa0.,:;'‘’=()-$°sSdDΣσİ\u0301\u0323\u302e\u0345٫١7½ﬁ≠한각😀"
)
WORDS = st.sampled_from(
    "it he id cannot 10am 5gb Apr d s D o cuz March e.g. IS_DIGIT :) =D don't ‘s".split()
)
TEXTS = st.lists(
    st.one_of(
        ODD_CHARACTERS,
        WORDS,
        st.characters(exclude_categories=["Cs"]),
        st.text("abcXYZ 01.,", max_size=8),
    ),
    max_size=30,
).map("".join)
NORM_CONFIGS = st.tuples(*[st.booleans()] * 7).map(lambda options: TextNormConfig(*options))


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from([TextNormConfig(), TextNormConfig(*[False] * 7)]) | NORM_CONFIGS)
def test_words_of_any_text_equal_those_of_spacy(text, norm_config):
    assert native(norm_config).words(text) == expected_words(text, norm_config)


def deduplicated(signature_stage, ranks, folder):
    """The texts that datatrove's four stages keep, and every file that they write."""
    config = minhash.MinhashConfig(num_buckets=6, hashes_per_bucket=4)
    names = ("signatures", "buckets", "remove", "index")
    signatures, buckets, remove, index = (str(folder / name) for name in names)
    for rank, texts in enumerate(ranks):
        signature_stage(signatures, config).run(iter(documents(texts)), rank)

    for bucket in range(config.num_buckets):
        ours.MinhashDedupBuckets(signatures, buckets, config=config).run(
            None, bucket, config.num_buckets
        )
    clusters = {"save_cluster_id": True, "save_cluster_size": True}
    ours.MinhashDedupCluster(buckets, remove, config, **clusters).run()
    for bucket in range(config.num_buckets):
        ours.MinhashBuildIndex(signatures, index, "all", config).run(
            None, bucket, config.num_buckets
        )
    kept = [
        [
            document.text
            for document in ours.MinhashDedupFilter(remove).run(iter(documents(texts)), rank)
        ]
        for rank, texts in enumerate(ranks)
    ]
    return kept, *(files(folder / name) for name in names)


def test_four_stages_keep_the_same_documents(tmp_path):
    texts = [text[:2000] for text in read(CORPORA[0], 60, 3)]
    ranks = [texts[:40], [text.replace("the", "a", 1) for text in texts[20:]], ODD_TEXTS]
    theirs = deduplicated(minhash.MinhashDedupSignature, ranks, tmp_path / "theirs")
    assert deduplicated(ours.MinhashDedupSignature, ranks, tmp_path / "ours") == theirs
    kept = sum(len(texts) for texts in theirs[0])
    assert 0 < kept < sum(len(texts) for texts in ranks)
