//! Runs by what they measured, and what they come to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::record::Case;
use super::statistics::{median, median_absolute_deviation};
use super::{Run, Stage};

/// How the inputs end that simgpu and other tools worked on in turns.
const BESIDE_PEERS: &str = ", beside peers";

/// The runs of one case, of which there is at least one, in the order in which they were measured.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// What they have in common.
    pub case: Case,
    /// The runs.
    pub runs: Vec<&'a Run>,
    /// The first of them.
    first: &'a Run,
}

/// All cases, in the order in which they were measured first.
pub fn cases(runs: &[Run]) -> Vec<Measured<'_>> {
    let mut measured: Vec<Measured<'_>> = Vec::new();
    let mut places = HashMap::new();
    for run in runs {
        match places.entry(run.case()) {
            Entry::Occupied(place) => {
                let place: &usize = place.get();
                measured[*place].runs.push(run);
            }
            Entry::Vacant(place) => {
                measured.push(Measured {
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

impl Measured<'_> {
    /// Seconds of a pass, run by run.
    pub fn pass_s(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.pass_s()).collect()
    }

    /// Median of the seconds of a pass.
    pub fn median_s(&self) -> f64 {
        median(&self.pass_s())
    }

    /// Median absolute deviation of the seconds of a pass, over their median.
    pub fn deviation(&self) -> f64 {
        let pass_s = self.pass_s();
        median_absolute_deviation(&pass_s) / median(&pass_s)
    }

    /// Documents a second, in the median.
    pub fn documents_per_s(&self) -> f64 {
        per_s(self.first.documents, self.median_s())
    }

    /// Shingles a second, in the median.
    pub fn shingles_per_s(&self) -> f64 {
        self.documents_per_s() * (self.case.shingles as f64)
    }

    /// Updates a second, in the median, of schemes that compute each.
    pub fn updates_per_s(&self) -> Option<f64> {
        (self.first.updates > 0).then(|| per_s(self.first.updates, self.median_s()))
    }

    /// Bytes of text a second, in the median, of stages that read text.
    pub fn text_bytes_per_s(&self) -> Option<f64> {
        (self.first.text_bytes > 0).then(|| per_s(self.first.text_bytes, self.median_s()))
    }

    /// The share of what the vector units allow: the median over runs, each by the ceiling measured next to it.
    pub fn share_of_ceiling(&self) -> Option<f64> {
        let share = |run: &&Run| {
            let ceiling = run.ceiling_updates_per_s?;
            Some(per_s(run.updates, run.pass_s()) / ceiling)
        };
        let shares: Vec<f64> = self.runs.iter().filter_map(share).collect();
        (!shares.is_empty()).then(|| median(&shares))
    }

    /// The checksum of what came out; none where runs differ or have none.
    pub fn checksum(&self) -> Option<&str> {
        let checksum = self.first.checksum.as_str();
        let is_same = self.runs.iter().all(|run| run.checksum == checksum);
        (is_same && !checksum.is_empty()).then_some(checksum)
    }

    /// Whether simgpu did it.
    pub fn is_ours(&self) -> bool {
        self.case.tool == "simgpu"
    }

    /// Whether simgpu did it, and not in turns with other tools (benches/peers).
    pub fn is_own(&self) -> bool {
        self.is_ours() && !self.case.input.ends_with(BESIDE_PEERS)
    }

    /// What computed: the backend and its instructions or device.
    pub fn computer(&self) -> String {
        self.case.computer()
    }
}

impl Case {
    /// What computed: the backend and its instructions or device.
    pub fn computer(&self) -> String {
        match (self.backend.as_str(), self.hardware.as_str()) {
            (backend, hardware) if backend == hardware => backend.to_owned(),
            (backend, hardware) => format!("{backend} {hardware}").trim().to_owned(),
        }
    }

    /// Whether a GPU computes, in whole or in part.
    pub fn is_on_device(&self) -> bool {
        matches!(self.backend.as_str(), "gpu" | "hybrid")
    }

    /// The threads in words.
    pub fn threads(&self) -> String {
        match self.threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        }
    }

    /// The case in words that tell it from all others.
    pub fn describe(&self) -> String {
        let mut words = vec![self.stage.name().to_owned()];
        if self.tool != "simgpu" {
            words.push(self.tool.clone());
        }
        words.extend([self.scheme.clone(), self.computer()]);
        words.retain(|word| !word.is_empty());
        if !self.input.is_empty() {
            words.push(format!("on {}", self.input));
        }
        let mut sizes = Vec::new();
        if self.shingles > 0 {
            sizes.push(format!("{} shingles", self.shingles));
        }
        if self.num_perm > 0 {
            sizes.push(format!("K = {}", self.num_perm));
        }
        sizes.push(format!("{} documents", self.documents));
        sizes.push(self.threads());
        format!("{}, {}", words.join(" "), sizes.join(", "))
    }
}

impl Stage {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sign => "sign",
            Stage::SignTexts => "sign-texts",
            Stage::Shingle => "shingle",
            Stage::Band => "band",
            Stage::Bucket => "bucket",
            Stage::Verify => "verify",
            Stage::Dedup => "dedup",
            Stage::Upload => "upload",
            Stage::Kernel => "kernel",
            Stage::Readback => "readback",
        }
    }
}

fn per_s(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}
