//! Writes the kept records of each input, and `removed.jsonl`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::file::metadata::ParquetMetaData;
use serde::Serialize;
use serde_json::value::RawValue;

use super::compression::FrameWriter;
use super::input::InputFile;
use super::read::{Chunk, Contents};
use super::table::KeptTable;
use crate::error::{Error, Result};

/// The schema and the metadata of a Parquet file.
pub(crate) type TableForm = (SchemaRef, Arc<ParquetMetaData>);

/// The file of the kept records of one input. Copies lines and texts byte for byte.
pub(crate) struct KeptFile {
    path: PathBuf,
    form: KeptForm,
}

enum KeptForm {
    Bytes(FrameWriter),
    Table(Box<KeptTable<FrameWriter>>),
}

impl KeptFile {
    /// Begins the file for an input, in the same format and compression. `table` is the form of a Parquet input.
    pub(crate) fn new(
        file: File,
        path: PathBuf,
        input: &InputFile,
        table: Option<TableForm>,
    ) -> Result<Self> {
        let frames = FrameWriter::new(file, input.original_compression);
        let form = match table {
            None => KeptForm::Bytes(frames),
            Some((schema, metadata)) => KeptForm::Table(Box::new(
                KeptTable::new(frames, schema, &metadata).map_err(unwritable(&path))?,
            )),
        };
        Ok(KeptFile { path, form })
    }

    /// Writes the records of a chunk that `keeps` marks. It has one entry per record.
    pub(crate) fn write(&mut self, chunk: &Chunk, keeps: Vec<bool>) -> Result<()> {
        match (&mut self.form, &chunk.contents) {
            (KeptForm::Table(table), Contents::Rows(rows)) => {
                table.write(rows, keeps).map_err(unwritable(&self.path))
            }
            (KeptForm::Bytes(frames), _) => {
                let keeps = |record: u64| {
                    let record = usize::try_from(record).ok();
                    record.is_some_and(|record| keeps[record])
                };
                let written = chunk.write_kept(keeps, frames);
                written.map_err(Error::io("write", &self.path))
            }
            (KeptForm::Table(_), _) => Ok(()),
        }
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<()> {
        let frames = match self.form {
            KeptForm::Bytes(frames) => frames,
            KeptForm::Table(table) => table.finish().map_err(unwritable(&self.path))?,
        };
        frames.finish().map_err(Error::io("write", &self.path))
    }
}

fn unwritable(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Error {
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
