"""Intel's own compiler: the Metal that naga writes, read as OpenCL C, through ocloc."""

import re
import shutil
from pathlib import Path

import metal
from machine_code import Instruction, Listing
from tools import CompileError, in_unpacked, run

# Arc A and Arc B.
TARGETS = ("dg2", "bmg")

BUILTINS = {
    "workgroup": "uint3 {} = (uint3)(get_group_id(0), get_group_id(1), get_group_id(2));",
    "workgroups": "uint3 {} = (uint3)(get_num_groups(0), get_num_groups(1), get_num_groups(2));",
    "thread": "uint3 {} = (uint3)(get_local_id(0), get_local_id(1), get_local_id(2));",
    "index": "uint {} = get_local_id(0);",
}
BRANCHES = "jmpi goto join while brd brc if else endif break cont".split()
SPACES = {"threadgroup": "__local", "device": "__global", "constant": "__constant"}


def to_opencl(text, entry_point, threads):
    """Metal as OpenCL C, which has no references, no templates and no methods."""
    text = text.replace("using metal::uint;", "")
    # Arrays at the end of buffers become pointers to their elements.
    elements = {name: kind for kind, name in re.findall(r"typedef (\S+) (\w+)\[1\];", text)}
    text = re.sub(r"typedef (\S+) (\w+)\[1\];\n", "", text)
    kernel = metal.parse(text, entry_point)
    arguments, locals_, references = [], [], set()
    for p in kernel.parameters:
        if p.builtin:
            locals_.append(BUILTINS[p.builtin].format(p.name))
        elif p.is_workgroup:
            references.add(p.name)
            locals_.append(f"__local {p.type} {p.name}_s;")
            locals_.append(f"__local {p.type}* {p.name}_p = &{p.name}_s;")
        else:
            space = "__constant" if p.type == "_mslBufferSizes" else "__global"
            const = "const " if p.is_const else ""
            if p.type not in elements:
                references.add(p.name)
            name = p.name if p.type in elements else f"{p.name}_p"
            arguments.append(f"{space} {const}{elements.get(p.type, p.type)}* {name}")

    def pointer(match):
        space, kind, const, name = match.groups()
        name = name if kind in elements else f"{name}_p"
        return f"{SPACES[space]} {'const ' if const else ''}{elements.get(kind, kind)}* {name}"

    def dereferenced(text):
        for name in references:
            # As an argument alone, it is passed on: naga puts values into variables first.
            text = re.sub(rf"([(,]\s*){name}(?=\s*[,)])", rf"\1{name}_p", text)
            text = re.sub(rf"(?<![.\w]){name}\b", f"(*{name}_p)", text)
        return text

    head = re.sub(r"(threadgroup|device|constant) ([\w:]+)( const)?& (\w+)", pointer, kernel.head)
    signature = f"__attribute__((reqd_work_group_size({threads}, 1, 1)))\n"
    signature += f"__kernel void {entry_point}({', '.join(arguments)}) {{"
    return to_c("\n".join([dereferenced(head), signature, *locals_, dereferenced(kernel.body)]))


def to_c(text):
    """C++ as C, where naga writes C++."""
    for name in re.findall(r"struct (\w+) \{", text):
        text = re.sub(rf"(?<!struct )\b{name} \{{", f"({name}){{", text)
    for pattern, replacement in (
        (r"(?s)struct (\w+) \{(.*?)\n\};", r"typedef struct {\2\n} \1;"),
        (r"static_cast<metal::(\w+)>\(", r"convert_\1("),
        (r"static_cast<(\w+)>\(", r"(\1)("),
        (r"packed_uchar4", "uchar4"),
        (r"as_type<(\w+)>\(", r"as_\1("),
        (r"metal::bool([234]) (\w+) =", r"int\1 \2 ="),
        (r"metal::((?:uint|ulong|int)[234])\(", r"(\1)("),
        (r"metal::(uint|ulong|int)([234]) (\w+) = \{\};", r"\1\2 \3 = (\1\2)(0);"),
        (r"(\w+) (\w+) = \{\};", r"\1 \2 = {0};"),
        (r"metal::threadgroup_barrier\([^)]*\)", "barrier(CLK_LOCAL_MEM_FENCE)"),
        (r"metal::", ""),
        # A constant of the program is no address in OpenCL C.
        (r"(?m)^constant (\w+) (\w+) = ([^;]+);", r"#define \2 ((\1)(\3))"),
        # What is a name in Metal, and a keyword of OpenCL C.
        (r"\b(local|global|private|generic|pipe)\b", r"\1_"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def instruction(code, simd):
    """An instruction of IGC's listing; what it serves is its share of the lanes."""
    # Conditions and (W), which switches the mask of lanes off, stand in front.
    plain = re.sub(r"^(\([^)]*\)\s*)*", "", code)
    lanes = re.search(r"\((\d+)\|", plain)
    name, lanes = plain.split()[0], int(lanes.group(1)) if lanes else 1
    result = Instruction(name, issued=lanes / simd)
    # With t, one lane loads a whole vector for all.
    moved = re.match(r"(load|store)\.slm\.d(\d+)(?:x(\d+))?(t?)", name)
    if moved:
        words = max(1, int(moved.group(2)) // 32) * int(moved.group(3) or 1)
        words *= 1 if moved.group(4) else lanes / simd
        result.loaded, result.stored = (words, 0) if moved.group(1) == "load" else (0, words)
    elif name.startswith("load."):
        result.fetches = True
    elif name.startswith(("store.", "atomic", "send.gtwy")):
        result.has_effect = True
    return result


def blocks(text, simd):
    """Blocks of IGC's listing."""
    listing = Listing()
    for line in text.splitlines():
        code = line.split("//")[0].strip()
        label = re.match(r"(\w+):$", code)
        if label:
            listing.label(label.group(1))
        elif code and not code.startswith("."):
            found = instruction(code, simd)
            targets, falls_through = (), True
            if found.name in BRANCHES:
                targets = tuple(re.findall(r"\b(_\w+|L\d+)\b", code))
                is_always = not re.match(r"\((?!W\))", code)
                falls_through = not (found.name in ("jmpi", "goto") and is_always)
            listing.add(found, targets, falls_through)
    return listing.blocks()


def find_listing(folder, entry_point):
    """The width and the listing of the entry point that IGC chose among those that it tried."""
    name = rf"name: +{entry_point}\n"
    for info in folder.glob("*.zeinfo"):
        chosen = re.search(name + r"(?:.*\n)*?.*simd_size: +(\d+)", info.read_text())
        if chosen:
            for path in folder.glob(f"*_simd{chosen.group(1)}_*.asm"):
                text = path.read_text()
                if f"//.kernel {entry_point}\n" in text:
                    return int(chosen.group(1)), text
    return None, None


def compile_program(compilers, program, target, stem):
    """Compiles a program; returns its blocks, and the numbers that the compiler gives."""
    source = f"{stem}.cl"
    text = to_opencl(program.metal.read_text(), program.entry_point, program.threads)
    Path(source).write_text(text)
    folder = Path(f"{stem}.dump")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command = [compilers.files["ocloc"], "compile", "-file", source, "-device", target]
    command += ["-out_dir", folder, "-output", "kernel", "-options", "-cl-std=CL3.0"]
    environment = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(folder)}
    _, log = run(in_unpacked(compilers.root, command), environment)
    simd, text = find_listing(folder, program.entry_point)
    if text is None:
        raise CompileError(log)
    spilled = re.search(r"//\.spill size (\d+)", text)
    return blocks(text, simd), {
        "registers": int(re.search(r"numGRF=(\d+)", text).group(1)),
        "spills": int(spilled.group(1)) if spilled else 0,
        "occupancy": None,
    }
