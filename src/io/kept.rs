//! Writes the kept records of each input, and JSON Lines.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::file::metadata::ParquetMetaData;
use serde::Serialize;

use super::compression::FrameWriter;
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
    /// Begins the file. `frames` has the compression of the input, and `table` is the form of a Parquet input.
    pub(crate) fn new(
        frames: FrameWriter,
        path: PathBuf,
        table: Option<TableForm>,
    ) -> Result<Self> {
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
