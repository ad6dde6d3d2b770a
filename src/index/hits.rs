//! Finds the documents of an index that are similar to others.

use std::path::Path;

use super::document::{DocumentId, Record, words_of};
use super::lists;
use super::pending::Pending;
use super::signed::Signed;
use super::store::{Snapshot, Table, damaged};
use crate::error::Result;
use crate::pipeline::{PackedSignatures, Similarity};
use crate::search::{Search, Verification};
use crate::store::ExactSets;

/// A document of an index that is similar to another one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Its id.
    pub id: DocumentId,
    /// The similarity of both, at least the threshold: estimated or exact, as the index verifies.
    pub similarity: f64,
    /// How it was found.
    pub found_by: FoundBy,
    /// Its row: documents that were added earlier have lesser ones.
    pub(super) row: u32,
}

/// How a similar document was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundBy {
    /// Both are identical after normalisation.
    Identical,
    /// Both share the key of a band, and their signatures agree in enough slots.
    Signature,
    /// Both share the key of a band, and their sets of shingles are similar.
    Exact,
}

impl FoundBy {
    /// The name: `identical`, `signature` or `exact`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Identical => "identical",
            FoundBy::Signature => "signature",
            FoundBy::Exact => "exact",
        }
    }
}

/// Candidates that are held at a time.
const BLOCK: usize = 1024;

/// What is compared, and what a message names.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a> {
    pub(super) folder: &'a Path,
    pub(super) search: &'a Search,
    pub(super) num_perm: usize,
    /// Words of a packed signature; 0 if none is kept.
    pub(super) words: usize,
    /// The least similarity of a hit.
    pub(super) threshold: f64,
}

/// A document that shares a list with another.
struct Candidate {
    row: u32,
    record: Record,
    set: Vec<u64>,
}

impl Comparison<'_> {
    /// The hits of a document among those that are stored, but for the ones that a batch deletes. Earlier documents come
    /// first.
    pub(super) fn stored_hits(
        &self,
        at: &Snapshot<'_>,
        signed: &Signed,
        i: usize,
    ) -> Result<Vec<Hit>> {
        let mut rows = Vec::new();
        for key in signed.lists(i) {
            if !lists::read(at, key, &mut rows)? {
                return Err(damaged(self.folder, "a list of rows is unreadable"));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let mut hits = Vec::new();
        for rows in rows.chunks(BLOCK) {
            let mut candidates = Vec::with_capacity(rows.len());
            for row in rows {
                if let Some(record) = self.record(at, *row)? {
                    candidates.push(Candidate {
                        row: *row,
                        record,
                        set: self.set(at, *row)?,
                    });
                }
            }
            self.compare(signed, i, candidates, &mut hits)?;
        }
        Ok(hits)
    }

    /// The hits of a document among those of a batch that is not stored yet. Earlier documents come first.
    pub(super) fn pending_hits(
        &self,
        pending: &Pending,
        signed: &Signed,
        i: usize,
    ) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for rows in pending.rows_in(signed.lists(i)).chunks(BLOCK) {
            let candidate = |row: &u32| {
                let (record, set) = pending.document(*row)?;
                Some(Candidate {
                    row: *row,
                    record: record.clone(),
                    set: set.to_vec(),
                })
            };
            let candidates = rows.iter().filter_map(candidate).collect();
            self.compare(signed, i, candidates, &mut hits)?;
        }
        Ok(hits)
    }

    /// The record of a row; `None` if the document was deleted.
    pub(super) fn record(&self, at: &Snapshot<'_>, row: u32) -> Result<Option<Record>> {
        let Some(bytes) = at.get(Table::Documents, &row.to_be_bytes())? else {
            return Ok(None);
        };
        match Record::decode(&bytes, self.words) {
            Some(record) => Ok(Some(record)),
            None => Err(damaged(self.folder, "a record is unreadable")),
        }
    }

    /// The shingles of a row; empty unless they verify.
    pub(super) fn set(&self, at: &Snapshot<'_>, row: u32) -> Result<Vec<u64>> {
        if self.search.verification != Verification::Exact {
            return Ok(Vec::new());
        }
        match at.get(Table::Sets, &row.to_be_bytes())? {
            Some(bytes) if bytes.len().is_multiple_of(8) => Ok(words_of(&bytes)),
            _ => Err(damaged(
                self.folder,
                "the shingles of a document are missing",
            )),
        }
    }

    /// Adds the candidates that are similar to the document to `hits`.
    fn compare(
        &self,
        signed: &Signed,
        i: usize,
        candidates: Vec<Candidate>,
        hits: &mut Vec<Hit>,
    ) -> Result<()> {
        if candidates.is_empty() {
            return Ok(());
        }
        let similarity = self.similarity(signed, i, &candidates)?;
        let mut comparer = similarity.comparer();
        for (number, candidate) in (1..).zip(candidates) {
            let (digest, found) = (signed.digest(i), candidate.record.digest);
            let is_identical = digest.is_some() && digest == found;
            // Identical documents have the similarity 1, also those without shingles.
            let similarity = match is_identical {
                true => Some(1.0),
                false => comparer.compare(0, number, self.threshold)?.similarity,
            };
            let similarity = similarity.filter(|similarity| *similarity >= self.threshold);
            hits.extend(similarity.map(|similarity| Hit {
                id: candidate.record.id,
                similarity,
                found_by: match self.search.verification {
                    _ if is_identical => FoundBy::Identical,
                    Verification::Exact => FoundBy::Exact,
                    Verification::None | Verification::Signature => FoundBy::Signature,
                },
                row: candidate.row,
            }));
        }
        Ok(())
    }

    /// What compares the document, at position 0, with the candidates, from 1 on.
    fn similarity(
        &self,
        signed: &Signed,
        i: usize,
        candidates: &[Candidate],
    ) -> Result<Box<dyn Similarity>> {
        if self.search.verification == Verification::Exact {
            let mut sets = ExactSets::default();
            let mut hashes = Vec::new();
            let mut ranges = Vec::new();
            let all = candidates.iter().map(|candidate| candidate.set.as_slice());
            for (position, set) in (0..).zip(std::iter::once(signed.set(i)).chain(all)) {
                ranges.push((position, hashes.len()..hashes.len() + set.len()));
                hashes.extend_from_slice(set);
            }
            sets.insert_all(hashes, ranges.into_iter())?;
            return Ok(Box::new(sets));
        }
        let mut words = signed.signature(i).to_vec();
        for candidate in candidates {
            words.extend_from_slice(&candidate.record.signature);
        }
        match PackedSignatures::from_words(self.num_perm, Search::SLOT_BITS, words) {
            Ok(packed) => Ok(Box::new(packed)),
            Err(_) => Err(damaged(self.folder, "a signature is unreadable")),
        }
    }
}

/// Sorts hits by descending similarity, and hits of equal similarity by age, and keeps the first `limit`.
pub(super) fn arrange(hits: &mut Vec<Hit>, limit: Option<usize>) {
    hits.sort_by(|a, b| {
        b.similarity
            .total_cmp(&a.similarity)
            .then(a.row.cmp(&b.row))
    });
    if let Some(limit) = limit {
        hits.truncate(limit);
    }
}
