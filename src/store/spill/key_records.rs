//! Records of any length, sorted by a key outside of memory.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Spill, Stored, StreamFile, Streams};
use crate::error::Result;
use crate::threads::{collect_blocks, map_blocks};

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

/// Records that are read at a time.
const BLOCK: usize = 1 << 14;

/// Records that are worth a job, 10 µs or more.
const JOB: usize = 1 << 8;

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
    /// What `read` makes of the key and the bytes of all records, in order. All threads load and read them: a part each, as
    /// long as these parts fit in an eighth of the memory. A larger part is divided first.
    pub(crate) fn iter<T: Send>(
        &self,
        read: impl Fn(Key, Stored<'_>) -> Result<T> + Sync,
    ) -> impl Iterator<Item = Result<T>> {
        let mut segments = Segments::of(self);
        let mut loaded: VecDeque<Result<Loaded>> = VecDeque::new();
        let mut records = Vec::new().into_iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(record) = records.next() {
                    return Some(record);
                }
                let block = match loaded.front_mut() {
                    Some(Ok(first)) => first.read_block(&read),
                    Some(Err(_)) => Vec::new(),
                    None => {
                        loaded.extend(segments.load());
                        if loaded.is_empty() {
                            return None;
                        }
                        continue;
                    }
                };
                if block.is_empty()
                    && let Some(Err(error)) = loaded.pop_front()
                {
                    return Some(Err(error));
                }
                records = block.into_iter();
            }
        })
    }
}

/// The parts that are not read yet.
struct Segments<'a> {
    /// The next one last, each with the range of its first words.
    rest: Vec<(Segment<'a>, Range<u64>)>,
    /// The most bytes of parts in memory.
    most_bytes: u64,
}

/// A part, or one of those into which it was divided.
enum Segment<'a> {
    Whole(&'a StreamFile),
    Divided(StreamFile),
}

impl<'a> Segments<'a> {
    fn of(records: &'a SortedRecords) -> Self {
        let count = records.parts.len() as u64;
        let parts = (0..).zip(&records.parts).map(|(number, part)| {
            let range = super::range_of_part(&records.range, number, count);
            (Segment::Whole(part), range)
        });
        let mut rest: Vec<_> = parts.collect();
        rest.reverse();
        Segments {
            rest,
            most_bytes: (records.spill.memory() as u64 / 8).max(super::MOST_AT_ONCE),
        }
    }

    /// Loads the next parts, one for each thread at most; none if there are no more.
    fn load(&mut self) -> Vec<Result<Loaded>> {
        let (mut some, mut bytes) = (Vec::new(), 0);
        while some.len() < rayon::current_num_threads()
            && let Some((part, range)) = self.rest.pop_if(|(part, _)| {
                some.is_empty() || bytes + part.file().bytes() <= self.most_bytes
            })
        {
            let is_too_large = part.file().bytes() > self.most_bytes;
            if is_too_large && range.end - range.start > 1 {
                match part.divided(&range) {
                    Ok(parts) => self.rest.extend(parts),
                    Err(error) => return vec![Err(error)],
                }
                continue;
            }
            bytes += part.file().bytes();
            some.push(part);
        }
        map_blocks(some.len(), 1, |range| Loaded::of(some[range.start].file()))
    }
}

impl<'a> Segment<'a> {
    fn file(&self) -> &StreamFile {
        match self {
            Segment::Whole(file) => file,
            Segment::Divided(file) => file,
        }
    }

    /// The parts of a part, the first one last.
    fn divided(&self, range: &Range<u64>) -> Result<Vec<(Segment<'a>, Range<u64>)>> {
        let mut divided = KeyedRecords {
            streams: Streams::dividing(self.file(), "", SPLIT),
            range: range.clone(),
        };
        self.file().for_each_block(|block| {
            records(block).try_for_each(|record| {
                let (key, bytes) = record?;
                divided.push_with(key, |buffer| buffer.extend_from_slice(&block[bytes]))
            })
        })?;
        let divided = divided.finish()?.parts;
        let count = divided.len() as u64;
        let parts = (0..).zip(divided).map(|(number, part)| {
            let range = super::range_of_part(range, number, count);
            (Segment::Divided(part), range)
        });
        let mut parts: Vec<_> = parts.collect();
        parts.reverse();
        Ok(parts)
    }
}

/// Sorted records in memory.
struct Loaded {
    /// The file from which they are.
    path: PathBuf,
    bytes: Vec<u8>,
    records: Vec<(Key, Range<usize>)>,
    /// The next one to read.
    next: usize,
}

impl Loaded {
    fn of(file: &StreamFile) -> Result<Self> {
        let mut loaded = Loaded {
            path: file.path().to_owned(),
            bytes: Vec::new(),
            records: Vec::new(),
            next: 0,
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
        Ok(loaded)
    }

    /// What `read` makes of the next records; none if there are no more.
    fn read_block<T: Send>(
        &mut self,
        read: &(impl Fn(Key, Stored<'_>) -> Result<T> + Sync),
    ) -> Vec<Result<T>> {
        let end = self.records.len().min(self.next + BLOCK);
        let some = &self.records[std::mem::replace(&mut self.next, end)..end];
        collect_blocks(some.len(), JOB, |block| {
            let records = some[block].iter().map(|(key, range)| {
                let bytes = Stored::new(&self.bytes[range.clone()], &self.path);
                read(*key, bytes)
            });
            records.collect::<Vec<Result<T>>>()
        })
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
                let (first, rest) = expected.split_at(expected.len() / 3);
                for (key, bytes) in first {
                    let write = |buffer: &mut Vec<u8>| buffer.extend_from_slice(bytes);
                    records.push_with(*key, write).unwrap();
                }
                let keys: Vec<Key> = rest.iter().map(|(key, _)| *key).collect();
                let write = |i: usize, buffer: &mut Vec<u8>| buffer.extend_from_slice(&rest[i].1);
                records.push_each(&keys, write).unwrap();
                expected.sort_by_key(|(key, _)| *key);
                let records = records.finish().unwrap();
                for threads in [1, 3, 20] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                    let all = pool.build().unwrap().install(|| {
                        let all = records.iter(|key, bytes| Ok((key, bytes.to_vec())));
                        all.collect::<Result<Vec<_>>>().unwrap()
                    });
                    assert!(all == expected, "{count} {kinds} {memory} {parts}");
                }
            }
        }
    }
}
