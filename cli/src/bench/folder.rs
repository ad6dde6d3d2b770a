//! A folder of results: environment.json and a table for each kind of record, and what is made of them.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::record::columns;
use super::{Absence, Candidates, ErrorCell, Found, Record, Run};
use super::{report, summary};
use simgpu::{Error, Result};

/// On what it was measured.
const ENVIRONMENT: &str = "environment.json";

/// What is made of the tables.
const SUMMARY: &str = "summary.md";
const REPORT: &str = "report.html";

/// All rows of a folder's tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// runs.csv: every timed run.
    pub runs: Vec<Run>,
    /// errors.csv.
    pub errors: Vec<ErrorCell>,
    /// candidates.csv.
    pub candidates: Vec<Candidates>,
    /// found.csv.
    pub found: Vec<Found>,
    /// absent.csv.
    pub absent: Vec<Absence>,
}

/// A kind of record, and the table that holds it.
trait Row: Serialize + DeserializeOwned {
    const FILE: &'static str;
}

impl Row for Run {
    const FILE: &'static str = "runs.csv";
}

impl Row for ErrorCell {
    const FILE: &'static str = "errors.csv";
}

impl Row for Candidates {
    const FILE: &'static str = "candidates.csv";
}

impl Row for Found {
    const FILE: &'static str = "found.csv";
}

impl Row for Absence {
    const FILE: &'static str = "absent.csv";
}

/// A folder of results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// environment.json.
    pub environment: Value,
    /// What was measured so far.
    pub tables: Tables,
}

impl Folder {
    /// Makes a folder, which must not hold results yet, and all its files, so that whatever is in the way shows
    /// before anything is measured.
    ///
    /// # Errors
    /// [`Error::Output`] when it holds results, [`Error::Io`].
    pub fn create(path: &Path, environment: Value) -> Result<Self> {
        let files = [
            ENVIRONMENT,
            Run::FILE,
            ErrorCell::FILE,
            Candidates::FILE,
            Found::FILE,
            Absence::FILE,
            SUMMARY,
            REPORT,
        ];
        if let Some(present) = files.iter().find(|file| path.join(file).exists()) {
            return Err(Error::Output {
                path: path.to_owned(),
                problem: format!("the folder already holds {present}"),
                remedy: "name another folder with --results".to_owned(),
            });
        }
        fs::create_dir_all(path).map_err(Error::io("create", path))?;
        replace(&path.join(ENVIRONMENT), &format!("{environment:#}\n"))?;
        create_table::<Run>(path)?;
        create_table::<ErrorCell>(path)?;
        create_table::<Candidates>(path)?;
        create_table::<Found>(path)?;
        create_table::<Absence>(path)?;
        let folder = Folder {
            path: path.to_owned(),
            environment,
            tables: Tables::default(),
        };
        folder.render()?;
        Ok(folder)
    }

    /// Reads a folder; a table that is not there has no rows. Rows can be added to it.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is not what [`Folder::create`] and [`Folder::add`] write, [`Error::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.join(ENVIRONMENT);
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let environment = serde_json::from_str(&text).map_err(|error| Error::Input {
            path: file,
            problem: format!("no JSON: {error}"),
            remedy: "name a folder that simgpu bench wrote".to_owned(),
        })?;
        Ok(Folder {
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

    /// Adds a row to its table, in memory and on disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, record: Record) -> Result<()> {
        let tables = &mut self.tables;
        match record {
            Record::Run(row) => add_row(&self.path, &mut tables.runs, row),
            Record::Error(row) => add_row(&self.path, &mut tables.errors, row),
            Record::Candidates(row) => add_row(&self.path, &mut tables.candidates, row),
            Record::Found(row) => add_row(&self.path, &mut tables.found, row),
            Record::Absence(row) => add_row(&self.path, &mut tables.absent, row),
        }
    }

    /// Makes summary.md and report.html again from what was measured so far. Each of them is complete at any
    /// time.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn render(&self) -> Result<()> {
        let sections = summary::sections(&self.environment, &self.tables);
        replace(&self.path.join(SUMMARY), &summary::markdown(&sections))?;
        let page = report::page(&self.environment, &self.tables, &sections);
        replace(&self.path.join(REPORT), &page)
    }

    /// What of summary.md is read first.
    pub fn brief(&self) -> String {
        let mut sections = summary::sections(&self.environment, &self.tables);
        sections.retain(|section| section.topic.is_brief());
        summary::markdown(&sections)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a file so that nobody sees it half written.
fn replace(path: &Path, contents: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, contents).map_err(Error::io("write", &partial))?;
    fs::rename(&partial, path).map_err(Error::io("write", path))
}

fn create_table<T: Row>(folder: &Path) -> Result<()> {
    let path = folder.join(T::FILE);
    let header = columns::<T>().join(",");
    fs::write(&path, header + "\n").map_err(Error::io("write", &path))
}

/// Appends a row by one write, so that an interruption leaves whole rows.
fn add_row<T: Row>(folder: &Path, rows: &mut Vec<T>, row: T) -> Result<()> {
    let path = folder.join(T::FILE);
    if !path.exists() {
        create_table::<T>(folder)?;
    }
    let write = || -> std::io::Result<()> {
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        writer.serialize(&row).map_err(std::io::Error::other)?;
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

fn read_table<T: Row>(folder: &Path) -> Result<Vec<T>> {
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
            format!("line {line} is no row of this table: {error}"),
            "correct the line or remove it; results/README.md says what columns hold",
        )
    };
    let header = reader.headers().map_err(refuse)?;
    if header != columns::<T>() {
        let (found, expected) = (header.iter().collect::<Vec<_>>(), columns::<T>());
        return Err(input(
            format!("line 1 names the columns {}", found.join(",")),
            &format!("write them as {}", expected.join(",")),
        ));
    }
    reader
        .deserialize()
        .map(|row| row.map_err(refuse))
        .collect()
}
