"""The parts of a program in Metal, as naga writes it, from which other languages are made."""

import re
from dataclasses import dataclass

# What a parameter of the entry point is, by its attribute: x, y and z of these.
BUILTINS = {
    "threadgroup_position_in_grid": "workgroup",
    "threadgroups_per_grid": "workgroups",
    "thread_position_in_threadgroup": "thread",
    "thread_index_in_threadgroup": "index",
}


@dataclass
class Parameter:
    """A parameter of the entry point: a builtin, workgroup memory or a buffer."""

    name: str
    # Its type; of a reference the type referred to.
    type: str
    builtin: str | None
    is_workgroup: bool
    is_const: bool


@dataclass
class Kernel:
    """A program in three parts."""

    # All before the entry point.
    head: str
    parameters: list[Parameter]
    # The statements of the entry point, with the closing brace.
    body: str


def parse(text, entry_point):
    """Takes a program apart."""
    text = re.sub(r"#include <.*>\n", "", text)
    head, tail = text.rsplit("[[max_total_threads_per_threadgroup", 1)
    start = tail.index(f"void {entry_point}(") + len(f"void {entry_point}(")
    end = tail.index("\n) {", start)
    head = re.sub(r"struct " + entry_point + r"Input \{\s*\};", "", head)
    parameters = [parameter(text.strip().lstrip(", ")) for text in tail[start:end].split("\n,")]
    return Kernel(head, parameters, tail[end + 4 :])


def parameter(text):
    """One parameter of the entry point."""
    attribute = re.search(r"\[\[(\w+)", text)
    text = re.sub(r"\[\[[^\]]*\]\]", "", text).strip()
    name = text.split()[-1].lstrip("&")
    of_type = text[: text.rindex(name)].replace("&", " ")
    words = of_type.split()
    is_workgroup = words[0] == "threadgroup"
    is_const = "const" in words or words[0] == "constant"
    plain = [word for word in words if word not in ("threadgroup", "device", "constant", "const")]
    builtin = BUILTINS.get(attribute.group(1)) if attribute else None
    return Parameter(name, " ".join(plain), builtin, is_workgroup, is_const)
