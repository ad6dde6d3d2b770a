//! Numbers documents as they are read, and finds those that repeat earlier ones.

use std::collections::hash_map::Entry;
#[cfg(feature = "io")]
use std::sync::Arc;

use super::corpus::Corpus;
#[cfg(feature = "io")]
use super::spilled::DocumentWriter;
use crate::documents::DigestMap;
use crate::error::{Error, Result};
#[cfg(feature = "io")]
use crate::store::spill::Spill;

/// The documents read so far.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    corpus: Corpus,
    positions_by_digest: DigestMap<u32>,
    /// Takes what is known of each document once this is more than memory holds.
    #[cfg(feature = "io")]
    writer: Option<DocumentWriter>,
}

impl Numbered {
    /// The documents so far, without those on disk.
    pub(super) fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Whether a document is known to repeat an earlier one. On disk, most repeats are not known yet.
    pub(super) fn is_known(&self, digest: u128) -> bool {
        #[cfg(feature = "io")]
        if let Some(writer) = &self.writer {
            return writer.is_recent(digest);
        }
        self.positions_by_digest.contains_key(&digest)
    }

    /// A larger table of the digests, if this one has no room for so many more documents. While it is made, other threads
    /// may read; the growth of a table that is being changed would keep them waiting.
    pub(super) fn larger_table(&self, documents: usize) -> Option<DigestMap<u32>> {
        #[cfg(feature = "io")]
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

    /// Adds a document: the bytes of its text, and the digest of its units, or `None` without shingles. Returns its
    /// row, and whether it is not known to repeat an earlier document. Finds repeats only if `finds_repeats`.
    pub(super) fn add(
        &mut self,
        length: u32,
        digest: Option<u128>,
        finds_repeats: bool,
    ) -> Result<(u32, bool)> {
        let corpus = &mut self.corpus;
        let row = corpus.rows;
        if row >= u32::MAX - 1 {
            return Err(Error::TooManyDocuments);
        }
        corpus.rows += 1;
        if digest.is_none() {
            corpus.without_shingles += 1;
        }
        #[cfg(feature = "io")]
        if let Some(writer) = &mut self.writer {
            return Ok((row, writer.add(row, length, digest)?));
        }
        corpus.lengths.push(length);
        let Some(digest) = digest else {
            return Ok((row, !finds_repeats));
        };
        if !finds_repeats {
            return Ok((row, true));
        }
        let position = u32::try_from(corpus.distinct.len()).unwrap_or(u32::MAX);
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

    /// Ends the reading.
    pub(super) fn finish(self) -> Result<Corpus> {
        #[cfg(feature = "io")]
        if let Some(writer) = self.writer {
            return Ok(Corpus {
                on_disk: Some(writer.finish()?),
                ..self.corpus
            });
        }
        Ok(self.corpus)
    }
}

/// The numbers of documents at a checkpoint.
#[cfg(feature = "io")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct NumbersRead {
    rows: u32,
    without_shingles: u64,
    bytes: u64,
}

#[cfg(feature = "io")]
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
            without_shingles: corpus.without_shingles,
            bytes: corpus.bytes,
        })
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, read: &NumbersRead) {
        let corpus = &mut self.corpus;
        corpus.rows = read.rows;
        corpus.without_shingles = read.without_shingles;
        corpus.bytes = read.bytes;
    }

    /// Bytes of memory used.
    pub(super) fn held_bytes(&self) -> usize {
        let corpus = &self.corpus;
        let rows = corpus.distinct.capacity() + corpus.lengths.capacity();
        size_of::<u32>() * rows
            + size_of::<(u32, u32)>() * corpus.repeats.capacity()
            + (size_of::<(u128, u32)>() + 1) * self.positions_by_digest.capacity()
    }

    /// Moves what is known of each document to `writer`, which takes all further documents.
    pub(super) fn spill(&mut self, mut writer: DocumentWriter) -> Result<()> {
        let corpus = &mut self.corpus;
        let mut digests = vec![0; corpus.distinct.len()];
        for (digest, position) in std::mem::take(&mut self.positions_by_digest) {
            digests[position as usize] = digest;
        }
        let mut distinct = std::mem::take(&mut corpus.distinct)
            .into_iter()
            .zip(0..)
            .peekable();
        let mut repeats = std::mem::take(&mut corpus.repeats).into_iter().peekable();
        for (row, length) in (0..).zip(std::mem::take(&mut corpus.lengths)) {
            let distinct = distinct.next_if(|(next, _)| *next == row);
            let member = distinct.or_else(|| repeats.next_if(|(next, _)| *next == row));
            let digest = member.map(|(_, position)| digests[position as usize]);
            writer.add(row, length, digest)?;
        }
        self.writer = Some(writer);
        Ok(())
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
            let number = grown.add(1, Some(digest), true).unwrap();
            assert_eq!(number, alone.add(1, Some(digest), true).unwrap());
            assert!(grown.is_known(digest));
        }
        assert_eq!(grown.corpus().distinct, alone.corpus().distinct);
        assert_eq!(grown.corpus().repeats, alone.corpus().repeats);
        assert_eq!(grown.corpus().distinct.len(), 3_000);
    }
}
