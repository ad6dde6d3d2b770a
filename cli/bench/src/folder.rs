//! A folder of results: environment.json, the tables, and the summary and report rendered from them.
//!
//! Tables are appended row by row, so that rows survive a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::record::{Absence, CandidateCount, ErrorCell, PipelineResult, Row, TimedRun, columns};
use super::tables::Tables;
use super::{report, summary};
use simgpu::store::disk::is_file;
use simgpu::{Error, Result};

/// The machine and the build.
const ENVIRONMENT: &str = "environment.json";

/// There until the measurement has ended.
const UNFINISHED: &str = "unfinished";

/// Rendered from the tables.
const SUMMARY: &str = "summary.md";
const REPORT: &str = "report.html";

/// A kind of row, and the file of its table.
trait CsvRow: Serialize + DeserializeOwned {
    const FILE: &'static str;
    /// Columns that older tables lack.
    const ADDED: &'static [&'static str] = &[];
}

impl CsvRow for TimedRun {
    const FILE: &'static str = "runs.csv";
}

impl CsvRow for ErrorCell {
    const FILE: &'static str = "errors.csv";
    const ADDED: &'static [&'static str] = &["backend", "hardware"];
}

impl CsvRow for CandidateCount {
    const FILE: &'static str = "candidates.csv";
}

impl CsvRow for PipelineResult {
    const FILE: &'static str = "found.csv";
    const ADDED: &'static [&'static str] = &["elapsed_s"];
}

impl CsvRow for Absence {
    const FILE: &'static str = "absent.csv";
}

/// A folder of results.
#[derive(Debug)]
pub struct ResultsFolder {
    path: PathBuf,
    /// environment.json.
    pub environment: Value,
    /// All rows so far.
    pub tables: Tables,
}

impl ResultsFolder {
    /// Creates a folder with all its files, so that failures show before anything is measured. Replaces the files of a
    /// measurement that did not end.
    ///
    /// # Errors
    /// [`Error::Output`] if it already holds results, [`Error::Io`].
    pub fn create(path: &Path, environment: Value) -> Result<Self> {
        let files = [
            ENVIRONMENT,
            TimedRun::FILE,
            ErrorCell::FILE,
            CandidateCount::FILE,
            PipelineResult::FILE,
            Absence::FILE,
            SUMMARY,
            REPORT,
        ];
        let unfinished = path.join(UNFINISHED);
        let is_unfinished = is_file(&unfinished)?;
        let present = files.iter().find(|file| path.join(file).exists());
        if let Some(present) = present.filter(|_| !is_unfinished) {
            return Err(Error::Output {
                path: path.to_owned(),
                problem: format!("the folder already holds {present}"),
                remedy: "name another folder with --results".to_owned(),
            });
        }
        fs::create_dir_all(path).map_err(Error::io("create", path))?;
        fs::write(&unfinished, "").map_err(Error::io("write", &unfinished))?;
        replace(&path.join(ENVIRONMENT), &format!("{environment:#}\n"))?;
        create_table::<TimedRun>(path)?;
        create_table::<ErrorCell>(path)?;
        create_table::<CandidateCount>(path)?;
        create_table::<PipelineResult>(path)?;
        create_table::<Absence>(path)?;
        let folder = ResultsFolder {
            path: path.to_owned(),
            environment,
            tables: Tables::default(),
        };
        folder.render()?;
        Ok(folder)
    }

    /// Says that the measurement has ended.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn complete(&self) -> Result<()> {
        let unfinished = self.path.join(UNFINISHED);
        fs::remove_file(&unfinished).map_err(Error::io("remove", &unfinished))
    }

    /// Reads a folder, to which rows can be added. A missing table has no rows.
    ///
    /// # Errors
    /// [`Error::Input`] for a malformed file, [`Error::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.join(ENVIRONMENT);
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let environment = serde_json::from_str(&text).map_err(|error| Error::Input {
            path: file,
            problem: format!("not valid JSON: {error}"),
            remedy: "name a folder written by simgpu bench".to_owned(),
        })?;
        Ok(ResultsFolder {
            path: path.to_owned(),
            environment,
            tables: Tables {
                runs: read_table(path)?,
                errors: read_table(path)?,
                candidates: read_table(path)?,
                found: read_table(path)?,
                absent: read_table(path)?,
            },
        })
    }

    /// Appends a row to its table, in memory and on disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, row: Row) -> Result<()> {
        let tables = &mut self.tables;
        match row {
            Row::Run(row) => add_row(&self.path, &mut tables.runs, row),
            Row::Error(row) => add_row(&self.path, &mut tables.errors, row),
            Row::Candidates(row) => add_row(&self.path, &mut tables.candidates, row),
            Row::Found(row) => add_row(&self.path, &mut tables.found, row),
            Row::Absence(row) => add_row(&self.path, &mut tables.absent, row),
        }
    }

    /// Rewrites summary.md and report.html from the rows so far. Readers see whole files at any time.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn render(&self) -> Result<()> {
        let sections = summary::sections(&self.environment, &self.tables);
        replace(&self.path.join(SUMMARY), &summary::markdown(&sections))?;
        replace(&self.path.join(REPORT), &self.page())
    }

    /// The contents of report.html for the rows so far.
    pub fn page(&self) -> String {
        let sections = summary::sections(&self.environment, &self.tables);
        report::page(&self.environment, &self.tables, &sections)
    }

    /// What is fastest here, against what, which errors were found, and where the page is: one screen of at most 40
    /// lines.
    pub fn screen(&self) -> String {
        summary::screen(&self.tables, &self.path)
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a file in one step, so that readers never see a part of it.
fn replace(path: &Path, contents: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, contents).map_err(Error::io("write", &partial))?;
    fs::rename(&partial, path).map_err(Error::io("write", path))
}

fn create_table<T: CsvRow>(folder: &Path) -> Result<()> {
    let path = folder.join(T::FILE);
    let header = columns::<T>().join(",");
    fs::write(&path, header + "\n").map_err(Error::io("write", &path))
}

/// Appends a row in one write, so that an interruption leaves whole rows.
fn add_row<T: CsvRow>(folder: &Path, rows: &mut Vec<T>, row: T) -> Result<()> {
    let path = folder.join(T::FILE);
    let is_current = path.exists() && {
        let file = File::open(&path).map_err(Error::io("read", &path))?;
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers();
        header.is_ok_and(|header| header == columns::<T>())
    };
    // A new table, or one with the columns of an older version, is written with all its rows.
    let written = if is_current { &[] } else { rows.as_slice() };
    if !is_current {
        create_table::<T>(folder)?;
    }
    let write = || -> std::io::Result<()> {
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        for row in written.iter().chain([&row]) {
            writer.serialize(row).map_err(std::io::Error::other)?;
        }
        let line = writer.into_inner().map_err(|error| error.into_error())?;
        OpenOptions::new()
            .append(true)
            .open(&path)?
            .write_all(&line)
    };
    write().map_err(Error::io("write", &path))?;
    rows.push(row);
    Ok(())
}

fn read_table<T: CsvRow>(folder: &Path) -> Result<Vec<T>> {
    let path = folder.join(T::FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let input = |problem: String, remedy: &str| Error::Input {
        path: path.clone(),
        problem,
        remedy: remedy.to_owned(),
    };
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let refuse = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        input(
            format!("line {line} is not a row of this table: {error}"),
            "correct or remove the line; results/README.md describes the columns",
        )
    };
    let header = reader.headers().map_err(refuse)?.clone();
    // Older tables lack some columns.
    let is_expected =
        |column: &&str| !T::ADDED.contains(column) || header.iter().any(|found| found == *column);
    let expected = columns::<T>().iter().copied().filter(is_expected);
    if !header.iter().eq(expected) {
        let (found, expected) = (header.iter().collect::<Vec<_>>(), columns::<T>());
        return Err(input(
            format!("line 1 has the columns {}", found.join(",")),
            &format!("change them to {}", expected.join(",")),
        ));
    }
    reader
        .deserialize()
        .map(|row| row.map_err(refuse))
        .collect()
}
