//! Collects what the search for candidates needs of signed documents.

use super::first_pass::{PieceSets, SignedBatch, SignedForm, Sink, Wanted};
use crate::error::{Conflict, Result};
use crate::pipeline::{BandKeys, Banding, PackedSignatures, Shingler, SlotBits};
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
            ..self.hold_sets(shingler)
        }
    }

    /// Ends the collection: sets that take too much memory are dropped.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.prepare()
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

    fn take(&mut self, batch: SignedBatch) -> Result<()> {
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
        Ok(())
    }

    fn take_sets(&mut self, first: u32, sets: PieceSets) {
        let PieceSets { hashes, ranges } = sets;
        if let Some(held) = &mut self.sets {
            held.insert_all(hashes, (first..).zip(ranges));
        }
    }
}
