//! Removes documents by a list of similar pairs, which an earlier search has found.
//!
//! Documents are read for their digests alone, so that identical ones are known and count as one, as in any search. From
//! there on, the listed pairs of distinct documents stand for candidates and their comparison: a bucket each.

use super::corpus::Corpus;
use super::deduplication::Dedup;
use super::first_pass::{FirstPass, SignedBatch, SignedForm, Sink, Wanted};
use super::observations::Observations;
use super::part::{Part, PartDocuments};
use super::removals::{FoundRemovals, removals};
use super::short::DroppedRows;
use super::source::Source;
use super::stages::{Parts, Searched};
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::ListedPairs;
use crate::progress::{Progress, Timings};

/// Takes nothing of documents.
struct Nothing;

impl Sink for Nothing {
    fn wants(&self) -> Wanted {
        Wanted {
            distinct_only: true,
            signed: SignedForm::Digests,
            sets: false,
            empty_sets: false,
        }
    }

    fn take(&mut self, _: SignedBatch, _: &[u32]) -> Result<()> {
        Ok(())
    }
}

/// Reads all documents, into memory, and finds identical ones. Of their shingles, nothing is known. The engine only
/// normalises.
#[doc(hidden)]
pub fn read_digests(
    source: &mut dyn Source,
    engine: &Engine,
    progress: &dyn Progress,
    timings: &mut Timings,
) -> Result<Corpus> {
    let mut nothing = Nothing;
    let pass = FirstPass::new(engine, progress, &mut nothing);
    source.read(pass, &mut timings.0)
}

impl Corpus {
    /// The position of each document that is the first of its kind, by row; `u32::MAX` for all others.
    #[doc(hidden)]
    pub fn positions(&self) -> Vec<u32> {
        let mut positions = vec![u32::MAX; self.rows as usize];
        for (position, row) in (0..).zip(&self.distinct) {
            positions[*row as usize] = position;
        }
        positions
    }
}

/// Documents whose similar pairs are known.
#[derive(Debug)]
#[doc(hidden)]
pub struct ListedSearch<'a> {
    /// The documents.
    pub corpus: Corpus,
    /// All pairs, by position, that the search finds.
    pub pairs: ListedPairs,
    /// The slots of the signatures of that search.
    pub num_perm: usize,
    /// Those of [`Source::classes`].
    pub classes: Option<&'a [u64]>,
    /// The time so far.
    pub timings: Timings,
}

/// Finds the documents to remove if the pairs are those that the search of `task` finds.
#[doc(hidden)]
pub fn find_listed_removals(
    listed: ListedSearch<'_>,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<FoundRemovals> {
    let ListedSearch {
        corpus,
        mut pairs,
        num_perm,
        classes,
        timings,
    } = listed;
    pairs.sort();
    let search = &task.search;
    let buckets = pairs.buckets(corpus.distinct.len())?;
    let searched = Searched {
        search: search.clone(),
        num_perm,
        rows: corpus.rows,
        reference: None,
        counts: search.counts(&corpus),
        dropped: DroppedRows::held(0..corpus.rows, &[]),
        most_pairs: None,
        observed: Observations::none(num_perm),
        parts: Parts::Whole(Box::new(Part {
            documents: PartDocuments::default(),
            corpus,
            classes: None,
            buckets,
            similarity: Box::new(pairs),
            in_blocks: None,
        })),
    };
    removals(searched, classes, task, progress, timings)
}
