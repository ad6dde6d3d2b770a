//! Writes files of similar pairs: JSON Lines, CSV or Parquet.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_schema::{DataType, Field};
use serde::Serialize;
use serde_json::value::RawValue;

use super::compression::Compression;
use super::kept::JsonLines;
use super::places::Places;
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, unwritable};
use crate::error::{Error, Result};

/// Calls its argument with both rows and the similarity of every pair.
pub(crate) type ForEachPair<'a> =
    &'a dyn Fn(&mut dyn FnMut(u32, u32, Option<f64>) -> Result<()>) -> Result<()>;

/// The format of a file of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairsFormat {
    /// JSON Lines: one JSON object per pair.
    JsonLines,
    /// Comma-separated values with a header.
    Csv,
    /// Parquet: one row per pair.
    Parquet,
}

impl PairsFormat {
    /// The format for the extension of a file name. JSON Lines and CSV may have a second extension, that of
    /// their compression: `.gz` or `.zst`.
    ///
    /// # Errors
    /// [`Error::Output`] for an unknown extension.
    pub fn of_path(path: &Path) -> Result<Self> {
        Ok(PairsFormat::with_compression(path)?.0)
    }

    /// The format and the compression for the extensions of a file name.
    pub(crate) fn with_compression(path: &Path) -> Result<(Self, Compression)> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let compressions = [
            (".gz", Compression::Gzip),
            (".gzip", Compression::Gzip),
            (".zst", Compression::Zstd),
            (".zstd", Compression::Zstd),
        ];
        let stripped = compressions
            .iter()
            .find_map(|(ending, compression)| Some((name.strip_suffix(ending)?, *compression)));
        let (name, compression) = stripped.unwrap_or((&name, Compression::None));
        let refuse = |problem: &str, remedy: &str| {
            Err(Error::Output {
                path: path.to_owned(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        match Path::new(name)
            .extension()
            .and_then(|ending| ending.to_str())
        {
            Some("jsonl" | "ndjson" | "json") => Ok((PairsFormat::JsonLines, compression)),
            Some("csv") => Ok((PairsFormat::Csv, compression)),
            Some("parquet" | "pq") if compression != Compression::None => refuse(
                "Parquet is compressed already",
                "choose a name that ends in .parquet",
            ),
            Some("parquet" | "pq") => Ok((PairsFormat::Parquet, compression)),
            _ => refuse(
                "unknown file extension",
                "choose a name that ends in .jsonl, .csv or .parquet, or in .jsonl.zst, .jsonl.gz, .csv.zst or .csv.gz",
            ),
        }
    }
}

/// One line of JSON.
#[derive(Serialize)]
struct PairLine<'a> {
    id_a: &'a RawValue,
    id_b: &'a RawValue,
    similarity: Option<f64>,
    file_a: &'a str,
    row_a: u64,
    file_b: &'a str,
    row_b: u64,
}

const COLUMNS: [&str; 7] = [
    "id_a",
    "id_b",
    "similarity",
    "file_a",
    "row_a",
    "file_b",
    "row_b",
];

/// Writes pairs as JSON Lines or CSV.
pub(crate) fn write_text(
    for_each_pair: ForEachPair<'_>,
    places: &Places,
    format: PairsFormat,
    target: impl Write,
    path: &Path,
) -> Result<()> {
    if format != PairsFormat::Csv {
        let mut lines = JsonLines::new(target, path.to_owned());
        for_each_pair(&mut |a, b, similarity| {
            let ((file_a, row_a), (file_b, row_b)) = (places.place(a), places.place(b));
            let (id_a, id_b) = (places.raw_id(a), places.raw_id(b));
            lines.write(&PairLine {
                id_a: &id_a,
                id_b: &id_b,
                similarity,
                file_a,
                row_a,
                file_b,
                row_b,
            })
        })?;
        return lines.finish();
    }
    let mut csv = csv::Writer::from_writer(BufWriter::with_capacity(1 << 16, target));
    let failed = |error: csv::Error| Error::io("write", path)(error.into());
    csv.write_record(COLUMNS).map_err(failed)?;
    for_each_pair(&mut |a, b, similarity| {
        let ((file_a, row_a), (file_b, row_b)) = (places.place(a), places.place(b));
        let similarity = similarity.map(|s| s.to_string()).unwrap_or_default();
        csv.write_record([
            &*plain_id(&places.id(a)),
            &*plain_id(&places.id(b)),
            &similarity,
            file_a,
            &row_a.to_string(),
            file_b,
            &row_b.to_string(),
        ])
        .map_err(failed)
    })?;
    csv.flush().map_err(Error::io("write", path))
}

/// An id without JSON quotes.
fn plain_id(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// Writes pairs among `documents` documents as Parquet.
pub(crate) fn write_table(
    for_each_pair: ForEachPair<'_>,
    places: &Places,
    documents: u32,
    file: File,
    path: &Path,
) -> Result<()> {
    const BATCH: usize = 1 << 16;
    let ids = IdColumn::for_ids((0..documents).map(|row| places.id(row)));
    let columns = vec![
        ids.field("id_a"),
        ids.field("id_b"),
        Field::new("similarity", DataType::Float64, true),
        Field::new("file_a", DataType::Utf8, false),
        Field::new("row_a", DataType::UInt64, false),
        Field::new("file_b", DataType::Utf8, false),
        Field::new("row_b", DataType::UInt64, false),
    ];
    let mut table = ColumnWriter::new(file, columns, []).map_err(unwritable(path))?;
    let mut write = |batch: &mut Vec<(u32, u32, Option<f64>)>| {
        let (a, b) = (
            || batch.iter().map(|pair| pair.0),
            || batch.iter().map(|pair| pair.1),
        );
        let columns = vec![
            ids.array(a().map(|row| places.id(row))),
            ids.array(b().map(|row| places.id(row))),
            f64s(batch.iter().map(|pair| pair.2)),
            strings(a().map(|row| places.place(row).0)),
            u64s(a().map(|row| places.place(row).1)),
            strings(b().map(|row| places.place(row).0)),
            u64s(b().map(|row| places.place(row).1)),
        ];
        let written = table.write(columns).map_err(unwritable(path));
        batch.clear();
        written
    };
    let mut batch = Vec::with_capacity(BATCH);
    for_each_pair(&mut |a, b, similarity| {
        batch.push((a, b, similarity));
        if batch.len() == BATCH {
            write(&mut batch)?;
        }
        Ok(())
    })?;
    write(&mut batch)?;
    table.finish().map_err(unwritable(path))
}
