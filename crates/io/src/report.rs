//! The report of a run, and the description of a file of signatures.
//!
//! Equal inputs and options make equal reports. `run.json` holds what differs between runs.

mod parameters;

mod sources;

mod examples;

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::not_read::NotRead;
use simgpu::progress::Counts;

pub use examples::{
    Example, ExampleDocument, PairExample, PairsBin, PairsOfSources, PairsOverview, SimilarityBin,
};
pub use parameters::{DedupParameters, PairsParameters, Parameters, SearchParameters};
pub use sources::{
    InputReport, LargeCluster, MissingIds, RemovedFor, SkippedRecord, SourceReport, Unusual,
};

/// The version of the layout of reports and descriptions.
#[doc(hidden)]
pub const REPORT_VERSION: u32 = 1;

/// The report of a run over files, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this layout.
    pub simgpu_report: u32,
    /// The command: `dedup`, `pairs` or `sign`.
    pub command: &'static str,
    /// The counts of documents and pairs.
    pub counts: Counts,
    /// All parameters that affect the result.
    pub parameters: Parameters,
    /// The parameters of a deduplication; `None` except for `dedup`.
    #[serde(flatten)]
    pub dedup: Option<DedupParameters>,
    /// The parameters of a search for pairs; `None` except for `pairs`.
    #[serde(flatten)]
    pub pairs: Option<PairsParameters>,
    /// Whether all pairs were written, and the search did not end early; `None` except for `pairs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// The share of truly similar pairs to expect among the similar pairs: 1 with exact verification, an estimate with
    /// verification by signature; `None` without verification, or without similar pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_precision: Option<f64>,
    /// The number of clusters of each size. A document without duplicates is a cluster of 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// The ten largest clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_clusters: Vec<LargeCluster>,
    /// The removed documents by similarity: to the document that they were found to be similar to, which is the kept one or
    /// the next on a chain that leads to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<SimilarityBin>,
    /// Removed documents to look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// What was kept and removed of each source: each file, or each value of the source field; at most 1,000, and then all
    /// further ones as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// What is unusual about the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Unusual>,
    /// The input files; empty except for `pairs`, and if signatures were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputReport>,
    /// What the page shows of similar pairs; `None` except for `pairs` with a page.
    #[serde(flatten)]
    pub overview: Option<PairsOverview>,
    /// The documents without an id; `None` if all or none have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_ids: Option<MissingIds>,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The bad records, without those of a reference.
    pub skipped: Vec<SkippedRecord>,
    /// The bad records of a reference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference_skipped: Vec<SkippedRecord>,
}

impl Report {
    /// Makes a report without clusters.
    #[doc(hidden)]
    pub fn new(command: &'static str, counts: Counts, parameters: Parameters) -> Self {
        Report {
            simgpu_report: REPORT_VERSION,
            command,
            counts,
            parameters,
            dedup: None,
            pairs: None,
            complete: None,
            expected_precision: None,
            cluster_sizes: BTreeMap::new(),
            largest_clusters: Vec::new(),
            histogram: Vec::new(),
            examples: Vec::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
            inputs: Vec::new(),
            overview: None,
            missing_ids: None,
            empty_files: Vec::new(),
            not_read: NotRead::default(),
            skipped: Vec::new(),
            reference_skipped: Vec::new(),
        }
    }

    /// Writes the report as indented JSON with a final newline: the bytes of `report.json`.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn write_json(&self, target: &mut impl Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}

/// The description of a file of signatures: in the metadata of Parquet, or in the file beside a matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct SignatureDescription {
    #[doc(hidden)]
    pub simgpu_report: u32,
    #[serde(default)]
    #[doc(hidden)]
    pub command: String,
    #[doc(hidden)]
    pub counts: Counts,
    #[doc(hidden)]
    pub parameters: Parameters,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub empty_files: Vec<String>,
    #[doc(hidden)]
    pub skipped: Vec<SkippedRecord>,
    /// The first row of each input file.
    #[doc(hidden)]
    pub files: Vec<FirstRow>,
    /// The digest of the signatures, row by row; `None` in files of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[doc(hidden)]
    pub matrix_blake3_128: Option<String>,
}

/// An input file and the row of its first document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct FirstRow {
    #[doc(hidden)]
    pub file: String,
    #[doc(hidden)]
    pub first_row: u32,
}

/// Writes a value as indented JSON with a final newline.
#[doc(hidden)]
pub fn write_json(target: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    // In one piece: a file takes a call of the operating system for each.
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    target.write_all(&json)
}
