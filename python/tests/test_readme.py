"""README.md's examples run as written, and the notebook runs from top to bottom."""

import re
import tomllib

import pytest
from conftest import REPOSITORY

README = REPOSITORY / "python" / "README.md"
NOTEBOOK = REPOSITORY / "python" / "examples" / "dedup.ipynb"


def test_the_examples_of_the_readme_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert "'because': 'Alien'" in printed
    assert "1 2 0.78518" in printed
    assert "the tulip is not a rose" in printed
    assert "'kept': 0" in printed


def test_the_readme_names_what_exists():
    import simgpu

    named = re.findall(r"simgpu\.([a-z_]+)\(", README.read_text(encoding="utf-8"))
    assert {"dedup", "pairs", "dedup_files", "tune", "selftest"} <= set(named)
    missing = [name for name in named if not hasattr(simgpu, name)]
    assert not missing


def test_links_work_outside_of_the_repository():
    targets = re.findall(r"\]\(([^)]*)\)", README.read_text(encoding="utf-8"))
    assert [target for target in targets if not target.startswith("https://")] == []


def test_the_package_has_the_licences_of_the_repository():
    project = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]
    names = project["license-files"]
    assert sorted(names) == sorted(path.name for path in REPOSITORY.glob("LICENSE*"))
    for name in names:
        assert (README.parent / name).read_bytes() == (REPOSITORY / name).read_bytes()


@pytest.mark.hosts
def test_the_notebook_runs():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    )
    client.execute()
    texts = [
        output.get("text", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output["output_type"] == "stream"
    ]
    assert any("near-duplicates" in text for text in texts)
