"""Tests of the model on work whose time is known. Run by scripts/test.sh."""

import unittest

from fit import fit, least_squares
from measure import Run, kinds
from model import Host, Software, Work, on_machine, on_software

RATES = {
    "parallel_efficiency": 1.0,
    "decompress_gb_s": 1.0,
    "number_document_s": 1e-6,
    "least_load_mib": 8,
    "most_load_mib": 64,
    "long_load_s": 0.002,
    "between_loads_s": 0.0,
    "open_device_s": 0.0,
    "staging_multiplies": 9,
    "kernel_efficiency": 1.0,
}
HOST = Host(start=0.05, byte=2e-9, document=1e-6)
SOFTWARE = Software(update=3e-10, shingle=5e-9, document=1e-5, text_byte=1e-9)


class Kernel:
    instructions, cycles, staging = 2.0, None, 0.0


def machine(**others):
    rates = {"cores": 1e9, "storage_gb_s": 1e9, "up_gb_s": 1e9, "down_gb_s": 1e9, "units": 1e9}
    lanes = {"lanes": 1, "clock_ghz": 1, "multiply_cycles": 0, "multiply_overlaps": True}
    return {**rates, **lanes, **others}


def run(corpus, documents, length, num_perm):
    """A run that takes exactly what the rates say."""
    size = documents * length
    work = Work(num_perm, 16, size, documents, documents, size)
    host_s = HOST.start + HOST.byte * size + HOST.document * documents
    copy_s = SOFTWARE.text_byte * size
    kernel_s = SOFTWARE.update * work.updates + SOFTWARE.shingle * work.shingles
    kernel_s += SOFTWARE.document * documents
    cpu_s = host_s + copy_s + kernel_s
    sizes = (num_perm, 16, 1, size, documents, documents, size, 10)
    return Run("2026-11-23", corpus, *sizes, cpu_s, host_s, copy_s, kernel_s, cpu_s, 0.0)


class ModelTest(unittest.TestCase):
    def test_fit_finds_the_rates_of_exact_runs(self):
        runs = [
            run(corpus, documents, length, num_perm)
            for corpus, length in [("long", 30_000), ("short", 1_000)]
            for documents, num_perm in [(1_000, 64), (1_000, 256), (10_000, 128)]
        ]
        host, software = fit(runs, ["long", "short"])
        for found, rates in [(host, HOST), (software, SOFTWARE)]:
            for name, rate in vars(rates).items():
                self.assertAlmostEqual(getattr(found, name) / rate, 1, 2, name)

    def test_no_coefficient_is_negative(self):
        found = least_squares([[1, 1], [1, 2], [1, 3]], [3, 2, 1])
        self.assertTrue(all(coefficient >= 0 for coefficient in found), found)

    def test_one_core_takes_the_sum_of_all_work(self):
        one = run("one", 1_000, 30_000, 128)
        found = on_software(Work.of_run(one), HOST, SOFTWARE, one.loads, 1, RATES)
        self.assertAlmostEqual(found.elapsed_s, one.cpu_s)

    def test_the_scarce_resource_is_the_bottleneck(self):
        work = Work(128, 16, 100e9, 1e5, 1e5, 90e9, 10e9)
        host = Host(0, 1e-9, 0)
        for scarce, resource, seconds in [
            ({"cores": 10}, "cores", (100 + 100) / 10),
            ({"storage_gb_s": 1}, "storage", 10),
            ({"up_gb_s": 9}, "device", 10),
            # 128 updates of two instructions.
            ({"units": 1e3}, "device", (90e9 - 8e5) * 256 / 1e12),
        ]:
            found = on_machine(work, host, machine(**scarce), Kernel, RATES)
            self.assertEqual(found.bottleneck, resource)
            self.assertAlmostEqual(found.elapsed_s / seconds, 1, 1)

    def test_threads_are_told_apart_by_their_order(self):
        threads = [("simgpu", 1.0), ("simgpu", 2.0), ("simgpu", 0.1), ("llvmpipe-0", 0.0)]
        threads += [
            ("simgpu", 5.0),
            ("simgpu", 6.0),
            ("simgpu:disk$0", 0.5),
            ("simgpu-device", 0.2),
        ]
        host_s, copy_s, kernel_s = kinds(threads)
        self.assertAlmostEqual(host_s, 3.5)
        self.assertAlmostEqual(copy_s, 0.3)
        self.assertAlmostEqual(kernel_s, 11.0)


if __name__ == "__main__":
    unittest.main()
