//! GPUs, through wgpu: texts or shingle hashes in, signatures out, on any adapter, with the bits of the
//! CPU.
//!
//! A call's documents are shared out among threads. Each fills *loads* with its documents, has several of
//! them on their way through *slots*, and folds the rows that come back. What a device does not do is done by
//! the CPU: a load that failed, and, in a hybrid run, whatever there is when no slot is free.

mod device;

mod kernel;

mod load;

mod buffers;

mod documents;

mod output;

mod worker;

#[cfg(feature = "internals")]
mod measure;

pub(super) mod auto;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use self::buffers::Banded;
use self::buffers::Pool;
pub use self::device::{Adapter, adapters};
use self::device::{Attempt, Device, Failure, Pipeline, lock};
use self::documents::{ByteTexts, Documents, HashedSets};
pub use self::kernel::Integers;
use self::kernel::{Input, LANES, SignKernel};
pub use self::load::Bounds;
use self::load::Shape;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use self::measure::DeviceLoad;
use self::output::{KeyRows, Output, SignatureRows};
use self::worker::Worker;
use super::unfit;
use crate::documents::TextBatch;
use crate::error::{Error, Result};
use crate::pipeline::{
    Banding, Hashes, ShingleSets, Shingler, Signatures, SignaturesMut, Signer, Slots, SlotsMut,
    check_keys, keys_of_row, keys_of_rows, signed_keys,
};
use crate::scheme::{Family, Permutations, Width};

/// Which device is used, and how.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// The number of the adapter, as [`adapters`] gives it; the first one if none is named.
    pub device: Option<usize>,
    /// The form of the kernels; the best that the adapter takes if none is named.
    pub integers: Option<Integers>,
    /// What is sent to the device at a time.
    pub bounds: Bounds,
    /// Makes the device be lost after so many loads, to see what happens then.
    pub lose_after: Option<u32>,
}

/// The GPU backend for one scheme.
pub(super) struct Gpu {
    device: Arc<Device>,
    family: Family,
    num_perm: usize,
    /// Every slot of the empty set.
    empty: u64,
    coefficients: wgpu::Buffer,
    shape: Shape,
    threads: u32,
    slots: Pool,
    /// Signs what the device does not.
    cpu: Box<dyn Signer>,
    /// Whether the CPU takes part.
    is_hybrid: bool,
    /// Whether it was said that the device failed.
    has_said: AtomicBool,
    notices: Mutex<Vec<String>>,
    /// Loads until the device is to be lost.
    left: Option<AtomicU32>,
}

impl Gpu {
    /// Opens a device for a scheme, of which `cpu` signs what the device does not.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is no device, or it cannot compute the scheme.
    pub(super) fn new(
        permutations: &Permutations,
        empty: u64,
        options: &GpuOptions,
        cpu: Box<dyn Signer>,
        is_hybrid: bool,
    ) -> Result<Self> {
        let family = permutations.family();
        // Before a device is opened for nothing.
        kernel::check(family, Integers::U64)?;
        Gpu::on(
            Device::open(options)?,
            permutations,
            empty,
            options,
            cpu,
            is_hybrid,
        )
    }

    /// The same on a device that is open.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
    fn on(
        device: Arc<Device>,
        permutations: &Permutations,
        empty: u64,
        options: &GpuOptions,
        cpu: Box<dyn Signer>,
        is_hybrid: bool,
    ) -> Result<Self> {
        let family = permutations.family();
        kernel::check(family, device.integers)?;
        let num_perm = permutations.num_perm();
        let row_slots = num_perm.next_multiple_of(LANES);
        let slot_bytes = family.slot_width().bytes();
        let shape = Shape {
            bounds: options.bounds.within(
                &device.limits,
                device.is_software,
                row_slots * slot_bytes,
                slot_bytes,
            ),
            row_slots,
            slot_bytes,
        };
        let most = device.limits.max_compute_invocations_per_workgroup;
        let most = most
            .min(device.limits.max_compute_workgroup_size_x)
            .min(256);
        let quads = (row_slots / LANES) as u32;
        let kernel = SignKernel::new(family, device.integers, Input::Hashes);
        let words = kernel.coefficients(permutations.a(), permutations.b());
        let coefficients = device
            .storage(bytemuck::cast_slice(&words))
            .map_err(|failure| Error::Unsupported(format!("{}: {failure}", device.name)))?;
        let gpu = Gpu {
            family,
            num_perm,
            empty,
            coefficients,
            shape,
            threads: quads.next_multiple_of(32).min(most),
            slots: Pool::default(),
            cpu,
            is_hybrid,
            has_said: AtomicBool::new(false),
            notices: Mutex::default(),
            left: options.lose_after.map(AtomicU32::new),
            device,
        };
        // A kernel that does not compile is an error now, not a failure later.
        gpu.pipeline(Input::Hashes)
            .map_err(|failure| Error::Unsupported(format!("{}: {failure}", gpu.device.name)))?;
        Ok(gpu)
    }

    fn pipeline(&self, input: Input) -> Attempt<Arc<wgpu::ComputePipeline>> {
        self.device.pipeline(Pipeline::Sign {
            kernel: SignKernel::new(self.family, self.device.integers, input),
            threads: self.threads,
            tile_quads: self.shape.tile_quads(),
        })
    }

    /// Blocks of permutations, one to a workgroup.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
    fn blocks(&self) -> u32 {
        ((self.shape.row_slots / LANES) as u32).div_ceil(self.threads)
    }

    /// Counts a load that was sent, and loses the device when that is what was asked for.
    fn count_load(&self) {
        if let Some(left) = &self.left
            && left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            self.device.lose();
        }
    }

    /// Notes what the device did not do; it is said once.
    fn note(&self, failure: &Failure) {
        let failure = self.device.give_up(failure);
        if self.has_said.swap(true, Ordering::Relaxed) {
            return;
        }
        lock(&self.notices).push(format!(
            "the GPU ({}) failed: {failure}; the CPU signs the rest, with the same values",
            self.device.name
        ));
    }

    /// Makes the rows of documents, several threads at a time, but those that it gives: documents that are
    /// too long for a load, where a row needs the whole document.
    fn make<D: Documents, O: Output>(
        &self,
        documents: &D,
        output: &O,
        rows: &mut [O::Number],
        input: Input,
    ) -> Result<Vec<usize>> {
        let pipeline = self.pipeline(input);
        let shares = share_out(documents, rows, output.row_len());
        let made = shares
            .into_par_iter()
            .map(|share| Worker::new(self, documents, output, &pipeline, share).run());
        Ok(made.collect::<Result<Vec<_>>>()?.concat())
    }

    fn sign<D: Documents, S: Slot>(
        &self,
        documents: &D,
        slots: &mut [S],
        input: Input,
    ) -> Result<()> {
        let output = SignatureRows {
            empty: vec![S::of(self.empty); self.num_perm],
        };
        self.make(documents, &output, slots, input).map(|_| ())
    }

    /// What makes band keys of rows, unless they are no fewer bytes than the rows.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
    fn key_rows(&self, banding: Banding) -> Option<KeyRows> {
        let (bands, band_slots) = (banding.bands(), banding.rows());
        if bands * size_of::<u64>() >= self.shape.row_bytes() {
            return None;
        }
        let slot_words = self.shape.slot_bytes / 4;
        let pipeline = self.device.pipeline(Pipeline::BandKeys {
            bands: bands as u32,
            band_slots: band_slots as u32,
            slot_words: slot_words as u32,
            row_words: (self.shape.row_slots * slot_words) as u32,
        });
        let pipeline = pipeline.inspect_err(|failure| self.note(failure)).ok()?;
        let mut empty = vec![0; bands];
        match self.family.slot_width() {
            Width::U32 => keys_of_row(
                Slots::U32(&vec![u32::of(self.empty); self.num_perm]),
                banding,
                &mut empty,
            ),
            Width::U64 => keys_of_row(
                Slots::U64(&vec![self.empty; self.num_perm]),
                banding,
                &mut empty,
            ),
        }
        Some(KeyRows {
            banding,
            empty,
            banded: Banded { pipeline, bands },
        })
    }
}

/// Whether there is a kernel for a family with these integers.
pub fn computes(family: Family, integers: Integers) -> bool {
    kernel::check(family, integers).is_ok()
}

/// A slot of a signature: u32 or u64.
trait Slot: bytemuck::Pod + Ord + Send + Sync {
    const GREATEST: Self;

    fn of(slot: u64) -> Self;

    fn borrow(slots: &mut [Self]) -> SlotsMut<'_>;
}

impl Slot for u32 {
    const GREATEST: u32 = u32::MAX;

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn of(slot: u64) -> u32 {
        slot as u32
    }

    fn borrow(slots: &mut [u32]) -> SlotsMut<'_> {
        SlotsMut::U32(slots)
    }
}

impl Slot for u64 {
    const GREATEST: u64 = u64::MAX;

    fn of(slot: u64) -> u64 {
        slot
    }

    fn borrow(slots: &mut [u64]) -> SlotsMut<'_> {
        SlotsMut::U64(slots)
    }
}

/// A thread has no less to do than this, in bytes.
const SHARE: usize = 1 << 20;

/// Cuts the documents into shares of about the same size, one a thread: the number of the first document,
/// and the rows of `row_len`.
fn share_out<'a, D: Documents, S>(
    documents: &D,
    mut rows: &'a mut [S],
    row_len: usize,
) -> Vec<(usize, &'a mut [S])> {
    let count = documents.len();
    let all: usize = (0..count).map(|i| documents.bytes(i)).sum();
    let shares = (all / SHARE).clamp(1, rayon::current_num_threads());
    let mut shared = Vec::with_capacity(shares);
    let (mut first, mut next, mut bytes) = (0, 0, 0);
    for share in 1..=shares {
        let end = all / shares * share;
        while next < count && (share == shares || bytes < end) {
            bytes += documents.bytes(next);
            next += 1;
        }
        let (of_share, rest) = rows.split_at_mut((next - first) * row_len);
        rows = rest;
        if next > first {
            shared.push((first, of_share));
        }
        first = next;
    }
    shared
}

impl Signer for Gpu {
    fn describe(&self) -> String {
        let Device { name, integers, .. } = &*self.device;
        let integers = match integers {
            Integers::U32 => "32-bit integers",
            Integers::U64 => "64-bit integers",
        };
        match self.is_hybrid {
            true => format!("hybrid ({name}, {integers}; {})", self.cpu.describe()),
            false => format!("gpu ({name}, {integers})"),
        }
    }

    fn num_perm(&self) -> usize {
        self.num_perm
    }

    fn slot_width(&self) -> Width {
        self.family.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let slots = signatures.slots_for(sets, self.num_perm)?;
        match (sets.hashes(), slots) {
            (Hashes::U32(_), SlotsMut::U32(slots)) if self.family.hash_width() == Width::U32 => {
                self.sign(&HashedSets(sets), slots, Input::Hashes)
            }
            (Hashes::U64(_), SlotsMut::U64(slots)) if self.family.hash_width() == Width::U64 => {
                self.sign(&HashedSets(sets), slots, Input::Hashes)
            }
            _ => Err(unfit(self.family)),
        }
    }

    /// The keys are made on the device, and nothing else comes back.
    fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
        check_keys(keys, sets.len(), banding, self.num_perm)?;
        if sets.hashes().width() != self.family.hash_width() {
            return Err(unfit(self.family));
        }
        let Some(output) = self.key_rows(banding) else {
            return signed_keys(self, sets, banding, keys);
        };
        let documents = HashedSets(sets);
        let apart = self.make(&documents, &output, keys, Input::Hashes)?;
        for i in apart {
            let mut signatures = Signatures::new(self.num_perm, self.slot_width());
            documents.sign_on(self, i..i + 1, signatures.push_rows(1))?;
            let row = i * banding.bands()..(i + 1) * banding.bands();
            keys_of_rows(&signatures, banding, &mut keys[row]);
        }
        Ok(())
    }

    /// Windows of bytes are hashed on the device, if that is what the shingles are.
    fn sign_texts(
        &self,
        texts: &TextBatch,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_texts()?;
        let window = shingler.byte_window().filter(|bytes| *bytes <= MAX_WINDOW);
        let Some(window_bytes) = window else {
            return self.sign_sets(&shingler.shingle(texts).sets(), signatures);
        };
        match signatures.slots_for_rows(texts.len(), self.num_perm)? {
            SlotsMut::U32(slots) if self.family.hash_width() == Width::U32 => {
                let documents = ByteTexts {
                    texts,
                    shingler,
                    window_bytes,
                };
                self.sign(&documents, slots, Input::Text)
            }
            _ => Err(unfit(self.family)),
        }
    }

    fn notices(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notices))
    }
}

/// Longer windows are hashed on the CPU: a device reads all bytes of each anew.
const MAX_WINDOW: usize = 64;

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::backend::scalar::Scalar;
    use crate::backend::simd::Simd;
    use crate::pipeline::{Shingling, Unit};
    use crate::scheme::{P31, P61, Scheme, fmix32};
    use crate::simd::Isa;

    /// A device that takes everything and computes nothing: rows stay zeros.
    fn noop(integers: Integers) -> Arc<Device> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::NOOP,
            backend_options: wgpu::BackendOptions {
                noop: wgpu::NoopBackendOptions::enabled(),
                ..Default::default()
            },
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::NOOP));
        Arc::new(Device::of(&adapters[0], integers).unwrap())
    }

    fn on_noop(scheme: &Scheme, integers: Integers, bounds: Bounds) -> Gpu {
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
        let options = GpuOptions {
            bounds,
            ..GpuOptions::default()
        };
        Gpu::on(noop(integers), &permutations, empty, &options, cpu, false).unwrap()
    }

    /// wgpu checks each buffer, binding, copy and dispatch; and what comes back goes to the rows of its
    /// documents, and to no other.
    #[test]
    fn the_host_does_nothing_that_a_device_refuses() {
        let lengths = [0, 1, 7, 4096, 0, 4097, 300_000, 3];
        let tiny = Bounds {
            input_bytes: 1 << 10,
            row_bytes: 1 << 12,
            parts: 3,
            updates: 30_000,
            tile_bytes: 128,
            groups: 2,
            loads: 2,
            ..Bounds::default()
        };
        let narrow: Vec<u32> = (0..lengths.iter().sum()).map(fmix32).collect();
        let wide: Vec<u64> = narrow.iter().map(|x| u64::from(*x)).collect();
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + i64::from(length));
        }
        for (name, integers) in [
            ("affine32", Integers::U32),
            ("mersenne31", Integers::U32),
            ("mersenne61", Integers::U64),
            ("affine64", Integers::U64),
        ] {
            for bounds in [Bounds::default(), tiny] {
                let scheme = Scheme::named(name).unwrap().with_num_perm(30).unwrap();
                let signer = on_noop(&scheme, integers, bounds);
                let hashes = match signer.slot_width() {
                    Width::U32 => Hashes::U32(&narrow),
                    Width::U64 => Hashes::U64(&wide),
                };
                let sets = ShingleSets::new(hashes, &offsets).unwrap();
                let mut signatures = Signatures::new(30, signer.slot_width());
                signatures.sign(&signer, &sets).unwrap();
                assert_eq!(signer.notices(), [""; 0]);
                for (i, length) in lengths.into_iter().enumerate() {
                    let expected = if length == 0 { scheme.empty_slot() } else { 0 };
                    let is_expected = match signatures.row(i) {
                        Slots::U32(row) => row.iter().all(|slot| u64::from(*slot) == expected),
                        Slots::U64(row) => row.iter().all(|slot| *slot == expected),
                    };
                    assert!(is_expected, "{name} {length}");
                }
            }
        }
    }

    #[test]
    fn texts_go_to_the_device_as_they_are() {
        let scheme = Scheme::default();
        let signer = on_noop(&scheme, Integers::U32, Bounds::default());
        let shingler = Shingler::new(Shingling::of(Unit::Bytes), &scheme, None).unwrap();
        let long = "text ".repeat(5_000_000);
        let texts: TextBatch = ["", "a", "exactly 9", &long].into_iter().collect();
        let signatures = Signatures::of_texts(&signer, &texts, &shingler).unwrap();
        assert_eq!(signer.notices(), [""; 0]);
        assert_eq!(signatures.row(0), Slots::U32(&[u32::MAX; 128]));
        for row in 1..4 {
            assert_eq!(signatures.row(row), Slots::U32(&[0; 128]));
        }
    }

    /// Coefficients and shingles whose sums reach the corners of the reductions, so that kernels compute
    /// slots again that they are not certain of. As elsewhere, a machine without an adapter has nothing to test.
    #[test]
    fn corners_of_the_reductions_are_those_of_the_definition() {
        if adapters().is_empty() {
            return;
        }
        let (p31, p61) = (P31, P61);
        let shingles = |greatest: u64| -> Vec<Vec<u64>> {
            let few = [0, 1, 2, 7, 8, p31 - 1, p31, p31 + 1, u64::from(u32::MAX)];
            let wide = [p61 - 1, p61, p61 + 1, 2 * p61, 7 * p61 + 6, u64::MAX];
            let all = few.into_iter().chain(wide).filter(|x| *x <= greatest);
            let single = all.clone().map(|x| vec![x]);
            single.chain([all.collect(), (0..40).collect()]).collect()
        };
        for (family, greatest) in [
            (Family::Affine32, u64::from(u32::MAX)),
            (Family::Affine32Even, u64::from(u32::MAX)),
            (Family::Affine64, u64::MAX),
            (Family::Mersenne31, p31 - 1),
            (Family::Mersenne61, p61 - 1),
            (Family::Mersenne61Wide, p61 - 1),
        ] {
            let is_odd = matches!(family, Family::Affine32 | Family::Affine64);
            let factors = [1, 2, 3, 1 << 30, (1 << 32) - 1, 1 << 32, 1 << 60];
            let factors = factors.into_iter().chain([greatest - 1, greatest]);
            let factors = factors.filter(|a| *a <= greatest && (!is_odd || a % 2 == 1));
            let addends = [0, 1, 2, 6, 7, 8, greatest - 7, greatest - 1, greatest];
            let pairs = factors.flat_map(|a| addends.map(|b| (a, b)));
            let drawn = Permutations::of(family, pairs);
            let sets = shingles(match family.hash_width() {
                Width::U32 => u32::MAX.into(),
                Width::U64 => u64::MAX,
            });
            let wide = sets.concat();
            let narrow: Vec<u32> = wide.iter().map(|x| u32::of(*x)).collect();
            let mut offsets = vec![0];
            for set in &sets {
                offsets.push(offsets[offsets.len() - 1] + set.len() as i64);
            }
            let hashes = match family.hash_width() {
                Width::U32 => Hashes::U32(&narrow),
                Width::U64 => Hashes::U64(&wide),
            };
            let sets = ShingleSets::new(hashes, &offsets).unwrap();
            let sign = |signer: &dyn Signer| {
                let mut signatures = Signatures::new(drawn.num_perm(), family.slot_width());
                signatures.sign(signer, &sets).unwrap();
                signatures
            };
            let scalar = || -> Box<dyn Signer> { Box::new(Scalar::new(&drawn, 7)) };
            let expected = sign(&*scalar());
            for integers in [Integers::U32, Integers::U64] {
                if !computes(family, integers) {
                    continue;
                }
                let options = GpuOptions {
                    integers: Some(integers),
                    ..GpuOptions::default()
                };
                let signer = Gpu::new(&drawn, 7, &options, scalar(), false).unwrap();
                assert!(sign(&signer) == expected, "{family:?} {integers:?}");
                assert_eq!(signer.notices(), [""; 0]);
            }
        }
    }
}
