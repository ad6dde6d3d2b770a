import pickle

import numpy as np
import pytest

import simgpu
from simgpu import Scheme, Shingling, Signer


def test_defaults_are_those_of_the_command_line():
    scheme = Scheme()
    assert (scheme.name, scheme.num_perm, scheme.seed) == ("affine32", 128, 1)
    assert scheme.dtype == np.uint32 and scheme.empty == 2**32 - 1
    assert repr(scheme) == 'Scheme("affine32", num_perm=128, seed=1)'


def test_presets_bring_their_numbers():
    nemo = Scheme("nemo64")
    assert (nemo.num_perm, nemo.seed, nemo.empty, nemo.dtype) == (260, 42, 0, np.uint64)
    assert (Scheme("nemo64", num_perm=16).num_perm, Scheme("nemo64", seed=7).seed) == (16, 7)


def test_schemes_are_values():
    for name in Scheme.names():
        scheme = Scheme(name, num_perm=32, seed=2**32 - 1)
        same = pickle.loads(pickle.dumps(scheme))
        assert same == scheme and hash(same) == hash(scheme)
        assert eval(repr(scheme), {"Scheme": Scheme}) == scheme
        assert scheme != Scheme(name, num_perm=32) and scheme != name
    assert len({Scheme(), Scheme("affine32"), Scheme("fast")}) == 2
    with pytest.raises(AttributeError):
        Scheme().num_perm = 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "md5"},
        {"num_perm": 0},
        {"num_perm": -1},
        {"num_perm": 16385},
        {"seed": -1},
        {"seed": 2**32},
    ],
)
def test_bad_schemes_say_what_to_do(arguments):
    with pytest.raises(simgpu.ParameterError, match="; (give|choose)"):
        Scheme(**arguments)
    with pytest.raises(ValueError):
        Scheme(**arguments)


def test_shingling_has_the_command_line_defaults():
    expected = {"words": 5, "bytes": 9, "chars": 9, "pieces": 5, "tokens": 1, "stopwords": None}
    for unit, size in expected.items():
        assert Signer(shingling=unit).shingling.size == size
    assert Signer("datatrove", shingling="tokens").shingling.size == 5
    nemo = Signer("nemo").shingling
    assert (nemo.unit, nemo.size, nemo.keep_whitespace) == ("chars", 24, True)
    assert Signer().shingling.hash == "words-v1"


def test_shinglings_are_values():
    shinglings = [
        Shingling(),
        Shingling("bytes", 5, lowercase=True),
        Shingling("chars", strip_punctuation=True, keep_whitespace=True),
        Shingling("stopwords", stop_words=["und", "der"]),
        Shingling("words", 3, hash="sha1-32"),
        Shingling("words", 3, count=True),
        Shingling("tokens", weight_scale=0.5),
    ]
    assert len(set(shinglings)) == len(shinglings)
    for shingling in shinglings:
        same = pickle.loads(pickle.dumps(shingling))
        assert same == shingling and hash(same) == hash(shingling)
        names = {"Shingling": Shingling, "True": True}
        assert eval(repr(shingling), names) == shingling
    assert Shingling("stopwords", stop_words=["b", "a", "b"]).stop_words == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"unit": "lines"}, simgpu.ParameterError),
        ({"size": 0}, simgpu.ParameterError),
        ({"unit": "stopwords", "size": 3}, simgpu.ParameterError),
        ({"unit": "tokens", "lowercase": True}, simgpu.ParameterError),
        ({"stop_words": ["a"]}, simgpu.ParameterError),
        ({"unit": "stopwords", "stop_words": []}, simgpu.ParameterError),
        ({"unit": "stopwords", "stop_words": "a b"}, TypeError),
        ({"hash": "md5"}, simgpu.ParameterError),
    ],
)
def test_bad_shinglings_are_refused(arguments, error):
    with pytest.raises(error):
        Shingling(**arguments)


def test_hashes_that_do_not_fit_are_refused():
    with pytest.raises(simgpu.ParameterError):
        Signer("affine64", shingling=Shingling(hash="sha1-32"))
    with pytest.raises(simgpu.ParameterError):
        Signer(shingling=Shingling("bytes", hash="words-v1"))
    with pytest.raises(TypeError, match="shingling"):
        Signer(shingling=5)
    with pytest.raises(TypeError, match="scheme"):
        Signer(5)
