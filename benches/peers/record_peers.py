"""Links records with simgpu, splink and recordlinkage, on sets whose truth is known, and prints a
table.

    python record_peers.py DATA_FOLDER [--sets D4,cora] [--tools simgpu,splink,recordlinkage]

DATA_FOLDER has a folder per set, each with the files that SETS names; `.zst` is optional. Needs

    pip install splink==5.0.0 recordlinkage==0.16 "pandas<3" zstandard

No tool sees the truth: models are estimated from the records (EM). All get the same fields,
in lower case. A row is one rule of accepting pairs:

    p >= .5, p >= .95   the tool's own probability of a match
    one-to-one          in addition, each record in one pair: the most probable first
    clusters            connected components of the accepted pairs; all pairs within are links
    best                the threshold with the highest F1, for which the truth is needed:
                        a limit, not a result

FEBRL: splink's model is that of its FEBRL demo; recordlinkage compares the fields of its example
and a few more. Both compare pairs with one equal field of PEOPLE_BLOCKS. The other sets have no
such field: both compare pairs that share one of the three rarest words of each record that occur
in another record. splink compares texts by the product of the frequencies of their common words, as
in its demo of company names; recordlinkage by the cosine of their 2-grams. Its ECM classifier sees
only whether a similarity reaches a threshold. The tools' default models of such texts do not exist:
this is one reasonable use, not the best possible.

simgpu is the command (cargo build --release). Each of its rules is a run: text is its default,
--share 1 says that every record of the smaller file has a partner. The pairs of one file are all
those within entities. "expected" is the precision that its report states.

CPU and wall seconds of splink and recordlinkage include blocking, comparison, training and
prediction, not reading the files; a tool's first rule has them, and the other rules are of the same
run. Those of simgpu are of the whole process, with reading and writing.
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
import pathlib
import resource
import subprocess
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

COMMAND = pathlib.Path(__file__).parents[2] / "target/release/simgpu"
RARE_WORDS = 3
PROBABILITIES = (0.5, 0.95)
# Fields of which one is the same in both records of a pair that is compared.
PEOPLE_BLOCKS = ("soc_sec_id", "given_name", "surname", "date_of_birth", "postcode")


# Records and truth


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the records of a set are, and how they are compared."""

    # One file, or two.
    files: list
    separator: str
    # File of true pairs (None: FEBRL's ids tell).
    truth: str | None
    # Fields of texts of any length, compared by words.
    texts: list
    # Fields of one or two words.
    names: list = dataclasses.field(default_factory=list)
    # Rules that hardly ever hold for different entities, and the share of true pairs they find:
    # for splink's prior. Without any, EM learns the prior, too.
    sure: list = dataclasses.field(default_factory=list)
    sure_recall: float = 0.0


SETS = {
    "D2": Layout(["D2/abt.csv", "D2/buy.csv"], "|", "D2/gt.csv", ["name", "description"]),
    "D3": Layout(["D3/amazon.csv", "D3/gp.csv"], "#", "D3/gt.csv", ["title"], ["manufacturer"]),
    "D4": Layout(
        ["D4/dblp.csv", "D4/acm.csv"],
        "%",
        "D4/gt.csv",
        ["title", "authors"],
        ["venue", "year"],
        sure=[["title", "year"]],
        sure_recall=0.8,
    ),
    "febrl1": Layout(["febrl/dataset1.csv"], ",", None, []),
    "febrl3": Layout(["febrl/dataset3.csv"], ",", None, []),
    "cora": Layout(
        ["cora/cora.csv"],
        "|",
        "cora/cora_gt.csv",
        ["title", "author"],
        ["venue", "year", "pages"],
        sure=[["title", "year"]],
        sure_recall=0.3,
    ),
}


def content(folder, name):
    """Text of a file, compressed or not."""
    path = folder / name
    if path.exists():
        return path.read_text(encoding="utf-8")
    import zstandard

    with open(folder / f"{name}.zst", "rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8")


def frame(folder, name, separator):
    """Records as text, in lower case without punctuation; "" where a field is missing."""
    text = content(folder, name)
    records = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    records.columns = [column.strip().lower() for column in records.columns]
    records = records.rename(columns={records.columns[0]: "id"})
    records = records.loc[
        :, [column for column in records.columns if not column.startswith("unnamed")]
    ]
    for column in records.columns:
        values = records[column].str.strip()
        if column != "id":
            values = values.str.lower().str.replace(r"[^\w]+", " ", regex=True).str.strip()
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


def febrl_truth(ids):
    entities = collections.defaultdict(list)
    for record in ids:
        entities[record.split("-")[1]].append(record)
    members = [sorted(group) for group in entities.values()]
    return {(a, b) for group in members for i, a in enumerate(group) for b in group[i + 1 :]}


def load(folder, name):
    layout = SETS[name]
    frames = [frame(folder, file, layout.separator) for file in layout.files]
    if layout.truth is None:
        truth = febrl_truth(frames[0]["id"])
    else:
        lines = [line.split(layout.separator) for line in content(folder, layout.truth).split()]
        pairs = [(line[0], line[1]) for line in lines if line[0].isdigit()]
        truth = {tuple(sorted(pair)) for pair in pairs} if len(frames) == 1 else set(pairs)
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


def clustered(pairs):
    """All pairs within the connected components of pairs."""
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
    return [
        (a, b) for group in members.values() for i, a in enumerate(group) for b in group[i + 1 :]
    ]


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
    """Settings of splink's FEBRL demo."""
    import splink.comparison_library as comparisons
    from splink import SettingsCreator, block_on

    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="id",
        blocking_rules_to_generate_predictions=[block_on(field) for field in PEOPLE_BLOCKS],
        comparisons=[
            comparisons.NameComparison("given_name"),
            comparisons.NameComparison("surname"),
            comparisons.DateOfBirthComparison(
                "date_of_birth", input_is_string=True, datetime_format="%Y%m%d"
            ),
            comparisons.DamerauLevenshteinAtThresholds("soc_sec_id", [2]),
            comparisons.ExactMatch("street_number").configure(term_frequency_adjustments=True),
            comparisons.ExactMatch("postcode").configure(term_frequency_adjustments=True),
        ],
    )
    swapped = " and ".join(
        f"l.{left} = r.{right}"
        for left, right in (
            ("given_name", "surname"),
            ("surname", "given_name"),
            ("date_of_birth", "date_of_birth"),
        )
    )
    sure = [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth"), swapped]
    return settings, records.frames, [block_on("date_of_birth"), block_on("postcode")], sure, 0.9


def with_splink(records):
    import splink

    is_people = not records.layout.texts
    prepare = splink_of_people if is_people else splink_of_texts
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
    for field in PEOPLE_BLOCKS:
        index.block(field)
    for field in ("given_name", "surname", "address_1", "suburb"):
        compare.string(field, field, method="jarowinkler", threshold=0.85, label=field)
    for field in ("date_of_birth", "soc_sec_id", "postcode", "state", "street_number"):
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


# simgpu


def read_lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def simgpu_rows(records, command):
    """Rules of simgpu: name, pairs, expected precision, CPU and wall seconds."""
    kinds = [["text"], ["points"], ["textbook"]]
    if not records.is_one_file:
        kinds.insert(1, ["text", "--share", "1"])
    layout = records.layout
    fields = layout.texts + layout.names or list(records.frames[0].columns[1:])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        inputs = []
        for i, data in enumerate(records.frames):
            inputs.append(folder / f"{i}.csv")
            data.to_csv(inputs[-1], index=False, quoting=csv.QUOTE_ALL)
        for kind in kinds:
            output = folder / "-".join(kind)
            call = [command, "link", *inputs, "--fields", ",".join(fields), "--score", *kind]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([*map(str, call), "--output", str(output), "--quiet"], check=True)
            wall = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
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
            yield " ".join(kind), pairs, expected, f"{cpu:.2f} | {wall:.2f}"


TOOLS = {"splink": with_splink, "recordlinkage": with_recordlinkage}


def peer_rows(records, tool):
    """Rules of another tool, as those of simgpu; nothing is expected."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = TOOLS[tool](records)
    times = f"{time.process_time() - cpu:.1f} | {time.perf_counter() - wall:.1f}"
    for rule, pairs in rules(found, records):
        yield rule, pairs, "", times
        times = " | "


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
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)

    header = "set | tool | rule | pairs | precision | expected | recall | F1 | CPU s | wall s"
    print(f"| {header} |")
    print("|---" * 10 + "|")
    for name in options.sets.split(","):
        records = load(options.data, name)
        for tool in options.tools.split(","):
            if tool == "simgpu":
                version, rows = "", simgpu_rows(records, options.simgpu)
            else:
                importlib.import_module(tool)
                version, rows = f" {importlib.metadata.version(tool)}", peer_rows(records, tool)
            for rule, pairs, expected, times in rows:
                precision, recall, f1 = (f"{q:.3f}" for q in quality(pairs, records.truth))
                quantities = f"{len(pairs):,} | {precision} | {expected} | {recall} | {f1}"
                print(f"| {name} | {tool}{version} | {rule} | {quantities} | {times} |", flush=True)


if __name__ == "__main__":
    main()
