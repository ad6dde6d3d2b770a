//! The steps of one load on a device, each measured alone, to compare a whole call with.

use std::sync::mpsc::channel;

use crate::backend::gpu::device::{Attempt, Failure};
use crate::backend::gpu::documents::{DeviceWork, Texts};
use crate::backend::gpu::options::GpuOptions;
use crate::backend::gpu::preparation::PreparedDevice;
use crate::backend::gpu::resident::ResidentLoad;
use crate::backend::gpu::shader::ShaderInput;
use crate::backend::gpu::signer::Gpu;
use crate::backend::simd::Simd;
use crate::documents::Documents;
use crate::error::{Error, Result, Unsupported};
use crate::pipeline::{ShingleSets, Shingler, Signatures, Signer};
use crate::scheme::SlotsMut;
use crate::scheme::Word;
use crate::scheme::lower;
use crate::scheme::{Family, Scheme};
use crate::simd::Isa;

/// A load on a device: as many of the first documents as one load holds.
#[allow(missing_debug_implementations, reason = "buffers have nothing to show")]
pub struct DeviceLoad {
    gpu: Gpu,
    load: ResidentLoad,
    input_kind: ShaderInput,
}

impl DeviceLoad {
    /// Sends the first sets to a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is no device, it cannot compute the scheme, or it fails.
    pub fn from_sets(
        scheme: &Scheme,
        options: &GpuOptions,
        sets: &ShingleSets<'_>,
    ) -> Result<Self> {
        DeviceLoad::new(scheme, options, sets, ShaderInput::Hashes)
    }

    /// Sends the first texts to a device, which hashes windows of bytes.
    ///
    /// # Errors
    /// As [`DeviceLoad::from_sets`], and for other shingles than windows of bytes.
    pub fn from_texts(
        scheme: &Scheme,
        options: &GpuOptions,
        texts: &dyn Documents,
        shingler: &Shingler,
    ) -> Result<Self> {
        let window = shingler.text_window();
        let window = window.ok_or(Error::Unsupported(Unsupported::ShinglesNotOnDevices))?;
        let documents = Texts {
            texts,
            shingler,
            window,
        };
        DeviceLoad::new(scheme, options, &documents, ShaderInput::Text(window))
    }

    fn new<D: DeviceWork>(
        scheme: &Scheme,
        options: &GpuOptions,
        documents: &D,
        input_kind: ShaderInput,
    ) -> Result<Self> {
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
        let gpu = Gpu::new(&permutations, empty, options, cpu, false)?;
        let name = gpu.describe();
        DeviceLoad::send(gpu, documents, input_kind).map_err(|failure| refused(&name, &failure))
    }

    fn send<D: DeviceWork>(gpu: Gpu, documents: &D, input_kind: ShaderInput) -> Attempt<Self> {
        let load = ResidentLoad::send(&gpu.0, documents, input_kind)?;
        Ok(DeviceLoad {
            gpu,
            load,
            input_kind,
        })
    }

    /// Number of documents of the load.
    pub fn documents(&self) -> usize {
        self.load.documents.last().map_or(0, |last| last + 1)
    }

    /// Number of shingles of the load.
    pub fn shingles(&self) -> u64 {
        self.load.shingles
    }

    /// Bytes of the rows that come back, one per piece of a document.
    pub fn row_bytes(&self) -> usize {
        self.load.documents.len() * self.gpu.0.shape.row_bytes()
    }

    /// Writes the input to the device again, and waits until it is there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn upload(&self) -> Result<()> {
        let device = &*self.gpu.0.device;
        let (sender, done) = channel();
        let uploaded = self
            .load
            .slot
            .input()
            .write(device, 0, [&self.load.input[..]]);
        let uploaded = uploaded.and_then(|written| {
            device.attempt(|| {
                drop(written);
                let encoder = device.device.create_command_encoder(&Default::default());
                encoder.on_submitted_work_done(move || {
                    let _ = sender.send(());
                });
                device.submit(encoder.finish());
                Ok(())
            })?;
            device.wait(self.gpu.0.shape.bounds.timeout, || done.try_recv().is_ok())
        });
        self.explain(uploaded)
    }

    /// Runs the shader `times` times in one submission on what the device holds, and waits for the last run.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn run_kernel(&self, times: u32) -> Result<()> {
        self.explain(self.load.run(&self.gpu.0, self.input_kind, times))
    }

    /// Reads the rows that the shader wrote into memory of the caller.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device fails.
    pub fn read_back(&self, rows: &mut Vec<u8>) -> Result<()> {
        rows.clear();
        let timeout = self.gpu.0.shape.bounds.timeout;
        let read =
            self.load
                .slot
                .read_rows(&self.gpu.0.device, self.row_bytes(), timeout, |bytes| {
                    rows.extend_from_slice(bytes);
                });
        self.explain(read)
    }

    /// The signatures of the documents, from their rows.
    pub fn signatures(&self, rows: &[u8]) -> Signatures {
        let PreparedDevice {
            num_perm,
            family,
            empty,
            ..
        } = self.gpu.0;
        let mut signatures = Signatures::new(num_perm, family.slot_width());
        match signatures.push_rows(self.documents()).into_slots() {
            SlotsMut::U32(slots) => self.lower_all(rows, slots, empty),
            SlotsMut::U64(slots) => self.lower_all(rows, slots, empty),
        }
        signatures
    }

    /// Lowers the slots of each document to the least of its rows, which follow one another. A document
    /// without rows is the empty set.
    fn lower_all<S: Word>(&self, rows: &[u8], slots: &mut [S], empty: u64) {
        slots.fill(S::cut(empty));
        let mut last = None;
        let rows = rows.chunks_exact(self.gpu.0.shape.row_bytes());
        for (document, row) in self.load.documents.iter().zip(rows) {
            let Some(slots) = slots.chunks_exact_mut(self.gpu.0.num_perm).nth(*document) else {
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

    /// Updates per second that the integer units of the device allow; `None` for an unknown device. An H200
    /// has 132 multiprocessors at 1.98 GHz, and each begins 64 multiply-adds per cycle.
    pub fn ceiling_updates_per_s(&self) -> Option<f64> {
        let device = &*self.gpu.0.device;
        let multiply_adds = match &*device.name {
            "NVIDIA H200" => 132.0 * 64.0 * 1.98e9,
            _ => return None,
        };
        let per_update = match self.gpu.0.family {
            Family::Affine32 | Family::Affine32Even | Family::Mersenne61 => 1.0,
            Family::Mersenne31 => 2.0,
            Family::Affine64 | Family::Mersenne61Wide => 3.0,
            Family::Fast | Family::RMinHash => return None,
        };
        Some(multiply_adds / per_update)
    }

    fn explain<T>(&self, attempt: Attempt<T>) -> Result<T> {
        attempt.map_err(|failure| refused(&self.gpu.describe(), &failure))
    }
}

fn refused(name: &str, failure: &Failure) -> Error {
    let reason = failure.to_string();
    let device = name.to_owned();
    Error::Unsupported(Unsupported::DeviceFailed { device, reason })
}
