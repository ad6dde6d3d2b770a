"""simgpu.ray on two processes of this machine, against the signer in memory."""

import os

import pyarrow as pa
import pytest
from corpora import corpus

import simgpu
from simgpu.errors import ParameterError

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

from simgpu.ray import sign  # noqa: E402

TEXTS = [*corpus(300, seed=3), *corpus(40, seed=3), "", "x y z " * 9, "x y  z " * 9]


@pytest.fixture(scope="module")
def cluster():
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_raylet_start_wait_time_s"] = "120"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    yield
    ray.shutdown()


def dataset(texts):
    return ray.data.from_arrow(pa.table({"doc": range(len(texts)), "body": texts})).repartition(3)


def test_signatures_are_those_of_one_machine(cluster):
    rows = sign(dataset(TEXTS), id="doc", text="body", num_perm=64).take_all()
    signed = {row["id"]: row["signature"] for row in rows}
    expected = simgpu.Signer(num_perm=64).sign(TEXTS).slots
    assert signed == {row: expected[row].astype("<u4").tobytes() for row in range(len(TEXTS))}


def test_bad_arguments_are_refused(cluster):
    with pytest.raises(ParameterError, match="no column 'text'"):
        sign(dataset(["a"]), id="doc", text="text")
    with pytest.raises(ParameterError, match="num_perm"):
        sign(dataset(["a"]), id="doc", text="body", num_perm=0)
