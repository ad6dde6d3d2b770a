//! Writes files of similar pairs: JSON Lines, CSV or Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_schema::{DataType, Field};
use serde::Serialize;
use serde_json::value::RawValue;

use super::compression::Compression;
use super::keep::{JsonLines, system_error};
use super::places::{Places, raw_json};
use super::table::{ColumnWriter, f64s, strings, u64s, unwritable};
use simgpu::error::{Error, Result};

/// A pair to write, with both ids as JSON.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct PairToWrite<'a> {
    /// Both rows.
    #[doc(hidden)]
    pub rows: [u32; 2],
    #[doc(hidden)]
    pub ids: [Cow<'a, str>; 2],
    #[doc(hidden)]
    pub measured: Measured,
}

/// Pairs to write.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct PairsToWrite<'f, 'a> {
    /// Calls its argument with every pair.
    #[doc(hidden)]
    pub for_each: ForEachPair<'f, 'a>,
    /// What the pairs have: all of them the same.
    #[doc(hidden)]
    pub measure: Measure,
    /// The places of the documents.
    #[doc(hidden)]
    pub places: &'a Places,
}

/// Calls its argument with every pair.
type ForEachPair<'f, 'a> = &'f dyn Fn(&mut dyn FnMut(PairToWrite<'a>) -> Result<()>) -> Result<()>;

/// What says how alike two documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Measure {
    /// The similarity.
    Similarity,
    /// The distance.
    Distance,
}

/// How alike two documents are.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Measured {
    /// Their similarity, if it is known.
    Similarity(Option<f64>),
    /// Their distance.
    Distance(u64),
}

impl Measured {
    /// The similarity, unless there is a distance.
    fn similarity(self) -> Option<Option<f64>> {
        match self {
            Measured::Similarity(similarity) => Some(similarity),
            Measured::Distance(_) => None,
        }
    }

    fn distance(self) -> Option<u64> {
        match self {
            Measured::Similarity(_) => None,
            Measured::Distance(distance) => Some(distance),
        }
    }
}

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
    #[doc(hidden)]
    pub fn with_compression(path: &Path) -> Result<(Self, Compression)> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u64>,
    file_a: &'a str,
    row_a: u64,
    file_b: &'a str,
    row_b: u64,
}

/// The names of the columns.
fn columns(measure: Measure) -> [&'static str; 7] {
    let measure = match measure {
        Measure::Similarity => "similarity",
        Measure::Distance => "distance",
    };
    [
        "id_a", "id_b", measure, "file_a", "row_a", "file_b", "row_b",
    ]
}

/// Writes pairs as JSON Lines or CSV.
#[doc(hidden)]
pub fn write_text(
    pairs: &PairsToWrite<'_, '_>,
    format: PairsFormat,
    target: impl Write,
    path: &Path,
) -> Result<()> {
    let places = pairs.places;
    if format != PairsFormat::Csv {
        let mut lines = JsonLines::new(target, path.to_owned());
        (pairs.for_each)(&mut |pair| {
            let [(file_a, row_a), (file_b, row_b)] = pair.rows.map(|row| places.place(row));
            let [id_a, id_b] = pair.ids.map(raw_json);
            let measured = pair.measured;
            lines.write(&PairLine {
                id_a: &id_a,
                id_b: &id_b,
                similarity: measured.similarity(),
                distance: measured.distance(),
                file_a,
                row_a,
                file_b,
                row_b,
            })
        })?;
        return lines.finish();
    }
    let mut csv = csv::Writer::from_writer(BufWriter::with_capacity(1 << 16, target));
    let failed = |error: csv::Error| Error::io("write to", path)(system_error(error));
    csv.write_record(columns(pairs.measure)).map_err(failed)?;
    (pairs.for_each)(&mut |pair| {
        let [(file_a, row_a), (file_b, row_b)] = pair.rows.map(|row| places.place(row));
        let [id_a, id_b] = &pair.ids;
        let measured = match pair.measured {
            Measured::Similarity(similarity) => similarity.map(|s| s.to_string()),
            Measured::Distance(distance) => Some(distance.to_string()),
        };
        csv.write_record([
            &*plain_id(id_a),
            &*plain_id(id_b),
            &measured.unwrap_or_default(),
            file_a,
            &row_a.to_string(),
            file_b,
            &row_b.to_string(),
        ])
        .map_err(failed)
    })?;
    csv.flush().map_err(Error::io("write to", path))
}

/// An id without JSON quotes.
fn plain_id(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// Writes pairs as Parquet.
#[doc(hidden)]
pub fn write_table(pairs: &PairsToWrite<'_, '_>, file: File, path: &Path) -> Result<()> {
    const BATCH: usize = 1 << 16;
    let (places, measure) = (pairs.places, pairs.measure);
    let [id_a, id_b, measured, file_a, row_a, file_b, row_b] = columns(measure);
    let ids = places.id_column();
    let columns = vec![
        ids.field(id_a),
        ids.field(id_b),
        match measure {
            Measure::Similarity => Field::new(measured, DataType::Float64, true),
            Measure::Distance => Field::new(measured, DataType::UInt64, false),
        },
        Field::new(file_a, DataType::Utf8, false),
        Field::new(row_a, DataType::UInt64, false),
        Field::new(file_b, DataType::Utf8, false),
        Field::new(row_b, DataType::UInt64, false),
    ];
    let mut table = ColumnWriter::new(file, columns, []).map_err(unwritable(path))?;
    let mut write = |batch: &mut Vec<PairToWrite<'_>>| {
        let of = |side: usize| batch.iter().map(move |pair| places.place(pair.rows[side]));
        let ids_of = |side: usize| ids.array(batch.iter().map(move |pair| &pair.ids[side]));
        let measured = batch.iter().map(|pair| pair.measured);
        let columns = vec![
            ids_of(0),
            ids_of(1),
            match measure {
                Measure::Similarity => {
                    f64s(measured.map(|measured| measured.similarity().flatten()))
                }
                Measure::Distance => u64s(measured.filter_map(Measured::distance)),
            },
            strings(of(0).map(|(file, _)| file)),
            u64s(of(0).map(|(_, row)| row)),
            strings(of(1).map(|(file, _)| file)),
            u64s(of(1).map(|(_, row)| row)),
        ];
        let written = table.write(columns).map_err(unwritable(path));
        batch.clear();
        written
    };
    let mut batch = Vec::with_capacity(BATCH);
    (pairs.for_each)(&mut |pair| {
        batch.push(pair);
        if batch.len() == BATCH {
            write(&mut batch)?;
        }
        Ok(())
    })?;
    write(&mut batch)?;
    table.finish().map_err(unwritable(path))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::places::SourceFile;

    fn places() -> Places {
        let file = |relative: &str, first_row, records| SourceFile {
            relative: relative.to_owned(),
            first_row,
            records,
            fingerprint: None,
        };
        Places {
            files: vec![file("a", 0, 2), file("b,c", 2, 3)],
            ..Places::default()
        }
    }

    /// Writes two pairs.
    fn with_pairs<'p>(
        places: &'p Places,
        measure: Measure,
        write: &dyn Fn(&PairsToWrite<'_, 'p>) -> Result<()>,
    ) {
        let pair = |rows, ids: [&'p str; 2], measured| PairToWrite {
            rows,
            ids: ids.map(Cow::Borrowed),
            measured,
        };
        let measured = |number: u32| match measure {
            Measure::Similarity => Measured::Similarity((number > 0).then_some(0.5)),
            Measure::Distance => Measured::Distance(u64::from(number)),
        };
        let for_each = |each: &mut dyn FnMut(PairToWrite<'p>) -> Result<()>| {
            each(pair([0, 3], ["\"x\"", "7"], measured(0)))?;
            each(pair([1, 4], ["\"y,z\"", "\"8\""], measured(1)))
        };
        let pairs = PairsToWrite {
            for_each: &for_each,
            measure,
            places,
        };
        write(&pairs).unwrap();
    }

    #[test]
    fn texts_have_one_line_per_pair() {
        let places = places();
        let text = |measure, format| {
            let text = std::cell::RefCell::new(Vec::new());
            with_pairs(&places, measure, &|pairs| {
                write_text(pairs, format, &mut *text.borrow_mut(), Path::new("out"))
            });
            String::from_utf8(text.into_inner()).unwrap()
        };
        let csv = "id_a,id_b,similarity,file_a,row_a,file_b,row_b\nx,7,,a,0,\"b,c\",1\n\"y,z\",8,0.5,a,1,\"b,c\",2\n";
        assert_eq!(text(Measure::Similarity, PairsFormat::Csv), csv);
        let lines = concat!(
            r#"{"id_a":"x","id_b":7,"distance":0,"file_a":"a","row_a":0,"file_b":"b,c","row_b":1}"#,
            "\n",
            r#"{"id_a":"y,z","id_b":"8","distance":1,"file_a":"a","row_a":1,"file_b":"b,c","row_b":2}"#,
            "\n",
        );
        assert_eq!(text(Measure::Distance, PairsFormat::JsonLines), lines);
        let unknown = text(Measure::Similarity, PairsFormat::JsonLines);
        assert!(unknown.contains(r#""similarity":null"#) && !unknown.contains("distance"));
    }

    #[test]
    fn tables_have_one_row_per_pair() {
        let (places, folder) = (places(), tempfile::tempdir().unwrap());
        let path = folder.path().join("pairs.parquet");
        with_pairs(&places, Measure::Similarity, &|pairs| {
            write_table(pairs, File::create(&path).unwrap(), &path)
        });
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap());
        let mut reader = reader.unwrap().build().unwrap();
        let rows = reader.next().unwrap().unwrap();
        let texts = |name: &str| {
            let column = rows.column_by_name(name).unwrap().as_string::<i32>();
            [column.value(0), column.value(1)]
        };
        let numbers = |name: &str| {
            let column = rows
                .column_by_name(name)
                .unwrap()
                .as_primitive::<UInt64Type>();
            [column.value(0), column.value(1)]
        };
        assert_eq!((texts("id_a"), texts("id_b")), (["x", "y,z"], ["7", "8"]));
        assert_eq!((texts("file_a"), texts("file_b")), (["a"; 2], ["b,c"; 2]));
        assert_eq!((numbers("row_a"), numbers("row_b")), ([0, 1], [1, 2]));
        let similarity = rows.column_by_name("similarity").unwrap();
        let similarity = similarity.as_primitive::<Float64Type>().iter();
        assert!(similarity.eq([None, Some(0.5)]));
    }

    #[test]
    fn formats_are_those_of_endings() {
        let of = |name: &str| PairsFormat::with_compression(Path::new(name)).ok();
        for (name, expected) in [
            ("a.jsonl", Some((PairsFormat::JsonLines, Compression::None))),
            (
                "a.JSON.gz",
                Some((PairsFormat::JsonLines, Compression::Gzip)),
            ),
            ("a.csv.zst", Some((PairsFormat::Csv, Compression::Zstd))),
            ("a.pq", Some((PairsFormat::Parquet, Compression::None))),
            ("a.parquet.gz", None),
            ("a.gz", None),
            ("a", None),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }
}
