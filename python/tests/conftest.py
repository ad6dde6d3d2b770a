"""What the tests share."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def pytest_configure(config):
    config.addinivalue_line("markers", "hosts: needs heavy packages that simgpu plugs into")
