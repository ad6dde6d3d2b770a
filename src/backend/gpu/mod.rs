//! GPUs, through wgpu: texts or shingle hashes in, signatures out, on any adapter, with the bits of the
//! CPU.
//!
//! A call's documents are shared out among threads. Each fills *loads* with its documents, has several of
//! them on their way through *slots*, and folds the rows that come back. What a device does not do is done by
//! the CPU: a load that failed, and, in a hybrid run, whatever there is when no slot is free.

mod device;

mod kernel;

mod load;

mod slot;

mod documents;

mod worker;

pub(super) mod auto;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

pub use self::device::{Adapter, adapters};
use self::device::{Attempt, Device, Failure, Pipeline, lock};
use self::documents::{ByteTexts, Documents, HashedSets};
pub use self::kernel::Integers;
use self::kernel::{Input, LANES, SignKernel};
pub use self::load::Bounds;
use self::load::Shape;
use self::slot::Slots;
use self::worker::Worker;
use super::unfit;
use crate::error::{Error, Result};
use crate::pipeline::{Hashes, ShingleSets, Shingler, SignaturesMut, Signer, SlotsMut, TextBatch};
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
    slots: Slots,
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
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
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
        let device = Device::open(options)?;
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
            slots: Slots::default(),
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
        self.device.pipeline(Pipeline {
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
            "the GPU ({}) failed: {failure}; the CPU signs what it does not, with the same values",
            self.device.name
        ));
    }

    /// Signs documents, several threads at a time.
    fn sign<D: Documents, S: Slot>(
        &self,
        documents: &D,
        slots: &mut [S],
        input: Input,
    ) -> Result<()> {
        let pipeline = self.pipeline(input);
        let shares = share_out(documents, slots, self.num_perm);
        let signed = shares
            .into_par_iter()
            .map(|(first, rows)| Worker::new(self, documents, &pipeline, first, rows).run());
        signed.collect()
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
/// and the rows.
fn share_out<'a, D: Documents, S>(
    documents: &D,
    mut rows: &'a mut [S],
    num_perm: usize,
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
        let (of_share, rest) = rows.split_at_mut((next - first) * num_perm);
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
