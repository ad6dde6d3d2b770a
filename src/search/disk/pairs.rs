//! Similar pairs on disk, in order of rows.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::documents::{number_of, words_of};
use super::edges::panicked;
use super::parts::Parts;
use super::removals::{similarity_of, words_of_similarity};
use crate::error::{Error, Result};
use crate::pipeline::{CandidateSource, similar_pairs};
use crate::progress::Progress;
use crate::search::copies::Copies;
use crate::search::observations::Observations;
use crate::search::part::{Part, Step};
use crate::store::spill::{JsonLines, KeyedRecords, SortedRecords, Spill};

/// The similar pairs of all parts. Documents are named by their rows.
#[derive(Debug)]
pub(crate) struct SpilledPairs {
    records: SortedRecords,
    documents: u64,
}

/// What is known of a document or of a pair.
pub(crate) enum PairRecord {
    /// A document that has candidates. It comes before its pairs.
    Document {
        /// The number of candidates with higher rows that were compared with it.
        compared: u64,
        /// An upper bound on the number of all of its candidates.
        most: u64,
    },
    /// Two similar documents.
    Pair {
        /// Their rows, ascending.
        rows: [u32; 2],
        similarity: Option<f64>,
        /// Their ids as JSON; empty if documents have no ids of their own.
        ids: [String; 2],
    },
}

/// Ranges of rows.
const PARTS: usize = 64;

/// The name of the comparisons, for checkpoints.
const COMPARE: &str = "compare";

/// What is compared at a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ComparedPairs {
    /// The number of parts.
    parts: usize,
    /// The number of documents with candidates.
    documents: u64,
    /// [`Observations::counts`]; empty without signatures.
    observed: Vec<u64>,
}

/// What is known of a document that is identical to others.
#[derive(Debug, Serialize, Deserialize)]
enum Copy {
    /// The first row, and a later one.
    Row(u32, u32),
    /// The row and the id.
    Id(u32, String),
}

/// What comes of one part: the number of its documents, its copies of documents as first and later row, and their ids.
type OfPart = (u64, Vec<(u32, u32)>, Vec<(u32, String)>);

impl SpilledPairs {
    /// Compares the candidates of all parts.
    pub(crate) fn find(
        parts: &Parts,
        rows: u32,
        spill: &Arc<Spill>,
        progress: &dyn Progress,
    ) -> Result<(Self, Copies)> {
        let records = KeyedRecords::new(spill, "pairs", PARTS, rows.into());
        let records = Mutex::new(records);
        let mut identical = JsonLines::new(spill, "copies");
        let mut compared: ComparedPairs = spill.state(COMPARE).unwrap_or_default();
        parts.restore_observed(&compared.observed);
        let find = |part: Part<'_>, _| find_in(part, parts.search().least(), &records, progress);
        parts.for_each(compared.parts, false, progress, find, |step| match step {
            Step::Result((documents, repeats, ids)) => {
                compared.documents += documents;
                let copy = |(first, row): &(u32, u32)| Copy::Row(*first, *row);
                let mut repeats = repeats.iter().map(copy);
                repeats.try_for_each(|copy| identical.push(&copy))?;
                let mut ids = ids.into_iter().map(|(row, id)| Copy::Id(row, id));
                ids.try_for_each(|copy| identical.push(&copy))
            }
            Step::Stopped => Ok(()),
            Step::Done { parts: done } => {
                let is_last = done == parts.count();
                if !is_last && !spill.is_due() {
                    return Ok(());
                }
                let mut records = records.lock().map_err(|_| panicked())?;
                records.flush()?;
                identical.flush()?;
                compared.parts = done;
                let observed = parts.observed().map(Observations::counts);
                compared.observed = observed.unwrap_or_default();
                if spill.is_due() {
                    spill.checkpoint(COMPARE, &compared)
                } else {
                    spill.note(COMPARE, &compared)
                }
            }
        })?;
        let mut copies = Copies::default();
        identical.for_each(|copy| match copy {
            Copy::Row(first, row) => copies.add(first, row),
            Copy::Id(row, id) => copies.add_id(row, &id),
        })?;
        copies.finish();
        let records = records.into_inner().map_err(|_| panicked())?;
        let pairs = SpilledPairs {
            records: records.finish()?,
            documents: compared.documents,
        };
        Ok((pairs, copies))
    }

    /// The number of documents with candidates.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// The documents with candidates by ascending row, each followed by its pairs with documents of higher rows, which
    /// ascend, too.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<PairRecord>> {
        self.records.iter(|[lo, hi], mut record| {
            let [a, b, c, d] = record.words()?;
            if hi == 0 {
                return Ok(PairRecord::Document {
                    compared: number_of([a, b]),
                    most: number_of([c, d]),
                });
            }
            let lo_id = record.take(number_of([c, d]))?;
            Ok(PairRecord::Pair {
                rows: [lo, hi],
                similarity: similarity_of(a, b),
                ids: [lo_id, &record].map(|id| String::from_utf8_lossy(id).into_owned()),
            })
        })
    }
}

/// Writes the similar pairs of a part.
fn find_in(
    part: Part<'_>,
    least: f64,
    records: &Mutex<KeyedRecords>,
    progress: &dyn Progress,
) -> Result<OfPart> {
    let Part {
        documents,
        corpus,
        buckets,
        similarity,
        ..
    } = part;
    let number = |position: u32| corpus.distinct[position as usize];
    let mut next = 0u32;
    similar_pairs(&buckets, &*similarity, least, &mut |block| {
        if progress.is_stopped() {
            return Err(Error::Stopped);
        }
        let mut records = records.lock().map_err(|_| panicked())?;
        for compared in &block.compared_by_document {
            let row = documents.row(number(buckets.positions()[next as usize]));
            let [a, b] = words_of(*compared);
            let [c, d] = words_of(buckets.most_partners(next) as u64);
            records.push_with([row, 0], |bytes| {
                bytes.extend_from_slice(bytemuck::cast_slice(&[a, b, c, d]));
            })?;
            next += 1;
        }
        for pair in &block.pairs {
            let [lo, hi] = [pair.lo, pair.hi].map(number);
            let (lo_id, hi_id) = (documents.id(lo), documents.id(hi));
            let [low, high] = words_of_similarity(pair.similarity);
            let [c, d] = words_of(lo_id.len() as u64);
            records.push_with([documents.row(lo), documents.row(hi)], |bytes| {
                bytes.extend_from_slice(bytemuck::cast_slice(&[low, high, c, d]));
                bytes.extend_from_slice(lo_id.as_bytes());
                bytes.extend_from_slice(hi_id.as_bytes());
            })?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut ids = Vec::new();
    let mut repeats = Vec::with_capacity(corpus.repeats.len());
    for (row, position) in &corpus.repeats {
        let first = number(*position);
        repeats.push((documents.row(first), documents.row(*row)));
        if documents.has_ids() {
            for number in [first, *row] {
                ids.push((documents.row(number), documents.id(number).to_owned()));
            }
        }
    }
    Ok((u64::from(next), repeats, ids))
}
