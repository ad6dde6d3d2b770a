//! Removed documents on disk, by row.

use std::sync::Arc;

use super::documents::{number_of, words_of};
use crate::error::Result;
use crate::pipeline::{NamedRow, Overlap, Removal};
use crate::search::part::PartDocuments;
use crate::store::spill::{KeyedRecords, SortedRecords, Spill, Stored};

/// Takes removed documents in any order.
#[derive(Debug)]
pub(crate) struct RemovalWriter(KeyedRecords);

/// Ranges of rows.
const PARTS: usize = 64;

/// Words of a removal, before the ids that it holds, its own first: the bytes of its id, the row of the kept document, the
/// bytes of that one's id, marks, the similarity, the overlap, then the row of the next document on the chain, and the
/// similarity to it.
const WORDS: usize = 14;

/// Marks a document that is identical to its kept one.
const IDENTICAL: u32 = 1;

/// Marks a document that has a next document on the chain to its kept one.
const HAS_VIA: u32 = 2;

/// Marks a document whose shingles were compared with those of its kept one.
const HAS_OVERLAP: u32 = 4;

/// The similarity of no pair: not computed.
const NONE: u64 = u64::MAX;

impl RemovalWriter {
    /// For documents with rows below `rows`.
    pub(crate) fn new(spill: &Arc<Spill>, rows: u32) -> Self {
        RemovalWriter(KeyedRecords::new(spill, "removals", PARTS, rows.into()))
    }

    /// Adds the documents removed from a part, on all threads. They and the documents that they name are numbered as in the
    /// part.
    pub(crate) fn add(&mut self, documents: &PartDocuments, removed: &[Removal]) -> Result<()> {
        let keys = removed.iter();
        let keys = keys.map(|removed| [documents.row(removed.document), 0]);
        self.0.push_each(&keys.collect::<Vec<_>>(), |i, bytes| {
            push_removal(bytes, documents, &removed[i]);
        })
    }

    /// Writes everything added so far, for a checkpoint.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    pub(crate) fn finish(self) -> Result<SpilledRemovals> {
        Ok(SpilledRemovals(self.0.finish()?))
    }
}

/// Appends a removed document but for its row, and the ids of those that it names.
fn push_removal(bytes: &mut Vec<u8>, documents: &PartDocuments, removed: &Removal) {
    let [id, kept_id] = [removed.document, removed.kept].map(|number| documents.id(number));
    let [own, kept_len] = [id, kept_id].map(|id| words_of(id.len() as u64));
    let [low, high] = words_of_similarity(removed.similarity);
    let mut marks = 0;
    if removed.is_identical {
        marks |= IDENTICAL;
    }
    let (mut sizes, mut shared) = ([0; 2], 0);
    if let Some(overlap) = removed.overlap {
        marks |= HAS_OVERLAP;
        (sizes, shared) = (overlap.sizes, overlap.shared);
    }
    let (mut via_row, mut via_similarity, mut via_id) = (0, None, "");
    if let Some((via, similarity)) = removed.via {
        marks |= HAS_VIA;
        (via_row, via_similarity, via_id) = (documents.row(via), similarity, documents.id(via));
    }
    let [via_low, via_high] = words_of_similarity(via_similarity);
    let words: [u32; WORDS] = [
        own[0],
        own[1],
        documents.row(removed.kept),
        kept_len[0],
        kept_len[1],
        marks,
        low,
        high,
        sizes[0],
        sizes[1],
        shared,
        via_row,
        via_low,
        via_high,
    ];
    bytes.extend_from_slice(bytemuck::cast_slice(&words));
    for id in [id, kept_id, via_id] {
        bytes.extend_from_slice(id.as_bytes());
    }
}

/// Removed documents, by ascending row.
#[derive(Debug)]
#[doc(hidden)]
pub struct SpilledRemovals(SortedRecords);

impl SpilledRemovals {
    /// All of them, by ascending row. Ids are empty if documents have none of their own.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = Result<Removal<NamedRow<'static>>>> {
        let named = |row, id: &[u8]| NamedRow {
            row,
            id: String::from_utf8_lossy(id).into_owned().into(),
        };
        self.0
            .iter(move |[row, _], record| removal_of(row, record, named))
    }

    /// All of them, by ascending row, without ids.
    #[doc(hidden)]
    pub fn rows(&self) -> impl Iterator<Item = Result<Removal>> {
        self.0
            .iter(|[row, _], record| removal_of(row, record, |row, _| row))
    }
}

/// The removal of the document at this row, of which [`push_removal`] made the record. `named` gets rows and ids.
fn removal_of<D>(
    row: u32,
    mut record: Stored<'_>,
    named: impl Fn(u32, &[u8]) -> D,
) -> Result<Removal<D>> {
    let [
        own_low,
        own_high,
        kept,
        kept_low,
        kept_high,
        marks,
        low,
        high,
        removed_size,
        kept_size,
        shared,
        via,
        via_low,
        via_high,
    ]: [u32; WORDS] = record.words()?;
    let own_id = record.take(number_of([own_low, own_high]))?;
    let kept_id = record.take(number_of([kept_low, kept_high]))?;
    let has_via = marks & HAS_VIA > 0;
    Ok(Removal {
        document: named(row, own_id),
        kept: named(kept, kept_id),
        is_identical: marks & IDENTICAL > 0,
        similarity: similarity_of(low, high),
        overlap: (marks & HAS_OVERLAP > 0).then_some(Overlap {
            sizes: [removed_size, kept_size],
            shared,
        }),
        via: has_via.then(|| (named(via, &record), similarity_of(via_low, via_high))),
    })
}

/// A similarity as two words.
pub(super) fn words_of_similarity(similarity: Option<f64>) -> [u32; 2] {
    words_of(similarity.map_or(NONE, f64::to_bits))
}

/// The similarity of two words.
pub(super) fn similarity_of(low: u32, high: u32) -> Option<f64> {
    let bits = number_of([low, high]);
    (bits != NONE).then(|| f64::from_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::store::spill::Budget;

    #[test]
    fn an_id_longer_than_its_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        let removal = [2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for (words, ids, is_whole) in [
            (&removal[..], "ababc", true),
            (&removal, "abab", false),
            (&removal, "a", false),
            (&removal[..13], "", false),
        ] {
            let mut writer = RemovalWriter::new(&spill, 5);
            let push = |bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(bytemuck::cast_slice(words));
                bytes.extend_from_slice(ids.as_bytes());
            };
            writer.0.push_with([4, 0], push).unwrap();
            let removals = writer.finish().unwrap();
            let read: Result<Vec<_>> = removals.iter().collect();
            match read {
                Ok(read) => {
                    let ids = [&read[0].document, &read[0].kept].map(|named| &*named.id);
                    assert!(is_whole && ids == ["ab", "abc"]);
                }
                Err(Error::DamagedSpill { path }) => {
                    assert!(!is_whole && path.starts_with(folder.path()));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
