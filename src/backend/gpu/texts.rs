//! Signs the texts of one piece of a run while others are under way.

use super::batches::{fold, runs};
use super::device::Attempt;
use super::documents::laid_out;
use super::link::Sent;
use super::prepared::PreparedDevice;
use super::slot::Dispatch;
use crate::error::Result;
use crate::pipeline::{
    Banding, NormalisedTexts, Shingler, Signatures, SignedRows, TextWindow, UnfinishedRows,
    keys_of_rows,
};
use crate::scheme::{Slots, SlotsMut};

/// Texts that were sent.
pub(super) struct SentTexts<'a> {
    gpu: &'a PreparedDevice,
    texts: NormalisedTexts,
    /// The texts that have rows.
    chosen: Vec<usize>,
    sent: Sent,
    /// Shingles normalised texts.
    shingler: Shingler,
    rows: SignedRows,
}

impl<'a> SentTexts<'a> {
    /// Sends the chosen texts. The rows are keys if a banding is given.
    pub(super) fn send(
        gpu: &'a PreparedDevice,
        texts: NormalisedTexts,
        chosen: Vec<usize>,
        (shingler, window): (&Shingler, TextWindow),
        banding: Option<Banding>,
        dispatch: &Attempt<Dispatch>,
    ) -> Result<Self> {
        let documents: Vec<_> = chosen
            .iter()
            .map(|i| laid_out(texts.bytes(*i), window))
            .collect();
        let mut sent = gpu.send(&documents, dispatch);
        let left = std::mem::take(&mut sent.left);
        let rows = match banding {
            Some(banding) => SignedRows::Keys {
                banding,
                keys: vec![u64::MAX; chosen.len() * banding.bands()],
            },
            None => {
                let mut signatures = Signatures::new(gpu.num_perm, gpu.family.slot_width());
                signatures.push_rows(chosen.len());
                SignedRows::Signatures(signatures)
            }
        };
        let empty: Vec<usize> = (0..chosen.len())
            .filter(|i| texts.bytes(chosen[*i]).is_empty())
            .collect();
        let mut texts = SentTexts {
            gpu,
            texts,
            chosen,
            sent,
            shingler: shingler.of_normalised(),
            rows,
        };
        texts.sign_on_cpu(&left)?;
        texts.sign_on_cpu(&empty)?;
        Ok(texts)
    }

    /// Signs texts, in the order of their rows, on the CPU.
    fn sign_on_cpu(&mut self, left: &[usize]) -> Result<()> {
        for run in runs(left) {
            let texts: Vec<_> = run
                .clone()
                .map(|row| self.texts.text(self.chosen[row]))
                .collect();
            let signatures = Signatures::of_documents(&*self.gpu.cpu, &texts[..], &self.shingler)?;
            match &mut self.rows {
                SignedRows::Keys { banding, keys } => {
                    let bands = banding.bands();
                    let keys = &mut keys[run.start * bands..run.end * bands];
                    keys_of_rows(&signatures, *banding, keys);
                }
                SignedRows::Signatures(all) => {
                    let num_perm = all.num_perm();
                    let slots = run.start * num_perm..run.end * num_perm;
                    match (all.slots_mut(), signatures.slots()) {
                        (SlotsMut::U32(all), Slots::U32(new)) => {
                            all[slots].copy_from_slice(new);
                        }
                        (SlotsMut::U64(all), Slots::U64(new)) => {
                            all[slots].copy_from_slice(new);
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

impl UnfinishedRows for SentTexts<'_> {
    fn is_ready(&self) -> bool {
        self.sent.is_ready()
    }

    fn finish(mut self: Box<Self>) -> Result<(SignedRows, NormalisedTexts)> {
        match &mut self.rows {
            SignedRows::Keys { banding, keys } => {
                fold(self.gpu, &mut self.sent, keys, banding.bands());
            }
            SignedRows::Signatures(signatures) => {
                let num_perm = self.gpu.num_perm;
                match signatures.slots_mut() {
                    SlotsMut::U32(slots) => fold(self.gpu, &mut self.sent, slots, num_perm),
                    SlotsMut::U64(slots) => fold(self.gpu, &mut self.sent, slots, num_perm),
                }
            }
        }
        let left = std::mem::take(&mut self.sent.left);
        self.sign_on_cpu(&left)?;
        let SentTexts { rows, texts, .. } = *self;
        Ok((rows, texts))
    }
}
