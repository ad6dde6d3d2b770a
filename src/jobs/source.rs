//! The sources of documents: files implement [`Source`] elsewhere, memory here.

use std::ops::Range;

use rayon::prelude::*;

use super::corpus::Corpus;
use super::first_pass::{FirstPass, Pieces};
use crate::documents::{DocumentBatch, Documents};
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::Scratch;
use crate::progress::{StageTime, advance};
use crate::store::ExactSets;

/// Documents that a run reads once in order. Exact verification reads some of them again.
pub(crate) trait Source {
    /// Reads all documents and passes them to `pass`, batch by batch.
    fn read(&mut self, pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus>;

    /// Bytes of memory that the source holds beyond its first reading: of ids, and of input for a second pass.
    fn held_bytes(&self) -> u64;

    /// The class of each document, by row: documents of a lower class are kept first, before
    /// [`KeepPolicy`](crate::pipeline::KeepPolicy) decides. `None` if all are of one class.
    fn classes(&self) -> Option<&[u64]> {
        None
    }

    /// Reads the documents at `positions`, which ascend, again, and returns their exact sets.
    fn read_exact_sets(
        &self,
        corpus: &Corpus,
        engine: &Engine,
        positions: &[u32],
    ) -> Result<ExactSets>;
}

/// Documents in memory.
pub(crate) struct InMemory<'a, D: ?Sized>(pub(crate) &'a D);

/// Documents per piece.
const PIECE: usize = 256;

/// Pieces per batch.
const BATCH: usize = 64;

impl<D: Documents + ?Sized> Source for InMemory<'_, D> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        let documents = self.0.len();
        let progress = pass.progress();
        progress.begin("read", documents as u64);
        for first in (0..documents).step_by(PIECE * BATCH) {
            let end = documents.min(first + PIECE * BATCH);
            let starts = (first..end).step_by(PIECE);
            let pieces = starts.map(|start| start..end.min(start + PIECE)).collect();
            pass.take(self, pieces)?;
            advance(progress, end as u64, pass.rows(), pass.bytes())?;
        }
        Ok(pass.finish(times))
    }

    fn held_bytes(&self) -> u64 {
        0
    }

    fn read_exact_sets(
        &self,
        corpus: &Corpus,
        engine: &Engine,
        positions: &[u32],
    ) -> Result<ExactSets> {
        let mut sets = ExactSets::default();
        for batch in positions.chunks(PIECE * BATCH) {
            let read: Vec<Vec<u64>> = batch
                .par_iter()
                .map_init(
                    || (self.0.empty_batch(), Scratch::default()),
                    |(documents, scratch), position| {
                        let row = corpus.distinct[*position as usize];
                        documents.restart(0);
                        self.0.append_to(row as usize, documents);
                        let mut hashes = Vec::new();
                        let shingler = engine.shingler();
                        shingler.exact_hashes(documents, 0, scratch, &mut hashes);
                        hashes
                    },
                )
                .collect();
            for (position, set) in batch.iter().zip(read) {
                sets.insert(*position, &set)?;
            }
        }
        Ok(sets)
    }
}

impl<D: Documents + ?Sized> Pieces for InMemory<'_, D> {
    type Piece = Range<usize>;
    type Records = ();

    fn parse(&self, piece: Range<usize>, documents: &mut DocumentBatch) -> Result<((), usize)> {
        documents.restart(0);
        piece.for_each(|row| self.0.append_to(row, documents));
        let bytes = (0..documents.len()).map(|i| documents.bytes(i)).sum();
        Ok(((), bytes))
    }

    fn note(&mut self, (): (), _: u32) -> Result<()> {
        Ok(())
    }

    fn empty_batch(&self) -> DocumentBatch {
        self.0.empty_batch()
    }
}
