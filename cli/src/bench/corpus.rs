//! The corpus that is measured: real texts, and the file that they are in.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use simgpu::documents::{DocumentBatch, TextBatch};
use simgpu::io::{Fields, Inputs, read_documents};
use simgpu::{Error, Result};

/// 7,200 pages of API documentation, of which some are near-duplicates (examples/README.md).
const EXAMPLE: &[u8] = simgpu::internals::EXAMPLE_CORPUS;

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
        let texts = match read_documents(&inputs, &Fields::default())? {
            DocumentBatch::Texts(texts) => texts,
            DocumentBatch::Tokens(_) => TextBatch::default(),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read() {
        let corpus = Corpus::read(None).unwrap();
        assert_eq!(corpus.name, "driver-docs");
        assert_eq!(corpus.texts.len(), 7200);
        assert_eq!(
            corpus.inputs.names().collect::<Vec<_>>(),
            ["driver-docs.jsonl.zst"]
        );
    }
}
