//! By which products a device is faster: measured at the first use of a scheme that has both kinds.
//!
//! AMD's devices multiply 24 bits four times as fast as 32, so that a product of 24 bits and a dot product of two
//! bytes take fewer cycles than one product; other devices are slower by it. Both loops are timed on a resident load,
//! in some 20 ms. So no list of vendors grows old, and no file remembers what another driver measured. A software
//! device is not timed.

use std::time::{Duration, Instant};

use super::device::Attempt;
use super::preparation::PreparedDevice;
use super::resident::ResidentLoad;
use super::shader::{Products, ShaderInput, has_products};
use crate::error::Result;
use crate::pipeline::ShingleSets;
use crate::scheme::{Hashes, fmix32};

/// Shingles of a set, and the number of sets.
const SETS: (usize, usize) = (1 << 11, 1 << 7);

/// A measurement of one kind lasts this long.
const LONG_ENOUGH: Duration = Duration::from_millis(2);

/// The most runs of a measurement.
const MOST_RUNS: u32 = 1 << 12;

/// Has the device's shaders multiply as is faster. What was measured is remembered as long as the device is open.
///
/// Bytes win only where they are clearly faster. A device that fails goes on with whole products, and shows its failure
/// with the user's documents.
pub(super) fn choose(gpu: &mut PreparedDevice) {
    if !has_products(gpu.family) {
        return;
    }
    let device = gpu.device.clone();
    gpu.products = *device.products.get_or_init(|| {
        let is_faster = |ratio: f64| {
            if ratio > 1.05 {
                Products::Bytes
            } else {
                Products::Whole
            }
        };
        speed_by_bytes(gpu).map_or(Products::Whole, is_faster)
    });
}

/// The speed by bytes, divided by that by whole products. `None` if the device fails.
#[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
pub(super) fn speed_by_bytes(gpu: &mut PreparedDevice) -> Option<f64> {
    let (shingles, sets) = SETS;
    let hashes: Vec<u32> = (0..(shingles * sets) as u32).map(fmix32).collect();
    let offsets: Vec<i64> = (0..=sets).map(|i| (i * shingles) as i64).collect();
    let sets: Result<_> = ShingleSets::new(Hashes::U32(&hashes), &offsets);
    let load = ResidentLoad::send(gpu, &sets.ok()?, ShaderInput::Hashes).ok()?;
    let mut runs_per_s = |products| {
        gpu.products = products;
        runs_per_s(gpu, &load).ok()
    };
    let whole = runs_per_s(Products::Whole)?;
    Some(runs_per_s(Products::Bytes)? / whole)
}

/// Runs of the shader per second, at best.
fn runs_per_s(gpu: &PreparedDevice, load: &ResidentLoad) -> Attempt<f64> {
    let timed = |times| {
        let start = Instant::now();
        load.run(gpu, ShaderInput::Hashes, times)?;
        Ok(start.elapsed())
    };
    // Compiles the shader, and has the device raise its clock.
    timed(1)?;
    let mut times = 1;
    let mut least = timed(times)?;
    while least < LONG_ENOUGH && times < MOST_RUNS {
        times *= 2;
        least = timed(times)?;
    }
    for _ in 0..2 {
        least = least.min(timed(times)?);
    }
    Ok(f64::from(times) / least.as_secs_f64().max(f64::MIN_POSITIVE))
}
