//! Collects what the search for candidates needs of signed documents.

use rayon::prelude::*;

use super::first_pass::{PieceSets, SignedBatch, SignedForm, Sink, Wanted};
use crate::engine::Engine;
use crate::error::{Conflict, Result};
use crate::pipeline::{BandKeys, Banding, PackedSignatures, Sets, ShingleBatch, SlotBits};
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
    /// What happens to documents whose sets are held.
    held: Held,
}

/// What happens to documents whose sets are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// They are signed at once.
    Signed,
    /// They are signed if the sets take too much memory.
    SignedLater,
    /// They are not signed.
    Unsigned,
}

impl Banded {
    pub(crate) fn new(banding: Banding, signatures: Option<(usize, SlotBits)>) -> Self {
        Banded {
            keys: BandKeys::new(banding),
            signatures: signatures.map(|(num_perm, bits)| PackedSignatures::new(num_perm, bits)),
            sets: None,
            most_bytes: SETS_IN_MEMORY,
            held: Held::Signed,
        }
    }

    /// Holds exact sets for verification, as long as they fit in memory.
    pub(crate) fn hold_sets(self) -> Self {
        Banded {
            sets: Some(ExactSets::default()),
            ..self
        }
    }

    /// Holds exact sets for a join, in at most `most_bytes`. If they need more, the run fails.
    pub(crate) fn join(self, most_bytes: usize) -> Self {
        Banded {
            most_bytes,
            held: Held::Unsigned,
            ..self.hold_sets()
        }
    }

    /// Holds exact sets for a join, in at most `most_bytes`. If they need more, all documents get band keys: those of
    /// held sets, if `engine` can sign them, are computed then, and otherwise at once.
    pub(crate) fn join_if_small(self, most_bytes: usize, engine: &Engine) -> Self {
        let held = if engine.shingler().hashes_exactly() {
            Held::SignedLater
        } else {
            Held::Signed
        };
        Banded {
            most_bytes,
            held,
            ..self.hold_sets()
        }
    }

    /// Gives band keys to all documents whose sets are held.
    pub(crate) fn sign_held(&mut self, engine: &Engine) -> Result<()> {
        /// Sets that one thread signs at a time.
        const PIECE: usize = 64;
        if self.held != Held::SignedLater {
            return Ok(());
        }
        self.held = Held::Signed;
        let Some(sets) = &self.sets else {
            return Ok(());
        };
        let positions: Vec<u32> = (0..).take(Sets::len(sets)).collect();
        let banding = self.keys.banding();
        // One batch for each thread, so that keys of few documents exist twice.
        for batch in positions.chunks(PIECE * rayon::current_num_threads()) {
            let keys: Vec<Vec<u64>> = batch
                .par_chunks(PIECE)
                .map_init(
                    || ShingleBatch::new(engine.shingler().width()),
                    |shingles, piece| {
                        shingles.clear();
                        for position in piece {
                            shingles.push_high_halves(sets.get(*position));
                        }
                        let mut keys = vec![0; piece.len() * banding.bands()];
                        let signer = engine.signer();
                        signer.band_keys(&shingles.sets(), banding, &mut keys)?;
                        Ok(keys)
                    },
                )
                .collect::<Result<_>>()?;
            keys.iter().for_each(|keys| self.keys.push_keys(keys));
        }
        Ok(())
    }

    /// Ends the collection: sets that take too much memory are dropped.
    pub(crate) fn end(&mut self, engine: &Engine) -> Result<()> {
        self.prepare(engine)
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
                _ if self.held != Held::Signed => SignedForm::Nothing,
                None => SignedForm::Keys(self.keys.banding()),
                Some(_) => SignedForm::Signatures,
            },
            sets: self.sets.is_some(),
        }
    }

    fn prepare(&mut self, engine: &Engine) -> Result<()> {
        if self.sets_bytes() <= self.most_bytes {
            return Ok(());
        }
        if self.held == Held::Unsigned {
            return Err(Conflict::JoinMemory {
                mib: self.most_bytes >> 20,
            }
            .into());
        }
        self.sign_held(engine)?;
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
