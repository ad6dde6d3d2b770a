"""Mesa's Vulkan drivers, made to believe that a GPU is there by Mesa's own drm shims."""

import re
from dataclasses import dataclass
from pathlib import Path

import listings
from tools import CompileError, in_unpacked, run

LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class Driver:
    """A driver, and how its shim learns which chip to play."""

    name: str
    # The driver's library is libvulkan_LIBRARY.so, the shim's libSHIM_noop_drm_shim.so.
    library: str
    shim: str
    chip_variable: str
    read: callable
    # The file among those that the driver writes; None for its messages.
    listing: str | None
    registers: str
    spills: tuple
    occupancy: str
    # What else the driver needs in its environment, and what has it print its listing.
    more: tuple = ()
    printing: tuple = ()


NVK = Driver(
    "NVK", "nouveau", "nouveau", "NOUVEAU_CHIPSET", listings.nak, "NAK_assembly", "Number of GPRs",
    ("Spills to memory",), "Max warps/SM", (("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1"),),
)
RADV = Driver(
    "RADV", "radeon", "amdgpu", "AMDGPU_GPU_ID", listings.amd, "Assembly", "VGPRs",
    ("Spilled VGPRs", "Spilled SGPRs"), "Subgroups per SIMD",
)
HONEYKRISP = Driver(
    "Honeykrisp", "asahi", "asahi", "", listings.agx, None, "GPRs", ("Spills",), "Threads",
    printing=(("AGX_MESA_DEBUG", "shaders"),),
)
TURNIP = Driver(
    "Turnip", "freedreno", "freedreno", "FD_GPU_ID", listings.ir3, "IR3_Assembly", "Registers used",
    ("STP Count",), "Max Waves Per Core",
)

# The targets, and the chips as the shims know them.
TARGETS = {
    "tu102": (NVK, "162"),
    "ga102": (NVK, "172"),
    "gh100": (NVK, "180"),
    "vega20": (RADV, "vega20"),
    "navi21": (RADV, "navi21"),
    "navi31": (RADV, "navi31"),
    "gfx1201": (RADV, "gfx1201"),
    "m1": (HONEYKRISP, ""),
    "adreno730": (TURNIP, "730"),
}


def on_shim(root, target, command, timeout, work, more=()):
    """Runs a program for which the target's GPU seems to be there; returns its exit status and all its output."""
    driver, chip = TARGETS[target]
    libraries = root / LIBRARIES
    manifest = (root / f"usr/share/vulkan/icd.d/{driver.library}_icd.json").read_text()
    library = f'"library_path": "{libraries}/libvulkan_{driver.library}.so"'
    icd = Path(work) / f"{target}.icd.json"
    icd.write_text(re.sub(r'"library_path": "[^"]*"', library, manifest))
    environment = {
        "VK_DRIVER_FILES": str(icd),
        "VK_ICD_FILENAMES": str(icd),
        "NODEVICE_SELECT": "1",
        "MESA_SHADER_CACHE_DISABLE": "true",
        "XDG_RUNTIME_DIR": str(work),
        **dict(driver.more),
        **dict(more),
    }
    if driver.chip_variable:
        environment[driver.chip_variable] = chip
    shim = f"lib{driver.shim}_noop_drm_shim.so"
    return run(in_unpacked(root, command, preload=shim), environment, timeout)


def compile_program(compilers, program, target, stem):
    """Compiles a program; returns its blocks, and the numbers that the driver gives."""
    driver, _ = TARGETS[target]
    command = [compilers.driver_listing, program.spirv, program.entry_point, program.bindings, stem]
    _, output = on_shim(compilers.root, target, command, 120, stem.parent, driver.printing)
    if "stat:" not in output:
        raise CompileError(output)
    text = Path(f"{stem}.0.{driver.listing}.txt").read_text() if driver.listing else output
    statistics = dict(re.findall(r"stat: (.*?) = (.*)", output))
    return driver.read(text), {
        "registers": int(statistics[driver.registers]),
        "spills": sum(int(statistics[name]) for name in driver.spills),
        "occupancy": int(statistics[driver.occupancy]),
    }
