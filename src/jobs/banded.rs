//! Collects what the search for candidates needs of signed documents.

#[cfg(feature = "io")]
use std::sync::Arc;

use super::first_pass::{PieceSets, SignedBatch, SignedForm, Sink, Wanted};
#[cfg(feature = "io")]
use super::spilled::{KeyWriter, SpilledKeys};
use crate::error::{Conflict, Result};
use crate::pipeline::{BandKeys, Banding, PackedSignatures, Shingler, SlotBits};
#[cfg(feature = "io")]
use crate::store::spill::Spill;
use crate::store::{ExactSets, SETS_IN_MEMORY};

/// Collects band keys, and signatures or exact sets if verification needs them.
#[derive(Debug)]
pub(crate) struct Banded {
    pub(crate) keys: BandKeys,
    /// The signatures, without the high bits of their slots.
    pub(crate) signatures: Option<PackedSignatures>,
    /// The exact sets of all documents; `None` if they are not wanted, or take too much memory.
    pub(crate) sets: Option<ExactSets>,
    /// The most bytes of exact sets.
    most_bytes: usize,
    /// The error of a join whose sets take more memory; `None` if documents are signed.
    too_large: Option<Conflict>,
    /// Whether empty sets count as others.
    takes_empty: bool,
    /// Whether the sets are held for a join; otherwise they only save a second reading.
    #[cfg_attr(
        not(feature = "io"),
        allow(dead_code, reason = "only a run over files spills")
    )]
    is_joined: bool,
    /// Takes keys and signatures once these are more than memory holds.
    #[cfg(feature = "io")]
    writer: Option<KeyWriter>,
}

impl Banded {
    pub(crate) fn new(banding: Banding, signatures: Option<(usize, SlotBits)>) -> Self {
        Banded {
            keys: BandKeys::new(banding),
            signatures: signatures.map(|(num_perm, bits)| PackedSignatures::new(num_perm, bits)),
            sets: None,
            most_bytes: SETS_IN_MEMORY,
            too_large: None,
            takes_empty: false,
            is_joined: false,
            #[cfg(feature = "io")]
            writer: None,
        }
    }

    /// Holds the exact sets that `shingler` makes for verification, as long as they fit in memory.
    pub(crate) fn hold_sets(self, shingler: &Shingler) -> Self {
        let sets = ExactSets::default().weighted(shingler.takes_weights());
        Banded {
            sets: Some(sets),
            ..self
        }
    }

    /// Holds exact sets for a join, in at most `most_bytes`. If they need more, the run fails with the error
    /// `too_large`.
    pub(crate) fn join(self, most_bytes: usize, too_large: Conflict, shingler: &Shingler) -> Self {
        Banded {
            most_bytes,
            too_large: Some(too_large),
            is_joined: true,
            ..self.hold_sets(shingler)
        }
    }

    /// Whether empty sets count as others; default false.
    pub(crate) fn takes_empty(self, takes_empty: bool) -> Self {
        Banded {
            takes_empty,
            ..self
        }
    }

    /// Holds exact sets for a join beside band keys, as long as they fit in `most_bytes`.
    pub(crate) fn join_if_small(self, most_bytes: usize, shingler: &Shingler) -> Self {
        Banded {
            most_bytes,
            is_joined: true,
            ..self.hold_sets(shingler)
        }
    }

    /// Ends the collection: sets that take too much memory are dropped.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.prepare()
    }

    /// The keys and signatures, if they are on disk.
    #[cfg(feature = "io")]
    pub(crate) fn finish_on_disk(&mut self) -> Result<Option<SpilledKeys>> {
        self.writer.take().map(KeyWriter::finish).transpose()
    }

    /// Bytes of exact sets.
    pub(crate) fn sets_bytes(&self) -> usize {
        self.sets.as_ref().map_or(0, ExactSets::memory_bytes)
    }

    /// Bytes of band keys.
    pub(crate) fn keys_bytes(&self) -> u64 {
        (size_of::<u64>() * self.keys.len() * self.keys.banding().bands()) as u64
    }
}

impl Sink for Banded {
    fn wants(&self) -> Wanted {
        Wanted {
            distinct_only: true,
            signed: match &self.signatures {
                _ if self.too_large.is_some() => SignedForm::Nothing,
                None => SignedForm::Keys(self.keys.banding()),
                Some(_) => SignedForm::Signatures,
            },
            sets: self.sets.is_some(),
            empty_sets: self.takes_empty,
        }
    }

    fn prepare(&mut self) -> Result<()> {
        if self.sets_bytes() <= self.most_bytes {
            return Ok(());
        }
        if let Some(error) = &self.too_large {
            return Err(error.clone().into());
        }
        self.sets = None;
        Ok(())
    }

    fn take(&mut self, batch: SignedBatch, rows: &[u32]) -> Result<()> {
        #[cfg(feature = "io")]
        if let Some(writer) = &mut self.writer {
            return match batch {
                SignedBatch::Keys { keys, .. } => writer.add_keys(rows, &keys),
                SignedBatch::Signatures(signatures) => {
                    let mut keys = BandKeys::new(self.keys.banding());
                    keys.push(&signatures);
                    writer.add_columns(rows, &keys)?;
                    match &self.signatures {
                        Some(all) => {
                            let packed = PackedSignatures::of(&signatures, all.bits());
                            writer.add_signatures(rows, &packed)
                        }
                        None => Ok(()),
                    }
                }
                SignedBatch::Nothing => Ok(()),
            };
        }
        match batch {
            SignedBatch::Keys { keys, .. } => self.keys.push_keys(&keys),
            SignedBatch::Signatures(signatures) => {
                self.keys.push(&signatures);
                if let Some(all) = &mut self.signatures {
                    all.push(&signatures)?;
                }
            }
            SignedBatch::Nothing => {}
        }
        #[cfg(not(feature = "io"))]
        let _ = rows;
        Ok(())
    }

    #[cfg(feature = "io")]
    fn may_spill(&self) -> bool {
        // A join needs all sets at once.
        !self.is_joined || self.too_large.is_none() && self.sets.is_none()
    }

    #[cfg(feature = "io")]
    fn held_bytes(&self) -> usize {
        let signatures = self
            .signatures
            .as_ref()
            .map_or(0, |all| size_of_val(all.words()));
        self.keys.capacity_bytes() + signatures + self.sets_bytes()
    }

    #[cfg(feature = "io")]
    fn spill(&mut self, spill: &Arc<Spill>, rows: &[u32]) -> Result<usize> {
        let banding = self.keys.banding();
        let bands = banding.bands();
        self.sets = None;
        let mut writer = KeyWriter::new(spill, bands, self.signatures.is_some());
        writer.add_columns(
            rows,
            &std::mem::replace(&mut self.keys, BandKeys::new(banding)),
        )?;
        if let Some(all) = &mut self.signatures {
            let empty = PackedSignatures::new(all.num_perm(), all.bits());
            writer.add_signatures(rows, &std::mem::replace(all, empty))?;
        }
        self.writer = Some(writer);
        Ok(KeyWriter::files(bands))
    }

    #[cfg(feature = "io")]
    fn flush(&mut self) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), KeyWriter::flush)
    }

    fn take_sets(&mut self, first: u32, sets: PieceSets) {
        let PieceSets { hashes, ranges } = sets;
        if let Some(held) = &mut self.sets {
            held.insert_all(hashes, (first..).zip(ranges));
        }
    }
}
