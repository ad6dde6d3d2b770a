//! What a batch adds and deletes before it is stored.

use std::collections::{BTreeMap, HashMap};

use super::document::{DocumentId, Record, bytes_of};
use super::header::IndexKind;
use super::lists::{self, ListKey};
use super::signed::Signed;
use super::store::{Batch, Snapshot, Table};
use simgpu::error::{Error, Result};

/// A batch that is not stored yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The row of the first document that is added, and the one after the last.
    first_row: u32,
    next_row: u32,
    /// The documents that are added, by row; `None` for those that were deleted again.
    added: Vec<Option<(Record, Vec<u64>)>>,
    /// The words of an entry of a list: the row, and the shape if lists have one.
    entry: usize,
    /// The entries that are added to lists.
    lists: HashMap<ListKey, Vec<u32>>,
    /// The rows of the ids that are added.
    ids: HashMap<DocumentId, u32>,
    /// The stored documents that are deleted: their rows and ids.
    deleted: BTreeMap<u32, DocumentId>,
}

impl Pending {
    /// An empty batch, whose documents get rows from `first_row` on.
    pub(super) fn new(first_row: u32, kind: IndexKind) -> Self {
        Pending {
            entry: kind.entry_words(),
            first_row,
            next_row: first_row,
            ..Pending::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.deleted.is_empty()
    }

    /// Adds a document.
    pub(super) fn add(&mut self, signed: &Signed, i: usize, id: DocumentId) -> Result<()> {
        let row = self.next_row;
        self.next_row = row.checked_add(1).ok_or(Error::FullIndex {
            limit: u32::MAX as usize,
        })?;
        for (key, shape) in signed.lists(i) {
            let list = self.lists.entry(key).or_default();
            list.push(row);
            list.extend(shape);
        }
        let record = signed.record(i, id.clone());
        self.added.push(Some((record, signed.set(i).to_vec())));
        self.ids.insert(id, row);
        Ok(())
    }

    /// Deletes a document of the batch, if it has one of this id.
    pub(super) fn delete_added(&mut self, id: &DocumentId) -> bool {
        let row = self.ids.remove(id);
        let added = row.and_then(|row| self.added.get_mut((row - self.first_row) as usize));
        added.and_then(Option::take).is_some()
    }

    /// Deletes a stored document.
    pub(super) fn delete_stored(&mut self, row: u32, id: DocumentId) {
        self.deleted.insert(row, id);
    }

    pub(super) fn has_deleted(&self, row: u32) -> bool {
        self.deleted.contains_key(&row)
    }

    /// Whether the batch adds a document of this id.
    pub(super) fn has(&self, id: &DocumentId) -> bool {
        self.ids.contains_key(id)
    }

    /// What the batch adds to a list.
    pub(super) fn list(&self, key: ListKey) -> &[u32] {
        self.lists.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The record and the shingles of a row of the batch; `None` if it was deleted again.
    pub(super) fn document(&self, row: u32) -> Option<(&Record, &[u64])> {
        let at = row.checked_sub(self.first_row)?;
        let (record, set) = self.added.get(at as usize)?.as_ref()?;
        Some((record, set))
    }

    /// The row of the next document. Those of documents that were deleted again are not given anew.
    pub(super) fn next_row(&self) -> u32 {
        self.next_row
    }

    /// The number of documents that the batch adds.
    pub(super) fn documents(&self) -> u64 {
        self.added.iter().flatten().count() as u64
    }

    /// The number of stored documents that the batch deletes.
    pub(super) fn deletions(&self) -> u64 {
        self.deleted.len() as u64
    }

    /// Writes everything. `has_sets` says whether the index keeps shingles.
    pub(super) fn write(
        &self,
        at: &Snapshot<'_>,
        batch: &mut Batch<'_>,
        has_sets: bool,
    ) -> Result<()> {
        for (row, id) in &self.deleted {
            batch.remove(Table::Documents, &row.to_be_bytes());
            if has_sets {
                batch.remove(Table::Sets, &row.to_be_bytes());
            }
            if !self.ids.contains_key(id) {
                batch.remove(Table::Ids, &id.key());
            }
        }
        for (row, document) in (self.first_row..).zip(&self.added) {
            let Some((record, set)) = document else {
                continue;
            };
            batch.put(Table::Documents, &row.to_be_bytes(), &record.encode());
            batch.put(Table::Ids, &record.id.key(), &row.to_be_bytes());
            if has_sets {
                batch.put(Table::Sets, &row.to_be_bytes(), &bytes_of(set));
            }
        }
        // In the order of keys, so that a batch writes the same bytes every time.
        let lists: BTreeMap<_, _> = self.lists.iter().collect();
        for (key, words) in lists {
            let entries = words.chunks_exact(self.entry);
            let stays = |entry: &&[u32]| self.document(entry[0]).is_some();
            let words: Vec<u32> = entries.filter(stays).flatten().copied().collect();
            if !words.is_empty() {
                lists::append(at, batch, *key, &words)?;
            }
        }
        Ok(())
    }
}
