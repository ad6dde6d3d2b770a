//! Writes the kept records of each input, and JSON Lines.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::arrow::KeptArrow;
use super::chunk::Kept;
use super::compression::FrameWriter;
use super::kept_table::KeptTable;
use super::read::TableForm;
use super::table;
use simgpu::clock::in_parallel;
use simgpu::error::{Error, Result};

/// The file of the kept records of one input. Copies records and texts byte for byte.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct KeptFile {
    path: PathBuf,
    form: KeptForm,
}

enum KeptForm {
    Bytes {
        frames: FrameWriter,
        /// Bytes that end the file; `None` before the first record.
        ending: Option<Vec<u8>>,
    },
    Parquet(Box<KeptTable<FrameWriter>>),
    Arrow(Box<KeptArrow<FrameWriter>>),
}

impl KeptFile {
    /// Begins the file. `frames` has the compression of the input, and `table` is the form of a Parquet or Arrow
    /// input.
    #[doc(hidden)]
    pub fn new(frames: FrameWriter, path: PathBuf, table: Option<TableForm>) -> Result<Self> {
        let form = match table {
            None => KeptForm::Bytes {
                frames,
                ending: None,
            },
            Some(TableForm::Parquet(form)) => {
                let folder = path.parent().unwrap_or(&path);
                let table = KeptTable::new(frames, form, folder).map_err(unwritable(&path))?;
                KeptForm::Parquet(Box::new(table))
            }
            Some(TableForm::Arrow(form)) => {
                let arrow = KeptArrow::new(frames, form).map_err(unwritable(&path))?;
                KeptForm::Arrow(Box::new(arrow))
            }
        };
        Ok(KeptFile { path, form })
    }

    /// Writes the kept records of a chunk, of which there are some.
    #[doc(hidden)]
    pub fn write(&mut self, kept: Kept) -> Result<()> {
        match (&mut self.form, kept) {
            (KeptForm::Parquet(table), Kept::Rows(rows, group)) => {
                table.write(group, &rows).map_err(unwritable(&self.path))
            }
            (KeptForm::Arrow(table), Kept::Rows(rows, group)) => {
                table.write(group, rows).map_err(unwritable(&self.path))
            }
            (KeptForm::Bytes { frames, ending }, kept) => {
                let [first, between, last] = kept.around();
                let before = if ending.is_some() { between } else { first };
                ending.get_or_insert_with(|| last.to_vec());
                let mut parts = std::iter::once(before).chain(kept.parts());
                let written = parts.try_for_each(|part| frames.write_all(part));
                written.map_err(Error::io("write", &self.path))
            }
            (KeptForm::Parquet(_) | KeptForm::Arrow(_), _) => Ok(()),
        }
    }

    /// Completes the file.
    #[doc(hidden)]
    pub fn finish(self) -> Result<()> {
        let frames = match self.form {
            KeptForm::Bytes { mut frames, ending } => {
                let ending = ending.unwrap_or_default();
                let written = frames.write_all(&ending);
                written.map_err(Error::io("write", &self.path))?;
                frames
            }
            KeptForm::Parquet(table) => table.finish().map_err(unwritable(&self.path))?,
            KeptForm::Arrow(table) => table.finish().map_err(unwritable(&self.path))?,
        };
        frames.finish().map_err(Error::io("write", &self.path))
    }
}

/// The error of a file that cannot be written.
#[doc(hidden)]
pub fn unwritable<E: std::error::Error + 'static>(path: &Path) -> impl FnOnce(E) -> Error {
    let path = path.to_owned();
    move |error| {
        let remedy = if is_of_system(&error) {
            let usual = "free some space, or choose another disk";
            table::remedy_of_writing(&error.to_string(), usual)
        } else {
            "this version cannot write that column: take it out, or give it another type, with a program that reads it, such as \
             DuckDB, or pass `action=report`, which copies no records"
        };
        Error::Output {
            path,
            problem: error.to_string(),
            remedy: remedy.to_owned(),
        }
    }
}

/// What the standard library appends to an error of the system.
const OF_SYSTEM: &str = "(os error ";

/// The error of the operating system in one of CSV.
pub(super) fn system_error(error: csv::Error) -> io::Error {
    if !error.is_io_error() {
        return error.into();
    }
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Whether the system refused to write, not the format. Some writers keep the words of an error alone.
fn is_of_system(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.is::<std::io::Error>() || cause.to_string().contains(OF_SYSTEM))
}

/// Writes a value as a line of JSON.
fn write_line(target: &mut impl Write, line: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *target, line)?;
    target.write_all(b"\n")
}

/// Lines that a thread makes at a time.
const LINES: usize = 256;

/// Writes JSON Lines.
#[doc(hidden)]
#[derive(Debug)]
pub struct JsonLines<W: Write> {
    target: BufWriter<W>,
    path: PathBuf,
    /// Lines that are to be written before the next ones.
    made: Vec<Vec<u8>>,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `target`. Messages call it `path`.
    #[doc(hidden)]
    pub fn new(target: W, path: PathBuf) -> Self {
        JsonLines {
            target: BufWriter::with_capacity(1 << 16, target),
            path,
            made: Vec::new(),
        }
    }

    /// Writes one value as a line.
    #[doc(hidden)]
    pub fn write(&mut self, line: &impl Serialize) -> Result<()> {
        self.write_made()?;
        write_line(&mut self.target, line).map_err(Error::io("write to", &self.path))
    }

    /// Writes a line for each value, in order. Lines are made side by side, while those of the call before are written.
    #[doc(hidden)]
    pub fn write_each<T: Send, L: Serialize>(
        &mut self,
        values: impl IndexedParallelIterator<Item = T>,
        line: impl Fn(T) -> Result<L> + Sync,
    ) -> Result<()>
    where
        W: Send,
    {
        let path = self.path.clone();
        let make = |values: Vec<T>| {
            let mut lines = Vec::new();
            for value in values {
                write_line(&mut lines, &line(value)?).map_err(Error::io("write to", &path))?;
            }
            Ok(lines)
        };
        let make = || values.chunks(LINES).map(make).collect::<Result<_>>();
        let (written, made) = in_parallel(|| rayon::join(|| self.write_made(), make));
        written?;
        self.made = made?;
        Ok(())
    }

    fn write_made(&mut self) -> Result<()> {
        let mut made = std::mem::take(&mut self.made).into_iter();
        made.try_for_each(|lines| self.target.write_all(&lines))
            .map_err(Error::io("write to", &self.path))
    }

    /// Passes on everything written so far.
    #[doc(hidden)]
    pub fn flush(&mut self) -> Result<()> {
        self.write_made()?;
        self.target
            .flush()
            .map_err(Error::io("write to", &self.path))
    }

    /// Flushes the target.
    #[doc(hidden)]
    pub fn finish(mut self) -> Result<()> {
        self.write_made()?;
        self.target
            .flush()
            .map_err(Error::io("write to", &self.path))
    }
}
