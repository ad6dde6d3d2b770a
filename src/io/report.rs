//! What a run says of itself in its files: `report.json`, and the description of a file of signatures.
//!
//! The same input and options give the same report; what differs from run to run is in `run.json`.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::progress::Counts;

/// The version of the layout of reports and of descriptions of signature files.
pub(crate) const REPORT_VERSION: u32 = 1;

/// Everything that decides what a run computes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameters {
    /// The scheme.
    pub scheme: String,
    /// The base hash of a shingle.
    pub hash: String,
    /// The seed of the permutations.
    pub seed: u32,
    /// Number of permutations.
    pub num_perm: u32,
    /// What documents are cut into.
    pub unit: String,
    /// Units in a shingle, for units that have a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether texts were lowercased.
    #[serde(default)]
    pub lowercase: bool,
    /// Whether punctuation was deleted.
    #[serde(default)]
    pub strip_punctuation: bool,
    /// Whether runs of white space were kept.
    #[serde(default)]
    pub keep_whitespace: bool,
    /// The version of Unicode that decided what a word is, for units of words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unicode_version: Option<String>,
    /// The field of the text or of the tokens.
    #[serde(default)]
    pub content_field: String,
    /// The field of the id.
    #[serde(default)]
    pub id_field: String,
    /// Which pairs were looked for, if any were.
    #[serde(flatten)]
    pub search: Option<SearchParameters>,
}

/// Which pairs a run looked for, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchParameters {
    /// The least similarity of a pair.
    pub threshold: f64,
    /// Bands.
    pub bands: usize,
    /// Slots of a band.
    pub rows: usize,
    /// How candidate pairs were verified: `none`, `signature` or `exact`.
    pub verify: String,
    /// Documents in a bucket above which it was not compared pair by pair.
    pub max_bucket: usize,
    /// The probability that a pair just at the threshold becomes a candidate.
    pub recall_at_threshold: f64,
}

/// A bad record in a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkippedRecord {
    /// The file.
    pub file: String,
    /// Number of the record in its file, from 0.
    pub row: u64,
    /// Line of the record, from 1, in files of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong with it.
    #[serde(default)]
    pub problem: String,
}

/// A group of documents of which one is kept.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LargeCluster {
    /// The id of the kept document, as JSON.
    pub kept_id: Box<RawValue>,
    /// Its file.
    pub kept_file: String,
    /// Number of its record in the file, from 0.
    pub kept_row: u64,
    /// Documents in the group.
    pub documents: u64,
}

/// The report of a run over files: what `report.json` holds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this layout.
    pub simgpu_report: u32,
    /// What was run: `dedup`, `pairs` or `sign`.
    pub command: &'static str,
    /// How many documents there were, and what became of them.
    pub counts: Counts,
    /// Everything that decided the result.
    pub parameters: Parameters,
    /// Which document of a group was kept: `first` or `longest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<&'static str>,
    /// How groups were formed: `greedy` or `connected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<&'static str>,
    /// How many clusters there are of each size; a document alone is a cluster of one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// The ten largest clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_clusters: Vec<LargeCluster>,
    /// Files without a record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}

impl Report {
    /// A report without clusters.
    pub(crate) fn new(command: &'static str, counts: Counts, parameters: Parameters) -> Self {
        Report {
            simgpu_report: REPORT_VERSION,
            command,
            counts,
            parameters,
            keep: None,
            cluster: None,
            cluster_sizes: BTreeMap::new(),
            largest_clusters: Vec::new(),
            empty_files: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

/// What a file of signatures says of itself: in the metadata of a table, or in the file beside a matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignatureDescription {
    pub(crate) simgpu_report: u32,
    #[serde(default)]
    pub(crate) command: String,
    pub(crate) counts: Counts,
    pub(crate) parameters: Parameters,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) empty_files: Vec<String>,
    pub(crate) skipped: Vec<SkippedRecord>,
    /// The row of the first document of each file.
    pub(crate) files: Vec<FirstRow>,
    /// The digest of the matrix that it describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) matrix_blake3_128: Option<String>,
}

/// The first row of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstRow {
    pub(crate) file: String,
    pub(crate) first_row: u32,
}

/// Writes a value as indented JSON with a newline at the end.
pub(crate) fn write_json(target: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *target, value)?;
    target.write_all(b"\n")
}
