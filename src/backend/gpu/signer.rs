//! The signer: shares the documents of a call out among threads.

use super::batches::make;
use super::device::{Device, Program};
use super::documents::{ChosenTexts, DeviceWork, Texts};
use super::in_flight::Unfinished;
use super::options::GpuOptions;
use super::preparation::PreparedDevice;
use super::products::choose;
use super::rows::{KeyRows, SignatureRows};
use super::shader::{Integers, ShaderInput};
use super::slot::KeyPass;
use crate::backend::hardware::{Backend, Hardware};
use crate::backend::rows::wrong_width;
use crate::documents::Documents;
use crate::error::Result;
use crate::pipeline::device::{SignOnDevice, TextWindow, check_keys, keys_of_row, signed_keys};
use crate::pipeline::{
    Banding, DeviceBatch, DeviceSigner, DeviceUse, ShingleSets, Shingler, SignaturesMut, Signer,
    UnfinishedRows,
};
use crate::scheme::Word;
use crate::scheme::{Hashes, SlotVec, Slots, SlotsMut};
use crate::scheme::{Permutations, Width};

/// The GPU backend for one scheme.
pub(in crate::backend) struct Gpu(pub(super) PreparedDevice);

/// Opens the device for [`Backend::Gpu`] or [`Backend::Hybrid`].
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) when there is no device, or it cannot compute the scheme.
pub(in crate::backend) fn open(
    backend: Backend,
    permutations: &Permutations,
    empty: u64,
    hardware: &Hardware,
    cpu: &dyn Fn() -> Box<dyn Signer>,
) -> Result<Box<dyn Signer>> {
    let is_hybrid = backend == Backend::Hybrid;
    let gpu = Gpu::new(permutations, empty, &hardware.gpu, cpu(), is_hybrid)?;
    Ok(Box::new(gpu))
}

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
        let mut gpu = PreparedDevice::new(permutations, empty, options, cpu, is_hybrid)?;
        match options.hooks.products {
            Some(products) => gpu.products = products,
            // On software, all products are made by the same instructions.
            None if gpu.device.is_software => {}
            None => choose(&mut gpu),
        }
        Ok(Gpu(gpu))
    }

    fn sign<D: DeviceWork, S: Word>(
        &self,
        documents: &D,
        slots: &mut [S],
        input: ShaderInput,
    ) -> Result<()>
    where
        SlotVec: From<Vec<S>>,
    {
        let kind = self.signature_rows();
        let dispatch = self.0.dispatch(input, None);
        make(&self.0, documents, &kind, slots, &dispatch)
    }

    /// Sends documents whose rows are collected later.
    fn send_documents<'g, D>(
        &'g self,
        documents: D,
        input: ShaderInput,
        banding: Option<Banding>,
    ) -> Result<Box<dyn UnfinishedRows + 'g>>
    where
        D: DeviceWork + Into<DeviceBatch> + Send + 'g,
    {
        let gpu = &self.0;
        // Where keys are no fewer bytes than signatures, they are made of signatures.
        if let Some(banding) = banding
            && let Some(key_pass) = self.key_pass(banding)
        {
            let dispatch = gpu.dispatch(input, Some(key_pass));
            let kind = self.key_rows(banding);
            return Ok(Box::new(Unfinished::send(gpu, documents, kind, &dispatch)?));
        }
        let dispatch = gpu.dispatch(input, None);
        Ok(match gpu.family.slot_width() {
            Width::U32 => {
                let kind = self.signature_rows::<u32>();
                Box::new(Unfinished::send(gpu, documents, kind, &dispatch)?)
            }
            Width::U64 => {
                let kind = self.signature_rows::<u64>();
                Box::new(Unfinished::send(gpu, documents, kind, &dispatch)?)
            }
        })
    }

    fn signature_rows<S: Word>(&self) -> SignatureRows<S> {
        SignatureRows {
            empty: vec![S::cut(self.0.empty); self.0.num_perm],
        }
    }

    fn key_rows(&self, banding: Banding) -> KeyRows {
        KeyRows {
            banding,
            empty: self.empty_keys(banding),
        }
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
    fn key_pass(&self, banding: Banding) -> Option<KeyPass> {
        let PreparedDevice { device, shape, .. } = &self.0;
        let bands = banding.bands();
        if bands * size_of::<u64>() >= shape.row_bytes() {
            return None;
        }
        let pipeline = device.pipeline(self.band_keys_program(banding));
        let pipeline = pipeline.inspect_err(|failure| self.0.note(failure)).ok()?;
        Some(KeyPass { pipeline, bands })
    }

    /// The band keys of the empty set.
    fn empty_keys(&self, banding: Banding) -> Vec<u64> {
        let PreparedDevice {
            family,
            num_perm,
            empty,
            ..
        } = &self.0;
        let mut keys = vec![0; banding.bands()];
        match family.slot_width() {
            Width::U32 => {
                let row = vec![u32::cut(*empty); *num_perm];
                keys_of_row(Slots::U32(&row), banding, &mut keys);
            }
            Width::U64 => keys_of_row(Slots::U64(&vec![*empty; *num_perm]), banding, &mut keys),
        }
        keys
    }

    /// The windows of the texts that a shingler cuts, if the device hashes such windows.
    fn window(&self, shingler: &Shingler) -> Option<TextWindow> {
        let window = shingler.text_window()?;
        let is_of_device = window.units() <= MAX_WINDOW && self.0.family.hash_width() == Width::U32;
        is_of_device.then_some(window)
    }
}

impl Signer for Gpu {
    fn describe(&self) -> String {
        let Device { name, integers, .. } = &*self.0.device;
        let integers = match integers {
            Integers::U32 => "32-bit integers",
            Integers::U64 => "64-bit integers",
        };
        if self.0.is_hybrid {
            format!("hybrid ({name}, {integers}; {})", self.0.cpu.describe())
        } else {
            format!("gpu ({name}, {integers})")
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
                self.sign(sets, slots, ShaderInput::Hashes)
            }
            (Width::U64, Hashes::U64(_), SlotsMut::U64(slots)) => {
                self.sign(sets, slots, ShaderInput::Hashes)
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
        let Some(key_pass) = self.key_pass(banding) else {
            return signed_keys(self, sets, banding, keys);
        };
        let kind = self.key_rows(banding);
        let dispatch = self.0.dispatch(ShaderInput::Hashes, Some(key_pass));
        make(&self.0, sets, &kind, keys, &dispatch)
    }

    /// Hashes windows of bytes and characters on the device. Other shingles are hashed on the CPU.
    fn sign_documents(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_forms(documents)?;
        let Some(window) = self.window(shingler) else {
            return self.sign_sets(&shingler.shingle(documents).sets(), signatures);
        };
        match signatures.slots_for_rows(documents.len(), self.0.num_perm)? {
            SlotsMut::U32(slots) => {
                let documents = Texts {
                    texts: documents,
                    shingler,
                    window,
                };
                self.sign(&documents, slots, ShaderInput::Text(window))
            }
            SlotsMut::U64(_) => Err(wrong_width(self.0.family)),
        }
    }

    fn device_signer(&self) -> Option<DeviceSigner<'_>> {
        Some(DeviceSigner(self))
    }

    fn device_use(&self) -> Option<DeviceUse> {
        Some(self.0.channel.device_use())
    }

    fn notices(&self) -> Vec<String> {
        self.0.take_notices()
    }
}

/// The most units of a window that a device hashes: it reads all bytes of each window anew.
const MAX_WINDOW: usize = 64;

impl SignOnDevice for Gpu {
    fn takes_texts(&self, shingler: &Shingler) -> bool {
        self.window(shingler).is_some()
    }

    fn send(
        &self,
        batch: DeviceBatch,
        shingler: &Shingler,
        banding: Option<Banding>,
    ) -> Result<Box<dyn UnfinishedRows + '_>> {
        let wrong = || wrong_width(self.0.family);
        match batch {
            DeviceBatch::Sets(sets) => {
                let is_fit = sets.sets().hashes().width() == self.0.family.hash_width();
                is_fit.then_some(()).ok_or_else(wrong)?;
                self.send_documents(sets, ShaderInput::Hashes, banding)
            }
            DeviceBatch::Texts { texts, chosen } => {
                let window = self.window(shingler).ok_or_else(wrong)?;
                let documents = ChosenTexts {
                    texts,
                    chosen,
                    shingler: shingler.for_normalised(),
                    window,
                };
                self.send_documents(documents, ShaderInput::Text(window), banding)
            }
        }
    }
}
