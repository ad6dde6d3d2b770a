//! files -> all similar pairs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, Field};
use serde::Serialize;
use serde_json::value::RawValue;

use super::corpus::{Corpus, SignatureFile, Source};
use super::report::{Counts, Outcome, note_counts, note_oddities};
use super::search::{Candidates, Search, Verification};
use crate::error::{Error, Result};
use crate::io::{ColumnWriter, IdColumn, OutputFile, f64s, strings, u64s};
use crate::pipeline::{LargeBuckets, SimilarPair, SimilarPairs};
use crate::progress::{Progress, Timings};

/// How pairs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairsFormat {
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values with a header.
    Csv,
    /// A table.
    Parquet,
}

impl PairsFormat {
    /// The format that the ending of a file name asks for.
    ///
    /// # Errors
    /// [`Error::Output`] for any other ending.
    pub fn of_path(path: &Path) -> Result<Self> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("jsonl" | "ndjson" | "json") => Ok(PairsFormat::JsonLines),
            Some("csv") => Ok(PairsFormat::Csv),
            Some("parquet" | "pq") => Ok(PairsFormat::Parquet),
            _ => Err(Error::Output {
                path: path.to_owned(),
                problem: "its name does not say in what format to write".to_owned(),
                remedy: "let it end in .jsonl, .csv or .parquet".to_owned(),
            }),
        }
    }
}

/// Finds all similar pairs and writes them to `output`, sorted by row; to stdout as JSON Lines if it
/// is `-`.
///
/// Documents with the same units are pairs of similarity 1, and share the pairs of each other. Of a
/// group of more such documents than `max_bucket`, the pairs with its first one are given.
///
/// # Errors
/// Whatever keeps an input from being read or the output from being written; then there is none.
pub fn find_pairs(
    source: &Source<'_>,
    search: &Search,
    output: &Path,
    overwrite: bool,
) -> Result<Outcome> {
    let mut timings = Timings::default();
    let (target, spill) = Target::create(output, overwrite)?;
    let held_bytes = match search.verification {
        Verification::Exact => search.held_bytes,
        Verification::None | Verification::Signature => 0,
    };
    let candidates = Candidates::read(source, search, held_bytes, spill, &mut timings)?;
    let found = candidates.compare(source.progress, search, LargeBuckets::Omit, &mut timings)?;
    let counts = write_pairs(&candidates.corpus, &found, search, target, &mut timings)?;
    note_oddities(source, &counts);
    Ok(Outcome {
        counts,
        recall_at_threshold: Some(search.recall_at_threshold()),
        timings,
    })
}

/// Finds all similar pairs among documents that were signed before, and writes them as [`find_pairs`]
/// does: the same pairs, in the same bytes, as from the documents by the same scheme.
///
/// Documents with equal signatures are taken for identical, also where their units differ, and are
/// pairs of similarity 1 by every verification; above `max_bucket` of them the pairs with the first one
/// are given. Ids are those of the file: strings, if some of the documents' ids are strings and others
/// numbers. Where it has none (`.npy`), documents are named by file and row.
///
/// # Errors
/// [`Error::Conflict`] if exact verification is asked for; whatever keeps the signatures from being read
/// or the output from being written; then there is none.
pub fn find_pairs_of_signatures(
    signatures: SignatureFile,
    search: &Search,
    progress: &dyn Progress,
    output: &Path,
    overwrite: bool,
) -> Result<Outcome> {
    let mut timings = Timings::default();
    let (target, _) = Target::create(output, overwrite)?;
    let candidates = Candidates::of_signatures(signatures, search, progress, &mut timings)?;
    let found = candidates.compare(progress, search, LargeBuckets::Omit, &mut timings)?;
    let counts = write_pairs(&candidates.corpus, &found, search, target, &mut timings)?;
    note_counts(progress, &counts);
    Ok(Outcome {
        counts,
        recall_at_threshold: Some(search.recall_at_threshold()),
        timings,
    })
}

/// Where pairs are written.
enum Target<'a> {
    Stdout,
    File(OutputFile, File, PairsFormat, &'a Path),
}

impl<'a> Target<'a> {
    /// Opens it, and gives the place for what does not fit in memory.
    fn create(output: &'a Path, overwrite: bool) -> Result<(Self, PathBuf)> {
        if output.as_os_str() == "-" {
            let unique = format!("simgpu-{}.exact-sets", std::process::id());
            return Ok((Target::Stdout, std::env::temp_dir().join(unique)));
        }
        let format = PairsFormat::of_path(output)?;
        let (target, file) = OutputFile::create(output, overwrite)?;
        let spill = OutputFile::beside(output, "exact-sets");
        Ok((Target::File(target, file, format, output), spill))
    }
}

/// Expands pairs of positions to those of documents and writes them.
fn write_pairs(
    corpus: &Corpus,
    found: &SimilarPairs,
    search: &Search,
    target: Target<'_>,
    timings: &mut Timings,
) -> Result<Counts> {
    let mut counts = Counts::of(corpus, Some(found));
    let mut pairs = ExpandedPairs::of(corpus, &found.pairs, search.max_bucket);
    counts.omitted_pairs += pairs.omitted;
    timings.time("write", 0, || match target {
        Target::Stdout => write_text(
            &mut pairs,
            corpus,
            PairsFormat::JsonLines,
            std::io::stdout().lock(),
            Path::new("-"),
        ),
        Target::File(target, file, PairsFormat::Parquet, path) => {
            write_table(&mut pairs, corpus, file, path)?;
            target.commit()
        }
        Target::File(target, file, format, path) => {
            write_text(&mut pairs, corpus, format, file, path)?;
            target.commit()
        }
    })?;
    counts.similar_pairs = pairs.given;
    Ok(counts)
}

/// Pairs of documents from pairs of positions, by ascending rows, without holding them all.
struct ExpandedPairs<'a> {
    corpus: &'a Corpus,
    /// The rows of each position, ascending, and where they begin.
    rows: Vec<u32>,
    row_starts: Vec<usize>,
    /// Similar positions of each position, from both sides.
    similar: Vec<(u32, f64)>,
    similar_starts: Vec<usize>,
    max_group: usize,
    /// Pairs within large groups that are left out.
    omitted: u64,
    given: u64,
}

impl<'a> ExpandedPairs<'a> {
    fn of(corpus: &'a Corpus, pairs: &[SimilarPair], max_group: usize) -> Self {
        let positions = corpus.positions();
        let distinct = corpus.distinct().iter().copied().zip(0..);
        let members = distinct.chain(corpus.repeats().iter().map(|(row, of)| (*row, *of)));
        let members = members.map(|(row, position)| (position, row));
        let (row_starts, rows) = by_position(positions, members);
        let both = pairs.iter().flat_map(|pair| {
            let SimilarPair { lo, hi, similarity } = *pair;
            [(lo, (hi, similarity)), (hi, (lo, similarity))]
        });
        let (similar_starts, similar) = by_position(positions, both);
        let omitted = row_starts
            .windows(2)
            .map(|group| (group[1] - group[0]) as u64)
            .filter(|size| *size > max_group as u64)
            .map(|size| (size - 1) * (size - 2) / 2)
            .sum();
        ExpandedPairs {
            corpus,
            rows,
            row_starts,
            similar,
            similar_starts,
            max_group,
            omitted,
            given: 0,
        }
    }

    fn group(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.rows[self.row_starts[position]..self.row_starts[position + 1]]
    }

    /// Calls `each` with every pair in order.
    fn for_each(
        &mut self,
        mut each: impl FnMut(u32, u32, Option<f64>) -> Result<()>,
    ) -> Result<()> {
        let mut position_of = vec![u32::MAX; usize::try_from(self.corpus.documents()).unwrap_or(0)];
        for (starts, position) in self.row_starts.windows(2).zip(0..) {
            for row in &self.rows[starts[0]..starts[1]] {
                position_of[*row as usize] = position;
            }
        }
        let mut partners: Vec<(u32, Option<f64>)> = Vec::new();
        for (row, position) in (0u32..).zip(position_of) {
            if position == u32::MAX {
                continue;
            }
            partners.clear();
            let group = self.group(position);
            if group.len() <= self.max_group || row == group[0] {
                let later = group.iter().filter(|other| **other > row);
                partners.extend(later.map(|other| (*other, Some(1.0))));
            }
            let starts = &self.similar_starts[position as usize..];
            for (other, similarity) in &self.similar[starts[0]..starts[1]] {
                let similarity = (!similarity.is_nan()).then_some(*similarity);
                let later = self.group(*other).iter().filter(|other| **other > row);
                partners.extend(later.map(|other| (*other, similarity)));
            }
            partners.sort_unstable_by_key(|(other, _)| *other);
            self.given += partners.len() as u64;
            for (other, similarity) in &partners {
                each(row, *other, *similarity)?;
            }
        }
        Ok(())
    }
}

/// Values in compressed sparse rows, each position's in the order they came.
fn by_position<T: Copy + Default>(
    positions: usize,
    values: impl Iterator<Item = (u32, T)> + Clone,
) -> (Vec<usize>, Vec<T>) {
    let mut starts = vec![0; positions + 1];
    for (position, _) in values.clone() {
        starts[position as usize + 1] += 1;
    }
    for i in 0..positions {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut sorted = vec![T::default(); starts[positions]];
    for (position, value) in values {
        sorted[next[position as usize]] = value;
        next[position as usize] += 1;
    }
    (starts, sorted)
}

/// A pair as it is written.
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

fn write_text(
    pairs: &mut ExpandedPairs<'_>,
    corpus: &Corpus,
    format: PairsFormat,
    target: impl Write,
    path: &Path,
) -> Result<()> {
    let failed = |error: std::io::Error| Error::io("write", path)(error);
    let mut target = BufWriter::with_capacity(1 << 16, target);
    if format == PairsFormat::Csv {
        let mut csv = csv::Writer::from_writer(&mut target);
        let failed = |error: csv::Error| failed(error.into());
        csv.write_record(COLUMNS).map_err(failed)?;
        pairs.for_each(|a, b, similarity| {
            let ((file_a, row_a), (file_b, row_b)) = (corpus.place(a), corpus.place(b));
            let similarity = similarity.map(|s| s.to_string()).unwrap_or_default();
            csv.write_record([
                &*plain_id(&corpus.id(a)),
                &*plain_id(&corpus.id(b)),
                &similarity,
                file_a,
                &row_a.to_string(),
                file_b,
                &row_b.to_string(),
            ])
            .map_err(failed)
        })?;
        csv.flush().map_err(Error::io("write", path))?;
    } else {
        pairs.for_each(|a, b, similarity| {
            let ((file_a, row_a), (file_b, row_b)) = (corpus.place(a), corpus.place(b));
            let (id_a, id_b) = (corpus.raw_id(a)?, corpus.raw_id(b)?);
            let line = PairLine {
                id_a: &id_a,
                id_b: &id_b,
                similarity,
                file_a,
                row_a,
                file_b,
                row_b,
            };
            serde_json::to_writer(&mut target, &line)
                .map_err(std::io::Error::from)
                .and_then(|()| target.write_all(b"\n"))
                .map_err(failed)
        })?;
    }
    target.flush().map_err(failed)
}

/// An id without the quotes of JSON.
fn plain_id(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

fn write_table(
    pairs: &mut ExpandedPairs<'_>,
    corpus: &Corpus,
    file: File,
    path: &Path,
) -> Result<()> {
    const BATCH: usize = 1 << 16;
    let failed = |error: parquet::errors::ParquetError| Error::Output {
        path: path.to_owned(),
        problem: error.to_string(),
        remedy: "make room, or choose another place".to_owned(),
    };
    let documents = u32::try_from(corpus.documents()).unwrap_or(u32::MAX);
    let ids = IdColumn::for_ids((0..documents).map(|row| corpus.id(row)));
    let columns = vec![
        ids.field("id_a"),
        ids.field("id_b"),
        Field::new("similarity", DataType::Float64, true),
        Field::new("file_a", DataType::Utf8, false),
        Field::new("row_a", DataType::UInt64, false),
        Field::new("file_b", DataType::Utf8, false),
        Field::new("row_b", DataType::UInt64, false),
    ];
    let mut table = ColumnWriter::new(file, columns, []).map_err(failed)?;
    let mut write = |batch: &mut Vec<(u32, u32, Option<f64>)>| {
        let (a, b) = (
            || batch.iter().map(|pair| pair.0),
            || batch.iter().map(|pair| pair.1),
        );
        let columns = vec![
            ids.array(a().map(|row| corpus.id(row))),
            ids.array(b().map(|row| corpus.id(row))),
            f64s(batch.iter().map(|pair| pair.2)),
            strings(a().map(|row| corpus.place(row).0)),
            u64s(a().map(|row| corpus.place(row).1)),
            strings(b().map(|row| corpus.place(row).0)),
            u64s(b().map(|row| corpus.place(row).1)),
        ];
        let written = table.write(columns).map_err(failed);
        batch.clear();
        written
    };
    let mut batch = Vec::with_capacity(BATCH);
    pairs.for_each(|a, b, similarity| {
        batch.push((a, b, similarity));
        if batch.len() == BATCH {
            write(&mut batch)?;
        }
        Ok(())
    })?;
    write(&mut batch)?;
    table.finish().map_err(failed)
}
