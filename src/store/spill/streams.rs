//! Append-only streams of records in files of checked blocks.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::checkpoint::{Extent, HEADER};
use super::{Spill, Stored};
use crate::error::{Error, Result};
use crate::threads::try_for_each_chunk;

/// Streams of bytes, one file each. A record lies in one block as a whole.
///
/// A file is a sequence of blocks, each with its length, its number and a checksum, so that a file that was changed or
/// cut off is an error.
#[derive(Debug)]
#[doc(hidden)]
pub struct Streams {
    spill: Arc<Spill>,
    block_bytes: usize,
    streams: Vec<Stream>,
}

#[derive(Debug)]
struct Stream {
    buffer: Vec<u8>,
    file: StreamFile,
}

/// Records that are worth a job, 10 µs or more.
const JOB: usize = 1 << 9;

impl Streams {
    /// `count` streams: empty, or as they were at the last checkpoint of a run that goes on. `files` streams are written
    /// at the same time, these included.
    #[doc(hidden)]
    pub fn new(spill: &Arc<Spill>, name: &str, count: usize, files: usize) -> Self {
        Streams::of(spill, name, count, files, true)
    }

    /// Empty streams into which a file is divided, with this ending in their names. No checkpoint keeps them.
    pub(crate) fn dividing(file: &StreamFile, ending: &str, count: usize) -> Self {
        let name = format!("{}.{ending}", file.name);
        Streams::of(&file.spill, &name, count, count, false)
    }

    fn of(spill: &Arc<Spill>, name: &str, count: usize, files: usize, is_kept: bool) -> Self {
        let stream = |number| Stream {
            buffer: Vec::new(),
            file: StreamFile::new(spill, format!("{name}-{number}"), is_kept),
        };
        Streams {
            block_bytes: spill.block_bytes(files),
            streams: (0..count).map(stream).collect(),
            spill: Arc::clone(spill),
        }
    }

    /// Writes everything pushed so far, for a checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be written.
    #[doc(hidden)]
    pub fn flush(&mut self) -> Result<()> {
        self.streams.iter_mut().try_for_each(Stream::flush)
    }

    /// Calls `each` with the records of each block of a stream that are written.
    ///
    /// # Errors
    /// The errors of [`BlockReader::next`] and of `each`.
    pub(crate) fn for_each_block(
        &self,
        stream: usize,
        each: impl FnMut(Stored<'_>) -> Result<()>,
    ) -> Result<()> {
        self.streams[stream].file.for_each_block(each)
    }

    /// The records of each block of a stream that are written.
    pub(super) fn each_block(&self, stream: usize) -> impl Iterator<Item = Result<Vec<u8>>> {
        self.streams[stream].file.each_block()
    }

    /// The error of a stream that does not hold what was written.
    #[doc(hidden)]
    pub fn damaged(&self, stream: usize) -> Error {
        Error::DamagedSpill {
            path: self.streams[stream].file.path().to_owned(),
        }
    }

    /// Bytes of all records that are written.
    pub(super) fn bytes(&self) -> u64 {
        self.streams
            .iter()
            .map(|stream| stream.file.extent.bytes)
            .sum()
    }

    /// The number of streams.
    pub(crate) fn count(&self) -> usize {
        self.streams.len()
    }

    /// Appends a record to a stream.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    #[doc(hidden)]
    pub fn push(&mut self, stream: usize, record: &[u8]) -> Result<()> {
        self.push_with(stream, |buffer| buffer.extend_from_slice(record))
    }

    /// Appends the record that `write` appends to a buffer.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    #[doc(hidden)]
    pub fn push_with(&mut self, stream: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.streams[stream].push_with(self.block_bytes, write)
    }

    /// Appends records, many of them on all threads: record `i`, which `write` appends to a buffer, to the stream `of[i]`, if
    /// there is one. No lock may be held while it works.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be written.
    pub(crate) fn push_each(
        &mut self,
        of: &[Option<u16>],
        write: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<()> {
        let (block_bytes, count) = (self.block_bytes, self.streams.len());
        let exists = |stream: &Option<u16>| stream.is_none_or(|stream| usize::from(stream) < count);
        debug_assert!(of.iter().all(exists), "no such stream");
        // Each thread looks through all records for those of its streams.
        let jobs = (of.len() / JOB).clamp(1, rayon::current_num_threads());
        let job_streams = count.div_ceil(jobs).max(1);
        let push = |first: usize, streams: &mut [Stream]| {
            let mut records = of.iter().enumerate();
            records.try_for_each(|(record, stream)| {
                let stream = stream.and_then(|stream| usize::from(stream).checked_sub(first));
                match stream.and_then(|stream| streams.get_mut(stream)) {
                    Some(stream) => stream.push_with(block_bytes, |buffer| write(record, buffer)),
                    None => Ok(()),
                }
            })
        };
        if jobs == 1 {
            return push(0, &mut self.streams);
        }
        try_for_each_chunk(&mut self.streams, job_streams, push)
    }

    /// Ends all streams.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be written.
    pub(crate) fn finish(self) -> Result<Vec<StreamFile>> {
        let finish = |mut stream: Stream| {
            stream.flush()?;
            Ok(stream.file)
        };
        self.streams.into_iter().map(finish).collect()
    }

    /// Ends a single stream.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    ///
    /// # Panics
    /// If there is another number of streams.
    #[doc(hidden)]
    pub fn finish_one(self) -> Result<StreamFile> {
        assert_eq!(self.streams.len(), 1, "one stream");
        Ok(self.finish()?.remove(0))
    }

    /// The folder and its memory.
    pub(super) fn spill(&self) -> &Arc<Spill> {
        &self.spill
    }
}

impl Stream {
    /// Appends the record that `write` appends to the buffer, and writes a block that is full.
    fn push_with(&mut self, block_bytes: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if self.buffer.capacity() == 0 {
            self.buffer.reserve(HEADER + block_bytes);
        }
        if self.buffer.is_empty() {
            self.buffer.resize(HEADER, 0);
        }
        write(&mut self.buffer);
        if self.buffer.len() - HEADER >= block_bytes {
            return self.flush();
        }
        Ok(())
    }

    /// Writes the buffer as a block.
    fn flush(&mut self) -> Result<()> {
        if self.buffer.len() <= HEADER {
            return Ok(());
        }
        let file = &mut self.file;
        let payload = self.buffer.len() - HEADER;
        let (length, number) = header_words(payload, file.extent.blocks);
        let checksum = checksum(file.salt, length, number, &self.buffer[HEADER..]);
        self.buffer[..4].copy_from_slice(&length.to_le_bytes());
        self.buffer[4..8].copy_from_slice(&number.to_le_bytes());
        self.buffer[8..HEADER].copy_from_slice(&checksum.to_le_bytes());
        // Not kept open: there may be more streams than a process may have open files.
        let mut options = OpenOptions::new();
        let opened = options.append(true).create(true).open(&file.path);
        opened
            .and_then(|mut open| open.write_all(&self.buffer))
            .map_err(Error::io("write", &file.path))?;
        let written = &file.spill.written;
        written.fetch_add(self.buffer.len() as u64, Ordering::Relaxed);
        file.extent.blocks += 1;
        file.extent.bytes += payload as u64;
        if file.is_kept {
            file.spill.files().note(&file.name, file.extent);
        }
        self.buffer.clear();
        Ok(())
    }
}

/// The length and the number of a block, as its header has them.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a block has less than 4 GiB, and the number only tells neighbours apart"
)]
fn header_words(payload: usize, number: u64) -> (u32, u32) {
    (payload as u32, number as u32)
}

fn checksum(salt: u64, length: u32, number: u32, payload: &[u8]) -> u64 {
    xxh3_64_with_seed(
        payload,
        salt ^ (u64::from(length) << 32 | u64::from(number)),
    )
}

/// A finished stream. Its file is removed when it is dropped, or after the next checkpoint if the last one names it.
#[derive(Debug)]
#[doc(hidden)]
pub struct StreamFile {
    spill: Arc<Spill>,
    name: String,
    path: PathBuf,
    /// A hash of the name and of the run, which is part of each checksum, so that no file passes for another.
    salt: u64,
    extent: Extent,
    /// Whether checkpoints keep it.
    is_kept: bool,
    /// Whether it stays when this is dropped.
    lasts: bool,
}

impl StreamFile {
    fn new(spill: &Arc<Spill>, name: String, is_kept: bool) -> Self {
        let path = spill.folder.join(&name);
        let folder_name = spill.folder.file_name().unwrap_or_default();
        let salted = [folder_name.as_encoded_bytes(), b"/", name.as_bytes()].concat();
        let extent = if is_kept {
            spill.files().extent(&name)
        } else {
            Extent::default()
        };
        StreamFile {
            salt: xxh3_64(&salted),
            spill: Arc::clone(spill),
            name,
            path,
            extent,
            is_kept,
            lasts: false,
        }
    }

    /// Keeps the file as long as the folder.
    #[doc(hidden)]
    pub fn keep(mut self) {
        self.lasts = true;
    }

    /// Bytes of all records.
    pub(crate) fn bytes(&self) -> u64 {
        self.extent.bytes
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that were read from this file.
    pub(crate) fn stored<'a>(&'a self, bytes: &'a [u8]) -> Stored<'a> {
        Stored::new(bytes, &self.path)
    }

    /// Opens the stream at its beginning.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened.
    #[doc(hidden)]
    pub fn blocks(&self) -> Result<BlockReader<'_>> {
        let file = match self.extent.blocks {
            0 => None,
            _ => Some(File::open(&self.path).map_err(Error::io("read", &self.path))?),
        };
        Ok(BlockReader {
            of: self,
            file,
            next: 0,
        })
    }

    /// The records of each block.
    pub(crate) fn each_block(&self) -> impl Iterator<Item = Result<Vec<u8>>> + Send {
        let mut blocks = Some(self.blocks());
        std::iter::from_fn(move || {
            let mut payload = Vec::new();
            let next = match blocks.as_mut()? {
                Ok(reader) => reader.next(&mut payload),
                Err(_) => blocks.take()?.map(|_| false),
            };
            match next {
                Ok(true) => Some(Ok(payload)),
                Ok(false) => None,
                Err(error) => {
                    blocks = None;
                    Some(Err(error))
                }
            }
        })
    }

    /// Calls `each` with the records of each block.
    ///
    /// # Errors
    /// The errors of [`BlockReader::next`] and of `each`.
    #[doc(hidden)]
    pub fn for_each_block(&self, mut each: impl FnMut(Stored<'_>) -> Result<()>) -> Result<()> {
        let (mut blocks, mut payload) = (self.blocks()?, Vec::new());
        while blocks.next(&mut payload)? {
            each(self.stored(&payload))?;
            payload.clear();
        }
        Ok(())
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        if self.extent.blocks > 0 && !self.lasts {
            self.spill.files().discard(&self.name, &self.path);
        }
    }
}

/// Reads the blocks of a stream in order.
#[derive(Debug)]
#[doc(hidden)]
pub struct BlockReader<'a> {
    of: &'a StreamFile,
    file: Option<File>,
    next: u64,
}

impl BlockReader<'_> {
    /// Appends the records of the next block to `payload`. Returns whether there was one.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, and [`Error::DamagedSpill`] if it is not as it was written.
    #[doc(hidden)]
    pub fn next(&mut self, payload: &mut Vec<u8>) -> Result<bool> {
        let path = &self.of.path;
        let (Some(file), true) = (&mut self.file, self.next < self.of.extent.blocks) else {
            return Ok(false);
        };
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::DamagedSpill { path: path.clone() },
            _ => Error::io("read", path)(error),
        };
        let mut header = [0; HEADER];
        file.read_exact(&mut header).map_err(failed)?;
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i]));
        let (length, number) = (word(0), word(4));
        let stored = u64::from(word(12)) << 32 | u64::from(word(8));
        let damaged = || Error::DamagedSpill { path: path.clone() };
        if u64::from(length) > self.of.extent.bytes || number != header_words(0, self.next).1 {
            return Err(damaged());
        }
        let start = payload.len();
        let read = file.take(length.into()).read_to_end(payload);
        read.map_err(failed)?;
        if checksum(self.of.salt, length, number, &payload[start..]) != stored {
            return Err(damaged());
        }
        let read = &self.of.spill.read;
        read.fetch_add((HEADER + payload.len() - start) as u64, Ordering::Relaxed);
        self.next += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::spill::Budget;

    fn read(file: &StreamFile) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        file.for_each_block(|block| {
            all.extend_from_slice(&block);
            Ok(())
        })?;
        Ok(all)
    }

    fn written(spill: &Arc<Spill>) -> (Vec<u8>, StreamFile) {
        let mut streams = Streams::new(spill, "numbers", 1, 1);
        let mut all = Vec::new();
        for number in 0..5_000u32 {
            all.extend_from_slice(&number.to_le_bytes());
            streams.push(0, &number.to_le_bytes()).unwrap();
        }
        (all, streams.finish_one().unwrap())
    }

    #[test]
    fn records_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let (all, file) = written(&spill);
        assert!(file.extent.blocks > 3);
        assert_eq!(read(&file).unwrap(), all);
        let on_disk = spill.take_use(1);
        assert_eq!(on_disk.written_bytes, on_disk.read_bytes);
        let path = file.path.clone();
        drop(file);
        assert!(!path.exists());
        drop(spill);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn all_threads_write_what_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads);
        for (count, records, threads) in [
            (1, 9_000u16, 4),
            (3, 100, 4),
            (7, 9_000, 1),
            (64, 20_000, 4),
        ] {
            // Some records go to no stream.
            let of: Vec<Option<u16>> = (0..records)
                .map(|i| (i % 5 > 0).then_some(i % 97 % count))
                .collect();
            let streams = |name| Streams::new(&spill, name, count.into(), count.into());
            let write = |i: usize, record: &mut Vec<u8>| {
                record.extend((0..i % 64).map(|byte| (i + byte).to_le_bytes()[0]));
            };
            let (mut one, mut all) = (streams("one"), streams("all"));
            for _ in 0..2 {
                for (i, stream) in of.iter().enumerate() {
                    for stream in stream.iter().copied() {
                        let write = |record: &mut Vec<u8>| write(i, record);
                        one.push_with(stream.into(), write).unwrap();
                    }
                }
                let pool = pool(threads).build().unwrap();
                pool.install(|| all.push_each(&of, write)).unwrap();
            }
            let [one, all] = [one, all].map(|streams| {
                let files = streams.finish().unwrap().into_iter();
                let blocks = |file: StreamFile| file.each_block().collect::<Result<Vec<_>>>();
                files.map(|file| blocks(file).unwrap()).collect::<Vec<_>>()
            });
            assert!(records < 1_000 || one.iter().all(|blocks| blocks.len() > 2));
            assert_eq!(one, all, "{count}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_open_the_folder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let _spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let created = folder.path().read_dir().unwrap().next().unwrap().unwrap();
        assert_eq!(
            created.metadata().unwrap().permissions().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn a_folder_of_a_killed_run_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let count = || folder.path().read_dir().unwrap().count();
        let running = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        // As if it had been killed: its folder stays, and its lock is gone.
        let killed = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let copy = folder.path().join("simgpu-spill-killed");
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join(".lock"), "").unwrap();
        std::fs::write(copy.join("ids-0"), "text").unwrap();
        let unlocked = folder.path().join("simgpu-spill-without-lock");
        std::fs::create_dir(&unlocked).unwrap();
        std::fs::write(unlocked.join("ids-0"), "text").unwrap();
        // As if it had been killed while it removed its folder.
        std::fs::create_dir(folder.path().join("simgpu-spill-empty")).unwrap();
        assert_eq!(count(), 5);
        let next = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        assert_eq!(count(), 4);
        assert!(!copy.exists());
        drop((running, killed, next));
        assert_eq!(count(), 1);
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let (_, file) = written(&spill);
        let intact = std::fs::read(&file.path).unwrap();
        let name = file.path.display().to_string();
        for bit in (0..8 * intact.len()).step_by(977).chain(0..8 * HEADER) {
            let mut changed = intact.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&file.path, changed).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(&name), "bit {bit}: {error}");
        }
        for length in [0, 1, HEADER, 4_000, intact.len() - 1] {
            std::fs::write(&file.path, &intact[..length]).unwrap();
            let error = read(&file).unwrap_err();
            assert!(matches!(error, Error::DamagedSpill { .. }), "{length}");
        }
    }

    #[test]
    fn swapped_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let mut streams = Streams::new(&spill, "twins", 2, 2);
        for (stream, byte) in [(0, b'a'), (1, b'b')] {
            streams.push(stream, &[byte; 9_000]).unwrap();
        }
        let files = streams.finish().unwrap();
        let contents = |file: &StreamFile| std::fs::read(&file.path).unwrap();
        let (first, second) = (contents(&files[0]), contents(&files[1]));
        std::fs::write(&files[0].path, second).unwrap();
        std::fs::write(&files[1].path, first).unwrap();
        for file in &files {
            assert!(matches!(read(file), Err(Error::DamagedSpill { .. })));
        }
    }

    #[test]
    fn swapped_blocks_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
        let (_, file) = written(&spill);
        let intact = std::fs::read(&file.path).unwrap();
        let block = HEADER + (4 << 10);
        let swapped = [
            &intact[block..2 * block],
            &intact[..block],
            &intact[2 * block..],
        ];
        std::fs::write(&file.path, swapped.concat()).unwrap();
        assert!(matches!(read(&file), Err(Error::DamagedSpill { .. })));
    }
}
