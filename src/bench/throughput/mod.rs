//! How fast the stages are, with every backend and scheme.

use super::{Corpus, Plan, Record};
use crate::error::Result;
use crate::pipeline::Progress;

/// Measures the throughput of what is planned, and gives a record for each run as it ends.
///
/// # Errors
/// What a stage fails with, what `take` fails with, and [`Error::Disagreement`](crate::Error) when two ways to compute
/// the same signatures differ.
pub fn measure(
    _plan: &Plan,
    _corpus: &Corpus,
    _progress: &dyn Progress,
    _take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    Ok(())
}
