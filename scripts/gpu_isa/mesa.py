"""Mesa's Vulkan drivers, made to believe that a GPU is there by Mesa's own drm shims."""

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import listings
from tools import CompileError, in_unpacked, run

LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class Driver:
    """A driver, what it says of a program, and how its shim learns which chip to play."""

    name: str
    # The driver is libvulkan_LIBRARY.so, the shim libSHIM_noop_drm_shim.so.
    library: str
    shim: str
    # The environment's variable that names the chip; None where the shim plays one alone.
    chip_variable: str | None
    # Makes blocks of the listing: the representation of this name, or else the messages.
    read: callable
    listing: str | None
    # Names of statistics.
    registers: str
    spills: tuple
    occupancy: str
    # What else the driver needs in its environment, and what has it print its listing.
    more: tuple = ()
    printing: tuple = ()


NVK = Driver(
    name="NVK",
    library="nouveau",
    shim="nouveau",
    chip_variable="NOUVEAU_CHIPSET",
    read=listings.nak,
    listing="NAK_assembly",
    registers="Number of GPRs",
    spills=("Spills to memory",),
    occupancy="Max warps/SM",
    more=(("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1"),),
)
RADV = Driver(
    name="RADV",
    library="radeon",
    shim="amdgpu",
    chip_variable="AMDGPU_GPU_ID",
    read=listings.amd,
    listing="Assembly",
    registers="VGPRs",
    spills=("Spilled VGPRs", "Spilled SGPRs"),
    occupancy="Subgroups per SIMD",
)
HONEYKRISP = Driver(
    name="Honeykrisp",
    library="asahi",
    shim="asahi",
    chip_variable=None,
    read=listings.agx,
    listing=None,
    registers="GPRs",
    spills=("Spills",),
    occupancy="Threads",
    printing=(("AGX_MESA_DEBUG", "shaders"),),
)
TURNIP = Driver(
    name="Turnip",
    library="freedreno",
    shim="freedreno",
    chip_variable="FD_GPU_ID",
    read=listings.ir3,
    listing="IR3_Assembly",
    registers="Registers used",
    spills=("STP Count",),
    occupancy="Max Waves Per Core",
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
    """Runs a program to which the target's GPU seems to be there.

    Returns its exit status and all its output.
    """
    driver, chip = TARGETS[target]
    libraries = root / LIBRARIES
    manifest = (root / f"usr/share/vulkan/icd.d/{driver.library}_icd.json").read_text()
    library = f'"library_path": "{libraries}/libvulkan_{driver.library}.so"'
    command = in_unpacked(root, command, preload=f"lib{driver.shim}_noop_drm_shim.so")
    with NamedTemporaryFile("w", suffix=".json", dir=work) as icd:
        icd.write(re.sub(r'"library_path": "[^"]*"', library, manifest))
        icd.flush()
        environment = {
            "VK_DRIVER_FILES": icd.name,
            "NODEVICE_SELECT": "1",
            "MESA_SHADER_CACHE_DISABLE": "true",
            "XDG_RUNTIME_DIR": str(work),
            **dict(driver.more),
            **dict(more),
        }
        if driver.chip_variable:
            environment[driver.chip_variable] = chip
        return run(command, environment, timeout)


def compile_program(compilers, program, target, stem):
    """Compiles a program; returns its blocks, and the numbers that the driver gives."""
    driver, _ = TARGETS[target]
    command = [compilers.files["driver_listing"], program.spirv, program.entry_point]
    command += [program.bindings, stem]
    status, output = on_shim(compilers.root, target, command, 120, stem.parent, driver.printing)
    if "stat:" not in output:
        raise CompileError(output or f"the driver ended with status {status}")
    text = Path(f"{stem}.0.{driver.listing}.txt").read_text() if driver.listing else output
    statistics = dict(re.findall(r"stat: (.*?) = (.*)", output))
    return driver.read(text), {
        "registers": int(statistics[driver.registers]),
        "spills": sum(int(statistics[name]) for name in driver.spills),
        "occupancy": int(statistics[driver.occupancy]),
    }
