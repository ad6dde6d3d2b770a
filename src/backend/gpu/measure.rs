//! How fast a kernel is by itself, and with its input on the device: what a whole call is to be compared
//! with.

use std::sync::mpsc::channel;
use std::time::Instant;

use super::device::{Attempt, Failure};
use super::documents::{ByteTexts, Documents, HashedSets};
use super::kernel::Input;
use super::load::Load;
use super::slot::{Slot, Work};
use super::{Gpu, GpuOptions};
use crate::backend::simd::Simd;
use crate::error::{Error, Result};
use crate::pipeline::{Scratch, ShingleSets, Shingler, Signer, TextBatch};
use crate::scheme::Scheme;
use crate::simd::Isa;

/// What is signed for a measurement.
#[derive(Clone, Copy, Debug)]
pub enum Workload<'a> {
    /// Shingle hashes.
    Sets(&'a ShingleSets<'a>),
    /// Texts, of which windows of bytes are hashed on the device.
    Texts(&'a TextBatch, &'a Shingler),
}

/// Times of one load, which is the first documents of a workload.
#[derive(Clone, Copy, Debug)]
pub struct LoadTimes {
    /// Shingles of the load.
    pub shingles: u64,
    /// Bytes of its input.
    pub input_bytes: usize,
    /// Seconds of the kernel alone.
    pub kernel_s: f64,
    /// Seconds of the kernel and of bringing back what it writes.
    pub resident_s: f64,
}

/// Seconds that a kernel is measured for in one submission, by repeating it, so that neither asking for it
/// nor the granularity of waiting shows.
const LEAST_S: f64 = 0.05;

/// Repeats in one submission at most, for kernels that have next to nothing to do.
const MOST_REPEATS: u32 = 1 << 14;

/// Measures the load that the first documents of a workload make; the least times of `rounds`.
///
/// # Errors
/// [`Error::Unsupported`] when there is no device, it cannot compute the scheme, or it fails.
pub fn measure(
    scheme: &Scheme,
    options: &GpuOptions,
    workload: Workload<'_>,
    rounds: usize,
) -> Result<LoadTimes> {
    let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
    let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
    let gpu = Gpu::new(&permutations, empty, options, cpu, false)?;
    let times = match workload {
        Workload::Sets(sets) => times(&gpu, &HashedSets(sets), Input::Hashes, rounds),
        Workload::Texts(texts, shingler) => {
            let window_bytes = shingler.byte_window().ok_or_else(|| {
                Error::Unsupported(
                    "only windows of bytes are hashed on a device; choose the unit bytes"
                        .to_owned(),
                )
            })?;
            let documents = ByteTexts {
                texts,
                shingler,
                window_bytes,
            };
            times(&gpu, &documents, Input::Text, rounds)
        }
    };
    times.map_err(|failure| Error::Unsupported(format!("{}: {failure}", gpu.describe())))
}

fn times<D: Documents>(
    gpu: &Gpu,
    documents: &D,
    input: Input,
    rounds: usize,
) -> Attempt<LoadTimes> {
    let (device, shape) = (&*gpu.device, &gpu.shape);
    let pipeline = gpu.pipeline(input)?;
    let work = Work {
        pipeline: &pipeline,
        blocks: gpu.blocks(),
        banded: None,
    };
    let slot = Slot::new(device, shape, &gpu.coefficients)?;
    let mut input_bytes = Vec::new();
    let mut load = Load::default();
    let mut shingles = 0;
    let mut scratch = Scratch::default();
    let mut is_full = false;
    for i in 0..documents.len() {
        documents.give(i, &mut scratch, &mut |document| {
            let is_empty = document.count == 0;
            match load
                .take(shape, i, document, 0, false)
                .filter(|_| !is_empty)
            {
                Some(taken) => {
                    input_bytes.extend_from_slice(&document.bytes[taken.bytes]);
                    shingles += taken.shingles as u64;
                }
                None => is_full = !is_empty,
            }
        });
        if is_full {
            break;
        }
    }
    if load.is_empty() {
        return Err(Failure::Refused("there is nothing to sign".to_owned()));
    }
    input_bytes.resize(input_bytes.len().next_multiple_of(4), 0);
    let (_, groups) = load.items(shape);
    let row_bytes = load.parts.len() * shape.row_bytes();
    let timeout = shape.bounds.timeout;
    let sent = slot.send(device, shape, &input_bytes, load, &work)?;
    let slot = sent.receive(device, timeout, |_, _, _| {})?;
    let (mut kernel_s, mut resident_s) = (f64::INFINITY, f64::INFINITY);
    let mut repeats = 1;
    for _ in 0..rounds.max(1) {
        let kernels_s = |repeats| kernels_s(gpu, &slot, groups, &work, repeats);
        let mut all_s = kernels_s(repeats)?;
        // In each round, since a device that was idle is slow at first.
        while all_s < LEAST_S && repeats < MOST_REPEATS {
            repeats *= 2;
            all_s = kernels_s(repeats)?;
        }
        kernel_s = kernel_s.min(all_s / f64::from(repeats));
        let start = Instant::now();
        slot.sign_again(device, groups, &work, row_bytes, timeout)?;
        resident_s = resident_s.min(start.elapsed().as_secs_f64());
    }
    Ok(LoadTimes {
        shingles,
        input_bytes: input_bytes.len(),
        kernel_s,
        resident_s,
    })
}

/// Seconds from submitting a kernel, so many times over, to the end of the last.
fn kernels_s(
    gpu: &Gpu,
    slot: &Slot,
    groups: [u32; 2],
    work: &Work<'_>,
    repeats: u32,
) -> Attempt<f64> {
    let device = &*gpu.device;
    let (say_done, done) = channel();
    let start = device.attempt(|| {
        let mut encoder = device.device.create_command_encoder(&Default::default());
        for _ in 0..repeats {
            slot.dispatch(&mut encoder, groups, work);
        }
        encoder.on_submitted_work_done(move || {
            let _ = say_done.send(());
        });
        let commands = encoder.finish();
        let start = Instant::now();
        device.submit(commands);
        Ok(start)
    })?;
    device.wait(gpu.shape.bounds.timeout, || done.try_recv().is_ok())?;
    Ok(start.elapsed().as_secs_f64())
}
