//! A folder of results: environment.json and a table for each kind of record, and what is made of them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Absence, Candidates, ErrorCell, Found, Record, Run};
use crate::error::Result;

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
    /// Makes a folder, which must not hold results yet, and all its files.
    ///
    /// # Errors
    /// [`Error::Output`](crate::Error) when it holds results, [`Error::Io`](crate::Error).
    pub fn create(path: &Path, environment: Value) -> Result<Self> {
        Ok(Folder {
            path: path.to_owned(),
            environment,
            tables: Tables::default(),
        })
    }

    /// Adds a row to its table, in memory and on disk.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error).
    pub fn add(&mut self, _record: Record) -> Result<()> {
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
