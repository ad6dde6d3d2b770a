//! The sources of documents: files implement [`Source`] elsewhere, memory here.

use std::fmt;
use std::iter;
use std::ops::Range;

use super::corpus::Corpus;
use super::first_pass::{FirstPass, Parsed, Pieces};
use crate::bits::Bits;
use crate::documents::{DocumentBatch, DocumentRange, Documents};
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::Scratch;
use crate::progress::{Progress, StageTime, advance};
use crate::store::spill::Budget;
use crate::store::{ExactSets, Texts};
use crate::threads::{Ahead, map_in_order};
use crate::threads::{collect_blocks, even_block};
use rayon::current_num_threads;

/// Documents that a run reads in order: once, or twice if it counts them first. Exact verification reads some of them
/// again.
#[doc(hidden)]
pub trait Source {
    /// Reads all documents and passes them to `pass`, in pieces. They are the same every time.
    fn read(&mut self, pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus>;

    /// Bytes of memory that the source holds beyond its first reading: of ids, and of input for a second pass.
    fn held_bytes(&self) -> u64;

    /// The class of each document, by row: documents of a lower class are kept first, before
    /// [`KeepPolicy`](crate::pipeline::KeepPolicy) decides. `None` if all are of one class.
    fn classes(&self) -> Option<&[u64]> {
        None
    }

    /// How documents on disk are classified; `None` if all are of one class.
    fn classes_on_disk(&self) -> Option<(Box<dyn Classify>, NextPreference<'_>)> {
        None
    }

    /// Whether documents that are read again come with their signatures, to compare them with those of an index.
    fn signs_again(&self) -> bool {
        false
    }

    /// An empty store for exact sets.
    fn exact_sets(&self) -> ExactSets {
        ExactSets::default()
    }

    /// Reads the documents at the wanted rows again, and passes the row and the exact set of each to `sets`, in order. A
    /// run that was stopped meanwhile goes on with the next ones.
    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()>;

    /// The memory that a run may take, and the folder for what does not fit; `None` if there is no bound.
    fn budget(&self) -> Option<Budget> {
        None
    }

    /// The ids of all documents, as JSON; `None` if they have none of their own.
    fn ids(&self) -> Result<Option<LinesOfIds<'_>>> {
        Ok(None)
    }
}

/// Receives exact sets, by ascending row.
#[doc(hidden)]
pub trait SetsByRow {
    /// Receives sets with their rows. No lock may be held while it works.
    fn take(&mut self, sets: &[(u32, Vec<u64>)]) -> Result<()>;

    /// Writes everything taken so far, for a checkpoint.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(u32, &[u64]) -> Result<()>> SetsByRow for F {
    fn take(&mut self, sets: &[(u32, Vec<u64>)]) -> Result<()> {
        sets.iter().try_for_each(|(row, set)| self(*row, set))
    }
}

/// Returns the ids of ranges of documents that ascend, a line each.
#[doc(hidden)]
pub type LinesOfIds<'a> = Box<dyn FnMut(Range<u32>) -> Result<String> + 'a>;

/// Returns what decides the class of each document, one after the other: the rank of its source, and a value.
#[doc(hidden)]
pub type NextPreference<'a> = Box<dyn FnMut() -> Result<(u32, String)> + 'a>;

/// Classifies documents on disk, by the rank of their source and by a value.
#[doc(hidden)]
pub trait Classify: fmt::Debug + Send + Sync {
    /// The classes of documents with these sources and values. Those of other documents have another scale.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for more values than there are row numbers.
    fn classes(&self, sources: &[u32], values: Texts) -> Result<Vec<u64>>;
}

/// Documents in memory.
pub(crate) struct InMemory<'a, D: ?Sized> {
    pub(crate) documents: &'a D,
    /// The number of first documents that are a reference; `None` without one.
    pub(crate) reference: Option<usize>,
    /// Those of [`Source::classes`].
    pub(crate) classes: Option<&'a [u64]>,
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
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<usize>> + Send + '_ {
        let rows = self.documents.len();
        let mut end = 0;
        iter::from_fn(move || {
            let start = end;
            let mut bytes = 0;
            while end < rows && end - start < PIECE && bytes < PIECE_BYTES {
                bytes += self.bytes(end);
                end += 1;
                // The next piece begins with the first document that is not of the reference.
                if Some(end) == self.reference {
                    break;
                }
            }
            (start < end).then_some(start..end)
        })
    }

    /// Says that the reference ends, if it ends here.
    pub(super) fn end_reference(&self, pass: &mut FirstPass<'_>) {
        if self
            .reference
            .is_some_and(|rows| rows as u64 == pass.rows())
        {
            pass.end_reference();
        }
    }

    /// The first of these rows, as many as make a batch.
    fn next_rows(&self, rows: &mut dyn Iterator<Item = u32>) -> Vec<u32> {
        let mut room = PIECES_PER_THREAD * PIECE_BYTES * current_num_threads();
        let most = PIECE * PIECES_PER_THREAD * current_num_threads();
        let mut batch = Vec::new();
        while room > 0
            && batch.len() < most
            && let Some(row) = rows.next()
        {
            room = room.saturating_sub(self.bytes(row as usize));
            batch.push(row);
        }
        batch
    }
}

impl<D: Documents + ?Sized> Source for InMemory<'_, D> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        self.progress.begin("read", self.documents.len() as u64);
        self.end_reference(&mut pass);
        let signing = pass.signing();
        let ahead = Ahead {
            waiting: PIECES_PER_THREAD * current_num_threads(),
            inputs: 1,
            weigh: |_| 1,
        };
        map_in_order(
            1,
            ahead,
            |_| self.pieces(),
            |piece| signing.sign(self, piece),
            |signed| {
                if let Some(signed) = signed {
                    pass.number(signed, &mut ())?;
                    self.end_reference(&mut pass);
                }
                advance(self.progress, pass.rows(), pass.rows(), pass.bytes())
            },
        )?;
        pass.finish(times)
    }

    fn held_bytes(&self) -> u64 {
        0
    }

    fn classes(&self) -> Option<&[u64]> {
        self.classes
    }

    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        self.progress.begin("read again", wanted.count());
        let mut rows = wanted.ones();
        let (mut done, mut bytes) = (0, 0);
        loop {
            let batch = self.next_rows(&mut rows);
            if batch.is_empty() {
                return Ok(());
            }
            let batch_sets = collect_blocks(batch.len(), even_block(batch.len()), |range| {
                let mut scratch = Scratch::default();
                let exact_list = |row: &u32| {
                    let mut hashes = Vec::new();
                    let document = self.documents.get(*row as usize);
                    engine
                        .shingler()
                        .exact_list(document, &mut scratch, &mut hashes);
                    (*row, hashes)
                };
                batch[range]
                    .iter()
                    .map(exact_list)
                    .collect::<Vec<(u32, Vec<u64>)>>()
            });
            sets.take(&batch_sets)?;
            let row_bytes = batch.iter().map(|row| self.bytes(*row as usize) as u64);
            bytes += row_bytes.sum::<u64>();
            done += batch.len() as u64;
            advance(self.progress, done, done, bytes)?;
        }
    }
}

impl<D: Documents + ?Sized> Pieces for InMemory<'_, D> {
    type Piece = Range<usize>;
    type Notes = ();

    /// Lends the documents where they lie.
    fn parse<'a>(
        &'a self,
        piece: Range<usize>,
        _: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, ()>> {
        let documents = DocumentRange::new(&self.documents, piece);
        Ok(Parsed {
            records: (),
            bytes: (0..documents.len())
                .map(|row| documents.get(row).bytes())
                .sum(),
            documents,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::search::tests::{batch, engine_of_tokens, families};

    #[test]
    fn pieces_hold_each_document_once() {
        let small = "a".to_owned();
        let large = "b".repeat(PIECE_BYTES / 2 + 1);
        let mut texts = vec![small.clone(); 2 * PIECE + 3];
        texts.extend([large.clone(), large.clone(), large, small]);
        let source = InMemory {
            documents: &texts,
            reference: None,
            classes: None,
            progress: &Silent,
        };
        // Full pieces of small documents; the second large one fills its piece.
        let pieces: Vec<_> = source.pieces().collect();
        let first = 2 * PIECE;
        assert_eq!(
            pieces,
            [
                0..PIECE,
                PIECE..first,
                first..first + 5,
                first + 5..first + 7
            ]
        );
        let none: Vec<String> = Vec::new();
        let empty = InMemory {
            documents: &none,
            reference: None,
            classes: None,
            progress: &Silent,
        };
        assert_eq!(empty.pieces().count(), 0);
    }

    #[test]
    fn wanted_documents_are_read_in_order() {
        let lists = families(1, 400);
        let documents = batch(&lists);
        let engine = engine_of_tokens();
        let source = InMemory {
            documents: &documents,
            reference: None,
            classes: None,
            progress: &Silent,
        };
        let rows = u32::try_from(lists.len()).unwrap();
        let wanted = Bits::zeros(rows);
        (0..rows)
            .filter(|row| row % 3 != 1)
            .for_each(|row| wanted.set(row));
        let mut read = Vec::new();
        let mut take = |row: u32, set: &[u64]| {
            read.push((row, set.to_vec()));
            Ok(())
        };
        source.read_exact_sets(&engine, &wanted, &mut take).unwrap();
        let scratch = &mut Scratch::default();
        let expected = wanted.ones().map(|row| {
            let mut set = Vec::new();
            let document = documents.get(row as usize);
            engine.shingler().exact_list(document, scratch, &mut set);
            (row, set)
        });
        assert!(expected.eq(read));
        // An error of the receiver ends the reading.
        let mut refuse = |_: u32, _: &[u64]| Err(crate::Error::Stopped);
        assert!(
            source
                .read_exact_sets(&engine, &wanted, &mut refuse)
                .is_err()
        );
    }
}
