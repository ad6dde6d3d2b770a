"""The way of texts from files through a device to band keys, as stages that share resources.

    stage       resource   seconds
    reader      storage    compressed bytes / GB/s
    decompress  cores      bytes / GB/s of a core
    host        cores      byte * bytes + document * documents: parse, normalise, digest, copy
    number      numbering  number_document * documents, by one thread at a time
    copy up     device     text bytes / GB/s
    kernel      device     shingles * (K * cycles of an update + cycles of staging) / lane-cycles/s
    copy down   device     distinct documents * bands * 8 bytes / GB/s
    between     device     loads * what passes between two of them

There is no fold on the host: the device takes the minimum over the parts of a text, and band keys
alone come back. A device has one queue, so that its copies and kernels follow each other (`device`
is one resource). lavapipe is a program: its kernels and copies take cores, too.

The stages overlap load by load. With n loads, and the seconds for which each resource is busy,

    elapsed = start + (host + device) / n + (1 - 1 / n) * busiest resource

The middle term is the first load, which nothing overlaps. A 32-bit multiply takes a lane of NVIDIA
for as long as two other instructions, and others are issued meanwhile; on AMD and Apple for as long
as four, and nothing is.
"""

from dataclasses import dataclass

WINDOW = 9
KEY_BYTES = 8
QUAD = 4
MIB = 1 << 20


@dataclass
class Work:
    """What a run does. Bytes are those of JSON Lines, text bytes those that are sent."""

    num_perm: int
    bands: int
    bytes: float
    documents: float
    distinct: float
    text_bytes: float
    # As compressed by zstd; 0 for input that is not compressed.
    compressed_bytes: float = 0

    @classmethod
    def of_run(cls, run):
        names = "num_perm bands bytes documents distinct text_bytes".split()
        return cls(*(getattr(run, name) for name in names))

    def scaled(self, total_bytes):
        """The same kind of documents, so many bytes of them."""
        scale = total_bytes / self.bytes
        counts = (self.documents, self.distinct, self.text_bytes, self.compressed_bytes)
        return Work(self.num_perm, self.bands, total_bytes, *(scale * count for count in counts))

    @property
    def shingles(self):
        return self.text_bytes - (WINDOW - 1) * self.distinct

    @property
    def updates(self):
        return self.num_perm * self.shingles


@dataclass
class Host:
    """Seconds of a core; fitted, see fit.py."""

    start: float
    byte: float
    document: float


@dataclass
class Software:
    """Seconds of a core that lavapipe takes; fitted, see fit.py."""

    update: float
    shingle: float
    document: float
    text_byte: float


@dataclass
class Stage:
    """Seconds of a resource; of one core, where the resource is the cores."""

    name: str
    resource: str
    seconds: float


@dataclass
class Prediction:
    """The stages of a run, how many of each resource there are, and the time that follows."""

    stages: list[Stage]
    capacity: dict[str, float]
    loads: float
    start_s: float

    def busy_s(self, resource):
        seconds = sum(stage.seconds for stage in self.stages if stage.resource == resource)
        return seconds / self.capacity[resource]

    @property
    def bottleneck(self):
        return max(self.capacity, key=self.busy_s)

    @property
    def elapsed_s(self):
        busiest = self.busy_s(self.bottleneck)
        # Of one load: work of the host, and then of the device.
        host = sum(stage.seconds for stage in self.stages if stage.name == "host")
        first = (host / self.capacity["cores"] + self.busy_s("device")) / self.loads
        return self.start_s + first + busiest * (1 - 1 / self.loads)


def on_software(work, host, software, loads, cores, rates):
    """A run on lavapipe, of plain input. Kernels have as many threads as the host."""
    capacity = {
        "cores": 1 if cores == 1 else cores * rates["parallel_efficiency"],
        "device": 1,
        "numbering": 1,
    }
    kernel = software.update * work.updates + software.shingle * work.shingles
    kernel += software.document * work.distinct
    copies = software.text_byte * work.text_bytes
    host_s = host.byte * work.bytes + host.document * work.documents
    stages = [
        Stage("host", "cores", host_s),
        Stage("copies", "cores", copies),
        Stage("kernel", "cores", kernel),
        Stage("device", "device", copies + kernel / capacity["cores"]),
        # A part of the host's, by one thread at a time.
        Stage("number", "numbering", rates["number_document_s"] * work.documents),
    ]
    return Prediction(stages, capacity, loads, host.start)


def lane_cycles(machine, kernel, num_perm, rates):
    """Cycles of a lane for a shingle: all of its updates, and its part of staging a quad."""
    multiply = machine["multiply_cycles"]
    multiplies = rates["staging_multiplies"] * QUAD
    if machine["multiply_overlaps"]:
        update = max(kernel.instructions, multiply)
        staging = max(kernel.staging, multiply * multiplies)
    else:
        update = kernel.cycles or kernel.instructions + multiply - 1
        staging = kernel.staging + (multiply - 1) * multiplies
    return num_perm * update + staging / QUAD


def on_machine(work, host, machine, kernel, rates):
    """A run on a machine with a GPU."""
    lane_cycles_s = machine["units"] * machine["lanes"] * machine["clock_ghz"] * 1e9
    cycles = lane_cycles(machine, kernel, work.num_perm, rates)
    up_s = work.text_bytes / (machine["up_gb_s"] * 1e9)
    kernel_s = work.shingles * cycles / (lane_cycles_s * rates["kernel_efficiency"])
    down_s = work.distinct * work.bands * KEY_BYTES / (machine["down_gb_s"] * 1e9)
    load_bytes = size_of_loads((up_s + kernel_s + down_s) / work.text_bytes, rates)
    loads = max(1, work.text_bytes / load_bytes)
    stages = [
        Stage("reader", "storage", work.compressed_bytes / (machine["storage_gb_s"] * 1e9)),
        Stage("decompress", "cores", work.bytes / (rates["decompress_gb_s"] * 1e9)),
        Stage("host", "cores", host.byte * work.bytes + host.document * work.documents),
        Stage("number", "numbering", rates["number_document_s"] * work.documents),
        Stage("copy up", "device", up_s),
        Stage("kernel", "device", kernel_s),
        Stage("copy down", "device", down_s),
        Stage("between", "device", loads * rates["between_loads_s"]),
    ]
    capacity = {
        "cores": machine["cores"] * rates["parallel_efficiency"],
        "numbering": 1,
        "storage": 1,
        "device": 1,
    }
    return Prediction(stages, capacity, loads, rates["open_device_s"])


def size_of_loads(device_s_per_byte, rates):
    """Loads double until one takes long enough, or is as large as they may be."""
    size = rates["least_load_mib"] * MIB
    while size < rates["most_load_mib"] * MIB and size * device_s_per_byte < rates["long_load_s"]:
        size *= 2
    return size


def without_device_gb_s(work, host, machine, rates):
    """The same on the cores alone, which hash the windows and sign, under 128 permutations."""
    per_core = {
        "signing": work.text_bytes / (rates["signed_text_gb_s"] * 1e9),
        "decompress": work.bytes / (rates["decompress_gb_s"] * 1e9),
        "host": host.byte * work.bytes + host.document * work.documents,
    }
    busy_s = sum(per_core.values()) / (machine["cores"] * rates["parallel_efficiency"])
    return work.bytes / 1e9 / max(busy_s, rates["number_document_s"] * work.documents)
