"""The programs of the GPU backend, as examples/gpu_programs.rs has the backend compose them."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools import run

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Program:
    """A program, compiled as far as wgpu compiles it."""

    name: str
    entry_point: str
    bindings: int
    # Threads of a workgroup, and permutations of a thread; 0 where the program signs nothing.
    threads: int
    thread_permutations: int
    # 32-bit words of a shingle in workgroup memory.
    slot_words: int
    spirv: Path
    metal: Path


class BuildError(Exception):
    """The programs could not be made."""


def build_tool():
    """Builds the example; returns its path."""
    command = ["cargo", "build", "--quiet", "--package", "simgpu", "--features", "gpu,internals"]
    command += ["--example", "gpu_programs", "--message-format", "json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "gpu_programs":
            return Path(message["executable"])
    raise BuildError("cargo did not build the example gpu_programs")


def signing_programs(tool, folder):
    """Writes all programs to a folder, and returns those that sign."""
    failed, output = run([tool, folder])
    if failed:
        raise BuildError(f"the example gpu_programs failed: {output.strip()}")
    programs = []
    for entry in json.loads((folder / "programs.json").read_text()):
        name = entry["name"]
        if entry["thread_permutations"]:
            programs.append(
                Program(
                    name=name,
                    entry_point=entry["entry_point"],
                    bindings=entry["bindings"],
                    threads=entry["threads"],
                    thread_permutations=entry["thread_permutations"],
                    slot_words=entry["slot_words"],
                    spirv=folder / f"{name}.spv",
                    metal=folder / f"{name}.metal",
                )
            )
    return programs
