//! Finds the documents of an index that are similar to others.

use std::path::Path;

use super::document::{DocumentId, Record, words_of};
use super::lists;
use super::pending::Pending;
use super::prefix;
use super::signed::{ListProbe, Signed};
use super::store::{Snapshot, Table, damaged};
use simgpu::error::Result;
use simgpu::pipeline::{Criterion, Measure, Overlap, PackedSignatures, Similarity, Verified};
use simgpu::search::{Search, Verification};
use simgpu::store::ExactSets;

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
    /// How much of each is in the other, in an index of [`Measure::Contained`].
    pub shares: Option<Shares>,
    /// Its row: documents that were added earlier have lesser ones.
    pub(super) row: u32,
}

/// How much of two documents is in the other one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shares {
    /// The share of the shingles of the document that was asked for which the document of the index has.
    pub query: f64,
    /// The share of the shingles of the document of the index which the one that was asked for has.
    pub document: f64,
}

impl Shares {
    /// Those of identical documents.
    const ALL: Shares = Shares {
        query: 1.0,
        document: 1.0,
    };

    /// Those of two sets that are not empty, the query's first.
    fn new(overlap: Overlap) -> Self {
        let [query, document] = overlap.sizes;
        let share = |size: u32| f64::from(overlap.shared) / f64::from(size);
        Shares {
            query: share(query),
            document: share(document),
        }
    }
}

/// How a similar document was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundBy {
    /// Both are identical after normalisation.
    Identical,
    /// Both share the key of a band, and their signatures agree in enough slots.
    Signature,
    /// Both share the key of a band or, in an index of kind `exact`, a shingle, and their sets of shingles are similar.
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
    /// The words of an entry of a list.
    pub(super) entry: usize,
    /// The least similarity of a hit.
    pub(super) threshold: f64,
    /// What makes documents similar: that similarity.
    pub(super) criterion: Criterion,
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
        let (mut words, mut found) = (Vec::new(), Vec::new());
        for probe in signed.probes(i, self.criterion) {
            words.clear();
            lists::read(at, probe.key, &mut words)?;
            self.read_list(&probe, &words, &mut found);
        }
        let mut hits = Vec::new();
        for rows in to_compare(found).chunks(BLOCK) {
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
        let (mut found, mut hits) = (Vec::new(), Vec::new());
        for probe in signed.probes(i, self.criterion) {
            self.read_list(&probe, pending.list(probe.key), &mut found);
        }
        for rows in to_compare(found).chunks(BLOCK) {
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

    /// Adds the rows of a list to `found`.
    fn read_list(&self, probe: &ListProbe, words: &[u32], found: &mut Vec<ListedRow>) {
        found.extend(words.chunks_exact(self.entry).map(|entry| {
            let may_be_similar = match (probe.place, entry) {
                (Some(place), [_, shape]) => prefix::may_be_similar(self.criterion, place, *shape),
                _ => true,
            };
            ListedRow {
                row: entry[0],
                may_be_similar,
            }
        }));
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
            let verified = if is_identical {
                Verified::by(1.0)
            } else {
                comparer.compare(0, number, self.threshold)?
            };
            let similarity = verified.similarity;
            let similarity = similarity.filter(|similarity| *similarity >= self.threshold);
            hits.extend(similarity.map(|similarity| Hit {
                id: candidate.record.id,
                similarity,
                shares: match self.search.measure {
                    Measure::Contained => Some(verified.overlap.map_or(Shares::ALL, Shares::new)),
                    Measure::Jaccard => None,
                },
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
            let mut sets = ExactSets::default().measured(self.search.measure);
            let mut hashes = Vec::new();
            let mut ranges = Vec::new();
            let all = candidates.iter().map(|candidate| candidate.set.as_slice());
            for set in std::iter::once(signed.set(i)).chain(all) {
                ranges.push(hashes.len()..hashes.len() + set.len());
                hashes.extend_from_slice(set);
            }
            sets.append(hashes, 0, &ranges)?;
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

/// The rows that are compared, ascending, of those found list by list. Lists are in the order of shingles: what the first
/// shingle that both have says of a pair holds (MMDS 3.9.6).
fn to_compare(mut found: Vec<ListedRow>) -> Vec<u32> {
    // The sort is stable, so the entry of the first common shingle stays.
    found.sort_by_key(|listed| listed.row);
    found.dedup_by_key(|listed| listed.row);
    let compared = found.into_iter().filter(|listed| listed.may_be_similar);
    compared.map(|listed| listed.row).collect()
}

/// A row in a list that a query reads.
struct ListedRow {
    row: u32,
    /// Whether it may be similar by the shingle of the list.
    may_be_similar: bool,
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
