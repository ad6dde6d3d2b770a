//! Records of any length, sorted by a key outside of memory.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Spill, Stored, StreamFile, Streams};
use crate::error::Result;

/// The key of a record: two words, compared in order.
pub(crate) type Key = [u32; 2];

/// Takes records of any length in any order, distributed by the first words of their keys.
#[derive(Debug)]
pub(crate) struct KeyedRecords {
    streams: Streams,
    /// The first words of all keys.
    range: Range<u64>,
}

/// Parts of an oversized part.
const SPLIT: usize = 16;

impl KeyedRecords {
    /// No records yet, or those of the last checkpoint, in `count` parts. The first words of keys are below `end`.
    pub(crate) fn new(spill: &Arc<Spill>, name: &str, count: usize, end: u64) -> Self {
        KeyedRecords {
            streams: Streams::new(spill, name, count, count),
            range: 0..end.max(1),
        }
    }

    /// Appends a record, of less than 4 GiB, that `write` appends to a buffer.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a file cannot be written.
    pub(crate) fn push_with(&mut self, key: Key, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let part = super::part_of(key[0], &self.range, self.streams.count());
        self.streams
            .push_with(part, |buffer| push_record(buffer, key, write))
    }

    /// Appends records, many of them on all threads, to fewer than 2^16 parts: one with each of these keys, of less than
    /// 4 GiB, that `write` appends to a buffer. No lock may be held while it works.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a file cannot be written.
    pub(crate) fn push_each(
        &mut self,
        keys: &[Key],
        write: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<()> {
        let parts = super::parts_of(keys, &self.range, self.streams.count());
        self.streams.push_each(&parts, |i, buffer| {
            push_record(buffer, keys[i], |buffer| write(i, buffer));
        })
    }

    /// Writes everything pushed so far, for a checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a file cannot be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.streams.flush()
    }

    /// Ends the writing.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a file cannot be written.
    pub(crate) fn finish(self) -> Result<SortedRecords> {
        Ok(SortedRecords {
            spill: Arc::clone(self.streams.spill()),
            range: self.range,
            parts: self.streams.finish()?,
        })
    }
}

/// Appends a record with this key, that `write` appends to a buffer.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a record has less than 4 GiB"
)]
fn push_record(buffer: &mut Vec<u8>, key: Key, write: impl FnOnce(&mut Vec<u8>)) {
    buffer.extend_from_slice(bytemuck::cast_slice(&[key[0], key[1], 0]));
    let start = buffer.len();
    write(buffer);
    let length = (buffer.len() - start) as u32;
    buffer[start - size_of::<u32>()..start].copy_from_slice(&length.to_ne_bytes());
}

/// Records that come back in ascending order of their keys.
#[derive(Debug)]
pub(crate) struct SortedRecords {
    spill: Arc<Spill>,
    parts: Vec<StreamFile>,
    range: Range<u64>,
}

impl SortedRecords {
    /// What `read` makes of the key and the bytes of all records. Some are in memory at a time: those of a part, or one
    /// after the other the parts of an oversized part.
    pub(crate) fn iter<T>(
        &self,
        read: impl Fn(Key, Stored<'_>) -> Result<T>,
    ) -> impl Iterator<Item = Result<T>> {
        let most_bytes = self.spill.memory() as u64 / 8;
        // The parts to read, the next one last; those that were divided are owned.
        let mut parts: Vec<(Segment<'_>, Range<u64>)> = Vec::new();
        for (number, part) in (0u64..).zip(&self.parts) {
            let range = super::range_of_part(&self.range, number, self.parts.len() as u64);
            parts.push((Segment::Whole(part), range));
        }
        parts.reverse();
        let mut loaded = Loaded::default();
        std::iter::from_fn(move || {
            loop {
                if let Some((key, bytes)) = loaded.next() {
                    return Some(read(key, bytes));
                }
                let (part, range) = parts.pop()?;
                match part.load(range, most_bytes) {
                    Ok(SegmentLoad::Records(records)) => loaded = records,
                    Ok(SegmentLoad::Divided(divided)) => parts.extend(divided.into_iter().rev()),
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }
}

enum Segment<'a> {
    Whole(&'a StreamFile),
    Divided(StreamFile),
}

enum SegmentLoad<'a> {
    Records(Loaded),
    Divided(Vec<(Segment<'a>, Range<u64>)>),
}

impl<'a> Segment<'a> {
    fn load(&self, range: Range<u64>, most_bytes: u64) -> Result<SegmentLoad<'a>> {
        let file = match self {
            Segment::Whole(file) => file,
            Segment::Divided(file) => file,
        };
        let is_divisible = range.end - range.start > 1;
        if file.bytes() > most_bytes.max(super::MOST_AT_ONCE) && is_divisible {
            let mut divided = KeyedRecords {
                streams: Streams::dividing(file, "", SPLIT),
                range: range.clone(),
            };
            file.for_each_block(|block| {
                records(block).try_for_each(|record| {
                    let (key, bytes) = record?;
                    divided.push_with(key, |buffer| buffer.extend_from_slice(&block[bytes]))
                })
            })?;
            let divided = divided.finish()?.parts;
            let count = divided.len() as u64;
            let parts = (0..).zip(divided).map(|(number, part)| {
                let range = super::range_of_part(&range, number, count);
                (Segment::Divided(part), range)
            });
            return Ok(SegmentLoad::Divided(parts.collect()));
        }
        let mut loaded = Loaded {
            path: file.path().to_owned(),
            ..Loaded::default()
        };
        file.for_each_block(|block| {
            let start = loaded.bytes.len();
            loaded.bytes.extend_from_slice(&block);
            records(block).try_for_each(|record| {
                let (key, bytes) = record?;
                let bytes = start + bytes.start..start + bytes.end;
                loaded.records.push((key, bytes));
                Ok(())
            })
        })?;
        // Stable, so that records with the same key keep their order.
        loaded.records.sort_by_key(|(key, _)| *key);
        Ok(SegmentLoad::Records(loaded))
    }
}

/// Sorted records in memory.
#[derive(Default)]
struct Loaded {
    /// The file from which they are.
    path: PathBuf,
    bytes: Vec<u8>,
    records: Vec<(Key, Range<usize>)>,
    next: usize,
}

impl Loaded {
    fn next(&mut self) -> Option<(Key, Stored<'_>)> {
        let (key, range) = self.records.get(self.next)?.clone();
        self.next += 1;
        Some((key, Stored::new(&self.bytes[range], &self.path)))
    }
}

/// The records of a block: each key, and the range of its bytes.
fn records(block: Stored<'_>) -> impl Iterator<Item = Result<(Key, Range<usize>)>> {
    block.records(move |rest| {
        let [first, second, length] = rest.words()?;
        let start = block.len() - rest.len();
        let bytes = rest.take(length.into())?;
        Ok(([first, second], start..start + bytes.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::scheme::fmix64;
    use crate::store::spill::Budget;

    #[test]
    fn a_record_longer_than_its_block_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        let mut streams = Streams::new(&spill, "records", 1, 1);
        let (whole, cut_off) = ([7u32, 0, 4, 9], [8u32, 0, 5, 9]);
        for record in [whole, cut_off] {
            streams.push(0, bytemuck::cast_slice(&record)).unwrap();
        }
        let records = KeyedRecords {
            streams,
            range: 0..10,
        };
        let records = records.finish().unwrap();
        let read: Vec<Result<Key>> = records.iter(|key, _| Ok(key)).collect();
        assert!(matches!(read[..], [Err(Error::DamagedSpill { .. })]));
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "made-up numbers")]
    fn records_come_back_sorted() {
        for (count, kinds) in [(0, 5), (1, 5), (20_000, 1 << 31), (20_000, 3), (20_000, 1)] {
            let mut expected: Vec<(Key, Vec<u8>)> = (0..count)
                .map(|i| {
                    let hash = fmix64(i);
                    let key = [(hash % kinds) as u32, (hash >> 60) as u32];
                    (key, vec![hash as u8; (hash >> 32) as usize % 50])
                })
                .collect();
            for (memory, parts) in [(1 << 30, 1), (1 << 30, 7), (1 << 12, 1), (1 << 12, 4)] {
                let folder = tempfile::tempdir().unwrap();
                let spill = Spill::new(&Budget::new(folder.path(), memory)).unwrap();
                let mut records = KeyedRecords::new(&spill, "records", parts, kinds);
                for (key, bytes) in &expected {
                    let write = |buffer: &mut Vec<u8>| buffer.extend_from_slice(bytes);
                    records.push_with(*key, write).unwrap();
                }
                expected.sort_by_key(|(key, _)| *key);
                let records = records.finish().unwrap();
                for _ in 0..2 {
                    let all = records.iter(|key, bytes| Ok((key, bytes.to_vec())));
                    let all: Vec<_> = all.collect::<Result<_>>().unwrap();
                    assert!(all == expected, "{count} {kinds} {memory} {parts}");
                }
            }
        }
    }
}
