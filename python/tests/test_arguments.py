"""Every argument of every public call, of a wrong type or out of range: the message names it, and says what to give."""

import functools
import inspect

import pytest

import simgpu

TEXTS = ["a rose is a rose is a rose", "by any other name it smells as sweet"]
PEOPLE = {"id": [1, 2], "name": ["Ann Lee Stone", "Bob Marsh Hill"]}
# Two users of twelve items: enough to hide one of each.
RATINGS = {"user": [1, 2] * 12, "item": [n // 2 for n in range(24)], "rating": [5] * 24, "timestamp": [*range(24)]}
WRONG = [object(), "wrong", "", b"x", -1, 0, 1.5, float("nan"), 10**30, True, [], [5], {}, {"a": 1}]

# What the interpreter or the binding says, and no reader of the documentation.
RAW = [
    "argument '",
    "failed to extract",
    "cannot be converted",
    "cannot be interpreted",
    "is not an instance",
    "object is not",
    "unexpected type",
    "must be real number",
    "must be str",
    "has no attribute",
    "too large to convert",
    "can't convert",
    "expected ",
]

# How messages call some of them.
DOCUMENTS = ("documents", "row 0")
CALLED = {
    "data": DOCUMENTS,
    "texts": DOCUMENTS,
    "documents": DOCUMENTS,
    "name": ("unknown scheme",),
    "ids": ("ids is", "id is"),
    # A blank text resembles none, so that it would be added.
    "text": ("is the id of a document",),
    "items": ("items are", "item 0"),
    "isa": ("instruction set",),
    "output": ("unknown file extension",),
    "weights_field": ("weights belong to single tokens",),
    "liked_from": ("liked more than",),
}


def calls(tmp_path):
    signer = simgpu.Signer(num_perm=16)
    signatures = signer.sign(TEXTS)
    records = tmp_path / "in.jsonl"
    records.write_text('{"text": "a rose is a rose", "name": "Ann", "tokens": ["a"]}\n' * 2)
    signatures.save(tmp_path / "s.npy")
    output = tmp_path / "out"
    yield simgpu.dedup, {"data": TEXTS}
    yield simgpu.dedup, {"data": signatures}
    yield simgpu.pairs, {"data": TEXTS}
    yield simgpu.link, {"a": PEOPLE, "fields": "name", "threshold": 0.5}
    yield simgpu.neighbours, {"ratings": RATINGS}
    yield simgpu.recommend, {"ratings": RATINGS}
    yield simgpu.hold_out, {"ratings": RATINGS}
    yield simgpu.dedup_files, {"inputs": records, "output": output, "overwrite": True}
    yield simgpu.pairs_files, {"inputs": records, "output": tmp_path / "p.csv", "overwrite": True}
    yield simgpu.pairs_signatures, {"signatures": tmp_path / "s.npy", "dry_run": True}
    yield simgpu.sign_files, {"inputs": records, "output": tmp_path / "t.npy", "overwrite": True}
    yield simgpu.passages, {"data": TEXTS}
    yield simgpu.passages_files, {"inputs": records, "output": tmp_path / "p", "overwrite": True}
    yield simgpu.link_files, {"a": records, "fields": "name", "threshold": 0.5, "dry_run": True}
    entities = tmp_path / "entities.jsonl"
    entities.write_text('{"id": 1, "entity": 0}\n{"id": 2, "entity": 0}\n')
    yield simgpu.evaluate, {"result": entities, "truth": entities, "entity_field": "entity"}
    yield simgpu.tune, {}
    yield simgpu.compare, {"a": TEXTS[0], "b": TEXTS[1]}
    yield simgpu.Scheme, {}
    yield simgpu.Shingling, {}
    yield simgpu.Signer, {}
    yield signer.sign, {"texts": TEXTS}
    yield signer.sign_tokens, {"documents": [["a"]]}
    yield signer.band_keys, {"texts": TEXTS}
    yield signatures.estimate, {"i": 0, "j": 1}
    yield signatures.matrix, {}
    yield signatures.merge, {"other": signatures}
    yield signatures.packed, {"bits": 8}
    yield signatures.band_keys, {}
    yield signatures.cardinality, {"i": 0}
    yield simgpu.Signatures.concat, {"parts": [signatures]}
    yield simgpu.Signatures.load, {"path": tmp_path / "s.npy"}
    yield signatures.save, {"path": tmp_path / "s.npy"}
    folders = iter(range(10**6))
    index = simgpu.Index.create(tmp_path / "index", num_perm=16)
    create = functools.wraps(simgpu.Index.create)(
        lambda **given: simgpu.Index.create(**{"path": f"index-{next(folders)}", **given}).close()
    )
    yield create, {"num_perm": 16, "threshold": 0.8}
    yield simgpu.Index, {"path": tmp_path / "index"}
    yield index.check, {"text": TEXTS[0]}
    yield index.check_or_add, {"text": TEXTS[0], "id": "a"}
    yield index.add, {"text": TEXTS[0], "id": "b", "on_known_id": "replace"}
    yield index.check_many, {"data": TEXTS}
    yield index.check_or_add_many, {"data": TEXTS, "id": [1, 2]}
    yield index.add_many, {"data": TEXTS, "id": [1, 2], "on_known_id": "replace"}
    yield index.delete, {"ids": "a"}
    (tmp_path / "items.jsonl").write_text('{"question": "a rose is a rose, or is it not?"}\n')
    of_files = {"inputs": records, "output": tmp_path / "c", "against": tmp_path / "items.jsonl", "overwrite": True}
    yield simgpu.contain_files, of_files
    items = [{"question": TEXTS[1]}]
    yield simgpu.Contain, {"items": items}
    yield simgpu.Contain(items).scan, {"data": TEXTS}


def complaint(name, error):
    """What is wrong with a message, if anything."""
    message = str(error)
    if isinstance(error, (OSError, simgpu.InputError, simgpu.UnsupportedError)):
        return None
    if isinstance(error, KeyError | IndexError) and "give" not in message and "range" not in message:
        return "no remedy"
    if not isinstance(error, (TypeError, ValueError, LookupError)):
        return "another kind of error"
    if any(raw in message for raw in RAW):
        return "raw"
    if not any(called in message for called in (name, *CALLED.get(name, ()))):
        return "not named"
    return None if "; " in message or isinstance(error, IndexError) else "no remedy"


@pytest.mark.filterwarnings("ignore")
def test_each_wrong_argument_is_named_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    complaints, refused = [], 0
    for call, given in calls(tmp_path):
        for name in inspect.signature(call).parameters:
            for wrong in WRONG:
                try:
                    call(**{**given, name: wrong})
                except Exception as error:
                    refused += 1
                    if found := complaint(name, error):
                        complaints.append(f"{call.__name__}({name}={wrong!r}): {found}: {error!r}")
    assert refused > 1000
    assert not complaints, f"{len(complaints)} complaints\n" + "\n".join(complaints)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simgpu.dedup(TEXTS, threshold="0.8"), "threshold is '0.8'; give a number above 0 and up to 1"),
        (lambda: simgpu.pairs(TEXTS, within="2"), "within is '2'; give a whole number, from 0 on"),
        (lambda: simgpu.dedup(TEXTS, threads=0), "threads is 0; give a number, at least 1"),
        (lambda: simgpu.dedup(TEXTS, max_bucket=1.5), "max_bucket is 1.5; give a number, at least 1"),
        (lambda: simgpu.dedup(TEXTS, seed=-1), "seed is -1; give a number from 0 to 4294967295"),
        (lambda: simgpu.Signer(num_perm="64"), "num_perm is '64'; give a number from 1 to 16384"),
        (lambda: simgpu.Shingling(lowercase="yes"), "lowercase is 'yes'; give True or False"),
        (lambda: simgpu.dedup(None), "data is None; give a list of str, a Series, an Arrow array, or a table and column="),
    ],
)
def test_messages_say_what_was_given(call, message):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simgpu.dedup(TEXTS, treshold=0.8), "dedup() got an unexpected keyword argument 'treshold'; did you mean 'threshold'?"),
        (lambda: simgpu.sign_files("in", "out", max_bucket=3), "sign_files() got an unexpected keyword argument 'max_bucket'"),
        (lambda: simgpu.pairs(TEXTS, xyz=1), "pairs() got an unexpected keyword argument 'xyz'; help(pairs) lists its options"),
        (lambda: simgpu.link(PEOPLE), "link() missing 1 required keyword-only argument: 'fields'"),
    ],
)
def test_unknown_options_are_refused_with_the_nearest(call, message):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_help_lists_each_option_with_its_default():
    for call in (simgpu.dedup, simgpu.pairs_files, simgpu.sign_files, simgpu.link, simgpu.recommend, simgpu.compare):
        listed = inspect.getdoc(call)
        for name, parameter in inspect.signature(call).parameters.items():
            assert f"\n    {name}: " in listed, (call.__name__, name)
            if parameter.kind is parameter.KEYWORD_ONLY and name != "fields":
                assert parameter.default is call.__kwdefaults__[name] is not parameter.empty
        assert "**options" not in listed


def test_long_values_are_not_repeated_in_messages():
    with pytest.raises(TypeError, match="threshold is of type list; give"):
        simgpu.dedup(TEXTS, threshold=TEXTS * 100)


def test_more_threads_than_the_machine_has_are_fine():
    expected = simgpu.dedup(TEXTS).keep
    assert (simgpu.dedup(TEXTS, threads=10_000).keep == expected).all()
    signer = simgpu.Signer(threads=10_000)
    assert signer.threads == 10_000
    assert signer.sign(TEXTS * 2000) == simgpu.Signer().sign(TEXTS * 2000)


def test_open_files_are_refused_where_paths_are_meant(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a rose is a rose", "question": "is a rose a rose, or is it not one?"}\n')
    output = tmp_path / "out"
    with path.open() as text, path.open("rb") as binary:
        for file in (text, binary):
            for name, call in [
                ("inputs", lambda: simgpu.dedup_files(file, output)),
                ("inputs", lambda: simgpu.passages_files(file, output)),
                ("against", lambda: simgpu.dedup_files(path, output, against=file)),
                ("against", lambda: simgpu.contain_files(path, output, against=file)),
                ("sample", lambda: simgpu.tune(sample=file)),
                ("stop_words", lambda: simgpu.compare("a", "b", unit="stopwords", stop_words=file)),
                ("include", lambda: simgpu.dedup_files(path, output, include=file)),
                ("items", lambda: simgpu.Contain(file)),
                ("ignore", lambda: simgpu.Contain(path, ignore=file)),
            ]:
                with pytest.raises(TypeError, match=f"^{name} is an open file; give its path, such as file.name$"):
                    call()
    assert not output.exists()


def test_help_begins_with_a_short_line():
    import pydoc

    plain = pydoc.plaintext
    for call in (simgpu.dedup, simgpu.pairs, simgpu.link, simgpu.dedup_files, simgpu.contain_files, simgpu.passages, simgpu.recommend):
        line = plain.document(call, call.__name__).splitlines()[0]
        assert line.startswith(f"{call.__name__}(") and line.endswith(", **options)"), line
        assert len(line) < 80, line
        # All options are parameters nevertheless.
        assert len(inspect.signature(call).parameters) > 10
    shown = plain.document(simgpu.Contain.scan, "scan").splitlines()[0]
    assert shown == "scan(self, data, column=None, **options)"


def test_classes_have_signatures():
    import simgpu.datasketch

    classes = [value for module in (simgpu, simgpu.datasketch) for value in vars(module).values() if isinstance(value, type)]
    for kind in classes:
        if kind.__module__.split(".")[0] != "simgpu" or issubclass(kind, BaseException) or kind is simgpu.Table:
            continue
        try:
            signature = inspect.signature(kind)
        except ValueError:
            # Results are made by functions alone.
            assert kind is simgpu.Signatures, kind
            continue
        assert "_args" not in signature.parameters, kind
    sketch = inspect.signature(simgpu.datasketch.MinHash).parameters
    assert list(sketch) == ["num_perm", "seed", "gpu_mode", "hashfunc", "hashobj", "hashvalues", "permutations", "scheme"]
    assert (sketch["num_perm"].default, sketch["gpu_mode"].default) == (128, "disable")
    assert list(inspect.signature(simgpu.datasketch.LeanMinHash).parameters) == ["minhash", "seed", "hashvalues", "scheme"]
    assert str(inspect.signature(simgpu.datasketch.bBitMinHash)) == "(minhash, b=1, r=0.0)"
