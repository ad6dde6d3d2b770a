//! What the tests of the GPU backend share: sets, limits, and the choice of an adapter.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::print_stdout, reason = "a skipped test reports it")]

use simgpu::backend::gpu::{Bounds, GpuOptions, Hooks, Integers, adapters, computes};
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::{Banding, ShingleSets, Signatures, Signer};
use simgpu::scheme::Hashes;
use simgpu::scheme::{Scheme, Width, fmix64};

/// Whether this machine has an adapter to test on.
pub(crate) fn has_adapter() -> bool {
    let found = !adapters().is_empty();
    let is_required = std::env::var_os("SIMGPU_REQUIRE_GPU").is_some_and(|value| value == "1");
    assert!(
        found || !is_required,
        "no adapter, and SIMGPU_REQUIRE_GPU=1"
    );
    if !found {
        println!("skipped: no adapter");
    }
    found
}

/// The device under test: the one that SIMGPU_TEST_DEVICE numbers, or the first.
pub(crate) fn device() -> Option<usize> {
    let number = std::env::var_os("SIMGPU_TEST_DEVICE")?;
    let parsed = number.to_str().and_then(|number| number.parse().ok());
    assert!(
        parsed.is_some(),
        "SIMGPU_TEST_DEVICE={} is not the number of a device; `simgpu devices` lists them",
        number.display()
    );
    parsed
}

/// The schemes that GPUs compute; those with 64-bit slots come last.
pub(crate) const SCHEMES: [&str; 6] = [
    "affine32",
    "affine32-even",
    "mersenne31",
    "mersenne61",
    "affine64",
    "mersenne61-wide",
];

/// Shaders with these integers, and loads within these limits.
pub(crate) fn in_form(integers: Integers, bounds: Bounds) -> GpuOptions {
    GpuOptions {
        integers: Some(integers),
        ..within(bounds)
    }
}

/// Loads within these limits.
pub(crate) fn within(bounds: Bounds) -> GpuOptions {
    GpuOptions {
        hooks: Hooks {
            bounds,
            ..Hooks::default()
        },
        ..GpuOptions::default()
    }
}

pub(crate) fn gpu(scheme: &Scheme, options: GpuOptions) -> Box<dyn Signer> {
    signer(Backend::Gpu, scheme, options)
}

/// A signer on the device under test, unless `options` select another.
pub(crate) fn signer(backend: Backend, scheme: &Scheme, options: GpuOptions) -> Box<dyn Signer> {
    let hardware = Hardware {
        gpu: GpuOptions {
            device: options.device.or_else(device),
            ..options
        },
        ..Hardware::default()
    };
    backend.signer_with(scheme, &hardware).unwrap()
}

/// Hashes at the corners of the reductions, then random ones.
fn hashes(count: usize, seed: u64) -> Vec<u64> {
    let corners = [
        u64::MAX,
        0,
        (1 << 31) - 1,
        1 << 31,
        (1 << 61) - 1,
        1 << 61,
        u64::from(u32::MAX),
    ];
    let random = (0..count as u64).map(|i| fmix64(seed << 40 | i));
    let mut all: Vec<u64> = corners.into_iter().chain(random).collect();
    all.truncate(count);
    all
}

/// Sets of these lengths.
pub(crate) struct Sets {
    wide: Vec<u64>,
    narrow: Vec<u32>,
    offsets: Vec<i64>,
}

impl Sets {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    pub(crate) fn of(lengths: &[usize], seed: u64) -> Self {
        let mut offsets = vec![0];
        let mut wide = Vec::new();
        for (i, length) in lengths.iter().enumerate() {
            wide.extend(hashes(*length, seed + i as u64));
            offsets.push(wide.len() as i64);
        }
        Sets {
            narrow: wide.iter().map(|x| *x as u32).collect(),
            wide,
            offsets,
        }
    }

    fn sets(&self, width: Width) -> ShingleSets<'_> {
        let hashes = match width {
            Width::U32 => Hashes::U32(&self.narrow),
            Width::U64 => Hashes::U64(&self.wide),
        };
        ShingleSets::new(hashes, &self.offsets).unwrap()
    }

    pub(crate) fn band_keys(&self, signer: &dyn Signer, banding: Banding) -> Vec<u64> {
        let sets = self.sets(signer.slot_width());
        let mut keys = vec![0; sets.len() * banding.bands()];
        signer.band_keys(&sets, banding, &mut keys).unwrap();
        keys
    }

    pub(crate) fn sign(&self, signer: &dyn Signer) -> Signatures {
        let sets = self.sets(signer.slot_width());
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signatures.sign(signer, &sets).unwrap();
        signatures
    }
}

/// Every scheme with every kind of integers that the device under test computes.
pub(crate) fn forms() -> impl Iterator<Item = (Scheme, Integers)> {
    let best = adapters()[device().unwrap_or(0)].integers();
    let all = SCHEMES.into_iter().flat_map(|name| {
        [Integers::U32, Integers::U64].map(|integers| (Scheme::named(name).unwrap(), integers))
    });
    all.filter(move |(scheme, integers)| *integers <= best && computes(scheme.family(), *integers))
}

/// Limits so small that sets are cut into pieces, pieces into loads, and items into rows of workgroups.
pub(crate) fn tiny() -> Bounds {
    Bounds {
        input_bytes: 1 << 10,
        row_bytes: 1 << 13,
        parts: 5,
        updates: 40_000,
        tile_bytes: 256,
        part_shingles: 70,
        groups: 3,
        loads: 2,
        ..Bounds::default()
    }
}
