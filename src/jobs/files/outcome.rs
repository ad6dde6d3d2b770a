//! What a run over files came to.

use crate::io::Report;
use crate::progress::{Progress, Timings, grouped};

/// What a run over files came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Counts, parameters and clusters; the same for every run with the same input and options.
    pub report: Report,
    /// The times of the stages.
    pub timings: Timings,
}

/// Warns of documents that share an id.
pub(super) fn warn_of_repeated_ids(progress: &dyn Progress, repeated_ids: u64) {
    if repeated_ids > 0 {
        let repeated = match repeated_ids {
            1 => "1 document has".to_owned(),
            repeated => format!("{} documents have", grouped(repeated)),
        };
        progress.warn(&format!(
            "{repeated} the id of another; rows tell them apart (`unique_ids` makes this an error)"
        ));
    }
}
