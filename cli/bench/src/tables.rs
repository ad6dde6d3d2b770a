//! All rows of a folder of results.

use super::record::{Absence, CandidateCount, ErrorCell, PipelineResult, TimedRun};

/// All rows of the tables in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Rows of runs.csv.
    pub runs: Vec<TimedRun>,
    /// Rows of errors.csv.
    pub errors: Vec<ErrorCell>,
    /// Rows of candidates.csv.
    pub candidates: Vec<CandidateCount>,
    /// Rows of found.csv.
    pub found: Vec<PipelineResult>,
    /// Rows of absent.csv.
    pub absent: Vec<Absence>,
}
