//! The report of a run, and the description of a file of signatures.
//!
//! Equal inputs and options make equal reports. `run.json` holds what differs between runs.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::not_read::NotRead;
use simgpu::pipeline::Measure;
use simgpu::progress::{Counts, grouped};
use simgpu::search::{CandidateMethod, Dedup, Pairs};

/// The version of the layout of reports and descriptions.
#[doc(hidden)]
pub const REPORT_VERSION: u32 = 1;

/// All parameters that affect the result of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    /// The scheme.
    pub scheme: String,
    /// The base hash of shingles.
    pub hash: String,
    /// The seed of the permutations.
    pub seed: u32,
    /// The number of permutations.
    pub num_perm: u32,
    /// The unit of shingles.
    pub unit: String,
    /// Units per shingle; `None` for units without a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether texts are lowercased.
    #[serde(default)]
    pub lowercase: bool,
    /// Whether punctuation is deleted.
    #[serde(default)]
    pub strip_punctuation: bool,
    /// Whether runs of white space are kept.
    #[serde(default)]
    pub keep_whitespace: bool,
    /// Whether shingles are counted ([`Weighting::Counts`](simgpu::pipeline::Weighting::Counts)).
    #[serde(default)]
    pub count: bool,
    /// What the weights of shingles follow from: `rarity` ([`Weighting::Rarity`](simgpu::pipeline::Weighting::Rarity));
    /// `None` if nothing decides them but counts or a field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The version of Unicode that defines words; `None` for units without words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unicode_version: Option<String>,
    /// The field of the text or of the tokens.
    #[serde(default)]
    pub content_field: String,
    /// The field of the weights; `None` without weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights_field: Option<String>,
    /// Copies per unit of weight; `None` without weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_scale: Option<f64>,
    /// The field of the id.
    #[serde(default)]
    pub id_field: String,
    /// The most records read; `None` if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The field of the text or of the tokens in a reference; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_content_field: Option<String>,
    /// The field of the id in a reference; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_id_field: Option<String>,
    /// The parameters of the search; `None` for `sign`.
    #[serde(flatten)]
    pub search: Option<SearchParameters>,
}

/// The parameters of a search for similar pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchParameters {
    /// The least similarity of a pair; `None` in a search by distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The measure of similarity: `contained`; `None` for the Jaccard similarity, and in a search by distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The distance that the search goes by: `hamming` or `l1`; `None` for the similarity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// The greatest distance of a pair; `None` in a search by similarity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u64>,
    /// The method that found candidate pairs: `lsh` or `join`.
    pub candidates: String,
    /// The number of bands; `None` for a join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<usize>,
    /// Slots per band; `None` for a join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The verification of candidate pairs: `none`, `signature` or `exact`.
    pub verify: String,
    /// The verification of pairs with a document of an index: `signature`, if it is another one; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_verify: Option<String>,
    /// The probability that the run finds a pair with a similarity equal to the threshold; with `contained`, of a document in
    /// one of twice its shingles.
    pub recall_at_threshold: f64,
    /// With `index_verify`, the same for pairs among the inputs; `recall_at_threshold` is that of pairs with the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_recall_at_threshold: Option<f64>,
    /// With `contained`: the same for documents in others of so many times their shingles.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recall_by_size_ratio: BTreeMap<u32, f64>,
}

/// The parameters of a deduplication, beside those of its search.
#[derive(Clone, Debug, Serialize)]
pub struct DedupParameters {
    /// Which document of a cluster is kept: `first`, `longest`, or with the measure `contained` the `largest`, which has the
    /// most distinct shingles.
    pub keep: &'static str,
    /// The field whose largest (`:desc`) or smallest (`:asc`) value decides which document is kept, before
    /// `keep` does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_by: Option<String>,
    /// The patterns of files whose documents are kept first, in order, before `keep_by` and `keep` decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer_source: Vec<String>,
    /// The field whose value is the source of a document; `None` if its file is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_field: Option<String>,
    /// The name of the file of pairs that the result follows from; `None` if the run searched for pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_pairs: Option<String>,
    /// How clusters are formed: `greedy` or `connected`.
    pub cluster: &'static str,
    /// The most documents of one bucket that a further document is compared with; `None` for a join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bucket: Option<usize>,
    /// The fewest shingles of a document that is compared; `None` without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_shingles: Option<u32>,
    /// Whether documents with fewer are removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_short: bool,
    /// Whether documents without shingles are removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_empty: bool,
}

impl DedupParameters {
    /// The parameters for a report, if `candidates` were found by this method: those that affect the result, beside those
    /// of the search and of a run over files.
    pub fn new(task: &Dedup, candidates: CandidateMethod) -> Self {
        DedupParameters {
            keep: match task.search.measure {
                Measure::Jaccard => task.keep.name(),
                Measure::Contained => DedupParameters::KEEPS_LARGEST,
            },
            keep_by: None,
            source_field: None,
            prefer_source: Vec::new(),
            from_pairs: None,
            cluster: task.clustering.name(),
            max_bucket: (candidates != CandidateMethod::Join).then_some(task.max_bucket),
            min_shingles: Some(task.short.min_shingles).filter(|least| *least > 0),
            drop_short: task.short.drop_short,
            drop_empty: task.short.drop_empty,
        }
    }

    /// [`DedupParameters::keep`] with the measure `contained`.
    #[doc(hidden)]
    pub const KEEPS_LARGEST: &str = "largest";
}

/// The parameters of a search for pairs, beside those of any search.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PairsParameters {
    /// Which pairs of identical documents are returned: `all` or `star`.
    pub identical: &'static str,
    /// The number of pairs at which the search ends.
    pub max_pairs: u64,
}

impl PairsParameters {
    /// The parameters for a report, beside those of the search.
    pub fn new(task: &Pairs) -> Self {
        PairsParameters {
            identical: task.identical.name(),
            max_pairs: task.max_pairs,
        }
    }
}

/// A bad record in a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SkippedRecord {
    /// The file.
    pub file: String,
    /// The number of the record in its file, from 0.
    pub row: u64,
    /// The line of the record, from 1, in JSON Lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong with it.
    #[serde(default)]
    pub problem: String,
}

/// An input file of a search for pairs, so that a later run can tell whether it is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputReport {
    /// The file.
    pub file: String,
    /// Its records, including bad ones.
    pub records: u64,
    /// Its size in bytes, compressed.
    pub bytes: u64,
    /// XXH3 of its decompressed bytes in hexadecimal digits; `None` for Parquet and Arrow, which are not read from end to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3: Option<String>,
}

/// Documents without an id, although others have one. Because of them, every id is `FILE:ROW`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MissingIds {
    /// The number of documents without an id.
    pub documents: u64,
    /// The file of the first one.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
}

/// A large cluster: a kept document and those removed for it.
#[derive(Clone, Debug, Serialize)]
pub struct LargeCluster {
    /// The id of the kept document, as JSON.
    pub kept_id: Box<RawValue>,
    /// Where the kept document is: `input`, `reference` or `index`; `None` in a run without a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<&'static str>,
    /// The file of the kept document, or the folder of the index.
    pub kept_file: String,
    /// The number of its record in the file, from 0, or its number in the index.
    pub kept_row: u64,
    /// Documents in the cluster, including the kept one.
    pub documents: u64,
}

/// What was kept and removed of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceReport {
    /// The name of the file, or the value of the field; `None` for documents without a value, and for further sources.
    pub source: Option<String>,
    /// The number of the further sources, which have fewer documents than those that are listed; `None` for one source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
    /// Its documents, without bad records.
    pub documents: u64,
    /// Those that are kept.
    pub kept: u64,
    /// Those that are removed.
    pub removed: u64,
    /// The sources of the documents that were kept in place of these, at most ten, by number.
    pub removed_for: Vec<RemovedFor>,
    /// Of the removed documents that were compared exactly with their kept ones, the distinct shingles that these lack, as a
    /// share; `None` if there is no such document.
    pub lost: Option<f64>,
}

/// How many documents of a source were removed in favour of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RemovedFor {
    /// The source of the kept documents.
    pub source: Option<String>,
    /// The number of further sources; `None` for one source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
    /// `reference` if the kept documents are of a reference, which has no sources; else `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<&'static str>,
    /// The removed documents.
    pub removed: u64,
}

/// What is unusual about a result, so that someone should look at it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum Unusual {
    /// The largest cluster has more than 1 % of at least 1,000 documents.
    LargeCluster {
        /// The documents of the cluster.
        documents: u64,
        /// All documents.
        of: u64,
    },
    /// A source loses more than half of its documents, and more than twice the share that all lose; it and another have at
    /// least 1,000.
    SourceLoss {
        /// The source.
        source: Option<String>,
        /// Its removed documents.
        removed: u64,
        /// Its documents.
        of: u64,
        /// The share of all documents that is removed.
        of_all: f64,
    },
    /// More than 1,000 documents, and more than 0.1 % of all, are removed for one document of the reference: the one with the
    /// most.
    ReferenceDocument {
        /// Its id; a string without quotes.
        id: String,
        /// Its file.
        file: String,
        /// The number of its record in the file, from 0.
        row: u64,
        /// The documents that are removed for it.
        removed: u64,
        /// All documents of the inputs.
        of: u64,
    },
}

impl std::fmt::Display for Unusual {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |part: u64, of: u64| {
            let percent = 100.0 * part as f64 / of.max(1) as f64;
            format!("{} ({percent:.1} %)", grouped(part))
        };
        match self {
            Unusual::LargeCluster { documents, of } => write!(
                f,
                "the largest cluster has more than 1 % of all documents: {}",
                share(*documents, *of)
            ),
            Unusual::SourceLoss {
                source,
                removed,
                of,
                of_all,
            } => write!(
                f,
                "the source {} loses more than half of its documents, and more than twice the share of all: {} of {}, while all lose {:.1} %",
                source.as_deref().unwrap_or("without a value"),
                share(*removed, *of),
                grouped(*of),
                100.0 * of_all
            ),
            Unusual::ReferenceDocument {
                id,
                file,
                row,
                removed,
                of,
            } => write!(
                f,
                "one document of the reference removes more than 0.1 % of all documents: {} go for {id} in {file}, row {row}",
                share(*removed, *of)
            ),
        }
    }
}

/// Removed documents by similarity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimilarityBin {
    /// The least similarity of the bin, whose width is 0.01; that of the last bin is 1.
    pub similarity: f64,
    /// The removed documents with a similarity in the bin.
    pub removed: u64,
}

impl SimilarityBin {
    /// The bins with these numbers of documents, by the similarity in hundredths.
    #[doc(hidden)]
    pub fn from_hundredths(hundredths: &BTreeMap<u8, u64>) -> Vec<Self> {
        let bins = hundredths
            .iter()
            .map(|(hundredths, removed)| SimilarityBin {
                similarity: f64::from(*hundredths) / 100.0,
                removed: *removed,
            });
        bins.collect()
    }
}

/// Where a document of an example is.
#[derive(Clone, Debug, Serialize)]
pub struct ExampleDocument {
    /// Its id, as JSON.
    pub id: Box<RawValue>,
    /// Its file.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
    /// Whether it is of the reference, or of an index.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// Whether it is of an index: then `file` is its folder, and `row` the number of the document in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub index: bool,
}

impl ExampleDocument {
    /// The kept document of a cluster.
    #[doc(hidden)]
    pub fn from_cluster(cluster: &LargeCluster) -> Self {
        ExampleDocument {
            id: cluster.kept_id.clone(),
            file: cluster.kept_file.clone(),
            row: cluster.kept_row,
            reference: matches!(cluster.kept_in, Some("reference" | "index")),
            index: cluster.kept_in == Some("index"),
        }
    }

    /// Where it is, of the reference or not: a file of each may have the same name.
    #[doc(hidden)]
    pub fn place(&self) -> (bool, &str, u64) {
        (self.reference, &self.file, self.row)
    }
}

/// A removed document to look at, and the one that it was removed for.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// Why it is shown: `threshold` (its similarity is among the lowest), `lost` (its removal loses the most), `random`, or
    /// `cluster` (it is of one of the largest clusters).
    pub why: &'static str,
    /// The removed document.
    pub removed: ExampleDocument,
    /// The document kept in its place.
    pub kept: ExampleDocument,
    /// The similarity of the two; `None` if not computed.
    pub similarity: Option<f64>,
    /// The share of the removed document's distinct shingles that the kept one lacks; `None` unless they were compared exactly.
    pub lost: Option<f64>,
    /// As in `removed.jsonl`: `identical`, `exact`, `signature` or `none`.
    pub found_by: &'static str,
    /// The next document on a chain of similar pairs that leads to the kept one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<ExampleDocument>,
    /// The similarity of the removed document to that next document; absent unless it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_similarity: Option<f64>,
}

/// Similar pairs by similarity, or by distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairsBin {
    /// The least similarity of the bin, whose width is 0.01; that of the last bin is 1. `None` in a search by distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The least distance of the bin; all bins are equally wide. `None` in a search by similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u64>,
    /// The pairs in the bin.
    pub pairs: u64,
}

/// A pair to look at.
#[derive(Clone, Debug, Serialize)]
pub struct PairExample {
    /// Why it is shown: `threshold` (it is among the least similar pairs) or `random`.
    pub why: &'static str,
    /// The first document.
    pub a: ExampleDocument,
    /// The second one.
    pub b: ExampleDocument,
    /// Their similarity; `None` if not computed, and in a search by distance.
    pub similarity: Option<f64>,
    /// Their distance; `None` in a search by similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u64>,
}

/// The pairs of documents of two files, or of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PairsOfSources {
    /// The file of the first documents; `None` if they are of a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_a: Option<String>,
    /// The file of the second ones.
    pub source_b: String,
    /// The pairs.
    pub pairs: u64,
}

/// What a page shows of similar pairs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PairsOverview {
    /// The pairs by similarity, or by distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<PairsBin>,
    /// Pairs to look at, which are not identical.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<PairExample>,
    /// The pairs of files, those with the most pairs first; empty if there is one file, or each has one document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PairsOfSources>,
}

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
