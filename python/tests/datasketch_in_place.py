"""A plugin of pytest that lets ``import datasketch`` find the classes of simgpu.datasketch.

The modules of datasketch stay, with the classes that simgpu replaces: ``datasketch.minhash.MinHash`` is simgpu's.
"""

import sys

import datasketch
import simgpu.datasketch

# The classes of simgpu and the modules of datasketch that define or import them. datasketch.lsh and the others use the
# objects that they are given, whatever their class.
REPLACED = {
    name: getattr(simgpu.datasketch, name)
    for name in simgpu.datasketch.__all__
    if getattr(simgpu.datasketch, name).__module__.startswith("simgpu")
}

for module in [
    datasketch,
    *(sys.modules[name] for name in sorted(sys.modules) if name.startswith("datasketch.")),
]:
    for name, replacement in REPLACED.items():
        if hasattr(module, name):
            setattr(module, name, replacement)
