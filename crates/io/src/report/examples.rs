//! The examples and histograms of a report.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::sources::LargeCluster;

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
