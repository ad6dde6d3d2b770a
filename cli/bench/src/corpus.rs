//! The corpus to measure: real texts, and the files that hold them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;

use simgpu::documents::{DocumentBatch, TextBatch};
use simgpu::store::WorkFolder;
use simgpu::{Error, Result};
use simgpu_io::{Fields, Inputs, read_documents};

/// 7,200 pages of API documentation, some of them near-duplicates (examples/README.md).
const EXAMPLE: &[u8] = simgpu::internals::EXAMPLE_CORPUS;

/// Texts, and the files that hold them.
#[derive(Debug)]
pub struct BenchCorpus {
    /// File name without extensions.
    pub name: String,
    /// The files that hold the documents.
    pub inputs: Inputs,
    /// All documents.
    pub texts: TextBatch,
    /// Keeps the file of the example until the corpus is dropped.
    _folder: Option<WorkFolder>,
}

impl BenchCorpus {
    /// Reads a file or folder with texts in the field `text`; `None` reads the example.
    ///
    /// # Errors
    /// [`Error::Input`], [`Error::BadRecord`], [`Error::Io`].
    pub fn read(path: Option<&Path>) -> Result<Self> {
        match path {
            Some(path) => BenchCorpus::from_file(path, None),
            None => {
                let folder = temporary_folder()?;
                let path = folder.path().join("driver-docs.jsonl.zst");
                fs::write(&path, EXAMPLE).map_err(Error::io("write", &path))?;
                BenchCorpus::from_file(&path, Some(folder))
            }
        }
    }

    fn from_file(path: &Path, folder: Option<WorkFolder>) -> Result<Self> {
        let inputs = Inputs::find(&[path.to_owned()], None)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file_name.split('.').next().unwrap_or_default().to_owned();
        let texts = match read_documents(&inputs, &Fields::default(), None)? {
            DocumentBatch::Texts(texts) => texts,
            DocumentBatch::Tokens(_) | DocumentBatch::Weighted(_) => TextBatch::default(),
        };
        Ok(BenchCorpus {
            name,
            inputs,
            texts,
            _folder: folder,
        })
    }

    /// Bytes of all texts.
    pub(crate) fn text_bytes(&self) -> usize {
        self.texts.iter().map(str::len).sum()
    }
}

/// A temporary folder, removed on drop.
pub(crate) fn temporary_folder() -> Result<WorkFolder> {
    WorkFolder::new(&std::env::temp_dir())
}

/// Writes texts as zstd-compressed JSON Lines with their numbers as ids.
pub(crate) fn write_texts<'a>(path: &Path, texts: impl Iterator<Item = &'a str>) -> Result<()> {
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
    fn example_has_7200_documents() {
        let corpus = BenchCorpus::read(None).unwrap();
        assert_eq!(corpus.name, "driver-docs");
        assert_eq!(corpus.texts.len(), 7200);
        assert_eq!(
            corpus.inputs.names().collect::<Vec<_>>(),
            ["driver-docs.jsonl.zst"]
        );
    }
}
