//! The reading of all files, on all threads.

use std::io::{self, Read};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::errors::broken;
use super::event::{Event, Position};
use super::options::Reading;
use crate::chunk::{CHUNK, Chunk};
use crate::compression::Compression;
use crate::fields::Wanted;
use crate::input::InputFile;
use crate::kind::other_kind;
use crate::limit::Limit;
use simgpu::error::{Error, Result};
use simgpu_base::threads::{Ahead, map_in_order};

/// The most bytes of a compressed file that are read again to tell damage from a bad record.
const CHECKED: u64 = 64 << 20;

/// The reading of all files. The threads of the current rayon pool take turns at each file, and read several files at
/// the same time.
#[doc(hidden)]
#[derive(Debug)]
pub struct FilesReading<'a> {
    pub(super) files: &'a [InputFile],
    pub(super) reading: Reading<'a>,
    pub(super) consumed: AtomicU64,
    pub(super) limit: Limit,
    pub(super) first_file: usize,
    /// Whether some file has a field of the texts that another lacks: of the inputs, and of the reference.
    pub(super) known_fields: [Vec<OnceLock<bool>>; 2],
}

impl<'a> FilesReading<'a> {
    #[doc(hidden)]
    pub fn new(files: &'a [InputFile], reading: Reading<'a>) -> Result<Self> {
        reading.wanted.check()?;
        if let Some((_, wanted)) = reading.reference {
            wanted.check()?;
        }
        let reference = reading.reference.map(|(_, wanted)| wanted);
        let known_fields = [Some(reading.wanted), reference].map(|wanted| {
            let fields = match wanted {
                Some(Wanted::Document(fields)) => fields.content.len(),
                _ => 0,
            };
            (0..fields).map(|_| OnceLock::new()).collect()
        });
        Ok(FilesReading {
            files,
            consumed: AtomicU64::new(0),
            limit: Limit::new(reading.limit),
            reading,
            first_file: 0,
            known_fields,
        })
    }

    /// Leaves out the files before a place. Of its own file, the chunks before it come, too: what they hold decides where
    /// the next ones begin.
    #[doc(hidden)]
    pub fn starting_at(self, position: &Position) -> Self {
        let before = &self.files[..position.file.min(self.files.len())];
        let consumed = before.iter().map(InputFile::stored_bytes).sum();
        let left = self
            .reading
            .limit
            .map(|limit| limit.saturating_sub(position.records));
        FilesReading {
            consumed: AtomicU64::new(consumed),
            limit: Limit::new(left),
            first_file: position.file,
            ..self
        }
    }

    /// File bytes read so far.
    #[doc(hidden)]
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// How far threads may read ahead. `weigh` counts chunks.
    #[doc(hidden)]
    pub fn ahead<T>(&self, weigh: fn(&T) -> usize) -> Ahead<T> {
        Ahead {
            weigh,
            waiting: self.reading.batch_bytes / CHUNK,
            // Which records of a file the limit allows depends on the files before it.
            inputs: if self.limit.is_set() { 1 } else { usize::MAX },
        }
    }

    /// Calls `map` for all chunks, on all threads, and `each` for the results and all other events, in order. If none
    /// comes, calls `each` with `None` every few milliseconds.
    #[doc(hidden)]
    pub fn map<T: Send>(
        &self,
        map: impl Fn(Chunk) -> Result<T> + Sync,
        each: impl FnMut(Option<Event<T>>) -> Result<()>,
    ) -> Result<()> {
        let map = |event: Result<Event>| {
            Ok(match event? {
                Event::Table(form) => Event::Table(form),
                Event::Chunk(chunk) => Event::Chunk(map(chunk)?),
                Event::End { file, fingerprint } => Event::End { file, fingerprint },
            })
        };
        let files = self.files.len();
        let ahead = self.ahead(|event: &Result<Event>| match event {
            Ok(Event::Chunk(chunk)) => chunk.weight(),
            _ => 1,
        });
        let read = map_in_order(files, ahead, |file| self.file(file), map, each);
        read.map_err(|error| self.cause_of(error))
    }

    /// The cause of an error: a damaged stream may decompress to anything, so that its damage can show first as a bad record,
    /// or as a file that cannot be cut. To find it, its stream is read to its end, or up to [`CHECKED`]. A file of another kind
    /// than its name says is one whose first record is bad, or that cannot be read at all.
    fn cause_of(&self, error: Error) -> Error {
        let (named, is_first, first) = match &error {
            Error::BadRecord(record) => (&record.file, record.row == 0, Some(&*record.problem)),
            Error::Input { path, .. } => (path, true, None),
            _ => return error,
        };
        let mut files = self.files.iter().enumerate();
        let Some((number, file)) = files.find(|(_, file)| file.named == *named) else {
            return error;
        };
        let is_stream = file.compression != Compression::None && !file.format.is_table();
        let damage = Some(file).filter(|_| is_stream).and_then(|file| {
            let stored = file.open().ok()?.take(CHECKED);
            let stream = file.compression.reader(stored);
            let read = stream.and_then(|mut stream| io::copy(&mut stream, &mut io::sink()));
            let is_whole = file.stored_bytes() <= CHECKED;
            let is_damage =
                |broken: &io::Error| is_whole || broken.kind() != io::ErrorKind::UnexpectedEof;
            Some(broken(file, &read.err().filter(is_damage)?))
        });
        let takes_format = matches!(self.reading.wanted_of(number), Wanted::Document(_));
        let kind_error = || {
            is_first
                .then(|| other_kind(file, first, takes_format))
                .flatten()
        };
        damage.or_else(kind_error).unwrap_or_else(|| match error {
            Error::Input {
                path,
                problem,
                remedy,
            } => Error::Input {
                problem: self.with_owner(number, &problem).unwrap_or(problem),
                path,
                remedy,
            },
            error => error,
        })
    }
}
