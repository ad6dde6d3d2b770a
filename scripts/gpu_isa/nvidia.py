"""NVIDIA's own compilers: the Metal that naga writes, read as CUDA C++, through NVRTC and ptxas."""

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

import metal
from machine_code import Instruction, Listing
from tools import CompileError, run

SHIM = Path(__file__).with_name("metal_shim.cuh")


@dataclass(frozen=True)
class Processor:
    """What a multiprocessor holds at most; part of each block's shared memory is reserved."""

    shared_bytes: int
    reserved_bytes: int
    warps: int
    blocks: int


KIB = 1 << 10
TARGETS = {
    "sm_75": Processor(64 * KIB, 0, 32, 16),
    "sm_80": Processor(164 * KIB, KIB, 64, 32),
    "sm_86": Processor(100 * KIB, KIB, 48, 16),
    "sm_90": Processor(228 * KIB, KIB, 64, 32),
    "sm_100": Processor(228 * KIB, KIB, 64, 32),
    "sm_120": Processor(100 * KIB, KIB, 48, 24),
}

BUILTINS = {
    "workgroup": "metal::uint3 {} = {{blockIdx.x, blockIdx.y, blockIdx.z}};",
    "workgroups": "metal::uint3 {} = {{gridDim.x, gridDim.y, gridDim.z}};",
    "thread": "metal::uint3 {} = {{threadIdx.x, threadIdx.y, threadIdx.z}};",
    "index": "uint {} = threadIdx.x;",
}


def to_cuda(text, entry_point, threads):
    """Metal as CUDA C++; metal_shim.cuh has what Metal's library has."""
    text = text.replace("using metal::uint;", "typedef metal::uint uint;")
    text = re.sub(r"typedef (\S+) (\w+)\[1\];", r"typedef unsized<\1> \2;", text)
    kernel = metal.parse(text, entry_point)
    arguments, locals_ = [], []
    for p in kernel.parameters:
        const = "const " if p.is_const else ""
        if p.builtin:
            locals_.append(BUILTINS[p.builtin].format(p.name))
        elif p.is_workgroup:
            locals_.append(f"__shared__ {p.type} {p.name};")
        else:
            arguments.append(f"{const}{p.type}* __restrict__ {p.name}_p")
            locals_.append(f"{const}{p.type}& {p.name} = *{p.name}_p;")
    signature = f'extern "C" __global__ void __launch_bounds__({threads})\n'
    signature += f"{entry_point}({', '.join(arguments)}) {{"
    return "\n".join([f'#include "{SHIM.name}"', kernel.head, signature, *locals_, kernel.body])


def to_ptx(library, source, architecture):
    """Compiles CUDA C++ to PTX."""
    nvrtc = ctypes.CDLL(str(library))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    headers = (ctypes.c_char_p * 1)(SHIM.read_bytes())
    names = (ctypes.c_char_p * 1)(SHIM.name.encode())
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernel.cu", 1, headers, names
    )
    options = [
        f"--gpu-architecture=compute_{architecture}".encode(),
        b"--device-as-default-execution-space",
        b"-std=c++17",
        b"-w",
    ]
    option_list = (ctypes.c_char_p * len(options))(*options)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), option_list)
    get_size, get = (
        (nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        if failed
        else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    )
    get_size(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise CompileError(text.value.decode(errors="replace"))
    return text.value.decode()


def sass_instruction(code):
    """An instruction of nvdisasm's listing."""
    name = re.sub(r"^@!?U?P\w+\s+", "", code).split()[0]
    instruction = Instruction(name)
    words = 4 if ".128" in name else 2 if ".64" in name else 1
    if name.startswith("LDS"):
        instruction.loaded = words
    elif name.startswith("STS"):
        instruction.stored = words
    elif name.startswith(("LDG", "LD.")):
        instruction.fetches = True
    elif name.startswith(("STG", "ST.", "ATOM", "RED", "BAR")):
        instruction.has_effect = True
    return instruction


def sass(text):
    """Blocks of nvdisasm's listing."""
    listing = Listing()
    for line in text.splitlines():
        label = re.match(r"\s*\.?(L_x_\w+):", line)
        code = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line)
        if label:
            listing.label(label.group(1))
        elif code:
            code = code.group(1)
            target = re.search(r"BRA.*`\(\.?(L_x_\w+)\)", code)
            targets = (target.group(1),) if target else ()
            # A branch with no predicate, before it or among its operands, is always taken.
            ends = re.match(r"(BRA(\.(?!DIV)\w+)*\s+`|EXIT|RET)", code)
            listing.add(sass_instruction(code), targets, falls_through=not ends)
    return listing.blocks()


def occupancy(processor, registers, shared_bytes, threads):
    """Warps that a multiprocessor holds at a time."""
    warps = -(-threads // 32)
    # A warp's registers are allocated by 256, of 65,536.
    by_registers = (1 << 16) // (-(-registers * 32 // 256) * 256 * warps)
    by_shared = processor.shared_bytes // (shared_bytes + processor.reserved_bytes)
    blocks = min(by_registers, by_shared, processor.blocks, processor.warps // warps)
    return blocks * warps


def compile_program(compilers, program, target, stem):
    """Compiles a program; returns its blocks, and the numbers that the compiler gives."""
    architecture = target.removeprefix("sm_")
    source = to_cuda(program.metal.read_text(), program.entry_point, program.threads)
    Path(f"{stem}.cu").write_text(source)
    ptx, cubin = f"{stem}.ptx", f"{stem}.cubin"
    Path(ptx).write_text(to_ptx(compilers.files["nvrtc"], source, architecture))
    failed, log = run([compilers.files["ptxas"], "-v", f"-arch={target}", ptx, "-o", cubin])
    if failed:
        raise CompileError(log)
    failed, text = run([compilers.files["nvdisasm"], "-c", cubin])
    if failed:
        raise CompileError(text)
    Path(f"{stem}.sass").write_text(text)
    registers = int(re.search(r"Used (\d+) registers", log).group(1))
    shared = re.search(r"(\d+) bytes smem", log)
    spilled = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)
    return sass(text), {
        "registers": registers,
        "spills": sum(int(part) for part in spilled.groups()),
        "occupancy": occupancy(
            TARGETS[target], registers, int(shared.group(1)) if shared else 0, program.threads
        ),
    }
