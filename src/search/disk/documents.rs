//! What is known of each document while all are read, on disk.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bits::Bits;
use crate::error::{Result, row_number};
use crate::pipeline::{BandKeys, Dropped, KeyRows, PackedSignatures};
use crate::search::short::{self, DroppedRows};
use crate::store::spill::{Partitions, Sorted, Spill, Stored, StreamFile, Streams};
use crate::threads::{collect_blocks, try_for_each_chunk};

/// Parts of the digests, and of the keys of each band.
const PARTS: usize = 16;

/// Keys that are worth a job, some 10 µs.
const JOB: usize = 1 << 11;

/// Lengths that are written as one record.
const LENGTHS: usize = 1 << 10;

/// Takes the digests and lengths of documents, by row.
#[derive(Debug)]
pub(crate) struct DocumentWriter {
    spill: Arc<Spill>,
    /// The digest of each document that is not blank, and its row.
    digests: Partitions<5>,
    /// The bytes of text of each document.
    lengths: Streams,
    /// The documents that are removed without another one.
    dropped: Streams,
}

/// The documents of a run on disk.
#[derive(Debug)]
pub(crate) struct SpilledDocuments {
    pub(crate) spill: Arc<Spill>,
    pub(super) digests: Sorted<5>,
    pub(super) lengths: StreamFile,
    pub(crate) dropped: DroppedRows,
}

impl SpilledDocuments {
    /// The parts of digests, and of the keys of each band.
    pub(crate) const PARTS: usize = PARTS;

    /// The digest of each row that has one, and the lengths of all.
    #[cfg(test)]
    pub(crate) fn contents(self) -> (Vec<(u32, u128)>, Vec<u32>) {
        let digests = self.digests.into_records().map(|record| {
            let [a, b, c, d, row] = record.unwrap();
            (row, bytemuck::cast([a, b, c, d]))
        });
        let mut digests: Vec<(u32, u128)> = digests.collect();
        digests.sort_unstable();
        let mut lengths = Vec::new();
        let read = self.lengths.for_each_block(|block| {
            let words = block.records(Stored::words).map(|record| record.unwrap());
            lengths.extend(words.map(|[length]: [u32; 1]| length));
            Ok(())
        });
        read.unwrap();
        (digests, lengths)
    }
}

impl DocumentWriter {
    /// Writes beside `files` other files.
    pub(crate) fn new(spill: &Arc<Spill>, files: usize) -> Self {
        let files = files + PARTS + 2;
        DocumentWriter {
            digests: Partitions::new(spill, "digests", PARTS, 1 << 32, files),
            lengths: Streams::new(spill, "lengths", 1, files),
            dropped: Streams::new(spill, "dropped", 1, files),
            spill: Arc::clone(spill),
        }
    }

    /// Adds the next documents, the first of which has this row: the length of each, and its digest if it is not left out.
    /// Writes digests on all threads, so that no lock may be held.
    pub(crate) fn add(
        &mut self,
        first: u32,
        lengths: &[u32],
        digests: &[Option<u128>],
    ) -> Result<()> {
        debug_assert_eq!(lengths.len(), digests.len());
        let rows = first..row_number(first as usize + digests.len())?;
        let with_row = |(row, digest): (u32, &Option<u128>)| {
            let [a, b, c, d] = bytemuck::cast((*digest)?);
            Some([a, b, c, d, row])
        };
        let digests = collect_blocks(digests.len(), JOB, |range| {
            let rows = rows.clone().skip(range.start);
            rows.zip(&digests[range]).filter_map(with_row).collect()
        });
        self.digests.push_each(&digests)?;
        let mut some = lengths.chunks(LENGTHS);
        some.try_for_each(|lengths| self.lengths.push(0, bytemuck::cast_slice(lengths)))
    }

    /// Notes that a document is removed without another one.
    pub(crate) fn drop(&mut self, row: u32, reason: Dropped) -> Result<()> {
        let words = short::dropped_words(row, reason);
        self.dropped.push(0, bytemuck::cast_slice(&words))
    }

    /// Writes everything added so far, for a checkpoint.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.digests.flush()?;
        self.lengths.flush()?;
        self.dropped.flush()
    }

    /// The folder.
    pub(crate) fn spill(&self) -> &Arc<Spill> {
        &self.spill
    }

    /// Ends the writing of the documents up to the end of `rows`, which are those of the inputs.
    pub(crate) fn finish(self, rows: Range<u32>) -> Result<SpilledDocuments> {
        Ok(SpilledDocuments {
            dropped: DroppedRows::stored(rows, self.dropped.finish_one()?)?,
            digests: self.digests.finish()?,
            lengths: self.lengths.finish_one()?,
            spill: self.spill,
        })
    }
}

/// Takes the band keys of documents, and their packed signatures and exact sets if they are wanted.
#[derive(Debug)]
pub(crate) struct KeyWriter {
    spill: Arc<Spill>,
    /// Each band's keys, in two words, and rows.
    bands: Vec<Partitions<3>>,
    /// Rows with signatures.
    signatures: Option<Streams>,
    sets: Option<SetWriter>,
}

/// Takes exact sets for a join.
#[derive(Debug)]
struct SetWriter {
    /// Records of [`push_set`].
    sets: Streams,
    /// The row of each set and the number of its words, low and high.
    sizes: Streams,
}

/// The band keys, signatures and exact sets of documents on disk. A document that repeats an earlier one may have them
/// or not.
#[derive(Debug)]
pub(crate) struct SpilledKeys {
    pub(super) bands: Vec<Sorted<3>>,
    pub(super) signatures: Option<StreamFile>,
    pub(super) sets: Option<SpilledSets>,
}

impl SpilledKeys {
    /// The rows that have keys, of each band and ascending, and whether there are signatures and sets.
    #[cfg(test)]
    pub(crate) fn contents(self) -> (Vec<Vec<u32>>, bool, bool) {
        let rows = |band: Sorted<3>| {
            let rows = band.into_records().map(|key| key.unwrap()[2]);
            let mut rows: Vec<u32> = rows.collect();
            rows.sort_unstable();
            rows
        };
        let bands = self.bands.into_iter().map(rows).collect();
        (bands, self.signatures.is_some(), self.sets.is_some())
    }
}

/// Exact sets on disk.
#[derive(Debug)]
pub(super) struct SpilledSets {
    /// By row.
    pub(super) sets: StreamFile,
    sizes: StreamFile,
}

impl SpilledSets {
    /// The number of words of all sets but those of rows that are `left_out`.
    pub(crate) fn words(&self, left_out: &Bits) -> Result<u64> {
        let mut sum = 0;
        self.sizes.for_each_block(|block| {
            for record in block.records(Stored::words) {
                let [row, low, high] = record?;
                if !left_out.get(row) {
                    sum += number_of([low, high]);
                }
            }
            Ok(())
        })?;
        Ok(sum)
    }
}

/// Appends an exact set: its row, the number of its words, and these.
pub(super) fn push_set(record: &mut Vec<u8>, row: u32, set: &[u64]) {
    let [low, high] = words_of(set.len() as u64);
    record.extend_from_slice(bytemuck::cast_slice(&[row, low, high]));
    record.extend_from_slice(bytemuck::cast_slice(set));
}

/// The exact sets of a block, each with its row, and the bytes of the whole record.
pub(super) fn sets_of(block: Stored<'_>) -> impl Iterator<Item = Result<(u32, &[u8], &[u8])>> {
    block.records(|rest| {
        let record = *rest;
        let [row, low, high] = rest.words()?;
        let bytes = number_of([low, high]).checked_mul(size_of::<u64>() as u64);
        let set = rest.take(bytes.ok_or_else(|| record.damaged())?)?;
        Ok((row, set, record.until(rest)))
    })
}

/// The low and the high word of a number.
#[allow(clippy::cast_possible_truncation, reason = "both halves of a number")]
pub(super) fn words_of(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The number of these words.
pub(super) fn number_of([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The name of the exact sets, for checkpoints.
const SETS: &str = "sets";

/// The exact sets at a checkpoint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SetsRead {
    /// Bytes of the exact sets of all documents so far, repeated ones included.
    bytes: u64,
}

impl KeyWriter {
    pub(crate) fn new(
        spill: &Arc<Spill>,
        bands: usize,
        has_signatures: bool,
        has_sets: bool,
    ) -> Self {
        let files = KeyWriter::files(bands) + 2 * PARTS;
        let band = |band| Partitions::new(spill, &format!("band-{band}"), PARTS, 1 << 32, files);
        let streams = |name: &str| Streams::new(spill, name, 1, files);
        KeyWriter {
            bands: (0..bands).map(band).collect(),
            signatures: has_signatures.then(|| streams("signatures")),
            sets: has_sets.then(|| SetWriter {
                sets: streams(SETS),
                sizes: streams("sizes"),
            }),
            spill: Arc::clone(spill),
        }
    }

    /// The number of files written at the same time.
    pub(crate) fn files(bands: usize) -> usize {
        PARTS * bands + 3
    }

    /// Whether exact sets are taken.
    pub(crate) fn takes_sets(&self) -> bool {
        self.sets.is_some()
    }

    /// Takes no exact sets any more, and removes those taken.
    pub(crate) fn drop_sets(&mut self) {
        self.sets = None;
    }

    /// Bytes of the exact sets of all documents before the run was stopped; `None` if it begins.
    pub(crate) fn sets_read(&self) -> Option<u64> {
        let read: Option<SetsRead> = self.spill.state(SETS);
        read.map(|read| read.bytes)
    }

    /// Adds the exact set of a document, unless sets are not taken any more.
    pub(crate) fn add_set(&mut self, row: u32, set: &[u64]) -> Result<()> {
        let Some(writer) = &mut self.sets else {
            return Ok(());
        };
        let [low, high] = words_of(set.len() as u64);
        let size = [row, low, high];
        writer.sizes.push(0, bytemuck::cast_slice(&size))?;
        writer
            .sets
            .push_with(0, |record| push_set(record, row, set))
    }

    /// Adds the keys of documents on all threads. No lock may be held while it works.
    pub(crate) fn add_keys(&mut self, rows: &[u32], keys: &KeyRows) -> Result<()> {
        self.add_by_band(rows, |band| keys.column(band))
    }

    /// Adds the keys of documents by columns, on all threads. No lock may be held while it works.
    pub(crate) fn add_columns(&mut self, rows: &[u32], keys: &BandKeys) -> Result<()> {
        self.add_by_band(rows, |band| keys.column(band).iter())
    }

    /// Adds the keys of each band, in the order of rows.
    #[allow(clippy::cast_possible_truncation, reason = "both halves of a key")]
    fn add_by_band<'k, K: Iterator<Item = &'k u64>>(
        &mut self,
        rows: &[u32],
        keys_of: impl Fn(usize) -> K + Sync,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        try_for_each_chunk(&mut self.bands, JOB.div_ceil(rows.len()), |first, bands| {
            for (band, number) in bands.iter_mut().zip(first..) {
                for (row, key) in rows.iter().zip(keys_of(number)) {
                    band.push(&[(key >> 32) as u32, *key as u32, *row])?;
                }
            }
            Ok(())
        })
    }

    /// Adds the packed signatures of documents.
    pub(crate) fn add_signatures(&mut self, rows: &[u32], packed: &PackedSignatures) -> Result<()> {
        let Some(signatures) = &mut self.signatures else {
            return Ok(());
        };
        for (i, row) in rows.iter().enumerate() {
            signatures.push_with(0, |record| {
                record.extend_from_slice(&row.to_ne_bytes());
                record.extend_from_slice(bytemuck::cast_slice(packed.row(i)));
            })?;
        }
        Ok(())
    }

    /// Writes everything added so far, for a checkpoint. The exact sets of all documents so far, repeated ones
    /// included, have `set_bytes`.
    pub(crate) fn flush(&mut self, set_bytes: u64) -> Result<()> {
        self.bands.iter_mut().try_for_each(Partitions::flush)?;
        self.signatures.as_mut().map_or(Ok(()), Streams::flush)?;
        if let Some(writer) = &mut self.sets {
            writer.sets.flush()?;
            writer.sizes.flush()?;
        }
        self.spill.note(SETS, &SetsRead { bytes: set_bytes })
    }

    pub(crate) fn finish(self) -> Result<SpilledKeys> {
        Ok(SpilledKeys {
            bands: self
                .bands
                .into_iter()
                .map(Partitions::finish)
                .collect::<Result<_>>()?,
            signatures: self.signatures.map(Streams::finish_one).transpose()?,
            sets: match self.sets {
                Some(writer) => Some(SpilledSets {
                    sets: writer.sets.finish_one()?,
                    sizes: writer.sizes.finish_one()?,
                }),
                None => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn sets_come_back_as_they_were_written() {
        let sets: [(u32, &[u64]); 4] = [(3, &[1, u64::MAX, 7]), (4, &[]), (9, &[5]), (10, &[])];
        let mut block = Vec::new();
        sets.iter()
            .for_each(|(row, set)| push_set(&mut block, *row, set));
        let mut records = Vec::new();
        let stored = Stored::new(&block, Path::new("sets-0"));
        for ((row, set), record) in sets.iter().zip(sets_of(stored)) {
            let (row_read, bytes, record) = record.unwrap();
            let words: Vec<u64> = bytes
                .chunks_exact(size_of::<u64>())
                .map(bytemuck::pod_read_unaligned)
                .collect();
            assert_eq!((*row, *set), (row_read, &words[..]));
            records.extend_from_slice(record);
        }
        assert_eq!(sets_of(stored).count(), sets.len());
        assert_eq!(records, block);
    }

    #[test]
    fn a_number_is_that_of_its_words() {
        for number in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX - 1] {
            assert_eq!(number_of(words_of(number)), number);
        }
    }
}
