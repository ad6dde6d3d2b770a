//! The report of a search for links.

use serde::Serialize;
use serde_json::Value;

use crate::io::{Places, SkippedRecord};
use crate::jobs::linked::{LinkCounts, ScoreBin};
use crate::records::Estimate;

/// The report of a search for links, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// The version of this layout.
    pub simgpu_report: u32,
    /// `link`.
    pub command: &'static str,
    /// The numbers of records, candidates and links.
    pub counts: LinkCounts,
    /// All parameters that affect the result.
    pub parameters: LinkParameters,
    /// The least cosine of a candidate pair.
    pub floor: f64,
    /// The threshold, and what is expected of the links.
    pub estimate: Estimate,
    /// The numbers of accepted pairs and of runners-up by score, as if there were no threshold.
    pub histogram: Vec<HistogramBin>,
    /// Pairs next to the threshold, each as in `links.jsonl`, with the values of both records and whether it was accepted.
    pub examples: Vec<Value>,
    /// The files of the records: first those of the first collection.
    pub files: Vec<FileReport>,
}

/// The parameters that affect links.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkParameters {
    /// The fields that are compared.
    pub fields: Vec<String>,
    /// The field of the id.
    pub id_field: String,
    /// How many partners a record may have; `None` with one collection.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<&'static str>,
    /// The threshold that was given.
    pub threshold: Option<f64>,
    /// The share of records with a partner that was given.
    pub share: Option<f64>,
    /// The number of names that are replaced by an equal one.
    pub equivalents: u64,
}

/// A bin of the histogram.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HistogramBin {
    /// The least score of the bin.
    pub score: f64,
    /// The numbers.
    #[serde(flatten)]
    pub pairs: ScoreBin,
}

impl HistogramBin {
    pub(crate) fn new(score: f64, pairs: ScoreBin) -> Self {
        HistogramBin { score, pairs }
    }
}

/// The records of a collection.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FileReport {
    /// The names of its files.
    pub names: Vec<String>,
    /// The records read, bad ones included.
    pub records: u64,
    /// Records that repeat an earlier id.
    pub repeated_ids: u64,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}

/// What is said of each collection.
pub(super) fn file_reports(files: &[&Places]) -> Vec<FileReport> {
    let report = |places: &&Places| FileReport {
        names: places
            .files
            .iter()
            .map(|file| file.relative.clone())
            .collect(),
        records: places.records(),
        repeated_ids: places.repeated_ids,
        empty_files: places.empty_files(),
        skipped: places.skipped_records(),
    };
    files.iter().map(report).collect()
}

impl LinkReport {
    /// Writes the report as indented JSON with a final newline: the bytes of `report.json`.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        crate::io::write_json(target, self)
    }
}
