//! The sources of documents: files implement [`Source`] elsewhere, memory here.

use std::iter;
use std::ops::Range;

use rayon::current_num_threads;
use rayon::prelude::*;

use super::corpus::Corpus;
use super::first_pass::{FirstPass, Parsed, Pieces};
use crate::documents::{DocumentBatch, Documents, Rows};
use crate::engine::Engine;
use crate::error::Result;
use crate::ordered::{Ahead, map_in_order};
use crate::pipeline::Scratch;
use crate::progress::{Progress, StageTime, advance};
use crate::store::ExactSets;

/// Documents that a run reads in order: once, or twice if it counts them first. Exact verification reads some of them
/// again.
pub(crate) trait Source {
    /// Reads all documents and passes them to `pass`, in pieces. They are the same every time.
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
pub(crate) struct InMemory<'a, D: ?Sized> {
    pub(crate) documents: &'a D,
    pub(crate) progress: &'a dyn Progress,
}

/// Documents per piece, at most.
const PIECE: usize = 256;

/// A piece ends with the document that reaches this number of bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Signed pieces per thread that may wait to be numbered. When documents are read again, pieces that each thread works
/// on between two calls of [`Progress::advance`]: some 5 ms.
const PIECES_PER_THREAD: usize = 8;

impl<D: Documents + ?Sized> InMemory<'_, D> {
    /// The bytes of the document at `row`.
    fn bytes(&self, row: usize) -> usize {
        self.documents.get(row).bytes()
    }

    /// All pieces, in order.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + Send + '_ {
        let rows = self.documents.len();
        let mut end = 0;
        iter::from_fn(move || {
            let start = end;
            let mut bytes = 0;
            while end < rows && end - start < PIECE && bytes < PIECE_BYTES {
                bytes += self.bytes(end);
                end += 1;
            }
            (start < end).then_some(start..end)
        })
    }

    /// The first of these positions, as many as make a batch, with their rows.
    fn next_positions(&self, corpus: &Corpus, positions: &[u32]) -> Vec<(u32, usize)> {
        let mut room = PIECES_PER_THREAD * PIECE_BYTES * current_num_threads();
        let fits = |(_, row): &(u32, usize)| {
            let had_room = room > 0;
            room = room.saturating_sub(self.bytes(*row));
            had_room
        };
        let rows = positions.iter().map(|position| {
            let row = corpus.distinct[*position as usize];
            (*position, row as usize)
        });
        let most = PIECE * PIECES_PER_THREAD * current_num_threads();
        rows.take_while(fits).take(most).collect()
    }
}

impl<D: Documents + ?Sized> Source for InMemory<'_, D> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        self.progress.begin("read", self.documents.len() as u64);
        let signing = pass.signing();
        let ahead = Ahead {
            waiting: PIECES_PER_THREAD * current_num_threads(),
            inputs: 1,
        };
        map_in_order(
            1,
            ahead,
            |_| self.pieces(),
            |piece| signing.sign(self, piece),
            |signed| {
                if let Some(signed) = signed {
                    pass.number(signed, |(), _| Ok(()))?;
                }
                advance(self.progress, pass.rows(), pass.rows(), pass.bytes())
            },
        )?;
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
        self.progress.begin("read again", positions.len() as u64);
        let mut sets = ExactSets::default().weighted(engine.shingler().takes_weights());
        let (mut done, mut bytes) = (0, 0);
        while done < positions.len() {
            let documents: Vec<(u32, usize)> = self.next_positions(corpus, &positions[done..]);
            let hashes = documents
                .par_iter()
                .map_init(Scratch::default, |scratch, (_, row)| {
                    let mut hashes = Vec::new();
                    let document = self.documents.get(*row);
                    engine.shingler().exact_list(document, scratch, &mut hashes);
                    hashes
                });
            let hashes: Vec<Vec<u64>> = hashes.collect();
            for ((position, row), set) in documents.iter().zip(hashes) {
                sets.insert(*position, &set)?;
                bytes += self.bytes(*row) as u64;
            }
            done += documents.len();
            advance(self.progress, done as u64, done as u64, bytes)?;
        }
        Ok(sets)
    }
}

impl<D: Documents + ?Sized> Pieces for InMemory<'_, D> {
    type Piece = Range<usize>;
    type Records = ();

    /// Lends the documents where they lie.
    fn parse<'a>(
        &'a self,
        piece: Range<usize>,
        _: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, ()>> {
        let documents = Rows::new(&self.documents, piece);
        Ok(Parsed {
            records: (),
            bytes: (0..documents.len())
                .map(|row| documents.get(row).bytes())
                .sum(),
            documents,
        })
    }
}
