//! Texts as sets of shingles that a sketch's hash function hashes.

use std::fmt;

use rayon::prelude::*;
use simgpu::documents::Document;
use simgpu::error::Error;
use simgpu::pipeline::{Scratch, Shingler, Shingling};
use simgpu::progress::Progress;
use simgpu::scheme::SlotVec;

use super::hash::NativeHash;
use super::permutations::Permutations;

/// Hashes of a text that are signed at a time.
const HASHES_AT_A_TIME: usize = 1 << 16;

/// Texts that are signed between two looks at signals.
const TEXTS_AT_A_TIME: usize = 1 << 10;

/// Cuts texts into shingles and signs them.
pub struct TextSigner<'a> {
    shingler: Shingler,
    permutations: &'a Permutations,
}

impl fmt::Debug for TextSigner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("TextSigner");
        debug.field("permutations", &self.permutations);
        debug.finish_non_exhaustive()
    }
}

impl<'a> TextSigner<'a> {
    /// Signs texts as a sketch would sign the bytes of their shingles.
    ///
    /// # Errors
    /// If the shingling does not fit the scheme, or is not one of texts.
    pub fn new(
        permutations: &'a Permutations,
        hash: NativeHash,
        shingling: Shingling,
    ) -> simgpu::Result<Self> {
        let scheme = permutations.scheme().preset()?;
        let shingler = Shingler::new(shingling, &scheme, Some(hash.base_hash()))?;
        shingler.check_forms(&[""])?;
        Ok(TextSigner {
            shingler,
            permutations,
        })
    }

    /// Lowers `slots` to the values of the shingles of a text. Starts no thread.
    ///
    /// # Errors
    /// Those of [`Permutations::sign`].
    pub fn sign(
        &self,
        text: &str,
        scratch: &mut Scratch,
        slots: &mut SlotVec,
    ) -> simgpu::Result<()> {
        let mut signed = Ok(());
        self.shingler
            .for_each_piece(Document::Text(text), HASHES_AT_A_TIME, scratch, |piece| {
                let this = self.permutations.sign(piece.hashes(), slots);
                // The first error counts.
                if signed.is_ok() {
                    signed = this;
                }
            });
        signed
    }

    /// Lowers a copy of `slots` per text, on the threads of the current pool.
    ///
    /// # Errors
    /// Those of [`Permutations::sign`], and [`Error::Stopped`].
    pub fn sign_all(
        &self,
        texts: &[&str],
        slots: &SlotVec,
        progress: &dyn Progress,
    ) -> simgpu::Result<Vec<SlotVec>> {
        progress.begin("sign", texts.len() as u64);
        let mut signed = Vec::with_capacity(texts.len());
        for batch in texts.chunks(TEXTS_AT_A_TIME) {
            let rows = batch
                .par_iter()
                .map_init(Scratch::default, |scratch, text| {
                    let mut slots = slots.clone();
                    self.sign(text, scratch, &mut slots).map(|()| slots)
                });
            signed.append(&mut rows.collect::<simgpu::Result<Vec<SlotVec>>>()?);
            let bytes = batch.iter().map(|text| text.len() as u64).sum();
            let flow = progress.advance(signed.len() as u64, batch.len() as u64, bytes);
            if flow.is_break() {
                return Err(Error::Stopped);
            }
        }
        Ok(signed)
    }
}
