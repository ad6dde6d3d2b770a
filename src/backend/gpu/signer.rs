//! The signer: shares the documents of a call out among threads.

use rayon::prelude::*;

use super::buffers::KeyPass;
use super::device::{Device, Program};
use super::documents::{DeviceWork, HashedSets, Texts};
use super::options::GpuOptions;
use super::output::{KeyRows, RowOutput, SignatureRows};
use super::prepared::PreparedDevice;
use super::shader::{Integers, ShaderInput};
use super::worker::Worker;
use crate::backend::rows::wrong_width;
use crate::documents::Documents;
use crate::error::Result;
use crate::pipeline::{
    Banding, ShingleSets, Shingler, Signatures, SignaturesMut, Signer, check_keys, keys_of_row,
    keys_of_rows, signed_keys,
};
use crate::scheme::Word;
use crate::scheme::{Hashes, Slots, SlotsMut};
use crate::scheme::{Permutations, Width};

/// The GPU backend for one scheme.
pub(in crate::backend) struct Gpu(pub(super) PreparedDevice);

impl Gpu {
    /// Opens a device for a scheme. `cpu` signs what the device does not.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) when there is no device, or it cannot compute the scheme.
    pub(in crate::backend) fn new(
        permutations: &Permutations,
        empty: u64,
        options: &GpuOptions,
        cpu: Box<dyn Signer>,
        is_hybrid: bool,
    ) -> Result<Self> {
        PreparedDevice::new(permutations, empty, options, cpu, is_hybrid).map(Gpu)
    }

    /// Makes the rows of documents on several threads. Skips documents that are too long for a load where
    /// a row needs the whole document, and returns their numbers.
    fn make<D: DeviceWork, O: RowOutput>(
        &self,
        documents: &D,
        output: &O,
        rows: &mut [O::Number],
        input: ShaderInput,
    ) -> Result<Vec<usize>> {
        let pipeline = self.0.pipeline(input);
        let shares = share_out(documents, rows, output.row_len());
        let made = shares
            .into_par_iter()
            .map(|share| Worker::new(&self.0, documents, output, &pipeline, share).run());
        Ok(made.collect::<Result<Vec<_>>>()?.concat())
    }

    fn sign<D: DeviceWork, S: Word>(
        &self,
        documents: &D,
        slots: &mut [S],
        input: ShaderInput,
    ) -> Result<()> {
        let output = SignatureRows {
            empty: vec![S::cut(self.0.empty); self.0.num_perm],
        };
        self.make(documents, &output, slots, input).map(|_| ())
    }

    /// What is compiled to make band keys.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most 2^14 permutations"
    )]
    pub(super) fn band_keys_program(&self, banding: Banding) -> Program {
        let shape = &self.0.shape;
        let slot_words = shape.slot_bytes / 4;
        Program::BandKeys {
            bands: banding.bands() as u32,
            band_slots: banding.rows() as u32,
            slot_words: slot_words as u32,
            row_words: (shape.row_slots * slot_words) as u32,
        }
    }

    /// What makes band keys of rows; `None` where keys are no fewer bytes than rows, or the shader fails.
    fn key_rows(&self, banding: Banding) -> Option<KeyRows> {
        let PreparedDevice {
            device,
            shape,
            family,
            num_perm,
            empty,
            ..
        } = &self.0;
        let bands = banding.bands();
        if bands * size_of::<u64>() >= shape.row_bytes() {
            return None;
        }
        let pipeline = device.pipeline(self.band_keys_program(banding));
        let pipeline = pipeline.inspect_err(|failure| self.0.note(failure)).ok()?;
        let mut empty_keys = vec![0; bands];
        match family.slot_width() {
            Width::U32 => keys_of_row(
                Slots::U32(&vec![u32::cut(*empty); *num_perm]),
                banding,
                &mut empty_keys,
            ),
            Width::U64 => keys_of_row(
                Slots::U64(&vec![*empty; *num_perm]),
                banding,
                &mut empty_keys,
            ),
        }
        Some(KeyRows {
            banding,
            empty: empty_keys,
            key_pass: KeyPass { pipeline, bands },
        })
    }
}

/// The least work of a thread, in bytes.
const SHARE_BYTES: usize = 1 << 20;

/// Cuts the documents into shares of about the same size, one per thread: the number of the first
/// document, and the rows of `row_len`.
fn share_out<'a, D: DeviceWork, S>(
    documents: &D,
    mut rows: &'a mut [S],
    row_len: usize,
) -> Vec<(usize, &'a mut [S])> {
    let count = documents.len();
    let all: usize = (0..count).map(|i| documents.bytes(i)).sum();
    let shares = (all / SHARE_BYTES).clamp(1, rayon::current_num_threads());
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
        let Device { name, integers, .. } = &*self.0.device;
        let integers = match integers {
            Integers::U32 => "32-bit integers",
            Integers::U64 => "64-bit integers",
        };
        match self.0.is_hybrid {
            true => format!("hybrid ({name}, {integers}; {})", self.0.cpu.describe()),
            false => format!("gpu ({name}, {integers})"),
        }
    }

    fn num_perm(&self) -> usize {
        self.0.num_perm
    }

    fn slot_width(&self) -> Width {
        self.0.family.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let slots = signatures.slots_for(sets, self.0.num_perm)?;
        match (self.0.family.hash_width(), sets.hashes(), slots) {
            (Width::U32, Hashes::U32(_), SlotsMut::U32(slots)) => {
                self.sign(&HashedSets(sets), slots, ShaderInput::Hashes)
            }
            (Width::U64, Hashes::U64(_), SlotsMut::U64(slots)) => {
                self.sign(&HashedSets(sets), slots, ShaderInput::Hashes)
            }
            _ => Err(wrong_width(self.0.family)),
        }
    }

    /// Makes the keys on the device, and brings nothing else back.
    fn band_keys(&self, sets: &ShingleSets<'_>, banding: Banding, keys: &mut [u64]) -> Result<()> {
        check_keys(keys, sets.len(), banding, self.0.num_perm)?;
        if sets.hashes().width() != self.0.family.hash_width() {
            return Err(wrong_width(self.0.family));
        }
        let Some(output) = self.key_rows(banding) else {
            return signed_keys(self, sets, banding, keys);
        };
        let documents = HashedSets(sets);
        let oversized = self.make(&documents, &output, keys, ShaderInput::Hashes)?;
        for i in oversized {
            let mut signatures = Signatures::new(self.0.num_perm, self.slot_width());
            documents.sign_on(self, i..i + 1, signatures.push_rows(1))?;
            let row = i * banding.bands()..(i + 1) * banding.bands();
            keys_of_rows(&signatures, banding, &mut keys[row]);
        }
        Ok(())
    }

    /// Hashes windows of bytes and characters on the device. Other shingles are hashed on the CPU.
    fn sign_documents(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_forms(documents)?;
        let window = shingler.text_window();
        let Some(window) = window.filter(|window| window.units() <= MAX_WINDOW) else {
            return self.sign_sets(&shingler.shingle(documents).sets(), signatures);
        };
        match signatures.slots_for_rows(documents.len(), self.0.num_perm)? {
            SlotsMut::U32(slots) if self.0.family.hash_width() == Width::U32 => {
                let documents = Texts {
                    texts: documents,
                    shingler,
                    window,
                };
                self.sign(&documents, slots, ShaderInput::Text(window))
            }
            _ => Err(wrong_width(self.0.family)),
        }
    }

    fn notices(&self) -> Vec<String> {
        self.0.take_notices()
    }
}

/// The most units of a window that a device hashes: it reads all bytes of each window anew.
const MAX_WINDOW: usize = 64;
