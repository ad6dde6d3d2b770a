"""A plugin of pytest that lets ``import datasketch`` find the classes of simgpu.datasketch.

The modules of datasketch stay, but the classes in them are simgpu's where it has its own:
``datasketch.minhash.MinHash`` is ``simgpu.datasketch.MinHash``.
"""

import sys

import datasketch
import simgpu._datasketch_indexes
import simgpu.datasketch

# What simgpu replaces, by name. datasketch's own indexes take sketches of any class.
REPLACED = {
    name: getattr(simgpu.datasketch, name)
    for name in simgpu.datasketch.__all__
    if getattr(simgpu.datasketch, name).__module__.startswith("simgpu")
}

# Storages other than memory are the installed datasketch's own, whose classes are replaced here.
OWN = {name: getattr(datasketch, name) for name in REPLACED}
simgpu._datasketch_indexes._installed = OWN.__getitem__

for module in [
    datasketch,
    *(sys.modules[name] for name in sorted(sys.modules) if name.startswith("datasketch.")),
]:
    for name, replacement in REPLACED.items():
        if hasattr(module, name):
            setattr(module, name, replacement)
