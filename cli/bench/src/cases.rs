//! Runs grouped by case, and the figures of a case.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::case::Case;
use super::record::TimedRun;
use super::statistics::{median, median_absolute_deviation};

/// Suffix of inputs that simgpu and other tools processed in turn.
const BESIDE_PEERS: &str = ", beside peers";

/// The runs of one case, at least one, in the order of measurement.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredCase<'a> {
    /// What they have in common.
    pub case: Case,
    /// The runs.
    pub runs: Vec<&'a TimedRun>,
    /// The first of them.
    first: &'a TimedRun,
}

/// All cases, in the order of their first runs.
pub(crate) fn cases(runs: &[TimedRun]) -> Vec<MeasuredCase<'_>> {
    let mut measured: Vec<MeasuredCase<'_>> = Vec::new();
    let mut places = HashMap::new();
    for run in runs {
        match places.entry(run.case()) {
            Entry::Occupied(place) => {
                let place: &usize = place.get();
                measured[*place].runs.push(run);
            }
            Entry::Vacant(place) => {
                measured.push(MeasuredCase {
                    case: place.key().clone(),
                    runs: vec![run],
                    first: run,
                });
                place.insert(measured.len() - 1);
            }
        }
    }
    measured
}

impl MeasuredCase<'_> {
    /// Seconds per pass, run by run.
    pub(crate) fn pass_s(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.pass_s()).collect()
    }

    /// Median seconds per pass.
    pub(crate) fn median_s(&self) -> f64 {
        median(&self.pass_s())
    }

    /// Median absolute deviation of the seconds per pass, over their median.
    pub(crate) fn deviation(&self) -> f64 {
        let pass_s = self.pass_s();
        median_absolute_deviation(&pass_s) / median(&pass_s)
    }

    /// Median documents per second.
    pub(crate) fn documents_per_s(&self) -> f64 {
        per_s(self.first.documents, self.median_s())
    }

    /// Median shingles per second.
    pub(crate) fn shingles_per_s(&self) -> f64 {
        self.documents_per_s() * (self.case.shingles as f64)
    }

    /// Median updates per second, for schemes that update every slot.
    pub(crate) fn updates_per_s(&self) -> Option<f64> {
        (self.first.updates > 0).then(|| per_s(self.first.updates, self.median_s()))
    }

    /// Median bytes of text per second, for stages that read text.
    pub(crate) fn text_bytes_per_s(&self) -> Option<f64> {
        (self.first.text_bytes > 0).then(|| per_s(self.first.text_bytes, self.median_s()))
    }

    /// Median over runs of the speed over the ceiling measured next to each run.
    pub(crate) fn share_of_ceiling(&self) -> Option<f64> {
        let share = |run: &&TimedRun| {
            let ceiling = run.ceiling_updates_per_s?;
            Some(per_s(run.updates, run.pass_s()) / ceiling)
        };
        let shares: Vec<f64> = self.runs.iter().filter_map(share).collect();
        (!shares.is_empty()).then(|| median(&shares))
    }

    /// Checksum of the results; `None` if runs differ or have none.
    pub(crate) fn checksum(&self) -> Option<&str> {
        let checksum = self.first.checksum.as_str();
        let is_same = self.runs.iter().all(|run| run.checksum == checksum);
        (is_same && !checksum.is_empty()).then_some(checksum)
    }

    /// Whether simgpu ran it.
    pub(crate) fn is_ours(&self) -> bool {
        self.case.tool == "simgpu"
    }

    /// Whether simgpu ran it, and not in turn with other tools (benches/peers).
    pub(crate) fn is_own(&self) -> bool {
        self.is_ours() && !self.case.input.ends_with(BESIDE_PEERS)
    }

    /// What computes: the backend and its instruction set or device.
    pub(crate) fn computer(&self) -> String {
        self.case.computer()
    }
}

fn per_s(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}
