//! Builds an index of many documents at once.
//!
//! Documents are written to temporary files as they come, and distributed by their ids and by the keys of their bands. Sorted,
//! they go into the tables in the order of keys: each byte of a table is written once, without a journal. It holds what
//! [`Index::add`] of the same documents in the same order stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::document::{DocumentId, Record, bytes_of};
use super::lists::{self, ListKey};
use super::persistent::{Index, OnKnownId, State};
use super::signed::{Signed, words_of_signature};
use super::store::{Put, Table};
use simgpu::documents::Documents;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Signatures;
use simgpu::progress::{Progress, advance};
use simgpu::store::spill::{Partitions, Sorted, Spill, Stored, StreamFile, Streams};
use simgpu_base::bits::Bits;

/// Parts of the ids, and of the keys of each band.
const PARTS: usize = 16;

/// Entries that are written between two looks at the progress.
const ENTRIES: u64 = 1 << 12;

/// The documents of an index that is being built, on disk.
#[derive(Debug)]
#[doc(hidden)]
pub struct BulkBuild {
    next_row: u32,
    /// The records of documents, by row.
    documents: Streams,
    /// Their shingles, if these verify.
    sets: Option<Streams>,
    /// The keys of each band, in two words, and rows.
    bands: Vec<Partitions<3>>,
    /// The digests of documents without shingles, and rows.
    digests: Partitions<5>,
    /// What stands for each id, and rows.
    ids: Partitions<5>,
}

impl BulkBuild {
    /// Documents of an index: none, or those of the last checkpoint, of which there were so many.
    #[doc(hidden)]
    pub fn new(spill: &Arc<Spill>, index: &Index, documents: u32) -> Self {
        let bands = index.search().banding.bands();
        let files = PARTS * (bands + 2) + 2;
        let parts = |name: &str| Partitions::new(spill, name, PARTS, 1 << 32, files);
        let streams = |name: &str| Streams::new(spill, name, 1, files);
        let band = |band| Partitions::new(spill, &format!("band-{band}"), PARTS, 1 << 32, files);
        BulkBuild {
            next_row: documents,
            documents: streams("documents"),
            sets: index.has_sets().then(|| streams("sets")),
            bands: (0..bands).map(band).collect(),
            digests: parts("digests"),
            ids: parts("ids"),
        }
    }

    /// The number of documents so far.
    #[doc(hidden)]
    pub fn documents(&self) -> u32 {
        self.next_row
    }

    /// Adds the next documents: some of those that are signed, by their places, with these ids.
    #[doc(hidden)]
    pub fn add<'a>(
        &mut self,
        signed: &SignedForIndex,
        mut documents: impl Iterator<Item = (usize, &'a DocumentId)>,
    ) -> Result<()> {
        documents.try_for_each(|(i, id)| self.add_one(&signed.0, i, id))
    }

    #[allow(clippy::cast_possible_truncation, reason = "both halves of a key")]
    fn add_one(&mut self, signed: &Signed, i: usize, id: &DocumentId) -> Result<()> {
        let row = self.next_row;
        self.next_row = row.checked_add(1).ok_or(Error::FullIndex {
            limit: u32::MAX as usize,
        })?;
        push_record(&mut self.documents, &signed.record(i, id.clone()).encode())?;
        if let Some(sets) = &mut self.sets {
            push_record(sets, &bytes_of(signed.set(i)))?;
        }
        self.ids
            .push(&with_row(u128::from_be_bytes(id.key()), row))?;
        for (list, _) in signed.lists(i) {
            match list {
                ListKey::Band(band, key) => {
                    let record = [(key >> 32) as u32, key as u32, row];
                    self.bands[usize::from(band)].push(&record)?;
                }
                ListKey::Digest(digest) => self.digests.push(&with_row(digest, row))?,
            }
        }
        Ok(())
    }

    /// Writes everything added so far, for a checkpoint.
    #[doc(hidden)]
    pub fn flush(&mut self) -> Result<()> {
        self.documents.flush()?;
        self.sets.as_mut().map_or(Ok(()), Streams::flush)?;
        self.bands.iter_mut().try_for_each(Partitions::flush)?;
        self.digests.flush()?;
        self.ids.flush()
    }

    /// Fills the tables of an index that has no documents. Returns how many it then has. The temporary files stay as they are until
    /// the folder goes, if they are those of a checkpoint.
    ///
    /// # Errors
    /// [`Error::RepeatedInIndex`] for an id that occurs twice, with [`OnKnownId::Fail`].
    #[doc(hidden)]
    pub fn finish(
        self,
        index: &Index,
        on_known_id: OnKnownId,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let rows = self.next_row;
        let lists = self.bands.iter().map(Partitions::records).sum::<u64>();
        let entries = lists + self.digests.records() + 2 * u64::from(rows);
        progress.begin("write", entries);
        let done = AtomicU64::new(0);
        let step = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(ENTRIES) {
                advance(progress, done, u64::from(rows), 0)
            } else {
                Ok(())
            }
        };
        let words = words_of_signature(index.engine(), index.search());
        let documents = self.documents.finish_one()?;
        let sets = self.sets.map(Streams::finish_one).transpose()?;
        let ids = self.ids.finish()?;
        let fill_ids = |ids, left_out: &Bits| {
            let repeated = |row| repeated(&documents, words, row);
            index.store.fill(Table::Ids, |put| {
                fill_ids(ids, on_known_id, left_out, repeated, put, &step)
            })
        };
        // Documents that repeat an id must be known before the others are written.
        let left_out = Bits::zeros(rows);
        let ids = match on_known_id {
            OnKnownId::Fail => Some(ids),
            OnKnownId::Skip | OnKnownId::Replace => {
                fill_ids(ids, &left_out)?;
                None
            }
        };
        let repeated = left_out.count();
        let stays = |row: u32| repeated == 0 || !left_out.get(row);
        let write_documents = || {
            ids.map_or(Ok(()), |ids| fill_ids(ids, &left_out))?;
            let records = |put: Put<'_>| fill_records(&documents, &stays, put, &step);
            index.store.fill(Table::Documents, records)?;
            let Some(sets) = &sets else {
                return Ok(());
            };
            let records = |put: Put<'_>| fill_records(sets, &stays, put, &|| Ok(()));
            index.store.fill(Table::Sets, records)
        };
        let write_lists = || fill_lists(index, self.bands, self.digests, &stays, &step);
        let (lists, documents) = rayon::join(write_lists, write_documents);
        documents.and(lists)?;
        let mut state = index.state();
        let next = State {
            next_row: rows,
            documents: u64::from(rows) - repeated,
            ..*state
        };
        index.commit(index.store.batch(), next, &mut state)?;
        Ok(next.documents)
    }
}

/// Writes the lists of the documents that stay, and the filter of their keys.
fn fill_lists(
    index: &Index,
    bands: Vec<Partitions<3>>,
    digests: Partitions<5>,
    stays: &(dyn Fn(u32) -> bool + Sync),
    step: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let keys = bands.iter().map(Partitions::records);
    let mut filter = index.store.begin_filter(keys)?;
    index.store.fill(Table::Built, |put| {
        for (band, keys) in (0..).zip(bands) {
            let keys = keys.finish()?.into_records().map(|record| {
                let [high, low, row] = record?;
                Ok((u64::from(high) << 32 | u64::from(low), row))
            });
            let keys = keys.filter(|key| key.as_ref().map_or(true, |(_, row)| stays(*row)));
            for_each_list(keys, step, |key, rows| {
                filter.add(band, key)?;
                lists::for_each_entry(ListKey::Band(band, key), rows, put)
            })?;
        }
        let digests = digests.finish()?.into_records();
        let digests = digests.map(|record| record.map(|record| (number_of(record), record[4])));
        let digests = digests.filter(|digest| digest.as_ref().map_or(true, |(_, row)| stays(*row)));
        for_each_list(digests, step, |digest, rows| {
            lists::for_each_entry(ListKey::Digest(digest), rows, put)
        })
    })?;
    filter.finish()?;
    index.store.use_filter()
}

/// Documents that are signed for an index.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct SignedForIndex(Signed);

impl SignedForIndex {
    #[doc(hidden)]
    pub fn new(documents: &dyn Documents, index: &Index) -> Result<Self> {
        Signed::new(documents, index.engine(), index.search()).map(SignedForIndex)
    }

    /// Documents of whom nothing but their signatures is known.
    #[doc(hidden)]
    pub fn from_signatures(signatures: &Signatures, index: &Index) -> Self {
        SignedForIndex(Signed::from_signatures(
            signatures,
            index.engine(),
            index.search(),
        ))
    }
}

/// A record: its length and its bytes.
fn push_record(streams: &mut Streams, bytes: &[u8]) -> Result<()> {
    streams.push_with(0, |record| {
        record.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
        record.extend_from_slice(bytes);
    })
}

fn record<'a>(stored: &mut Stored<'a>) -> Result<&'a [u8]> {
    let length: [u32; 2] = stored.words()?;
    stored.take(bytemuck::cast(length))
}

/// A number of 128 bits in words that compare as it does, and a row.
#[allow(clippy::cast_possible_truncation, reason = "the words of a number")]
fn with_row(number: u128, row: u32) -> [u32; 5] {
    let word = |shift: u32| (number >> shift) as u32;
    [word(96), word(64), word(32), word(0), row]
}

fn number_of([a, b, c, d, _]: [u32; 5]) -> u128 {
    [a, b, c, d]
        .into_iter()
        .fold(0, |number, word| number << 32 | u128::from(word))
}

/// Passes on the records of the rows that stay.
fn fill_records(
    file: &StreamFile,
    stays: &dyn Fn(u32) -> bool,
    put: Put<'_>,
    step: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let mut row = 0u32;
    file.for_each_block(|block| {
        let mut records = block.records(record);
        records.try_for_each(|record| {
            let record = record?;
            if stays(row) {
                put(&row.to_be_bytes(), record)?;
            }
            row = row.wrapping_add(1);
            step()
        })
    })
}

/// Passes on ids and their rows. Of the documents with one id, the first or the last stays, and the others are left out.
fn fill_ids(
    ids: Sorted<5>,
    on_known_id: OnKnownId,
    left_out: &Bits,
    repeated: impl Fn(u32) -> Result<Error>,
    put: Put<'_>,
    step: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let ids = ids.into_records();
    let ids = ids.map(|record| record.map(|record| (number_of(record), record[4])));
    for_each_list(ids, step, |number, rows| {
        let stays = match on_known_id {
            OnKnownId::Fail if rows.len() > 1 => return Err(repeated(rows[1])?),
            OnKnownId::Fail | OnKnownId::Skip => rows.first(),
            OnKnownId::Replace => rows.last(),
        };
        for row in rows.iter().filter(|row| Some(*row) != stays) {
            left_out.set(*row);
        }
        stays.map_or(Ok(()), |row| put(&number.to_be_bytes(), &row.to_be_bytes()))
    })
}

/// The error of an id that occurs twice: that of the document of this row.
fn repeated(documents: &StreamFile, words: usize, row: u32) -> Result<Error> {
    let mut id = String::new();
    let mut find = |key: &[u8], record: &[u8]| {
        if key == row.to_be_bytes() {
            let record = Record::decode(record, words).map(|record| record.id);
            id = record.map_or(String::new(), |id| id.as_json().to_owned());
        }
        Ok(())
    };
    fill_records(documents, &|_| true, &mut find, &|| Ok(()))?;
    Ok(Error::RepeatedInIndex {
        id,
        places: Vec::new(),
    })
}

/// Calls `each` with the rows of each of sorted keys.
fn for_each_list<K: Copy + PartialEq>(
    mut keys: impl Iterator<Item = Result<(K, u32)>>,
    step: &dyn Fn() -> Result<()>,
    mut each: impl FnMut(K, &[u32]) -> Result<()>,
) -> Result<()> {
    let mut rows = Vec::new();
    let mut next = keys.next().transpose()?;
    while let Some((key, row)) = next {
        rows.push(row);
        next = keys.next().transpose()?;
        if next.is_none_or(|(after, _)| after != key) {
            each(key, &rows)?;
            rows.clear();
        }
        step()?;
    }
    Ok(())
}
