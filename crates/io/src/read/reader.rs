//! The events of one file, in order.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::errors::{NOT_UTF_8, changed, unreadable};
use super::event::Event;
use super::files::FilesReading;
use super::fingerprint::Fingerprint;
use super::open_file::OpenFile;
use super::options::Columns;
use crate::chunk::Chunk;
use crate::fields::for_reference;
use crate::input::InputFile;
use simgpu::error::{Error, Result};

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Whether the current thread is reading a file. A panic then becomes an error about the file: the readers of tables
/// panic on some damaged files.
pub fn is_reading() -> bool {
    IS_READING.get()
}

impl<'a> FilesReading<'a> {
    /// The events of a file.
    #[doc(hidden)]
    pub fn file(&self, file: usize) -> Reader<'_> {
        Reader {
            file,
            input: &self.files[file],
            shared: self,
            state: if file < self.first_file {
                ReaderState::Ended
            } else {
                ReaderState::Unopened
            },
            chunks: 0,
        }
    }
}

/// The events of a file, in order: perhaps a table, then chunks, then its end. After an error, nothing more; if the
/// limit is reached before the file is opened, nothing at all.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Reader<'a> {
    pub(super) file: usize,
    pub(super) input: &'a InputFile,
    pub(super) shared: &'a FilesReading<'a>,
    pub(super) state: ReaderState<'a>,
    /// The number of chunks so far.
    pub(super) chunks: u64,
}

pub(super) enum ReaderState<'a> {
    Unopened,
    Open(OpenFile<'a>, Fingerprint),
    Ended,
}

impl Iterator for Reader<'_> {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        let before = IS_READING.replace(true);
        // The readers of tables panic on some damaged files.
        let next = catch_unwind(AssertUnwindSafe(|| self.next_event()));
        IS_READING.set(before);
        let next = next.unwrap_or_else(|_| Err(unreadable(self.input, "the file is damaged")));
        let state = match next {
            Ok(_) => return next.transpose(),
            Err(_) => std::mem::replace(&mut self.state, ReaderState::Ended),
        };
        // What looks like damage may be what another program is writing.
        let has_changed = match &state {
            // The error that ended the reading is the one to report.
            ReaderState::Open(_, opened) => opened.is_outdated(self.input).unwrap_or(false),
            ReaderState::Unopened | ReaderState::Ended => false,
        };
        Some(Err(match (next, has_changed) {
            (
                Err(Error::Input {
                    path,
                    problem,
                    remedy,
                }),
                false,
            ) if self.shared.reading.is_reference(self.file) => Error::Input {
                path,
                problem,
                remedy: for_reference(&remedy),
            },
            // The other columns were read before, so the run needs this one only for copies.
            (
                Err(Error::Input {
                    path,
                    problem,
                    remedy,
                }),
                false,
            ) if self.shared.reading.columns == Columns::All && problem.contains(NOT_UTF_8) => {
                Error::Input {
                    path,
                    problem,
                    remedy: format!("{remedy}; or pass `action=report`, which copies no records"),
                }
            }
            (Err(error), false) => error,
            _ => changed(self.input),
        }))
    }
}

impl Reader<'_> {
    fn next_event(&mut self) -> Result<Option<Event>> {
        let limit = &self.shared.limit;
        let is_limited = !self.shared.reading.is_reference(self.file);
        if matches!(self.state, ReaderState::Unopened) && !(is_limited && limit.is_reached()) {
            let table = self.open()?;
            if let Some(form) = table {
                return Ok(Some(Event::Table(form)));
            }
        }
        let contents = match &mut self.state {
            ReaderState::Unopened | ReaderState::Ended => return Ok(None),
            ReaderState::Open(..) if is_limited && limit.is_reached() => None,
            ReaderState::Open(parts, read) => parts.next(self.input, read)?,
        };
        if let Some(contents) = contents {
            if self.chunks == 0 {
                self.check_header(&contents)?;
            }
            self.chunks += 1;
            return Ok(Some(Event::Chunk(Chunk {
                file: self.file,
                number: self.chunks - 1,
                contents: if is_limited {
                    limit.first_of(contents)
                } else {
                    contents
                },
            })));
        }
        let ReaderState::Open(parts, mut fingerprint) =
            std::mem::replace(&mut self.state, ReaderState::Ended)
        else {
            return Ok(None);
        };
        if let OpenFile::Records(records) = &parts {
            let (_, stream) = records.stream.get_ref();
            (fingerprint.checksum, fingerprint.bytes) = (stream.hasher.digest(), stream.bytes);
        }
        Ok(Some(Event::End {
            file: self.file,
            fingerprint,
        }))
    }
}
