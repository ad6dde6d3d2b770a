//! Reads what a deduplication says of some documents: rows of `clusters.parquet`, and of the removed documents in any of
//! their formats.
//!
//! A table is read twice: first the columns that tell which rows are wanted, then all columns of those rows. Lines are
//! parsed only if they hold the number of a wanted row.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use memchr::memmem::Finder;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::removals::RemovedFormat;
use super::sized_file::SizedFile;
use simgpu::error::{Error, Result};
use simgpu::store::disk::is_file;

/// Where a document is: whether that is the reference, its file, as in reports, and the number of its record there, from 0.
#[doc(hidden)]
pub type PlaceOfRow = (bool, String, u64);

/// A document in a result of a deduplication.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DocumentPlace {
    /// The id, as JSON.
    pub id: Box<RawValue>,
    /// The file, as in reports.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
    /// Whether it is of the reference.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

impl DocumentPlace {
    /// A document of the inputs.
    #[doc(hidden)]
    pub fn in_input(id: Box<RawValue>, file: String, row: u64) -> Self {
        DocumentPlace {
            id,
            file,
            row,
            reference: false,
        }
    }
}

/// A removed document, as `removed.jsonl` names it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemovedRow {
    /// The id, as JSON.
    pub id: Box<RawValue>,
    /// The file.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
    /// The id of the document kept instead, as JSON; `None` if there is none.
    pub kept_id: Option<Box<RawValue>>,
    /// Where it is: `input`, `reference` or `index`; `None` in a run without a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
    /// Its file, or the folder of the index.
    pub kept_file: Option<String>,
    /// The number of its record in the file, from 0, or its number in the index.
    pub kept_row: Option<u64>,
    /// The similarity of the two; `None` if not computed.
    #[serde(deserialize_with = "exact_number")]
    pub similarity: Option<f64>,
    /// The share of its shingles that the kept one lacks; `None` unless the two were compared exactly.
    #[serde(default, deserialize_with = "exact_number")]
    pub lost: Option<f64>,
    /// How it was found ([`Removal::found_by`](simgpu::pipeline::Removal::found_by)).
    pub found_by: String,
    /// The id of the next document on the chain to the kept one, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via_id: Option<Box<RawValue>>,
    /// The similarity to that document.
    #[serde(
        default,
        deserialize_with = "exact_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub via_similarity: Option<f64>,
}

/// Reads a number as it was written: `serde_json` alone may be off by the last bit.
fn exact_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let number = written.map(|written| written.get().parse().map_err(D::Error::custom));
    number.transpose()
}

impl RemovedRow {
    /// The removed document.
    pub fn document(&self) -> DocumentPlace {
        DocumentPlace {
            id: self.id.clone(),
            file: self.file.clone(),
            row: self.row,
            reference: false,
        }
    }

    /// The document kept instead, if there is one.
    pub fn kept(&self) -> Option<DocumentPlace> {
        Some(DocumentPlace {
            id: self.kept_id.clone()?,
            file: self.kept_file.clone()?,
            row: self.kept_row?,
            reference: self.is_kept_in_reference(),
        })
    }

    fn is_kept_in_reference(&self) -> bool {
        matches!(self.kept_in.as_deref(), Some("reference" | "index"))
    }

    /// Whether it is at one of these places, or removed for a document there.
    fn is_of(&self, places: &[PlaceOfRow]) -> bool {
        places.iter().any(|(reference, file, row)| {
            let is_kept = self.kept_file.as_deref() == Some(file)
                && self.kept_row == Some(*row)
                && self.is_kept_in_reference() == *reference;
            is_kept || (false, &self.file, self.row) == (*reference, file, *row)
        })
    }
}

/// The text of an id: that of a JSON string, or the digits of a number.
pub fn id_text(id: &RawValue) -> String {
    serde_json::from_str::<String>(id.get()).unwrap_or_else(|_| id.get().to_owned())
}

/// A document that `clusters.parquet` names.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ClusterRow {
    #[doc(hidden)]
    pub document: DocumentPlace,
    #[doc(hidden)]
    pub is_kept: bool,
}

/// Every document with this id. As many ids that resemble it as `near` has room for go there, if there is no such document.
#[doc(hidden)]
pub fn documents_of_id(
    path: &Path,
    id: &str,
    near: usize,
) -> Result<(Vec<ClusterRow>, Vec<String>)> {
    let (_, rows) = rows_of_table(path, &["id"], |ids, row| is_id(ids, row, id))?;
    if rows.iter().any(|batch| batch.num_rows() > 0) {
        let mut found = Vec::new();
        for batch in &rows {
            for row in 0..batch.num_rows() {
                found.push(cluster_row(path, batch, row)?);
            }
        }
        return Ok((found, Vec::new()));
    }
    let folded = id.trim().to_lowercase();
    let mut resembling: Vec<String> = Vec::new();
    rows_of_table(path, &["id"], |ids, row| {
        if resembling.len() < near && !folded.is_empty() {
            let known = text_of_id(ids, row);
            let lower = known.trim().to_lowercase();
            if lower == folded || folded.len() > 2 && lower.contains(&folded) {
                resembling.push(known);
            }
        }
        false
    })?;
    Ok((Vec::new(), resembling))
}

fn cluster_row(path: &Path, batch: &RecordBatch, row: usize) -> Result<ClusterRow> {
    let of_row = Cells { path, batch, row };
    Ok(ClusterRow {
        document: DocumentPlace {
            id: of_row.id("id")?.ok_or_else(|| of_row.odd("id"))?,
            file: of_row.text("file")?.ok_or_else(|| of_row.odd("file"))?,
            row: of_row.count("row")?.ok_or_else(|| of_row.odd("row"))?,
            reference: false,
        },
        is_kept: match of_row.column("kept")?.as_boolean_opt() {
            Some(kept) => kept.value(row),
            None => return Err(of_row.odd("kept")),
        },
    })
}

/// The file of the removed documents in a folder of results.
#[derive(Debug)]
#[doc(hidden)]
pub struct RemovedFile {
    pub(crate) path: PathBuf,
    format: RemovedFormat,
}

impl RemovedFile {
    /// Finds it; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told.
    #[doc(hidden)]
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        let formats = [
            RemovedFormat::JsonLines,
            RemovedFormat::JsonLinesZstd,
            RemovedFormat::Parquet,
        ];
        for format in formats {
            let path = folder.join(format.file_name());
            if is_file(&path)? {
                return Ok(Some(RemovedFile { path, format }));
            }
        }
        Ok(None)
    }

    /// The error that it is not as it was written.
    #[doc(hidden)]
    pub fn odd(&self, problem: &str) -> Error {
        odd(&self.path, problem)
    }

    /// Calls `each` with the documents at these places, and those removed for documents there, in order. Returns the number
    /// of all removed documents.
    #[doc(hidden)]
    pub fn for_each_of(
        &self,
        places: &[PlaceOfRow],
        mut each: impl FnMut(RemovedRow),
    ) -> Result<u64> {
        if self.format != RemovedFormat::Parquet {
            return self.lines_of(places, each);
        }
        let is_of = |column: &dyn Array, row: usize| {
            let numbers = column.as_primitive_opt::<UInt64Type>();
            let number = numbers.filter(|numbers| numbers.is_valid(row));
            let number = number.map(|numbers| numbers.value(row));
            places.iter().any(|(.., row)| Some(*row) == number)
        };
        let (rows, batches) = rows_of_table(&self.path, &["row", "kept_row"], is_of)?;
        for batch in batches {
            for row in 0..batch.num_rows() {
                let row = Cells {
                    path: &self.path,
                    batch: &batch,
                    row,
                };
                let removed = row.removed()?;
                if removed.is_of(places) {
                    each(removed);
                }
            }
        }
        Ok(rows)
    }

    fn lines_of(&self, places: &[PlaceOfRow], mut each: impl FnMut(RemovedRow)) -> Result<u64> {
        let failed = || Error::io("read", &self.path);
        let file = File::open(&self.path).map_err(failed())?;
        let lines = self.format.compression().reader(file).map_err(failed())?;
        let mut lines = BufReader::with_capacity(1 << 20, lines);
        // A comma follows each number of a row, whichever it is of.
        let needles: Vec<String> = places
            .iter()
            .map(|(.., row)| format!("row\":{row},"))
            .collect();
        let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
        let (mut line, mut number) = (Vec::new(), 0u64);
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(failed())? == 0 {
                return Ok(number);
            }
            number += 1;
            if !finders.iter().any(|finder| finder.find(&line).is_some()) {
                continue;
            }
            let removed: RemovedRow = serde_json::from_slice(&line)
                .map_err(|error| odd(&self.path, &format!("line {number}: {error}")))?;
            if removed.is_of(places) {
                each(removed);
            }
        }
    }
}

/// The cells of a row of a table.
struct Cells<'a> {
    path: &'a Path,
    batch: &'a RecordBatch,
    row: usize,
}

impl Cells<'_> {
    fn odd(&self, name: &str) -> Error {
        odd(
            self.path,
            &format!("the column {name} is not as dedup writes it"),
        )
    }

    fn column(&self, name: &str) -> Result<&dyn Array> {
        let column = self.batch.column_by_name(name);
        column.map(|column| &**column).ok_or_else(|| self.odd(name))
    }

    fn value<T>(&self, name: &str, get: impl Fn(&dyn Array) -> Option<T>) -> Result<Option<T>> {
        let column = self.column(name)?;
        if column.is_null(self.row) {
            Ok(None)
        } else {
            get(column).map(Some).ok_or_else(|| self.odd(name))
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        let text =
            |column: &dyn Array| Some(column.as_string_opt::<i32>()?.value(self.row).to_owned());
        self.value(name, text)
    }

    fn count(&self, name: &str) -> Result<Option<u64>> {
        let count =
            |column: &dyn Array| Some(column.as_primitive_opt::<UInt64Type>()?.value(self.row));
        self.value(name, count)
    }

    fn number(&self, name: &str) -> Result<Option<f64>> {
        let number =
            |column: &dyn Array| Some(column.as_primitive_opt::<Float64Type>()?.value(self.row));
        self.value(name, number)
    }

    /// The value in a column that some runs do not write.
    fn optional<T>(
        &self,
        name: &str,
        get: impl Fn(&Self, &str) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self.batch.column_by_name(name) {
            Some(_) => get(self, name),
            None => Ok(None),
        }
    }

    fn id(&self, name: &str) -> Result<Option<Box<RawValue>>> {
        self.value(name, |column| match column.data_type() {
            DataType::Int64 | DataType::Utf8 => {
                let json = match column.as_string_opt::<i32>() {
                    Some(texts) => serde_json::to_string(texts.value(self.row)).ok()?,
                    None => column
                        .as_primitive::<Int64Type>()
                        .value(self.row)
                        .to_string(),
                };
                RawValue::from_string(json).ok()
            }
            _ => None,
        })
    }

    fn removed(&self) -> Result<RemovedRow> {
        let needed = |name: &str| self.odd(name);
        Ok(RemovedRow {
            id: self.id("id")?.ok_or_else(|| needed("id"))?,
            file: self.text("file")?.ok_or_else(|| needed("file"))?,
            row: self.count("row")?.ok_or_else(|| needed("row"))?,
            kept_id: self.id("kept_id")?,
            kept_in: self.optional("kept_in", Cells::text)?,
            kept_file: self.text("kept_file")?,
            kept_row: self.count("kept_row")?,
            similarity: self.number("similarity")?,
            lost: self.optional("lost", Cells::number)?,
            found_by: self.text("found_by")?.ok_or_else(|| needed("found_by"))?,
            via_id: self.id("via_id")?,
            via_similarity: self.number("via_similarity")?,
        })
    }
}

fn text_of_id(ids: &dyn Array, row: usize) -> String {
    match (
        ids.as_string_opt::<i32>(),
        ids.as_primitive_opt::<Int64Type>(),
    ) {
        (Some(texts), _) => texts.value(row).to_owned(),
        (None, Some(numbers)) => numbers.value(row).to_string(),
        (None, None) => String::new(),
    }
}

fn is_id(ids: &dyn Array, row: usize, id: &str) -> bool {
    match (
        ids.as_string_opt::<i32>(),
        ids.as_primitive_opt::<Int64Type>(),
    ) {
        (Some(texts), _) => texts.value(row) == id,
        // Only one way to write a number is an id.
        (None, Some(numbers)) => {
            let number = numbers.value(row);
            id.parse() == Ok(number) && number.to_string() == id
        }
        (None, None) => false,
    }
}

/// The number of rows of a Parquet file, and all columns of those in one of whose columns `keys` the value at a row `is_wanted`.
fn rows_of_table(
    path: &Path,
    keys: &[&str],
    mut is_wanted: impl FnMut(&dyn Array, usize) -> bool,
) -> Result<(u64, Vec<RecordBatch>)> {
    const BATCH: usize = 1 << 16;
    let open = || {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let file = SizedFile::new(file).map_err(Error::io("read", path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file);
        let builder = builder.map_err(|error| odd(path, &error.to_string()))?;
        Ok::<_, Error>(builder.with_batch_size(BATCH))
    };
    let unreadable = |error: &dyn std::fmt::Display| odd(path, &error.to_string());
    let builder = open()?;
    let names = keys.iter().copied();
    let projection = ProjectionMask::columns(builder.parquet_schema(), names);
    let reader = builder.with_projection(projection).build();
    let (mut wanted, mut rows) = (Vec::new(), 0);
    for batch in reader.map_err(|error| unreadable(&error))? {
        let batch = batch.map_err(|error| unreadable(&error))?;
        if batch.num_columns() != keys.len() {
            return Err(odd(path, "it lacks columns that dedup writes"));
        }
        let columns = batch.columns();
        for row in 0..batch.num_rows() {
            // All are asked, so that each is seen.
            if columns.iter().any(|column| is_wanted(&**column, row)) {
                wanted.push(rows + row..rows + row + 1);
            }
        }
        rows += batch.num_rows();
    }
    if wanted.is_empty() {
        return Ok((rows as u64, Vec::new()));
    }
    let selection = RowSelection::from_consecutive_ranges(wanted.into_iter(), rows);
    let reader = open()?.with_row_selection(selection).build();
    let batches = reader.map_err(|error| unreadable(&error))?;
    let batches = batches.map(|batch| batch.map_err(|error| unreadable(&error)));
    Ok((rows as u64, batches.collect::<Result<_>>()?))
}

fn odd(path: &Path, problem: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: problem.to_owned(),
        remedy: "run dedup again to write it anew".to_owned(),
    }
}
