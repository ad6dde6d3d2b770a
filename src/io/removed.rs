//! Writes the removed documents: `removed.jsonl` or `removed.parquet`.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use arrow_schema::{DataType, Field};
use serde::Serialize;
use serde_json::value::RawValue;

use super::kept::JsonLines;
use super::places::{Places, raw_json};
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, unwritable};
use crate::error::Result;

/// The format of the file of removed documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemovedFormat {
    /// `removed.jsonl`: one JSON object per document.
    #[default]
    JsonLines,
    /// `removed.parquet`: one row per document.
    Parquet,
}

impl RemovedFormat {
    /// The name of the file.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            RemovedFormat::JsonLines => "removed.jsonl",
            RemovedFormat::Parquet => "removed.parquet",
        }
    }
}

/// A removed document, with the ids of all documents that it names, as JSON.
#[derive(Clone, Debug)]
pub(crate) struct RemovedDocument<'a> {
    pub(crate) row: u32,
    pub(crate) id: Cow<'a, str>,
    pub(crate) kept: u32,
    pub(crate) kept_id: Cow<'a, str>,
    pub(crate) similarity: Option<f64>,
    pub(crate) found_by: &'static str,
    pub(crate) via: Option<Via<'a>>,
}

/// The next document on a chain of similar pairs that leads to the kept one.
#[derive(Clone, Debug)]
pub(crate) struct Via<'a> {
    pub(crate) id: Cow<'a, str>,
    /// The similarity of the removed document to it, if computed.
    pub(crate) similarity: Option<f64>,
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
struct RemovedLine<'a> {
    id: &'a RawValue,
    file: &'a str,
    row: u64,
    kept_id: &'a RawValue,
    kept_file: &'a str,
    kept_row: u64,
    similarity: Option<f64>,
    found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    via_id: Option<&'a RawValue>,
    /// Absent if there is no neighbour; null if its similarity was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    via_similarity: Option<Option<f64>>,
}

/// Writes `removed.jsonl`.
pub(crate) fn write_removed_lines<'a>(
    removed: impl Iterator<Item = Result<RemovedDocument<'a>>>,
    places: &Places,
    file: File,
    path: &Path,
) -> Result<()> {
    let mut lines = JsonLines::new(file, path.to_owned());
    for removed in removed {
        let removed = removed?;
        let (id, kept_id) = (raw_json(removed.id), raw_json(removed.kept_id));
        let via_similarity = removed.via.as_ref().map(|via| via.similarity);
        let via_id = removed.via.map(|via| raw_json(via.id));
        let (file, row) = places.place(removed.row);
        let (kept_file, kept_row) = places.place(removed.kept);
        lines.write(&RemovedLine {
            id: &id,
            file,
            row,
            kept_id: &kept_id,
            kept_file,
            kept_row,
            similarity: removed.similarity,
            found_by: removed.found_by,
            via_id: via_id.as_deref(),
            via_similarity,
        })?;
    }
    lines.finish()
}

/// Writes `removed.parquet`: the fields of `removed.jsonl` as columns. `ids` fits all ids.
pub(crate) fn write_removed_table<'a>(
    mut removed: impl Iterator<Item = Result<RemovedDocument<'a>>>,
    places: &Places,
    ids: IdColumn,
    file: File,
    path: &Path,
) -> Result<()> {
    const BATCH: usize = 1 << 16;
    let columns = vec![
        ids.field("id"),
        Field::new("file", DataType::Utf8, false),
        Field::new("row", DataType::UInt64, false),
        ids.field("kept_id"),
        Field::new("kept_file", DataType::Utf8, false),
        Field::new("kept_row", DataType::UInt64, false),
        Field::new("similarity", DataType::Float64, true),
        Field::new("found_by", DataType::Utf8, false),
        ids.field("via_id").with_nullable(true),
        Field::new("via_similarity", DataType::Float64, true),
    ];
    let mut table = ColumnWriter::new(file, columns, []).map_err(unwritable(path))?;
    loop {
        let batch: Vec<RemovedDocument<'_>> =
            removed.by_ref().take(BATCH).collect::<Result<_>>()?;
        if batch.is_empty() {
            return table.finish().map_err(unwritable(path));
        }
        let rows = || batch.iter().map(|removed| removed.row);
        let kept = || batch.iter().map(|removed| removed.kept);
        let via = || batch.iter().map(|removed| removed.via.as_ref());
        let columns = vec![
            ids.array(batch.iter().map(|removed| &removed.id)),
            strings(rows().map(|row| places.place(row).0)),
            u64s(rows().map(|row| places.place(row).1)),
            ids.array(batch.iter().map(|removed| &removed.kept_id)),
            strings(kept().map(|row| places.place(row).0)),
            u64s(kept().map(|row| places.place(row).1)),
            f64s(batch.iter().map(|removed| removed.similarity)),
            strings(batch.iter().map(|removed| removed.found_by)),
            ids.array_of_options(via().map(|via| Some(&via?.id))),
            f64s(via().map(|via| via?.similarity)),
        ];
        table.write(columns).map_err(unwritable(path))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::places::SourceFile;

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
        let removed = |row: u32, via: Option<Option<f64>>| RemovedDocument {
            row,
            id: format!("\"{row}\"").into(),
            kept: 1,
            kept_id: "1".into(),
            similarity: via.flatten(),
            found_by: "exact",
            via: via.map(|similarity| Via {
                id: "7".into(),
                similarity,
            }),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("removed.jsonl");
        let all = [
            removed(0, None),
            removed(3, Some(None)),
            removed(4, Some(Some(0.5))),
        ];
        let all = all.into_iter().map(Ok);
        write_removed_lines(all, &places, File::create(&path).unwrap(), &path).unwrap();
        let kept = r#""kept_id":1,"kept_file":"a","kept_row":1"#;
        let expected = [
            format!(
                r#"{{"id":"0","file":"a","row":0,{kept},"similarity":null,"found_by":"exact"}}"#
            ),
            format!(
                r#"{{"id":"3","file":"b","row":1,{kept},"similarity":null,"found_by":"exact","via_id":7,"via_similarity":null}}"#
            ),
            format!(
                r#"{{"id":"4","file":"b","row":2,{kept},"similarity":0.5,"found_by":"exact","via_id":7,"via_similarity":0.5}}"#
            ),
        ];
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        // An error among them ends the writing.
        let failed = [Err(crate::Error::Stopped)].into_iter();
        let file = File::create(&path).unwrap();
        assert!(write_removed_lines(failed, &places, file, &path).is_err());
    }
}
