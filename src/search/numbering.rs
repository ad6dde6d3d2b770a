//! Numbers documents as they are read, and finds those that repeat earlier ones.

use std::collections::hash_map::Entry;
use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::vec::IntoIter;

use rayon::prelude::*;

use super::corpus::Corpus;
use super::digests::{ByShard, Digests};
use super::disk::DocumentWriter;
use super::short::ShortDocuments;
use crate::clock::in_parallel;
use crate::documents::DigestMap;
use crate::error::{Error, Result, row_number};
use crate::pipeline::Dropped;
use crate::store::spill::Spill;

/// The share of the memory of a run on disk for digests of earlier documents, one in so many.
const RECENT_SHARE: usize = 8;

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
    /// The documents that it has not taken yet: the bytes of text of each, and its digest.
    unwritten: Vec<(u32, Option<u128>)>,
}

/// Distinct documents without shingles, and their repeats: there are few in most corpora.
#[derive(Debug, Default)]
struct Bare {
    by_digest: DigestMap<u32>,
    /// The row of each distinct one.
    distinct: Vec<u32>,
    /// The row of each repeat, and the number of the distinct one.
    repeats: Vec<(u32, u32)>,
}

impl Bare {
    fn add(&mut self, row: u32, digest: u128) -> Result<()> {
        let number = row_number(self.distinct.len())?;
        match self.by_digest.entry(digest) {
            Entry::Vacant(entry) => {
                entry.insert(number);
                self.distinct.push(row);
            }
            Entry::Occupied(entry) => self.repeats.push((row, *entry.get())),
        }
        Ok(())
    }
}

/// What the first pass knows of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shingled {
    /// The bytes of text.
    pub(super) length: u32,
    /// The digest of its normalised text or of its tokens; `None` if it is blank.
    pub(super) digest: Option<u128>,
    /// The number of its shingles, repeats included; 2 stands for more.
    pub(super) shingles: usize,
    /// Whether it is too short to compare.
    pub(super) is_short: bool,
    /// Whether the document is signed. Those without shingles and repeated ones are not, unless all are.
    pub(super) is_signed: bool,
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
    pub(super) fn short(&self) -> &ShortDocuments {
        &self.short
    }

    /// The documents so far, without those on disk.
    pub(super) fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Which documents of a piece are known to repeat an earlier one. On disk, some repeats are not known yet.
    pub(super) fn are_known(&self, digests: &[u128], by_shard: &ByShard) -> Vec<bool> {
        self.digests.are_known(digests, by_shard)
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
            short: self.short,
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

    /// Adds a document. Returns its row, and whether it is not known to repeat an earlier document, if it has shingles.
    /// Finds repeats only if `finds_repeats`: `first` is what [`Finder::firsts`] found then.
    pub(super) fn add(
        &mut self,
        document: &Shingled,
        finds_repeats: bool,
        first: Option<u32>,
    ) -> Result<(u32, bool)> {
        let Shingled {
            length,
            digest,
            shingles,
            is_short,
            ..
        } = *document;
        let corpus = &mut self.corpus;
        let row = corpus.rows;
        if row >= u32::MAX - 1 {
            return Err(Error::TooManyDocuments);
        }
        corpus.rows += 1;
        corpus.without_shingles += u64::from(shingles == 0);
        let has_few = digest.is_some() && shingles <= 1;
        *corpus.few_shingles.get_or_insert(0) += u64::from(has_few);
        corpus.short += u64::from(is_short);
        let fate = self.short.fate(shingles == 0, is_short);
        // Without a digest, it has no position.
        let digest = digest.filter(|_| !is_short && fate.is_none());
        if let Some(writer) = &mut self.writer {
            if let Some(reason) = fate {
                writer.drop((row, reason))?;
            }
            self.unwritten.push((length, digest));
            let is_first = first.is_none_or(|first| first == row);
            return Ok((row, digest.is_some() && shingles > 0 && is_first));
        }
        corpus.lengths.push(length);
        corpus.dropped.extend(fate.map(|reason| (row, reason)));
        let Some(digest) = digest else {
            return Ok((row, !finds_repeats));
        };
        if !finds_repeats {
            return Ok((row, true));
        }
        if shingles == 0 {
            self.bare.add(row, digest)?;
            return Ok((row, false));
        }
        match first.filter(|first| *first != row) {
            None => corpus.distinct.push(row),
            Some(first) => self.repeats.push((row, first)),
        }
        Ok((row, corpus.distinct.last() == Some(&row)))
    }

    /// What writes the documents that are only numbered, on disk. It is given [back](Numbered::give_back).
    pub(super) fn take_unwritten(&mut self) -> Option<Unwritten> {
        let documents = std::mem::take(&mut self.unwritten);
        Some(Unwritten {
            writer: self.writer.take()?,
            end_row: self.corpus.rows,
            documents,
        })
    }

    /// Takes back what writes documents.
    pub(super) fn give_back(&mut self, written: Unwritten) {
        self.writer = Some(written.writer);
        self.unwritten = written.documents;
        self.unwritten.clear();
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
        debug_assert!(self.unwritten.is_empty());
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
            let all = repeats.par_iter_mut();
            in_parallel(|| all.for_each(|(_, first)| *first = positions[*first as usize]));
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

/// Documents that are numbered, and what writes them to disk.
pub(super) struct Unwritten {
    writer: DocumentWriter,
    end_row: u32,
    documents: Vec<(u32, Option<u128>)>,
}

impl Unwritten {
    /// Writes them on all threads. No lock may be held while it works.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the documents are some of the rows"
    )]
    pub(super) fn write(&mut self) -> Result<()> {
        let first = self.end_row - self.documents.len() as u32;
        self.writer.add(first, &self.documents)
    }
}

/// Finds the first document with the digest of each document of a piece.
pub(super) struct Finder {
    digests: Arc<Digests>,
    short: ShortDocuments,
    first_row: u32,
}

impl Finder {
    /// The row of the first document that each document is equal to; its own if it is the first, or takes no part.
    ///
    /// # Errors
    /// Those of [`row_number`] if there are more documents than rows.
    pub(super) fn firsts(
        &self,
        documents: &[Shingled],
        by_shard: &ByShard,
    ) -> Result<Vec<AtomicU32>> {
        row_number(self.first_row as usize + documents.len())?;
        let digest_of = |i: usize| {
            let document = &documents[i];
            let fate = self.short.fate(document.shingles == 0, document.is_short);
            let takes_part = document.shingles > 0 && !document.is_short && fate.is_none();
            document.digest.filter(|_| takes_part)
        };
        let of_piece = documents.len();
        Ok(self
            .digests
            .add(of_piece, digest_of, by_shard, self.first_row))
    }
}

/// The numbers of documents at a checkpoint.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct NumbersRead {
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

    /// Writes everything added so far, for a checkpoint, once what writes documents was given back.
    pub(super) fn save(&mut self) -> Result<NumbersRead> {
        debug_assert!(self.unwritten.is_empty());
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
                * (self.digests.capacity() + self.bare.by_digest.capacity())
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
            bare: DigestsByRow::of(bare.by_digest, bare.distinct, bare.repeats),
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
        dropped.into_iter().try_for_each(|row| writer.drop(row))?;
        for (first, lengths) in (0..).step_by(BLOCK).zip(lengths.chunks(BLOCK)) {
            let documents = (first..).zip(lengths).map(|(row, length)| {
                let digest = signed.next_if(row).or_else(|| bare.next_if(row));
                (*length, digest)
            });
            writer.add(first, &documents.collect::<Vec<_>>())?;
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
        by_digest: impl IntoIterator<Item = (u128, u32)>,
        distinct: Vec<u32>,
        repeats: Vec<(u32, u32)>,
    ) -> Self {
        let mut digests = vec![0; distinct.len()];
        for (digest, number) in by_digest {
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
    use super::*;

    /// Adds documents as one piece.
    fn add_all(numbered: &mut Numbered, documents: &[Shingled]) -> Vec<(u32, bool)> {
        let digests = documents
            .iter()
            .map(|document| document.digest.unwrap_or(0));
        let finder = numbered.finder();
        let firsts = finder.firsts(documents, &ByShard::of(digests)).unwrap();
        let documents = documents.iter().zip(firsts);
        let added = documents.map(|(document, first)| {
            let first = Some(first.into_inner());
            numbered.add(document, true, first).unwrap()
        });
        added.collect()
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
        let known = add_all(&mut numbered, &documents);
        let is_new = [false, true, false, false, true, false, false];
        assert!(known.into_iter().eq((0..).zip(is_new)));
        let corpus = numbered.finish().unwrap();
        assert_eq!(corpus.rows, 7);
        assert_eq!(corpus.distinct, [1, 4, 0, 3]);
        assert_eq!(corpus.repeats, [(6, 1), (5, 3)]);
        assert_eq!(corpus.lengths, [10; 7]);
        // One shingle is few, and so is none, but a blank document does not count.
        assert_eq!((corpus.without_shingles, corpus.few_shingles), (4, Some(5)));
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
        assert_eq!(add_all(&mut restored, &[shingled(4, 2)]), [(3, true)]);
    }
}
