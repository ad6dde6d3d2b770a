//! Writes the kept records of each input, and `removed.jsonl`.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::RawValue;

use super::arrow::KeptArrow;
use super::chunk::{Chunk, Contents};
use super::compression::FrameWriter;
use super::input::InputFile;
use super::read::TableForm;
use super::table::KeptTable;
use crate::error::{Error, Result};

/// The file of the kept records of one input. Copies records and texts byte for byte.
pub(crate) struct KeptFile {
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
    /// Begins the file for an input, in the same format and compression. `table` is the form of a Parquet or
    /// Arrow input.
    pub(crate) fn new(
        file: File,
        path: PathBuf,
        input: &InputFile,
        table: Option<TableForm>,
    ) -> Result<Self> {
        let frames = FrameWriter::new(file, input.original_compression);
        let form = match table {
            None => KeptForm::Bytes {
                frames,
                ending: None,
            },
            Some(TableForm::Parquet(schema, metadata)) => KeptForm::Parquet(Box::new(
                KeptTable::new(frames, schema, &metadata).map_err(unwritable(&path))?,
            )),
            Some(TableForm::Arrow(form)) => {
                let arrow = KeptArrow::new(frames, form).map_err(unwritable(&path))?;
                KeptForm::Arrow(Box::new(arrow))
            }
        };
        Ok(KeptFile { path, form })
    }

    /// Writes the records of a chunk that `keeps` marks. It has one entry per record.
    pub(crate) fn write(&mut self, chunk: &Chunk, keeps: Vec<bool>) -> Result<()> {
        match (&mut self.form, &chunk.contents) {
            (KeptForm::Parquet(table), Contents::Rows { rows, .. }) => {
                table.write(rows, keeps).map_err(unwritable(&self.path))
            }
            (KeptForm::Arrow(table), Contents::Rows { rows, .. }) => {
                table.write(rows, keeps).map_err(unwritable(&self.path))
            }
            (KeptForm::Bytes { frames, ending }, _) => {
                let keeps = |record: u64| {
                    let record = usize::try_from(record).ok();
                    record.is_some_and(|record| keeps[record])
                };
                let [first, between, last] = chunk.around_kept();
                let written = chunk.write_kept(keeps, frames, |frames| {
                    let before = if ending.is_some() { between } else { first };
                    ending.get_or_insert_with(|| last.to_vec());
                    frames.write_all(before)
                });
                written.map_err(Error::io("write", &self.path))
            }
            (KeptForm::Parquet(_) | KeptForm::Arrow(_), _) => Ok(()),
        }
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<()> {
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

fn unwritable<E: Display>(path: &Path) -> impl FnOnce(E) -> Error {
    let path = path.to_owned();
    move |error| Error::Output {
        path,
        problem: error.to_string(),
        remedy: "free some space, or choose another folder".to_owned(),
    }
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
pub(crate) struct RemovedLine<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) file: &'a str,
    pub(crate) row: u64,
    pub(crate) kept_id: &'a RawValue,
    pub(crate) kept_file: &'a str,
    pub(crate) kept_row: u64,
    pub(crate) similarity: Option<f64>,
    pub(crate) found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) via_id: Option<&'a RawValue>,
    /// Absent if there is no neighbour; null if its similarity was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) via_similarity: Option<Option<f64>>,
}

/// Writes JSON Lines.
pub(crate) struct JsonLines<W: Write> {
    target: BufWriter<W>,
    path: PathBuf,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `target`. Messages call it `path`.
    pub(crate) fn new(target: W, path: PathBuf) -> Self {
        JsonLines {
            target: BufWriter::with_capacity(1 << 16, target),
            path,
        }
    }

    /// Writes one value as a line.
    pub(crate) fn write(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.target, line)
            .map_err(std::io::Error::from)
            .and_then(|()| self.target.write_all(b"\n"))
            .map_err(Error::io("write", &self.path))
    }

    /// Flushes the target.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.target.flush().map_err(Error::io("write", &self.path))
    }
}
