//! The places and rows of removed documents.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Where a document is: whether that is the reference, its file, as in reports, and the number of its record there, from 0.
#[doc(hidden)]
pub type PlaceOfRow = (bool, String, u64);

/// A document in a result of a deduplication.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DocumentPlace {
    /// The id, as JSON.
    pub id: Box<RawValue>,
    /// The file, as in reports.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
    /// Whether it is of the reference.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

impl DocumentPlace {
    /// A document of the inputs.
    #[doc(hidden)]
    pub fn in_input(id: Box<RawValue>, file: String, row: u64) -> Self {
        DocumentPlace {
            id,
            file,
            row,
            reference: false,
        }
    }
}

/// A removed document, as `removed.jsonl` names it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemovedRow {
    /// The id, as JSON.
    pub id: Box<RawValue>,
    /// The file.
    pub file: String,
    /// The number of its record in the file, from 0.
    pub row: u64,
    /// The id of the document kept instead, as JSON; `None` if there is none.
    pub kept_id: Option<Box<RawValue>>,
    /// Where it is: `input`, `reference` or `index`; `None` in a run without a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
    /// Its file, or the folder of the index.
    pub kept_file: Option<String>,
    /// The number of its record in the file, from 0, or its number in the index.
    pub kept_row: Option<u64>,
    /// The similarity of the two; `None` if not computed.
    #[serde(deserialize_with = "exact_number")]
    pub similarity: Option<f64>,
    /// The share of its shingles that the kept one lacks; `None` unless the two were compared exactly.
    #[serde(default, deserialize_with = "exact_number")]
    pub lost: Option<f64>,
    /// How it was found ([`Removal::found_by`](simgpu::pipeline::Removal::found_by)).
    pub found_by: String,
    /// The id of the next document on the chain to the kept one, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via_id: Option<Box<RawValue>>,
    /// The similarity to that document.
    #[serde(
        default,
        deserialize_with = "exact_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub via_similarity: Option<f64>,
}

/// Reads a number as it was written: `serde_json` alone may be off by the last bit.
fn exact_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let number = written.map(|written| written.get().parse().map_err(D::Error::custom));
    number.transpose()
}

impl RemovedRow {
    /// The removed document.
    pub fn document(&self) -> DocumentPlace {
        DocumentPlace {
            id: self.id.clone(),
            file: self.file.clone(),
            row: self.row,
            reference: false,
        }
    }

    /// The document kept instead, if there is one.
    pub fn kept(&self) -> Option<DocumentPlace> {
        Some(DocumentPlace {
            id: self.kept_id.clone()?,
            file: self.kept_file.clone()?,
            row: self.kept_row?,
            reference: self.is_kept_in_reference(),
        })
    }

    fn is_kept_in_reference(&self) -> bool {
        matches!(self.kept_in.as_deref(), Some("reference" | "index"))
    }

    /// Whether it is at one of these places, or removed for a document there.
    pub(super) fn is_of(&self, places: &[PlaceOfRow]) -> bool {
        places.iter().any(|(reference, file, row)| {
            let is_kept = self.kept_file.as_deref() == Some(file)
                && self.kept_row == Some(*row)
                && self.is_kept_in_reference() == *reference;
            is_kept || (false, &self.file, self.row) == (*reference, file, *row)
        })
    }
}

/// The text of an id: that of a JSON string, or the digits of a number.
pub fn id_text(id: &RawValue) -> String {
    serde_json::from_str::<String>(id.get()).unwrap_or_else(|_| id.get().to_owned())
}

/// A document that `clusters.parquet` names.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ClusterRow {
    #[doc(hidden)]
    pub document: DocumentPlace,
    #[doc(hidden)]
    pub is_kept: bool,
}
