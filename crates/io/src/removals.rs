//! Writes the removed documents: `removed.jsonl`, `removed.jsonl.zst` or `removed.parquet`.

use std::fs::File;
use std::path::Path;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;

use super::compression::{Compression, FrameWriter};
use super::keep::JsonLines;
use super::places::{Places, raw_json};
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, unwritable};
use simgpu::error::{Error, Result};
use simgpu::pipeline::{NamedRow, Removal, Removed, VerificationNames};

/// The format of the file of removed documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemovedFormat {
    /// `removed.jsonl`: one JSON object per document.
    #[default]
    JsonLines,
    /// `removed.jsonl.zst`: the same, compressed with zstd.
    JsonLinesZstd,
    /// `removed.parquet`: one row per document.
    Parquet,
}

impl RemovedFormat {
    /// The name of the file.
    #[doc(hidden)]
    pub fn file_name(self) -> &'static str {
        match self {
            RemovedFormat::JsonLines => "removed.jsonl",
            RemovedFormat::JsonLinesZstd => "removed.jsonl.zst",
            RemovedFormat::Parquet => "removed.parquet",
        }
    }

    /// The compression of the file. Parquet compresses within.
    #[doc(hidden)]
    pub fn compression(self) -> Compression {
        match self {
            RemovedFormat::JsonLines | RemovedFormat::Parquet => Compression::None,
            RemovedFormat::JsonLinesZstd => Compression::Zstd,
        }
    }
}

/// The place of the column `kept_in`, if there is a reference.
const KEPT_IN: usize = 4;

/// A line of `removed.jsonl`.
#[derive(Serialize)]
struct RemovedLine<'a> {
    id: Box<RawValue>,
    file: &'a str,
    row: u64,
    kept_id: Option<Box<RawValue>>,
    /// Absent in a run without a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<Option<&'static str>>,
    kept_file: Option<&'a str>,
    kept_row: Option<u64>,
    similarity: Option<f64>,
    lost: Option<f64>,
    found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    via_id: Option<Box<RawValue>>,
    /// Absent if there is no neighbour; null if its similarity was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    via_similarity: Option<Option<f64>>,
}

/// The removed documents in memory at a time.
const BLOCK: usize = 1 << 15;

/// The file of the removed documents of a run.
#[derive(Debug)]
#[doc(hidden)]
pub struct RemovedDocuments<'a> {
    #[doc(hidden)]
    pub places: &'a Places,
    /// How those were found that are not identical to a kept document.
    #[doc(hidden)]
    pub verification: VerificationNames,
    /// What messages call the file.
    #[doc(hidden)]
    pub path: &'a Path,
}

impl<'p> RemovedDocuments<'p> {
    /// Writes the lines of `removed.jsonl`, and finishes `frames`. `name` adds the ids, on all threads.
    #[doc(hidden)]
    pub fn write_lines<'a, D: Send>(
        &self,
        mut removals: impl Iterator<Item = Result<Removed<D>>>,
        name: impl Fn(Removed<D>) -> Result<Removed<NamedRow<'a>>> + Sync,
        mut frames: FrameWriter,
    ) -> Result<()> {
        let mut lines = JsonLines::new(&mut frames, self.path.to_owned());
        let line = |removed| Ok(self.line(&name(removed)?));
        loop {
            let block: Vec<Removed<D>> = removals.by_ref().take(BLOCK).collect::<Result<_>>()?;
            if block.is_empty() {
                break;
            }
            lines.write_each(block.into_par_iter(), line)?;
        }
        lines.finish()?;
        frames.finish().map_err(Error::io("write", self.path))
    }

    /// The line of a removed document.
    fn line(&self, removed: &Removed<NamedRow<'_>>) -> RemovedLine<'p> {
        let places = self.places;
        let NamedRow { row, id } = removed.document();
        let (file, row) = places.place(*row);
        let removal = removed.removal();
        let kept = removal.map(|removal| &removal.kept);
        let kept_in = kept.and_then(|kept| places.kept_in(kept.row));
        let (kept_file, kept_row) = kept.map(|kept| places.place(kept.row)).unzip();
        let (via_id, via_similarity) = removal
            .and_then(|removal| removal.via.as_ref())
            .map(|(via, similarity)| (raw_json(via.id.clone()), *similarity))
            .unzip();
        RemovedLine {
            id: raw_json(id.clone()),
            file,
            row,
            kept_id: kept.map(|kept| raw_json(kept.id.clone())),
            kept_in: (places.reference_files > 0).then_some(kept_in),
            kept_file,
            kept_row,
            similarity: removal.and_then(|removal| removal.similarity),
            lost: removal.and_then(Removal::lost),
            found_by: self.found_by(removed),
            via_id,
            via_similarity,
        }
    }

    /// How a removed document was found.
    fn found_by(&self, removed: &Removed<NamedRow<'_>>) -> &'static str {
        let is_in_index = |document: &NamedRow<'_>| self.places.is_in_index(document.row);
        removed.found_by(self.verification, is_in_index)
    }

    /// Writes `removed.parquet`: the fields of `removed.jsonl` as columns. `ids` fits all ids. A document may have no
    /// kept one if `may_drop`.
    #[doc(hidden)]
    pub fn write_table<'a>(
        &self,
        mut removals: impl Iterator<Item = Result<Removed<NamedRow<'a>>>>,
        ids: IdColumn,
        may_drop: bool,
        file: File,
    ) -> Result<()> {
        const BATCH: usize = 1 << 16;
        let fields = self.fields(ids, may_drop);
        let mut table = ColumnWriter::new(file, fields, []).map_err(unwritable(self.path))?;
        loop {
            let batch: Vec<Removed<NamedRow<'_>>> =
                removals.by_ref().take(BATCH).collect::<Result<_>>()?;
            if batch.is_empty() {
                return table.finish().map_err(unwritable(self.path));
            }
            let columns = self.columns(&batch, ids);
            table.write(columns).map_err(unwritable(self.path))?;
        }
    }

    fn fields(&self, ids: IdColumn, may_drop: bool) -> Vec<Field> {
        let mut fields = vec![
            ids.field("id"),
            Field::new("file", DataType::Utf8, false),
            Field::new("row", DataType::UInt64, false),
            ids.field("kept_id").with_nullable(may_drop),
            Field::new("kept_file", DataType::Utf8, may_drop),
            Field::new("kept_row", DataType::UInt64, may_drop),
            Field::new("similarity", DataType::Float64, true),
            Field::new("lost", DataType::Float64, true),
            Field::new("found_by", DataType::Utf8, false),
            ids.field("via_id").with_nullable(true),
            Field::new("via_similarity", DataType::Float64, true),
        ];
        if self.places.reference_files > 0 {
            fields.insert(KEPT_IN, Field::new("kept_in", DataType::Utf8, may_drop));
        }
        fields
    }

    fn columns(&self, batch: &[Removed<NamedRow<'_>>], ids: IdColumn) -> Vec<ArrayRef> {
        let places = self.places;
        let documents = || batch.iter().map(Removed::document);
        let removals = || batch.iter().map(Removed::removal);
        let kept = || removals().map(|removal| Some(&removal?.kept));
        let kept_places = || kept().map(|kept| Some(places.place(kept?.row)));
        let via = || removals().map(|removal| removal?.via.as_ref());
        let mut columns = vec![
            ids.array(documents().map(|document| &document.id)),
            strings(documents().map(|document| places.place(document.row).0)),
            u64s(documents().map(|document| places.place(document.row).1)),
            ids.array_of_options(kept().map(|kept| Some(&kept?.id))),
            strings(kept_places().map(|place| Some(place?.0))),
            u64s(kept_places().map(|place| Some(place?.1))),
            f64s(removals().map(|removal| removal?.similarity)),
            f64s(removals().map(|removal| removal?.lost())),
            strings(batch.iter().map(|removed| self.found_by(removed))),
            ids.array_of_options(via().map(|via| Some(&via?.0.id))),
            f64s(via().map(|via| via?.1)),
        ];
        if places.reference_files > 0 {
            let kept_in = kept().map(|kept| places.kept_in(kept?.row));
            columns.insert(KEPT_IN, strings(kept_in));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::SourceFile;
    use simgpu::pipeline::{Dropped, Overlap};

    #[test]
    fn lines_say_where_documents_are() {
        let file = |relative: &str, first_row, records| SourceFile {
            relative: relative.to_owned(),
            first_row,
            records,
            fingerprint: None,
        };
        let places = Places {
            files: vec![file("a", 0, 2), file("b", 2, 3)],
            ..Places::default()
        };
        let named = |row: u32, id: String| NamedRow { row, id: id.into() };
        let removed = |row: u32, via: Option<Option<f64>>| {
            Removed::For(Removal {
                document: named(row, format!("\"{row}\"")),
                kept: named(1, "1".to_owned()),
                is_identical: row == 0,
                similarity: via.flatten(),
                overlap: via.flatten().map(|_| Overlap {
                    sizes: [8, 9],
                    shared: 7,
                }),
                via: via.map(|similarity| (named(9, "7".to_owned()), similarity)),
            })
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("removed.jsonl");
        let all = [
            removed(0, None),
            removed(3, Some(None)),
            removed(4, Some(Some(0.5))),
            Removed::Dropped(named(2, "null".to_owned()), Dropped::Short),
        ];
        let all = all.into_iter().map(Ok);
        let frames = || FrameWriter::new(File::create(&path).unwrap(), Compression::None, None);
        let file = RemovedDocuments {
            places: &places,
            verification: VerificationNames {
                texts: "exact",
                index: "signature",
            },
            path: &path,
        };
        file.write_lines(all, Ok, frames()).unwrap();
        let kept = r#""kept_id":1,"kept_file":"a","kept_row":1"#;
        let expected = [
            format!(
                r#"{{"id":"0","file":"a","row":0,{kept},"similarity":null,"lost":0.0,"found_by":"identical"}}"#
            ),
            format!(
                r#"{{"id":"3","file":"b","row":1,{kept},"similarity":null,"lost":null,"found_by":"exact","via_id":7,"via_similarity":null}}"#
            ),
            format!(
                r#"{{"id":"4","file":"b","row":2,{kept},"similarity":0.5,"lost":0.125,"found_by":"exact","via_id":7,"via_similarity":0.5}}"#
            ),
            r#"{"id":null,"file":"b","row":0,"kept_id":null,"kept_file":null,"kept_row":null,"similarity":null,"lost":null,"found_by":"short"}"#
                .to_owned(),
        ];
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        // An error among them ends the writing.
        let failed = [Err(simgpu::Error::Stopped)].into_iter();
        assert!(file.write_lines(failed, Ok, frames()).is_err());
    }
}
