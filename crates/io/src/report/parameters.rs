//! The parameters of a run, as its report states them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use simgpu::pipeline::Measure;
use simgpu::search::{CandidateMethod, Dedup, Pairs};

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
