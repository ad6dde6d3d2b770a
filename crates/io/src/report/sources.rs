//! What a report says of inputs, sources and clusters.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use simgpu::progress::grouped;

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
