//! What a run returns.

use crate::report::PassageReport;
use simgpu::progress::Timings;

/// The outcome of a search for passages in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassagesOutcome {
    /// The counts and parameters. Equal inputs and options make equal reports.
    pub report: PassageReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
}
