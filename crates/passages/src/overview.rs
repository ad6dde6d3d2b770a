//! What a report says of passages beside their counts: how long they are, where they are, which are frequent, and which of
//! them to look at.

use serde::{Deserialize, Serialize};

use simgpu_io::ExampleDocument;

/// What a report says of passages beside their counts.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PassagesOverview {
    /// The pieces by length.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<LengthBin>,
    /// The input files, in order: at most 1,000 with the most documents, and all others as one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CoveredSource>,
    /// The most frequent passages, the most frequent one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frequent: Vec<FrequentPassage>,
    /// The documents with the most covered bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub most_covered: Vec<CoveredDocument>,
    /// Pieces to look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<PassageExample>,
}

/// Pieces of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LengthBin {
    /// The least length in units. The next bin begins at its double.
    pub least: u64,
    /// The pieces of at least this length, and less than the double.
    pub pieces: u64,
}

/// What is covered of an input file, or of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CoveredSource {
    /// The file; `None` for all that are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The number of files that are not listed; `None` for a listed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
    /// Its documents, without bad records.
    pub documents: u64,
    /// Those with a passage.
    pub covered_documents: u64,
    /// Bytes of its texts.
    pub bytes: u64,
    /// Bytes in spans.
    pub covered_bytes: u64,
    /// The pieces in its documents.
    pub pieces: u64,
    /// Those whose source is in the same file.
    pub within_source: u64,
    /// Those whose source is in the reference; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_reference: Option<u64>,
}

/// A passage that is the source of many pieces.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FrequentPassage {
    /// The pieces whose source begins there.
    pub pieces: u64,
    /// Whether there may be more of them: so many passages are different that not all were counted from the first one on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The length of the shortest of them, in units.
    pub length: u64,
    /// The document of the source.
    pub source: ExampleDocument,
    /// Where the passage begins there, in bytes or in tokens.
    pub start: u64,
    /// Where the shortest piece ends there.
    pub end: u64,
}

/// A document of which much is covered.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CoveredDocument {
    /// The document.
    pub document: ExampleDocument,
    /// Bytes of its text.
    pub bytes: u64,
    /// Bytes in spans.
    pub covered_bytes: u64,
}

/// A piece to look at.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PassageExample {
    /// Why it is shown: `shortest`, `inexact` (its bytes differ from those of its source) or `random`.
    pub why: &'static str,
    /// Its document.
    pub document: ExampleDocument,
    /// Where it begins, in bytes or in tokens.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// The document of its source.
    pub source: ExampleDocument,
    /// Where its source begins.
    pub source_start: u64,
    /// Where its source ends.
    pub source_end: u64,
    /// Its length in units.
    pub length: u64,
    /// Whether all bytes are those of the source.
    pub exact: bool,
}
