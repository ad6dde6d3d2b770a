//! The corpus that is measured: real texts, and the file that they are in.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::io::{Columns, Event, Fields, Inputs, Record, read_all};
use crate::pipeline::{DocumentBatch, TextBatch};

/// 7,200 pages of API documentation, of which some are near-duplicates (examples/README.md).
const EXAMPLE: &[u8] = include_bytes!("../../examples/driver-docs.jsonl.zst");

/// Chunks of files that wait to be parsed.
const WAITING_BYTES: usize = 16 << 20;

/// Texts, and the files they were read from.
#[derive(Debug)]
pub struct Corpus {
    /// The name of its file, without endings.
    pub name: String,
    /// The files.
    pub inputs: Inputs,
    /// All documents.
    pub texts: TextBatch,
    /// Holds the example's file for as long as it is wanted.
    _folder: Option<TempDir>,
}

impl Corpus {
    /// Reads a file or a folder with texts in the field `text`, or, without one, the example.
    ///
    /// # Errors
    /// As of a run over files: [`Error::Input`], [`Error::BadRecord`], [`Error::Io`].
    pub fn read(path: Option<&Path>) -> Result<Self> {
        match path {
            Some(path) => Corpus::of_file(path, None),
            None => {
                let folder = temporary_folder()?;
                let path = folder.path().join("driver-docs.jsonl.zst");
                fs::write(&path, EXAMPLE).map_err(Error::io("write", &path))?;
                Corpus::of_file(&path, Some(folder))
            }
        }
    }

    fn of_file(path: &Path, folder: Option<TempDir>) -> Result<Self> {
        let none = Path::new("");
        let inputs = Inputs::find(&[path.to_owned()], None, none)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file_name.split('.').next().unwrap_or_default().to_owned();
        let texts = read_texts(&inputs)?;
        Ok(Corpus {
            name,
            inputs,
            texts,
            _folder: folder,
        })
    }

    /// Bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.texts.iter().map(str::len).sum()
    }
}

/// A folder that goes when it is dropped.
pub(super) fn temporary_folder() -> Result<TempDir> {
    tempfile::tempdir().map_err(Error::io("make a folder in", std::env::temp_dir()))
}

/// Writes texts as JSON Lines, compressed by zstd, each with its number as id.
pub(super) fn write_texts<'a>(path: &Path, texts: impl Iterator<Item = &'a str>) -> Result<()> {
    let write = || {
        let mut lines = zstd::Encoder::new(BufWriter::new(File::create(path)?), 3)?;
        for (id, text) in texts.enumerate() {
            writeln!(lines, "{}", json!({"id": id, "text": text}))?;
        }
        lines.finish()?.flush()
    };
    write().map_err(Error::io("write", path))
}

fn read_texts(inputs: &Inputs) -> Result<TextBatch> {
    let fields = Fields::default();
    let mut texts = TextBatch::default();
    read_all(
        inputs,
        &fields,
        Columns::Needed,
        WAITING_BYTES,
        |events, _| {
            let mut batch = fields.empty_batch();
            let mut numbers = vec![0; inputs.files.len()];
            for event in events {
                let Event::Chunk(chunk) = event? else {
                    continue;
                };
                for record in chunk.parse(&fields, |_| true, &mut batch) {
                    let row = numbers[chunk.file];
                    numbers[chunk.file] += 1;
                    if let Record::Bad { line, problem } = record {
                        return Err(Error::BadRecord(crate::error::BadRecord {
                            file: PathBuf::from(&inputs.files[chunk.file].path),
                            row,
                            line,
                            problem,
                        }));
                    }
                }
                if let DocumentBatch::Texts(read) = &batch {
                    read.iter().for_each(|text| texts.push(text));
                }
            }
            Ok(())
        },
    )?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read() {
        let corpus = Corpus::read(None).unwrap();
        assert_eq!(corpus.name, "driver-docs");
        assert_eq!(corpus.texts.len(), 7200);
        assert!(corpus.inputs.files[0].path.exists());
    }
}
