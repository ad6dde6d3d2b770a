//! What a run says of itself: counts, parameters, clusters. The same input and options give the same
//! report; what differs from run to run is in run.json.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::corpus::{Corpus, Skipped, Source};
use super::search::Search;
use crate::pipeline::SimilarPairs;
use crate::progress::{Progress, Timings};
use crate::scheme::{Scheme, words_v1};

/// The version of the layout of reports and signature files.
pub(super) const REPORT_VERSION: u32 = 1;

/// Everything that decides what a run gives.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    scheme: String,
    hash: String,
    seed: u32,
    num_perm: usize,
    unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    lowercase: bool,
    strip_punctuation: bool,
    keep_whitespace: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unicode_version: Option<String>,
    content_field: String,
    id_field: String,
    #[serde(flatten)]
    search: Option<SearchParameters>,
}

#[derive(Clone, Debug, Serialize)]
struct SearchParameters {
    threshold: f64,
    bands: usize,
    rows: usize,
    verify: &'static str,
    max_bucket: usize,
    /// The probability that a pair just at the threshold becomes a candidate.
    recall_at_threshold: f64,
}

impl Parameters {
    /// The parameters of a run.
    pub fn of(source: &Source<'_>, scheme: &Scheme, search: Option<&Search>) -> Self {
        let shingling = source.shingler.shingling();
        let (major, minor, patch) = words_v1::UNICODE_VERSION;
        let has_words = shingling.unit.is_made_of_words();
        Parameters {
            scheme: scheme.to_string(),
            hash: source.shingler.hash().to_string(),
            seed: scheme.seed(),
            num_perm: scheme.num_perm(),
            unit: shingling.unit.to_string(),
            size: shingling.unit.takes_size().then(|| shingling.size.get()),
            lowercase: shingling.normalise.lowercase,
            strip_punctuation: shingling.normalise.strip_punctuation,
            keep_whitespace: shingling.normalise.keep_whitespace,
            unicode_version: has_words.then(|| format!("{major}.{minor}.{patch}")),
            content_field: source.fields.content.to_string(),
            id_field: source.fields.id.to_string(),
            search: search.map(|search| SearchParameters {
                threshold: search.threshold,
                bands: search.banding.bands(),
                rows: search.banding.rows(),
                verify: search.verification.name(),
                max_bucket: search.max_bucket,
                recall_at_threshold: search.recall_at_threshold(),
            }),
        }
    }
}

/// How many documents there were, and what became of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// Records, good and bad.
    pub documents: u64,
    /// Documents kept, or signed, or compared.
    pub kept: u64,
    /// Documents removed.
    pub removed: u64,
    /// Bad records.
    pub skipped: u64,
    /// Documents with the units of an earlier one.
    pub identical: u64,
    /// Documents without a shingle, which are always kept.
    pub without_shingles: u64,
    /// Documents whose id another one has.
    pub repeated_ids: u64,
    /// Pairs that were compared.
    pub candidate_pairs: u64,
    /// Pairs of distinct documents at or above the threshold.
    pub similar_pairs: u64,
    /// Buckets above the bound.
    pub large_buckets: u64,
    /// At most so many pairs were left out by a bound; 0 if none was.
    pub omitted_pairs: u64,
    /// Groups of two or more documents of which one is kept.
    pub clusters: u64,
    /// Documents in the largest of them.
    pub largest_cluster: u64,
    /// Decompressed bytes of input.
    pub bytes: u64,
}

impl Counts {
    pub(super) fn of(corpus: &Corpus, pairs: Option<&SimilarPairs>) -> Self {
        let count = |n: usize| n as u64;
        Counts {
            documents: corpus.records(),
            kept: corpus.documents(),
            skipped: count(corpus.skipped.len()),
            identical: count(corpus.repeats().len()),
            without_shingles: count(corpus.without_shingles.len()),
            repeated_ids: corpus.repeated_ids,
            candidate_pairs: pairs.map_or(0, |pairs| pairs.candidates),
            similar_pairs: pairs.map_or(0, |pairs| count(pairs.pairs.len())),
            large_buckets: pairs.map_or(0, |pairs| pairs.large_buckets),
            omitted_pairs: pairs.map_or(0, |pairs| pairs.omitted),
            bytes: corpus.bytes,
            ..Counts::default()
        }
    }
}

/// A bad record in a report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SkippedRecord {
    file: String,
    row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    problem: String,
}

/// A group of documents of which one is kept.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LargeCluster {
    pub(super) kept_id: Box<serde_json::value::RawValue>,
    pub(super) kept_file: String,
    pub(super) kept_row: u64,
    pub(super) documents: u64,
}

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) simgpu_report: u32,
    pub(super) command: &'static str,
    pub(super) counts: Counts,
    pub(super) parameters: Parameters,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keep: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<&'static str>,
    /// For each size of a cluster, how many there are; a document alone is a cluster of one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) cluster_sizes: BTreeMap<u64, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) largest_clusters: Vec<LargeCluster>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) empty_files: Vec<String>,
    pub(super) skipped: Vec<SkippedRecord>,
}

impl Report {
    pub(super) fn new(
        command: &'static str,
        source: &Source<'_>,
        corpus: &Corpus,
        counts: Counts,
        parameters: Parameters,
    ) -> Self {
        let name = |file: &usize| source.inputs.files[*file].relative.clone();
        let skipped_record = |skipped: &Skipped| SkippedRecord {
            file: name(&skipped.file),
            row: skipped.record.row,
            line: skipped.record.line,
            problem: skipped.record.problem.clone(),
        };
        Report {
            simgpu_report: REPORT_VERSION,
            command,
            counts,
            parameters,
            keep: None,
            cluster: None,
            cluster_sizes: BTreeMap::new(),
            largest_clusters: Vec::new(),
            empty_files: corpus.empty_files.iter().map(name).collect(),
            skipped: corpus.skipped.iter().map(skipped_record).collect(),
        }
    }
}

/// What a run came to, for its summary.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How many documents there were, and what became of them.
    pub counts: Counts,
    /// The probability that a pair just at the threshold was found; none was looked for by `sign`.
    pub recall_at_threshold: Option<f64>,
    /// The times of the stages.
    pub timings: Timings,
}

/// Writes a value as JSON, indented, with a newline at the end.
pub(super) fn write_json(target: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *target, value)?;
    target.write_all(b"\n")
}

/// What [`Source::inputs`] and the corpus give reason to say.
pub(super) fn note_oddities(source: &Source<'_>, counts: &Counts) {
    let progress = source.progress;
    note_counts(progress, counts);
    for path in &source.inputs.repeated {
        let path = path.display();
        progress.warn(&format!(
            "{path} was named more than once, and is read once"
        ));
    }
}

/// What the counts give reason to say.
pub(super) fn note_counts(progress: &dyn Progress, counts: &Counts) {
    if counts.repeated_ids > 0 {
        let repeated = match counts.repeated_ids {
            1 => "1 document has".to_owned(),
            repeated => format!("{repeated} documents have"),
        };
        progress.warn(&format!(
            "{repeated} the id of another; rows tell them apart (--unique-ids makes this an error)"
        ));
    }
    if counts.omitted_pairs > 0 {
        let Counts {
            large_buckets: buckets,
            omitted_pairs: pairs,
            ..
        } = counts;
        let pairs = match pairs {
            1 => "1 pair was not compared, or none,".to_owned(),
            pairs => format!("{pairs} pairs were not compared, or fewer,"),
        };
        let buckets = match buckets {
            1 => "1 bucket".to_owned(),
            buckets => format!("{buckets} buckets"),
        };
        progress.warn(&format!(
            "{pairs} in {buckets} above --max-bucket or among as many identical documents; similar ones may be left (raise it to compare more)"
        ));
    }
}
