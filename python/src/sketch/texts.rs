//! Texts as sets of shingles that a sketch's hash function hashes.

use pyo3::prelude::*;
use rayon::prelude::*;
use simgpu::documents::Document;
use simgpu::error::Error;
use simgpu::pipeline::{Scratch, Shingler, Shingling};
use simgpu::progress::Progress;

use super::hashfunc::Native;
use super::kind::{Kind, SlotVec};
use super::permutations::Permutations;
use crate::errors::{OrRaise, parameter_error};
use crate::scheme::PyShingling;

/// Hashes of a text that are signed at a time.
const HASHES_AT_A_TIME: usize = 1 << 16;

/// Texts that are signed between two looks at signals.
const TEXTS_AT_A_TIME: usize = 1 << 10;

/// Cuts texts into shingles and signs them.
pub(crate) struct TextSigner<'a> {
    shingler: Shingler,
    permutations: &'a Permutations,
}

impl<'a> TextSigner<'a> {
    /// Signs texts as a sketch would sign the bytes of their shingles.
    pub(crate) fn new(
        py: Python<'_>,
        kind: Kind,
        hash: Option<Native>,
        permutations: &'a Permutations,
        shingling: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let Some(hash) = hash else {
            let message = "shingles are hashed without Python; give a hashfunc that is sha1_hash32, sha1_hash64, \
                           xxhash.xxh32_intdigest or xxhash.xxh64_intdigest";
            return Err(parameter_error(py, message));
        };
        let scheme = kind.preset().or_raise(py)?;
        let shingling = match PyShingling::of_argument(shingling)? {
            Some(shingling) => shingling.resolve(&scheme).or_raise(py)?,
            None => Shingling::of_scheme(&scheme),
        };
        let shingler = Shingler::new(shingling, &scheme, Some(hash.base_hash())).or_raise(py)?;
        shingler.check_forms(&[""]).or_raise(py)?;
        Ok(TextSigner {
            shingler,
            permutations,
        })
    }

    /// Lowers `slots` to the values of the shingles of a text. Starts no thread.
    pub(crate) fn sign(
        &self,
        text: &str,
        scratch: &mut Scratch,
        slots: &mut SlotVec,
    ) -> simgpu::Result<()> {
        let mut signed = Ok(());
        self.shingler
            .for_each_piece(Document::Text(text), HASHES_AT_A_TIME, scratch, |piece| {
                let this = self.permutations.sign(piece.hashes(), slots);
                if signed.is_ok() {
                    signed = this;
                }
            });
        signed
    }

    /// Lowers a copy of `slots` per text, on the threads of the current pool.
    pub(crate) fn sign_all(
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
            let goes_on = progress.advance(signed.len() as u64, batch.len() as u64, bytes);
            if goes_on.is_break() {
                return Err(Error::Stopped);
            }
        }
        Ok(signed)
    }
}
