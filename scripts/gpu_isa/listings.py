"""Reads the listings of Mesa's compilers: ACO (AMD), NAK (NVIDIA), AGX (Apple) and IR3 (Adreno)."""

import re

from machine_code import Block, Instruction, Listing

# What takes four cycles by ACO's own model of the units; other vector instructions take one.
AMD_QUARTER_RATE = tuple(
    "v_mul_lo_u32 v_mul_hi_u32 v_mad_u64_u32 v_mad_i64_i32 v_mad_co_u64_u32 v_mul_u64".split()
)
AMD_FETCHES = ("buffer_load", "global_load", "flat_load")
AMD_EFFECTS = tuple(
    "buffer_store global_store flat_store buffer_atomic global_atomic s_barrier".split()
)


def amd_words(name):
    """32-bit words that an instruction on workgroup memory moves per lane."""
    bits = re.search(r"_[bu](8|16|32|64|96|128)", name)
    words = max(1, int(bits.group(1)) // 32) if bits else 1
    return 2 * words if re.search(r"2addr|(read|write)2", name) else words


def amd_instruction(text):
    """An instruction; its halves where two are issued at once."""
    # Where LLVM cannot disassemble, ACO prints `v1: %1:v[2] = v_mul_lo_u32 ...`.
    halves = [re.sub(r"^.* = ", "", half.strip()).split()[0] for half in text.split("::")]
    names = [re.sub(r"_e(32|64)$", "", name) for name in halves]
    name = names[0]
    cycles = [4 if n.startswith(AMD_QUARTER_RATE) else 1 for n in names if n.startswith("v_")]
    instruction = Instruction(name, cycles=max(cycles, default=0))
    # Hints to the scheduler and padding take no slot.
    if name.startswith(("s_delay_alu", "s_nop")):
        instruction.issued = 0
    if name.startswith(("ds_load", "ds_read")):
        instruction.loaded = amd_words(name)
    elif name.startswith(("ds_store", "ds_write")):
        instruction.stored = amd_words(name)
    elif name.startswith(AMD_FETCHES):
        instruction.fetches = True
    elif name.startswith("ds_") or name.startswith(AMD_EFFECTS):
        instruction.has_effect = True
    return instruction


def amd(text):
    """Blocks of a listing of ACO."""
    listing = Listing()
    for line in text.splitlines():
        label = re.match(r"(BB\d+):?\s*$", line)
        code = line.split(";")[0].strip()
        if label:
            listing.label(label.group(1))
        elif code and listing.labels and not code.startswith(("(", "/*")):
            branch = re.match(r"s_(c?branch)\w*\s+(?:block:)?(BB\d+)", code)
            targets = (branch.group(2),) if branch else ()
            ends = code.startswith(("s_branch", "s_endpgm"))
            listing.add(amd_instruction(code), targets, falls_through=not ends)
    return listing.blocks()


def nak_instruction(code):
    """An instruction of NAK's listing."""
    name = re.sub(r"^@!?\w+\s+", "", code.split(" = ")[-1].strip()).split()[0]
    instruction = Instruction(name)
    words = max(1, int((re.search(r"\.[bu](\d+)", name) or [0, 32])[1]) // 32)
    if name.startswith("ld.shared"):
        instruction.loaded = words
    elif name.startswith("st.shared"):
        instruction.stored = words
    elif name.startswith("ld.global"):
        instruction.fetches = True
    elif name.startswith(("st.global", "atom", "red", "bar", "membar")):
        instruction.has_effect = True
    return instruction


def nak(text):
    """Blocks of a listing of NAK, which names the successors."""
    blocks, current = {}, None
    for line in text.splitlines():
        begin = re.match(r"block(?:\.u)? (\d+) .*-> \{", line)
        end = re.match(r"\} -> \[([\d, ]*)\]", line)
        code = line.split("//")[0].strip()
        if begin:
            current = blocks[int(begin.group(1))] = Block()
        elif end:
            current.successors = [int(number) for number in re.findall(r"\d+", end.group(1))]
        elif current is not None and code:
            current.instructions.append(nak_instruction(code))
    return blocks


def agx_instruction(code):
    """An instruction of the AGX disassembler."""
    name = code.split()[0]
    instruction = Instruction(name)
    if name in ("lload", "lstore"):
        # The last operand names the components: xyzw.
        words = len(code.split(",")[-1].strip())
        instruction.loaded, instruction.stored = (words, 0) if name == "lload" else (0, words)
    elif name == "load":
        instruction.fetches = True
    elif name in ("store", "barrier") or "atomic" in name:
        instruction.has_effect = True
    return instruction


def agx(text):
    """Blocks of the longest program that the AGX compiler printed: others are preambles."""
    programs, last = [], None
    for line in text.splitlines():
        match = re.match(r"\s*([0-9a-f]+): [0-9a-f]{4,}\s+(\S.*)", line)
        if match:
            address = int(match.group(1), 16)
            if last is None or address <= last:
                programs.append([])
            programs[-1].append((address, match.group(2)))
            last = address
    listing = Listing()
    for address, code in max(programs, key=len, default=[]):
        listing.label(address)
        jump = re.match(r"jmp_\w+\s+(-?\d+)", code)
        targets = (address + int(jump.group(1)),) if jump else ()
        listing.add(agx_instruction(code), targets, falls_through=not code.startswith("stop"))
    return listing.blocks()


def ir3_instruction(code):
    """An instruction of IR3, which may be issued several times, or wait."""
    times = 1
    for flag in re.findall(r"\((?:rpt|nop)(\d)\)", code):
        times += int(flag)
    name = re.sub(r"^(\([^)]*\)\s*)*", "", code).split()[0]
    instruction = Instruction(name, issued=times)
    if name.startswith(("ldl.", "stl.")):
        words = int(code.split(",")[-1])
        is_load = name.startswith("ldl.")
        instruction.loaded, instruction.stored = (words, 0) if is_load else (0, words)
    elif name.startswith(("isam", "ldg", "ldib")):
        instruction.fetches = True
    elif name.startswith(("stib", "stg", "atomic", "bar")):
        instruction.has_effect = True
    return instruction


def ir3(text):
    """Blocks of a listing of IR3."""
    listing = Listing()
    for line in text.splitlines():
        code = line.strip()
        label = re.match(r"(l\d+):$", code)
        if label:
            listing.label(label.group(1))
        elif code and not code.startswith((";", "@")):
            target = re.search(r"#(l\d+)", code)
            targets = (target.group(1),) if target else ()
            instruction = ir3_instruction(code)
            listing.add(instruction, targets, falls_through=instruction.name not in ("jump", "end"))
    return listing.blocks()
