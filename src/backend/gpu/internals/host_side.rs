//! The host's side of a device, on a device that does nothing: what it costs to send texts and collect rows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::backend::gpu::adapter::noop;
use crate::backend::gpu::device::{Device, lock};
use crate::backend::gpu::options::GpuOptions;
use crate::backend::gpu::preparation::PreparedDevice;
use crate::backend::gpu::shader::Integers;
use crate::backend::gpu::signer::Gpu;
use crate::backend::simd::Simd;
use crate::error::{Error, Result, Unsupported};
use crate::pipeline::device::SignOnDevice;
use crate::pipeline::{Banding, DeviceBatch, NormalisedTexts, Shingler, Signer, UnfinishedRows};
use crate::scheme::Scheme;
use crate::simd::Isa;

/// A signer whose device accepts everything and computes nothing.
#[allow(missing_debug_implementations, reason = "buffers have nothing to show")]
pub struct HostSide {
    gpu: Gpu,
    shingler: Shingler,
    banding: Banding,
    /// Memory of texts, to use again.
    spare: Mutex<Vec<NormalisedTexts>>,
}

impl HostSide {
    /// A signer that gets the band keys of the windows that `shingler` cuts. This build must have wgpu's feature `noop`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] without that feature.
    pub fn new(scheme: &Scheme, shingler: Shingler, banding: Banding) -> Result<Self> {
        let adapter = noop().ok_or(Error::Unsupported(Unsupported::NoAdapter))?;
        let device = Arc::new(Device::of(&adapter, Integers::U32)?);
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
        let options = GpuOptions::default();
        let prepared = PreparedDevice::on(device, &permutations, empty, &options, cpu, false)?;
        Ok(HostSide {
            gpu: Gpu(prepared),
            shingler,
            banding,
            spare: Mutex::default(),
        })
    }

    /// Normalises and digests the texts of each piece, sends them, and collects their rows, as a run does on one thread.
    /// Returns the number of loads so far.
    ///
    /// # Errors
    /// Those of [`Signer::sign_documents`].
    pub fn run(&self, pieces: &[&[&str]]) -> Result<u64> {
        let mut spare = lock(&self.spare);
        let mut sent: VecDeque<Box<dyn UnfinishedRows + '_>> = VecDeque::new();
        let mut digests = 0;
        for piece in pieces {
            let mut texts: NormalisedTexts = spare.pop().unwrap_or_default();
            texts.clear(piece.iter().map(|text| text.len()).sum());
            piece
                .iter()
                .for_each(|text| texts.push(text, &self.shingler));
            let piece_digests = texts.digests(&self.shingler).into_iter();
            digests = piece_digests.fold(digests, |all, digest| all ^ digest);
            let chosen = (0..texts.len()).collect();
            let batch = DeviceBatch::Texts { texts, chosen };
            let banding = Some(self.banding);
            sent.push_back(self.gpu.send(batch, &self.shingler, banding)?);
            while sent.front().is_some_and(|first| first.is_ready()) {
                if let Some(first) = sent.pop_front() {
                    collect(first, &mut spare)?;
                }
            }
        }
        for last in sent {
            collect(last, &mut spare)?;
        }
        std::hint::black_box(digests);
        Ok(self.gpu.device_use().map_or(0, |used| used.loads))
    }
}

/// Collects rows, and keeps the memory of their texts.
fn collect(rows: Box<dyn UnfinishedRows + '_>, spare: &mut Vec<NormalisedTexts>) -> Result<()> {
    if let (_, DeviceBatch::Texts { texts, .. }) = rows.finish()? {
        spare.push(texts);
    }
    Ok(())
}
