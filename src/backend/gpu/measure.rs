//! What a device does with one load, step by step: what a whole call is to be compared with.

use std::sync::mpsc::channel;

use super::buffers::{Buffers, Work};
use super::device::{Attempt, Failure};
use super::documents::{ByteTexts, Documents, HashedSets};
use super::kernel::{Input, Integers};
use super::load::Load;
use super::{Gpu, GpuOptions};
use crate::backend::simd::Simd;
use crate::documents::TextBatch;
use crate::error::{Error, Result};
use crate::pipeline::{Scratch, ShingleSets, Shingler, Signatures, Signer, SlotsMut, lower};
use crate::scheme::{Family, Scheme};
use crate::simd::Isa;

/// A load that lies on a device: as many of the first documents as are sent at a time.
#[allow(missing_debug_implementations, reason = "buffers have nothing to show")]
pub struct DeviceLoad {
    gpu: Gpu,
    slot: Buffers,
    input_kind: Input,
    input: Vec<u8>,
    /// The document of each row.
    documents: Vec<usize>,
    shingles: u64,
    groups: [u32; 2],
}

impl DeviceLoad {
    /// Sends the first sets to a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is no device, it cannot compute the scheme, or it fails.
    pub fn of_sets(scheme: &Scheme, options: &GpuOptions, sets: &ShingleSets<'_>) -> Result<Self> {
        DeviceLoad::new(scheme, options, &HashedSets(sets), Input::Hashes)
    }

    /// Sends the first texts to a device, where windows of bytes are hashed.
    ///
    /// # Errors
    /// The same, and for other shingles than windows of bytes.
    pub fn of_texts(
        scheme: &Scheme,
        options: &GpuOptions,
        texts: &TextBatch,
        shingler: &Shingler,
    ) -> Result<Self> {
        let window_bytes = shingler.byte_window().ok_or_else(|| {
            Error::Unsupported(
                "only windows of bytes are hashed on a device; choose the unit bytes".to_owned(),
            )
        })?;
        let documents = ByteTexts {
            texts,
            shingler,
            window_bytes,
        };
        DeviceLoad::new(scheme, options, &documents, Input::Text)
    }

    fn new<D: Documents>(
        scheme: &Scheme,
        options: &GpuOptions,
        documents: &D,
        input_kind: Input,
    ) -> Result<Self> {
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
        let gpu = Gpu::new(&permutations, empty, options, cpu, false)?;
        let name = gpu.describe();
        DeviceLoad::send(gpu, documents, input_kind).map_err(|failure| refused(&name, &failure))
    }

    fn send<D: Documents>(gpu: Gpu, documents: &D, input_kind: Input) -> Attempt<Self> {
        let (device, shape) = (&*gpu.device, &gpu.shape);
        let mut input = Vec::new();
        let mut load = Load::default();
        let mut shingles = 0;
        let mut scratch = Scratch::default();
        let mut is_full = false;
        for i in 0..documents.len() {
            documents.give(i, &mut scratch, &mut |document| {
                if document.count == 0 {
                    return;
                }
                match load.take(shape, i, document, 0, true) {
                    Some(taken) => {
                        input.extend_from_slice(&document.bytes[taken.bytes]);
                        shingles += taken.shingles as u64;
                        is_full = taken.shingles < document.count;
                    }
                    None => is_full = true,
                }
            });
            if is_full {
                break;
            }
        }
        if load.is_empty() {
            return Err(Failure::Refused("there is nothing to sign".to_owned()));
        }
        input.resize(input.len().next_multiple_of(4), 0);
        let (_, groups) = load.items(shape);
        let rows = load.documents.clone();
        let pipeline = gpu.pipeline(input_kind)?;
        let work = Work {
            pipeline: &pipeline,
            blocks: gpu.blocks(),
            banded: None,
        };
        let slot = Buffers::new(device, shape, &gpu.coefficients)?;
        let sent = slot.send(device, shape, &input, load, &work)?;
        let slot = sent.receive(device, shape.bounds.timeout, |_, _, _| {})?;
        Ok(DeviceLoad {
            slot,
            input_kind,
            input,
            documents: rows,
            shingles,
            groups,
            gpu,
        })
    }

    /// Documents of the load.
    pub fn documents(&self) -> usize {
        self.documents.last().map_or(0, |last| last + 1)
    }

    /// Shingles of the load.
    pub fn shingles(&self) -> u64 {
        self.shingles
    }

    /// Bytes of the rows that come back, one for each piece of a document.
    pub fn row_bytes(&self) -> usize {
        self.documents.len() * self.gpu.shape.row_bytes()
    }

    /// Writes the input to the device again, and waits until it is there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn upload(&self) -> Result<()> {
        let device = &*self.gpu.device;
        let (say_done, done) = channel();
        let uploaded = device
            .attempt(|| {
                self.slot.write_input(device, &self.input);
                let encoder = device.device.create_command_encoder(&Default::default());
                encoder.on_submitted_work_done(move || {
                    let _ = say_done.send(());
                });
                device.submit(encoder.finish());
                Ok(())
            })
            .and_then(|()| device.wait(self.gpu.shape.bounds.timeout, || done.try_recv().is_ok()));
        self.explain(uploaded)
    }

    /// Runs the kernel on what the device holds, so many times over in one submission, and waits for the end of
    /// the last.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn run_kernel(&self, times: u32) -> Result<()> {
        self.explain(self.try_kernel(times))
    }

    fn try_kernel(&self, times: u32) -> Attempt<()> {
        let device = &*self.gpu.device;
        let pipeline = self.gpu.pipeline(self.input_kind)?;
        let work = Work {
            pipeline: &pipeline,
            blocks: self.gpu.blocks(),
            banded: None,
        };
        let (say_done, done) = channel();
        device.attempt(|| {
            let mut encoder = device.device.create_command_encoder(&Default::default());
            for _ in 0..times {
                self.slot.dispatch(&mut encoder, self.groups, &work);
            }
            encoder.on_submitted_work_done(move || {
                let _ = say_done.send(());
            });
            device.submit(encoder.finish());
            Ok(())
        })?;
        device.wait(self.gpu.shape.bounds.timeout, || done.try_recv().is_ok())
    }

    /// Brings back the rows that the kernel wrote, into memory of the caller.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn read_back(&self, rows: &mut Vec<u8>) -> Result<()> {
        rows.clear();
        let timeout = self.gpu.shape.bounds.timeout;
        let read = self
            .slot
            .read_rows(&self.gpu.device, self.row_bytes(), timeout, |bytes| {
                rows.extend_from_slice(bytes);
            });
        self.explain(read)
    }

    /// The signatures that rows come to.
    pub fn signatures(&self, rows: &[u8]) -> Signatures {
        let Gpu {
            num_perm,
            family,
            empty,
            ..
        } = self.gpu;
        let mut signatures = Signatures::new(num_perm, family.slot_width());
        match signatures.push_rows(self.documents()).into_slots() {
            SlotsMut::U32(slots) => self.lower_all(rows, slots, empty),
            SlotsMut::U64(slots) => self.lower_all(rows, slots, empty),
        }
        signatures
    }

    /// The slots of a document are the least of its rows, which come one after another; without any it is the
    /// empty set.
    fn lower_all<S: super::Slot>(&self, rows: &[u8], slots: &mut [S], empty: u64) {
        slots.fill(S::of(empty));
        let mut last = None;
        let rows = rows.chunks_exact(self.gpu.shape.row_bytes());
        for (document, row) in self.documents.iter().zip(rows) {
            let Some(slots) = slots.chunks_exact_mut(self.gpu.num_perm).nth(*document) else {
                continue;
            };
            if last.replace(document) != Some(document) {
                slots.fill(S::GREATEST);
            }
            let row = row.chunks_exact(size_of::<S>());
            let row: Vec<S> = row.map(bytemuck::pod_read_unaligned).collect();
            lower(slots, &row);
        }
    }

    /// Updates a second that the integer units of the device allow, where that is known: an H200 has 132
    /// multiprocessors at 1.98 GHz, and each begins 64 multiply-adds a cycle.
    pub fn ceiling_updates_per_s(&self) -> Option<f64> {
        let device = &*self.gpu.device;
        let multiply_adds = match &*device.name {
            "NVIDIA H200" => 132.0 * 64.0 * 1.98e9,
            _ => return None,
        };
        match (self.gpu.family, device.integers) {
            (Family::Affine32, _) => Some(multiply_adds),
            (Family::Mersenne31 | Family::Mersenne61, Integers::U64) => Some(multiply_adds / 2.0),
            _ => None,
        }
    }

    fn explain<T>(&self, attempt: Attempt<T>) -> Result<T> {
        attempt.map_err(|failure| refused(&self.gpu.describe(), &failure))
    }
}

fn refused(name: &str, failure: &Failure) -> Error {
    Error::Unsupported(format!("{name}: {failure}"))
}
