//! Numbers documents as they are read, and finds those that repeat earlier ones.

use std::collections::hash_map::Entry;
use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec::IntoIter;

use super::corpus::Corpus;
use super::digests::{ByShard, Digests};
use super::disk::DocumentWriter;
use super::shingled::{Role, ShingledPiece};
use super::short::ShortDocuments;
use crate::documents::DigestMap;
use crate::error::{Error, Result, row_number};
use crate::pipeline::Dropped;
use crate::store::spill::Spill;
use crate::threads::for_each_chunk;

/// The share of the memory of a run on disk for digests of earlier documents, one in so many.
const RECENT_SHARE: usize = 8;

/// Repeats that are worth a job, 10 µs or more.
const JOB: usize = 1 << 12;

/// Documents that are written at a time.
const BLOCK: usize = 1 << 16;

/// Bytes of memory for such a digest: a table may be half empty.
const BYTES_OF_RECENT: usize = 2 * size_of::<(u128, u32)>();

/// The documents read so far.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    corpus: Corpus,
    /// Which documents take no part.
    short: ShortDocuments,
    /// Those of all documents, or on disk of some earlier ones: these need no signature again.
    digests: Arc<Digests>,
    /// The documents that repeat an earlier one, and the row of that one.
    repeats: Vec<(u32, u32)>,
    bare: Bare,
    /// Takes what is known of each document once this is more than memory holds.
    writer: Option<DocumentWriter>,
}

/// Distinct documents without shingles, and their repeats: there are few in most corpora.
#[derive(Debug, Default)]
struct Bare {
    numbers: DigestMap<u32>,
    /// The row of each distinct one.
    distinct: Vec<u32>,
    /// The row of each repeat, and the number of the distinct one.
    repeats: Vec<(u32, u32)>,
}

impl Bare {
    fn add(&mut self, row: u32, digest: u128) -> Result<()> {
        let number = row_number(self.distinct.len())?;
        match self.numbers.entry(digest) {
            Entry::Vacant(entry) => {
                entry.insert(number);
                self.distinct.push(row);
            }
            Entry::Occupied(entry) => self.repeats.push((row, *entry.get())),
        }
        Ok(())
    }
}

/// Which signed documents of a piece are needed.
pub(super) struct Needed {
    /// Whether each signed document is.
    pub(super) needed: Vec<bool>,
    /// The rows of those that are.
    pub(super) rows: Vec<u32>,
}

impl Numbered {
    /// No documents yet. Some that come are short.
    pub(super) fn leaving_out(short: ShortDocuments) -> Self {
        Numbered {
            short,
            ..Numbered::default()
        }
    }

    /// Which documents take no part.
    pub(crate) fn short(&self) -> &ShortDocuments {
        &self.short
    }

    /// The documents so far, without those on disk.
    pub(super) fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Which documents of a piece are known to repeat an earlier one. On disk, some repeats are not known yet.
    pub(super) fn known(&self, digests: &[u128], sharded: &ByShard) -> Vec<bool> {
        self.digests.known(digests, sharded)
    }

    /// What finds the first documents of a piece, whose rows come next, on all threads. No lock may be held while it works.
    /// On disk, digests are forgotten first if they take their share of the memory.
    pub(super) fn finder(&self) -> Finder {
        if let Some(writer) = &self.writer {
            let most = writer.spill().memory() / RECENT_SHARE / BYTES_OF_RECENT;
            self.digests.forget_beyond(most);
        }
        Finder {
            digests: Arc::clone(&self.digests),
            first_row: self.corpus.rows,
        }
    }

    /// The rows of the distinct documents in memory.
    pub(super) fn distinct_mut(&mut self) -> &mut Vec<u32> {
        &mut self.corpus.distinct
    }

    /// Adds bytes of input.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.corpus.bytes += bytes as u64;
    }

    /// Adds the documents of a piece. Finds repeats if there are `firsts`, those that [`Finder::firsts`] found. Of the
    /// documents that are signed, those are needed that have shingles and are not known to repeat an earlier one; all, if
    /// no repeats are found.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`] if there are more than rows.
    pub(super) fn add(
        &mut self,
        piece: &ShingledPiece,
        firsts: Option<&[AtomicU32]>,
    ) -> Result<Needed> {
        let corpus = &mut self.corpus;
        let start = corpus.rows;
        let end = row_number(start as usize + piece.len())?;
        if end == u32::MAX {
            return Err(Error::TooManyDocuments);
        }
        corpus.rows = end;
        corpus.without_shingles += piece.counts.none;
        *corpus.few_shingles.get_or_insert(0) += piece.counts.few;
        corpus.short += piece.counts.short;
        let mut dropped = piece
            .dropped
            .iter()
            .map(|(at, reason)| (start + at, *reason));
        let is_in_memory = match &mut self.writer {
            Some(writer) => {
                dropped.try_for_each(|(row, reason)| writer.drop(row, reason))?;
                false
            }
            None => {
                corpus.dropped.extend(dropped);
                corpus.lengths.extend_from_slice(&piece.lengths);
                true
            }
        };
        let signed = piece.signed.iter().filter(|is_signed| **is_signed);
        let mut needed = Vec::with_capacity(signed.count());
        let mut rows = Vec::with_capacity(needed.capacity());
        for (at, row) in (start..end).enumerate() {
            let is_new = match (firsts, piece.roles[at]) {
                (None, _) => true,
                (Some(_), Role::LeftOut) => false,
                (Some(_), Role::Bare) => {
                    if let Some(digest) = piece.digests[at].filter(|_| is_in_memory) {
                        self.bare.add(row, digest)?;
                    }
                    false
                }
                (Some(firsts), Role::Compared) => {
                    let first = firsts[at].load(Ordering::Relaxed);
                    let is_first = first == row;
                    if is_in_memory && is_first {
                        corpus.distinct.push(row);
                    } else if is_in_memory {
                        self.repeats.push((row, first));
                    }
                    is_first
                }
            };
            if piece.signed[at] {
                needed.push(is_new);
                rows.extend(is_new.then_some(row));
            }
        }
        Ok(Needed { needed, rows })
    }

    /// Takes out what writes documents on disk, to be [given back](Numbered::write_to).
    pub(super) fn take_writer(&mut self) -> Option<DocumentWriter> {
        self.writer.take()
    }

    /// Says that the documents so far are those of a reference. They are counted apart.
    pub(super) fn end_reference(&mut self) {
        let corpus = &mut self.corpus;
        corpus.reference = Some(corpus.rows);
        corpus.without_shingles = 0;
        corpus.few_shingles = None;
        corpus.short = 0;
    }

    /// Ends the reading.
    pub(super) fn finish(self) -> Result<Corpus> {
        if let Some(writer) = self.writer {
            return Ok(Corpus {
                on_disk: Some(writer.finish(self.corpus.first_input()..self.corpus.rows)?),
                ..self.corpus
            });
        }
        let Numbered {
            mut corpus,
            mut repeats,
            bare,
            ..
        } = self;
        if !repeats.is_empty() {
            let positions = positions(&corpus);
            for_each_chunk(&mut repeats, JOB, |_, repeats| {
                for (_, first) in repeats {
                    *first = positions[*first as usize];
                }
            });
        }
        corpus.repeats = repeats;
        let signed = corpus.distinct.len();
        corpus.distinct.extend(bare.distinct);
        for (row, number) in bare.repeats {
            corpus
                .repeats
                .push((row, row_number(signed + number as usize)?));
        }
        Ok(corpus)
    }
}

/// The position of each row that has one.
fn positions(corpus: &Corpus) -> Vec<u32> {
    let mut positions = vec![0; corpus.rows as usize];
    for (position, row) in (0..).zip(&corpus.distinct) {
        positions[*row as usize] = position;
    }
    positions
}

/// Finds the first document with the digest of each document of a piece.
pub(super) struct Finder {
    digests: Arc<Digests>,
    first_row: u32,
}

impl Finder {
    /// The row of the first document that each document is equal to; its own if it is the first, or takes no part.
    ///
    /// # Errors
    /// Those of [`row_number`] if there are more documents than rows.
    pub(super) fn firsts(&self, piece: &ShingledPiece) -> Result<Vec<AtomicU32>> {
        row_number(self.first_row as usize + piece.len())?;
        let digest_of = |number| piece.compared_digest(number);
        let (digests, sharded) = (&self.digests, &piece.sharded);
        Ok(digests.add(piece.len(), digest_of, sharded, self.first_row))
    }
}

/// The numbers of documents at a checkpoint.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[doc(hidden)]
pub struct NumbersRead {
    rows: u32,
    reference: Option<u32>,
    without_shingles: u64,
    few_shingles: u64,
    short: u64,
    bytes: u64,
}

impl Numbered {
    /// The folder of the documents on disk; `None` as long as they are in memory.
    pub(super) fn on_disk(&self) -> Option<&Arc<Spill>> {
        self.writer.as_ref().map(DocumentWriter::spill)
    }

    /// Writes everything added so far, for a checkpoint.
    pub(super) fn save(&mut self) -> Result<NumbersRead> {
        self.writer.as_mut().map_or(Ok(()), DocumentWriter::flush)?;
        let corpus = &self.corpus;
        Ok(NumbersRead {
            rows: corpus.rows,
            reference: corpus.reference,
            without_shingles: corpus.without_shingles,
            few_shingles: corpus.few_shingles.unwrap_or(0),
            short: corpus.short,
            bytes: corpus.bytes,
        })
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, read: &NumbersRead) {
        let corpus = &mut self.corpus;
        corpus.rows = read.rows;
        corpus.reference = read.reference;
        corpus.without_shingles = read.without_shingles;
        corpus.few_shingles = Some(read.few_shingles);
        corpus.short = read.short;
        corpus.bytes = read.bytes;
    }

    /// Bytes of memory used.
    pub(super) fn held_bytes(&self) -> usize {
        let corpus = &self.corpus;
        let rows = corpus.distinct.capacity() + corpus.lengths.capacity();
        size_of_val(&*corpus.dropped)
            + size_of::<u32>() * rows
            + size_of::<(u32, u32)>() * self.repeats.capacity()
            + (size_of::<(u128, u32)>() + 1)
                * (self.digests.capacity() + self.bare.numbers.capacity())
            + size_of::<u32>() * (self.bare.distinct.capacity() + 2 * self.bare.repeats.capacity())
    }

    /// Takes what is known of each document out of memory, to write it.
    pub(super) fn take_held(&mut self) -> Held {
        let positions = positions(&self.corpus);
        let position = |row: u32| positions[row as usize];
        let corpus = &mut self.corpus;
        let repeats = std::mem::take(&mut self.repeats).into_iter();
        let bare = std::mem::take(&mut self.bare);
        Held {
            signed: DigestsByRow::of(
                self.digests
                    .take()
                    .map(|(digest, first)| (digest, position(first))),
                std::mem::take(&mut corpus.distinct),
                repeats.map(|(row, first)| (row, position(first))).collect(),
            ),
            bare: DigestsByRow::of(bare.numbers, bare.distinct, bare.repeats),
            lengths: std::mem::take(&mut corpus.lengths),
            dropped: std::mem::take(&mut corpus.dropped),
        }
    }

    /// Writes all further documents.
    pub(super) fn write_to(&mut self, writer: DocumentWriter) {
        self.writer = Some(writer);
    }
}

/// What memory held of documents.
pub(super) struct Held {
    signed: DigestsByRow,
    bare: DigestsByRow,
    lengths: Vec<u32>,
    dropped: Vec<(u32, Dropped)>,
}

impl Held {
    /// Writes it on all threads. No lock may be held while it works.
    pub(super) fn write(self, writer: &mut DocumentWriter) -> Result<()> {
        let Held {
            mut signed,
            mut bare,
            lengths,
            dropped,
        } = self;
        dropped
            .into_iter()
            .try_for_each(|(row, reason)| writer.drop(row, reason))?;
        for (first, lengths) in (0..).step_by(BLOCK).zip(lengths.chunks(BLOCK)) {
            let rows = (first..).take(lengths.len());
            let digests = rows.map(|row| signed.next_if(row).or_else(|| bare.next_if(row)));
            writer.add(first, lengths, &digests.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// The digests of documents, by ascending row.
struct DigestsByRow {
    digests: Vec<u128>,
    distinct: Peekable<Zip<IntoIter<u32>, RangeFrom<u32>>>,
    repeats: Peekable<IntoIter<(u32, u32)>>,
}

impl DigestsByRow {
    fn of(
        numbers: impl IntoIterator<Item = (u128, u32)>,
        distinct: Vec<u32>,
        repeats: Vec<(u32, u32)>,
    ) -> Self {
        let mut digests = vec![0; distinct.len()];
        for (digest, number) in numbers {
            digests[number as usize] = digest;
        }
        DigestsByRow {
            digests,
            distinct: distinct.into_iter().zip(0..).peekable(),
            repeats: repeats.into_iter().peekable(),
        }
    }

    /// The digest of the document at `row`, if it is the next one.
    fn next_if(&mut self, row: u32) -> Option<u128> {
        let distinct = self.distinct.next_if(|(next, _)| *next == row);
        let member = distinct.or_else(|| self.repeats.next_if(|(next, _)| *next == row));
        member.map(|(_, number)| self.digests[number as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::shingled::Shingled;
    use super::*;
    use crate::store::spill::Budget;

    fn piece(documents: &[Shingled]) -> ShingledPiece {
        let digests = documents
            .iter()
            .map(|document| document.digest.unwrap_or(0));
        let (sharded, documents) = (ByShard::of(digests), documents.iter().copied());
        ShingledPiece::of(documents, sharded, ShortDocuments::default())
    }

    /// Adds documents as one piece. Returns the rows of those that are needed.
    fn add_all(numbered: &mut Numbered, documents: &[Shingled]) -> Vec<u32> {
        let piece = piece(documents);
        let firsts = numbered.finder().firsts(&piece).unwrap();
        let Needed { needed, rows } = numbered.add(&piece, Some(&firsts)).unwrap();
        let needed = needed.iter().filter(|is_needed| **is_needed);
        assert_eq!(needed.count(), rows.len());
        rows
    }

    fn shingled(digest: u128, shingles: usize) -> Shingled {
        Shingled {
            length: 10,
            digest: Some(digest),
            shingles,
            is_short: false,
            is_signed: shingles > 0,
        }
    }

    #[test]
    fn documents_without_shingles_come_last() {
        let mut numbered = Numbered::default();
        let blank = Shingled {
            digest: None,
            ..shingled(0, 0)
        };
        // Two texts without shingles and a copy of the second one; two with shingles and a copy; a blank one.
        let documents = [
            shingled(1, 0),
            shingled(2, 2),
            blank,
            shingled(3, 0),
            shingled(4, 1),
            shingled(3, 0),
            shingled(4, 1),
        ];
        assert_eq!(add_all(&mut numbered, &documents), [1, 4]);
        let corpus = numbered.finish().unwrap();
        assert_eq!(corpus.rows, 7);
        assert_eq!(corpus.distinct, [1, 4, 0, 3]);
        assert_eq!(corpus.repeats, [(6, 1), (5, 3)]);
        assert_eq!(corpus.lengths, [10; 7]);
        // One shingle is few, and so is none, but a blank document does not count.
        assert_eq!((corpus.without_shingles, corpus.few_shingles), (4, Some(5)));
    }

    /// More documents than are written at a time, whether memory holds none, some or all of them first.
    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "made-up numbers")]
    fn documents_on_disk_are_those_that_memory_held() {
        let rows = BLOCK + 5_000;
        // Some are repeated, some have no shingles, some are blank.
        let documents: Vec<Shingled> = (0..rows as u128)
            .map(|row| Shingled {
                length: row as u32 % 1_000,
                digest: (row % 11 != 0).then_some((row * row) % 60_000),
                ..shingled(0, usize::from((row * row) % 60_000 > 9))
            })
            .collect();
        let digests = (0..).zip(&documents);
        let digests = digests.filter_map(|(row, document)| Some((row, document.digest?)));
        let digests: Vec<(u32, u128)> = digests.collect();
        let lengths: Vec<u32> = documents.iter().map(|document| document.length).collect();
        for held in [0, 3, BLOCK + 1, rows] {
            let folder = tempfile::tempdir().unwrap();
            let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
            let mut numbered = Numbered::default();
            let (first, rest) = documents.split_at(held);
            add_all(&mut numbered, first);
            let mut writer = DocumentWriter::new(&spill, 1);
            numbered.take_held().write(&mut writer).unwrap();
            let rest = piece(rest);
            writer
                .add(held as u32, &rest.lengths, &rest.digests)
                .unwrap();
            numbered.write_to(writer);
            numbered.add(&rest, None).unwrap();
            let on_disk = numbered.finish().unwrap().on_disk.unwrap();
            assert!(
                on_disk.contents() == (digests.clone(), lengths.clone()),
                "{held}"
            );
        }
    }

    #[test]
    fn a_checkpoint_holds_all_numbers() {
        let mut numbered = Numbered::default();
        numbered.add_bytes(70);
        add_all(
            &mut numbered,
            &[shingled(1, 0), shingled(2, 1), shingled(3, 2)],
        );
        let read = numbered.save().unwrap();
        let mut restored = Numbered::default();
        restored.restore(&read);
        let numbers = |numbered: &Numbered| {
            let corpus = numbered.corpus();
            let shingles = (corpus.without_shingles, corpus.few_shingles);
            (corpus.rows, shingles, corpus.bytes)
        };
        assert_eq!(numbers(&restored), numbers(&numbered));
        assert_eq!(numbers(&restored), (3, (1, Some(2)), 70));
        assert_eq!(add_all(&mut restored, &[shingled(4, 2)]), [3]);
    }
}
