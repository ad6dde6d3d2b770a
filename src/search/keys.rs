//! Collects what the search for candidates needs of signed documents.

use std::sync::Arc;

use super::disk::{KeyWriter, SpilledKeys};
use super::first_pass::{PieceSets, SignedBatch, SignedForm, Sink, Wanted};
use crate::error::{Conflict, Result};
use crate::pipeline::Sets;
use crate::pipeline::{BandKeys, Banding, PackedSignatures, Shingler, SlotBits};
use crate::store::spill::Spill;
use crate::store::{ExactSets, SETS_IN_MEMORY};

/// Collects band keys, and signatures or exact sets if verification needs them.
#[derive(Debug)]
#[doc(hidden)]
pub struct Banded {
    pub(crate) keys: BandKeys,
    /// The signatures, without the high bits of their slots.
    pub(crate) signatures: Option<PackedSignatures>,
    /// The exact sets of all documents; `None` if they are not wanted, take too much memory, or are on disk.
    pub(crate) sets: Option<ExactSets>,
    /// What they are held for.
    sets_for: SetsFor,
    /// The most bytes of exact sets in memory.
    most_bytes: usize,
    /// Bytes of the exact sets of all documents so far, repeated ones included.
    bytes_of_all: u64,
    /// Whether empty sets count as others.
    takes_empty: bool,
    /// Takes keys and signatures once these are more than memory holds.
    writer: Option<KeyWriter>,
}

/// What exact sets are held for.
#[derive(Debug)]
enum SetsFor {
    /// Verification, where they save a second reading.
    Verification,
    /// A join if it is cheap, beside band keys. Sets that take too much memory are dropped, even if they are on disk, so
    /// that the choice does not depend on memory.
    JoinIfSmall,
    /// A join: documents are not signed. Sets that take too much memory go to disk or, if there is none, are the error.
    Join(Option<Conflict>),
}

impl Banded {
    pub(crate) fn new(banding: Banding, signatures: Option<(usize, SlotBits)>) -> Self {
        Banded {
            keys: BandKeys::new(banding),
            signatures: signatures.map(|(num_perm, bits)| PackedSignatures::new(num_perm, bits)),
            sets: None,
            sets_for: SetsFor::Verification,
            most_bytes: 0,
            bytes_of_all: 0,
            takes_empty: false,
            writer: None,
        }
    }

    /// Holds the exact sets that `shingler` makes for verification, as long as they fit in `most_bytes`.
    pub(crate) fn hold_sets(self, most_bytes: usize, shingler: &Shingler) -> Self {
        let sets = ExactSets::default().weighted(shingler.takes_weights());
        Banded {
            sets: Some(sets),
            most_bytes,
            ..self
        }
    }

    /// Holds exact sets for a join, in at most `most_bytes`. If they need more, they go to disk, or the run fails with the
    /// error `too_large`.
    pub(crate) fn join(
        self,
        most_bytes: usize,
        too_large: Option<Conflict>,
        shingler: &Shingler,
    ) -> Self {
        Banded {
            sets_for: SetsFor::Join(too_large),
            ..self.hold_sets(most_bytes, shingler)
        }
    }

    /// Whether empty sets count as others; default false.
    pub(crate) fn takes_empty(self, takes_empty: bool) -> Self {
        Banded {
            takes_empty,
            ..self
        }
    }

    /// Holds exact sets for a join beside band keys, as long as those of all documents, repeated ones included, fit in
    /// `most_bytes`.
    pub(crate) fn join_if_small(self, most_bytes: usize, shingler: &Shingler) -> Self {
        Banded {
            sets_for: SetsFor::JoinIfSmall,
            ..self.hold_sets(most_bytes, shingler)
        }
    }

    /// Whether exact sets are taken.
    fn takes_sets(&self) -> bool {
        if let Some(writer) = &self.writer {
            return writer.takes_sets();
        }
        self.sets.is_some()
    }

    /// Ends the collection: sets that take too much memory are dropped.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.prepare()
    }

    /// The keys and signatures, if they are on disk.
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
                _ if matches!(self.sets_for, SetsFor::Join(_)) => SignedForm::Nothing,
                None => SignedForm::Keys(self.keys.banding()),
                Some(_) => SignedForm::Signatures,
            },
            sets: self.takes_sets(),
            empty_sets: self.takes_empty,
        }
    }

    fn prepare(&mut self) -> Result<()> {
        match &self.sets_for {
            SetsFor::Verification if self.sets_bytes() > self.most_bytes => self.sets = None,
            SetsFor::JoinIfSmall if self.bytes_of_all > self.most_bytes as u64 => {
                self.sets = None;
                if let Some(writer) = &mut self.writer {
                    writer.drop_sets();
                }
            }
            SetsFor::Join(Some(error)) if self.sets_bytes() > self.most_bytes => {
                return Err(error.clone().into());
            }
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, batch: SignedBatch, rows: &[u32]) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            return match batch {
                SignedBatch::Keys(keys) => writer.add_keys(rows, &keys),
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
                SignedBatch::Known {
                    keys, signatures, ..
                } => {
                    writer.add_keys(rows, &keys)?;
                    match &self.signatures {
                        Some(all) => writer.add_signatures(rows, &all.with_words(signatures)?),
                        None => Ok(()),
                    }
                }
                SignedBatch::Nothing => Ok(()),
            };
        }
        match batch {
            SignedBatch::Keys(keys) => self.keys.push_rows(&keys),
            SignedBatch::Signatures(signatures) => {
                self.keys.push(&signatures);
                if let Some(all) = &mut self.signatures {
                    all.push(&signatures)?;
                }
            }
            SignedBatch::Known {
                keys, signatures, ..
            } => {
                self.keys.push_rows(&keys);
                if let Some(all) = &mut self.signatures {
                    let known = all.with_words(signatures)?;
                    all.append(&known)?;
                }
            }
            SignedBatch::Nothing => {}
        }
        Ok(())
    }

    fn may_spill(&self) -> bool {
        true
    }

    fn must_spill(&self) -> bool {
        matches!(self.sets_for, SetsFor::Join(None)) && self.sets_bytes() > self.most_bytes
    }

    fn held_bytes(&self) -> usize {
        let signatures = self
            .signatures
            .as_ref()
            .map_or(0, |all| size_of_val(all.words()));
        self.keys.capacity_bytes() + signatures + self.sets_bytes()
    }

    fn give_way(&mut self) -> bool {
        let gives =
            matches!(self.sets_for, SetsFor::Verification) && self.sets_bytes() > SETS_IN_MEMORY;
        if gives {
            self.sets = None;
        }
        gives
    }

    fn spill(&mut self, spill: &Arc<Spill>, rows: &[u32]) -> Result<usize> {
        let banding = self.keys.banding();
        let (bands, is_joined) = match self.sets_for {
            SetsFor::Verification => (banding.bands(), false),
            SetsFor::JoinIfSmall => (banding.bands(), true),
            SetsFor::Join(_) => (0, true),
        };
        let held = self.sets.take().filter(|_| is_joined);
        let mut writer = KeyWriter::new(spill, bands, self.signatures.is_some(), is_joined);
        match writer.sets_read() {
            Some(bytes) => self.bytes_of_all = bytes,
            None => {
                if let Some(held) = &held {
                    (0..)
                        .zip(rows)
                        .try_for_each(|(position, row)| writer.add_set(*row, held.get(position)))?;
                }
            }
        }
        writer.add_columns(
            rows,
            &std::mem::replace(&mut self.keys, BandKeys::new(banding)),
        )?;
        if let Some(all) = &mut self.signatures {
            let empty = PackedSignatures::new(all.num_perm(), all.bits());
            writer.add_signatures(rows, &std::mem::replace(all, empty))?;
        }
        self.writer = Some(writer);
        self.prepare()?;
        Ok(KeyWriter::files(bands))
    }

    fn flush(&mut self) -> Result<()> {
        let bytes_of_all = self.bytes_of_all;
        let writer = self.writer.as_mut();
        writer.map_or(Ok(()), |writer| writer.flush(bytes_of_all))
    }

    fn take_sets(&mut self, first: u32, rows: &[u32], sets: PieceSets) -> Result<()> {
        let PieceSets {
            hashes,
            ranges,
            all_hashes,
        } = sets;
        self.bytes_of_all += (size_of::<u64>() * all_hashes) as u64;
        if let Some(held) = &mut self.sets {
            return held.append(hashes, first, &ranges);
        }
        if let Some(writer) = &mut self.writer {
            let mut sets = rows.iter().zip(ranges);
            return sets.try_for_each(|(row, range)| writer.add_set(*row, &hashes[range]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::error::Error;
    use crate::pipeline::Signatures;
    use crate::scheme::Slots;
    use crate::search::tests::engine_of_tokens;
    use crate::store::spill::Budget;

    fn banded(signatures: bool) -> Banded {
        let banding = Banding::new(2, 1, 2).unwrap();
        Banded::new(banding, signatures.then_some((2, SlotBits::Eight)))
    }

    /// Two sets of two and one hash, in a piece of so many hashes.
    fn sets(all_hashes: usize) -> PieceSets {
        PieceSets {
            hashes: vec![5, 6, 9],
            ranges: vec![0..2, 2..3],
            all_hashes,
        }
    }

    #[test]
    fn what_is_wanted_depends_on_what_is_collected() {
        let engine = engine_of_tokens();
        let shingler = engine.shingler();
        let is = |banded: Banded| {
            let Wanted {
                signed,
                sets,
                empty_sets,
                distinct_only,
            } = banded.wants();
            assert!(distinct_only);
            let signed = match signed {
                SignedForm::Signatures => "signatures",
                SignedForm::Keys(_) => "keys",
                SignedForm::Nothing | SignedForm::Digests => "nothing",
            };
            (signed, sets, empty_sets)
        };
        assert_eq!(is(banded(false)), ("keys", false, false));
        assert_eq!(is(banded(true)), ("signatures", false, false));
        assert_eq!(
            is(banded(false).hold_sets(SETS_IN_MEMORY, shingler)),
            ("keys", true, false)
        );
        assert_eq!(
            is(banded(false).join_if_small(9, shingler)),
            ("keys", true, false)
        );
        let join = banded(false).join(9, None, shingler).takes_empty(true);
        assert_eq!(is(join), ("nothing", true, true));
    }

    #[test]
    fn sets_that_take_too_much_are_dropped_or_refused() {
        let engine = engine_of_tokens();
        let shingler = engine.shingler();
        let add = |mut banded: Banded, all_hashes| {
            banded.take_sets(0, &[0, 1], sets(all_hashes)).unwrap();
            let bytes = banded.sets_bytes();
            (bytes, banded.end().map(|()| banded.sets.is_some()))
        };
        let is_held = |banded: Banded, all_hashes| add(banded, all_hashes).1.unwrap();
        let (bytes, _) = add(banded(false).hold_sets(SETS_IN_MEMORY, shingler), 3);
        // A join beside keys counts the hashes of all documents of a piece, repeated ones included.
        assert!(is_held(banded(false).join_if_small(80, shingler), 10));
        assert!(!is_held(banded(false).join_if_small(79, shingler), 10));
        // A join counts what it holds.
        let refused = || Some(Conflict::JoinMemory { mib: 1 });
        assert!(is_held(banded(false).join(bytes, refused(), shingler), 10));
        let (_, failed) = add(banded(false).join(bytes - 1, refused(), shingler), 10);
        assert!(matches!(
            failed,
            Err(Error::Conflict(Conflict::JoinMemory { .. }))
        ));
        assert!(!is_held(banded(false).hold_sets(bytes - 1, shingler), 3));
        // Verification gives way to what cannot be made again, but for little.
        let mut verified = banded(false).hold_sets(2 * SETS_IN_MEMORY, shingler);
        verified.take_sets(0, &[0, 1], sets(3)).unwrap();
        assert!(!verified.give_way());
        let large = PieceSets {
            hashes: Vec::new(),
            ranges: iter::once(0..SETS_IN_MEMORY / size_of::<u64>()).collect(),
            all_hashes: 0,
        };
        verified.take_sets(2, &[2], large).unwrap();
        assert!(verified.give_way() && verified.sets.is_none());
        // One that may go on on disk has to.
        let mut joined = banded(false).join(bytes - 1, None, shingler);
        joined.take_sets(0, &[0, 1], sets(3)).unwrap();
        assert!(joined.must_spill() && joined.may_spill());
        assert!(!banded(false).join(bytes, None, shingler).must_spill());
    }

    /// Two documents in memory, then two on disk.
    fn spilled(mut banded: Banded, folder: &std::path::Path) -> SpilledKeys {
        let take = |banded: &mut Banded, first: u32, slots: &[u32]| {
            let mut signatures = Signatures::new(2, crate::scheme::Width::U32);
            for row in slots.chunks(2) {
                signatures.push_row(Slots::U32(row)).unwrap();
            }
            let rows = [2 * first, 2 * first + 1];
            banded.take_sets(first, &rows, sets(3)).unwrap();
            banded
                .take(SignedBatch::Signatures(signatures), &rows)
                .unwrap();
            banded.prepare().unwrap();
        };
        take(&mut banded, 0, &[1, 2, 3, 4]);
        let spill = Spill::new(&Budget::new(folder, 1 << 20)).unwrap();
        banded.spill(&spill, &[0, 1]).unwrap();
        assert_eq!(banded.keys.len(), 0);
        take(&mut banded, 1, &[5, 6, 7, 8]);
        banded.end().unwrap();
        let keys = banded.finish_on_disk().unwrap().unwrap();
        assert!(banded.finish_on_disk().unwrap().is_none());
        keys
    }

    #[test]
    fn a_choice_on_disk_is_that_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine_of_tokens();
        let shingler = engine.shingler();
        // All four documents have 6 hashes, 48 bytes.
        // The keys of all four documents, by band.
        let rows = || vec![vec![0, 1, 2, 3]; 2];
        for (most, has_sets) in [(48, true), (47, false), (23, false)] {
            let banded = banded(false).join_if_small(most, shingler);
            let contents = spilled(banded, folder.path()).contents();
            assert_eq!(contents, (rows(), false, has_sets), "{most}");
        }
        let joined = spilled(banded(false).join(1, None, shingler), folder.path());
        assert_eq!(joined.contents(), (Vec::new(), false, true));
        let verified = spilled(
            banded(true).hold_sets(SETS_IN_MEMORY, shingler),
            folder.path(),
        );
        assert_eq!(verified.contents(), (rows(), true, false));
    }
}
