"""A plugin of pytest that puts simgpu.datasketch in the place of datasketch."""

import sys

import simgpu.datasketch

sys.modules["datasketch"] = simgpu.datasketch
