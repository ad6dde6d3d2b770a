//! What keeps an index in order: compaction, checks, figures.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::document::{DocumentId, Record};
use super::header::IndexKind;
use super::lists::{self, ListKey};
use super::persistent::{Index, State};
use super::prefix::{self, ANY_SHAPE};
use super::store::{Snapshot, Table, check_files, damaged};
use simgpu::error::{Error, Result};
use simgpu_base::bits::Bits;

/// Figures of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexStats {
    /// Documents that are found.
    pub documents: u64,
    /// Deleted documents that still take space.
    pub deleted: u64,
    /// Bytes of its tables on disk. What was added last may be in a journal beside them, which takes up to 64 MiB.
    pub disk_bytes: u64,
}

/// What [`Index::verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexCheck {
    /// Documents, each of which is in all of its lists and has its id.
    pub documents: u64,
    /// Deleted documents that still take space.
    pub deleted: u64,
    /// Lists of documents: one per key of a band that any document has.
    pub lists: u64,
    /// Documents in the longest list. A query for a document of it reads them all.
    pub longest_list: u64,
}

/// A document of an index, as [`Index::for_each`] passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedDocument {
    /// Its id.
    pub id: DocumentId,
    /// 128 bits of the digest of its normalised text, or of its list of tokens; `None` if it is blank.
    pub digest: Option<u128>,
    /// Its signature of 8 bits per slot, in the layout of [`PackedSignatures`](simgpu::pipeline::PackedSignatures); empty
    /// if the index keeps none.
    pub signature: Vec<u64>,
}

/// Changes that compaction stores at a time.
const CHANGES: usize = 50_000;

impl Index {
    /// Figures of the index.
    #[must_use]
    pub fn stats(&self) -> IndexStats {
        let State {
            documents, deleted, ..
        } = *self.state();
        IndexStats {
            documents,
            deleted,
            disk_bytes: self.store.bytes(),
        }
    }

    /// Frees the space of deleted documents. Nothing can be added meanwhile, but queries are answered.
    ///
    /// # Errors
    /// [`Error::Input`](simgpu::Error::Input) for an index that is damaged or may only be read; [`Error::Io`](simgpu::Error::Io).
    pub fn compact(&self) -> Result<()> {
        self.check_writable()?;
        let mut state = self.state();
        let live = self.live_rows(state.next_row)?;
        let at = self.store.snapshot();
        let mut batch = self.store.batch();
        let entry = self.kind().entry_words();
        for table in lists::TABLES {
            for part in lists::parts(&at, table) {
                let (key, words) = part?;
                let stays = |entry: &&[u32]| entry[0] < state.next_row && live.get(entry[0]);
                let entries = words.chunks_exact(entry).filter(stays);
                let stay: Vec<u32> = entries.flatten().copied().collect();
                if stay.len() < words.len() {
                    lists::replace(&mut batch, table, key, stay, words.len());
                }
                if batch.len() >= CHANGES {
                    let full = std::mem::replace(&mut batch, self.store.batch());
                    let next = *state;
                    self.commit(full, next, &mut state)?;
                }
            }
        }
        let next = State {
            deleted: 0,
            ..*state
        };
        self.commit(batch, next, &mut state)?;
        self.store.sync(state.batches)?;
        drop(at);
        self.store.compact()
    }

    /// Reads the whole index, and checks that all files are as they were written, and that each document is in all of its lists and
    /// has its id. It takes 8 bytes of memory per document that was ever added.
    ///
    /// # Errors
    /// [`Error::Input`](simgpu::Error::Input) that says what is damaged; [`Error::Io`](simgpu::Error::Io).
    pub fn verify(&self) -> Result<IndexCheck> {
        let state = self.state();
        check_files(&self.folder)?;
        self.store.check_filter()?;
        let at = self.store.snapshot();
        let mut check = IndexCheck {
            deleted: state.deleted,
            ..IndexCheck::default()
        };
        let lists_of = self.marks_of_lists(&at, state.next_row, &mut check)?;
        let comparison = self.comparison(1.0);
        self.for_each_record(|row, record| {
            check.documents += 1;
            let expected = self.expected_marks(&record, comparison.set(&at, row)?)?;
            if lists_of.get(row as usize) != Some(&expected) {
                return Err(self.wrong("a document is not in its lists"));
            }
            let stored = at.get(Table::Ids, &record.id.key())?;
            if stored.as_deref() != Some(&row.to_be_bytes()) {
                return Err(self.wrong("a document is not found by its id"));
            }
            Ok(())
        })?;
        let mut ids = 0;
        at.for_each(Table::Ids, |_, _| {
            ids += 1;
            Ok(())
        })?;
        if (check.documents, ids) == (state.documents, state.documents) {
            Ok(check)
        } else {
            Err(self.wrong("the number of its documents is wrong"))
        }
    }

    /// The sum of the marks of the lists that a document must be in, with these shingles.
    fn expected_marks(&self, record: &Record, mut set: Vec<u64>) -> Result<u64> {
        if !record.has_shingles {
            let list = record.digest.map(ListKey::Digest);
            return Ok(list.map_or(0, |key| self.mark(key, &[0, ANY_SHAPE])));
        }
        let search = self.search();
        if self.kind() == IndexKind::Lsh {
            return Ok(search.banding.bands() as u64);
        }
        let stored = set.clone();
        if let Some(order) = self.order() {
            order.arrange(&mut set);
        }
        if set != stored {
            return Err(self.wrong("the shingles of a document are in another order"));
        }
        let lists = prefix::lists(search.criterion(), &set);
        let marks = lists.map(|(key, shape)| self.mark(key, &[0, shape]));
        Ok(marks.fold(0, u64::wrapping_add))
    }

    /// The mark of a list in which a document has an entry. By the sum of these, lists are told apart where it follows from
    /// the document which ones it is in; elsewhere they are counted.
    fn mark(&self, key: ListKey, entry: &[u32]) -> u64 {
        match (self.kind(), entry) {
            (IndexKind::Exact, [_, shape]) => xxh3_64_with_seed(&key.encode(), u64::from(*shape)),
            _ => 1,
        }
    }

    /// The sum of the marks of the lists that each row is in.
    fn marks_of_lists(
        &self,
        at: &Snapshot<'_>,
        next_row: u32,
        check: &mut IndexCheck,
    ) -> Result<Vec<u64>> {
        let mut lists_of = vec![0u64; next_row as usize];
        let words = self.kind().entry_words();
        lists::for_each(at, |key, list| {
            let entries = list.chunks_exact(words);
            check.lists += 1;
            check.longest_list = check.longest_list.max(entries.len() as u64);
            if !entries.remainder().is_empty() || !entries.clone().is_sorted_by(|a, b| a[0] < b[0])
            {
                return Err(self.wrong("a list of rows does not ascend"));
            }
            for entry in entries {
                let marks = lists_of
                    .get_mut(entry[0] as usize)
                    .ok_or_else(|| self.wrong("a list has a row that no document had"))?;
                *marks = marks.wrapping_add(self.mark(key, entry));
            }
            Ok(())
        })?;
        Ok(lists_of)
    }

    pub(super) fn wrong(&self, problem: &str) -> Error {
        damaged(&self.folder, problem)
    }

    /// Calls `each` with all documents, in the order in which they were added.
    ///
    /// # Errors
    /// [`Error::Input`](simgpu::Error::Input) for an index that is damaged; [`Error::Io`](simgpu::Error::Io); those of `each`.
    pub fn for_each(&self, mut each: impl FnMut(IndexedDocument) -> Result<()>) -> Result<()> {
        self.for_each_record(|_, record| {
            each(IndexedDocument {
                id: record.id,
                digest: record.digest,
                signature: record.signature,
            })
        })
    }

    fn for_each_record(&self, mut each: impl FnMut(u32, Record) -> Result<()>) -> Result<()> {
        let words = self.comparison(1.0).words;
        self.store
            .snapshot()
            .for_each(Table::Documents, |row, value| {
                let row = row.try_into().map(u32::from_be_bytes).ok();
                match row.zip(Record::decode(value, words)) {
                    Some((row, record)) => each(row, record),
                    None => Err(self.wrong("a record is unreadable")),
                }
            })
    }

    /// The rows of the documents, of so many.
    fn live_rows(&self, next_row: u32) -> Result<Bits> {
        let live = Bits::zeros(next_row);
        self.for_each_record(|row, _| {
            if row < next_row {
                live.set(row);
                Ok(())
            } else {
                Err(self.wrong("a document has a row too large"))
            }
        })?;
        Ok(live)
    }
}
