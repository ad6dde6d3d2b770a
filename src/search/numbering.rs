//! Numbers documents as they are read, and finds those that repeat earlier ones.

use std::collections::hash_map::Entry;
use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::sync::Arc;
use std::vec::IntoIter;

use super::corpus::Corpus;
use super::disk::DocumentWriter;
use super::short::ShortDocuments;
use crate::documents::DigestMap;
use crate::error::{Error, Result, row_number};
use crate::store::spill::Spill;

/// The documents read so far.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    corpus: Corpus,
    /// Which documents take no part.
    short: ShortDocuments,
    positions_by_digest: DigestMap<u32>,
    bare: Bare,
    /// Takes what is known of each document once this is more than memory holds.
    writer: Option<DocumentWriter>,
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

    /// Whether a document is known to repeat an earlier one. On disk, most repeats are not known yet.
    pub(super) fn is_known(&self, digest: u128) -> bool {
        if let Some(writer) = &self.writer {
            return writer.is_recent(digest);
        }
        self.positions_by_digest.contains_key(&digest)
    }

    /// A larger table of the digests, if this one has no room for so many more documents. While it is made, other threads
    /// may read; the growth of a table that is being changed would keep them waiting.
    pub(super) fn larger_table(&self, documents: usize) -> Option<DigestMap<u32>> {
        if self.on_disk().is_some() {
            return None;
        }
        let table = &self.positions_by_digest;
        if table.capacity() - table.len() >= documents {
            return None;
        }
        let room = 2 * table.len().max(documents);
        let mut larger = DigestMap::with_capacity_and_hasher(room, Default::default());
        larger.extend(table);
        Some(larger)
    }

    /// Replaces the table of the digests by [a larger one](Numbered::larger_table), and returns it.
    pub(super) fn replace_table(&mut self, larger: DigestMap<u32>) -> DigestMap<u32> {
        std::mem::replace(&mut self.positions_by_digest, larger)
    }

    /// Adds bytes of input.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.corpus.bytes += bytes as u64;
    }

    /// Adds a document. Returns its row, and whether it is not known to repeat an earlier document, if it has shingles.
    /// Finds repeats only if `finds_repeats`.
    pub(super) fn add(&mut self, document: &Shingled, finds_repeats: bool) -> Result<(u32, bool)> {
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
            return Ok((row, writer.add(row, length, digest, shingles > 0)?));
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
        let position = row_number(corpus.distinct.len())?;
        let is_new = match self.positions_by_digest.entry(digest) {
            Entry::Vacant(entry) => {
                entry.insert(position);
                corpus.distinct.push(row);
                true
            }
            Entry::Occupied(entry) => {
                corpus.repeats.push((row, *entry.get()));
                false
            }
        };
        Ok((row, is_new))
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
            mut corpus, bare, ..
        } = self;
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
            + size_of::<(u32, u32)>() * corpus.repeats.capacity()
            + (size_of::<(u128, u32)>() + 1)
                * (self.positions_by_digest.capacity() + self.bare.by_digest.capacity())
            + size_of::<u32>() * (self.bare.distinct.capacity() + 2 * self.bare.repeats.capacity())
    }

    /// Moves what is known of each document to `writer`, which takes all further documents.
    pub(super) fn spill(&mut self, mut writer: DocumentWriter) -> Result<()> {
        let corpus = &mut self.corpus;
        let mut signed = Digests::of(
            std::mem::take(&mut self.positions_by_digest),
            std::mem::take(&mut corpus.distinct),
            std::mem::take(&mut corpus.repeats),
        );
        for dropped in std::mem::take(&mut corpus.dropped) {
            writer.drop(dropped)?;
        }
        let bare = std::mem::take(&mut self.bare);
        let mut bare = Digests::of(bare.by_digest, bare.distinct, bare.repeats);
        for (row, length) in (0..).zip(std::mem::take(&mut corpus.lengths)) {
            let digest = signed.next_if(row);
            let has_shingles = digest.is_some();
            let digest = digest.or_else(|| bare.next_if(row));
            writer.add(row, length, digest, has_shingles)?;
        }
        self.writer = Some(writer);
        Ok(())
    }
}

/// The digests of documents, by ascending row.
struct Digests {
    digests: Vec<u128>,
    distinct: Peekable<Zip<IntoIter<u32>, RangeFrom<u32>>>,
    repeats: Peekable<IntoIter<(u32, u32)>>,
}

impl Digests {
    fn of(by_digest: DigestMap<u32>, distinct: Vec<u32>, repeats: Vec<(u32, u32)>) -> Self {
        let mut digests = vec![0; distinct.len()];
        for (digest, number) in by_digest {
            digests[number as usize] = digest;
        }
        Digests {
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

    #[test]
    fn a_larger_table_changes_no_number() {
        let digest = |i: u128| (i % 3_000).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let digests = (0..5_000).map(digest);
        let mut grown = Numbered::default();
        let mut alone = Numbered::default();
        for digest in digests {
            if let Some(larger) = grown.larger_table(1) {
                grown.replace_table(larger);
            }
            let document = Shingled {
                length: 1,
                digest: Some(digest),
                shingles: 2,
                is_short: false,
                is_signed: true,
            };
            let number = grown.add(&document, true).unwrap();
            assert_eq!(number, alone.add(&document, true).unwrap());
            assert!(grown.is_known(digest));
        }
        assert_eq!(grown.corpus().distinct, alone.corpus().distinct);
        assert_eq!(grown.corpus().repeats, alone.corpus().repeats);
        assert_eq!(grown.corpus().distinct.len(), 3_000);
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
        let known: Vec<_> = documents
            .iter()
            .map(|document| numbered.add(document, true).unwrap())
            .collect();
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
        for (digest, shingles) in [(1, 0), (2, 1), (3, 2)] {
            numbered.add(&shingled(digest, shingles), true).unwrap();
        }
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
        assert_eq!(restored.add(&shingled(4, 2), true).unwrap().0, 3);
    }
}
