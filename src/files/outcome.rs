//! The outcome of a run over files.

use crate::io::Report;
use crate::progress::{Progress, Timings, grouped};

/// The outcome of a run over files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The counts, parameters and clusters. Equal inputs and options make equal reports.
    pub report: Report,
    /// The elapsed times of the stages. Those that are not parts of others add up to [`Outcome::elapsed_s`].
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
    /// How often the run went on after it was stopped ([`Error::Resumable`](crate::Error::Resumable)). All times are those
    /// since the last time.
    pub resumed: u64,
}

/// Warns of documents that repeat an earlier id.
pub(crate) fn warn_of_repeated_ids(progress: &dyn Progress, repeated_ids: u64) {
    if repeated_ids > 0 {
        let repeated = match repeated_ids {
            1 => "1 document repeats".to_owned(),
            repeated => format!("{} documents repeat", grouped(repeated)),
        };
        progress.warn(&format!(
            "{repeated} an earlier id; identify them by file and row, or pass `unique_ids` to make this an error"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Watched;

    #[test]
    fn repeated_ids_are_told() {
        let told = Watched::stop_at(0);
        warn_of_repeated_ids(&told, 0);
        assert!(told.told.lock().unwrap().is_empty());
        warn_of_repeated_ids(&told, 1);
        warn_of_repeated_ids(&told, 1_200);
        assert!(told.has("1 document repeats an earlier id"));
        assert!(told.has("1,200 documents repeat an earlier id"));
    }
}
