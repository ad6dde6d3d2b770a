//! The report of a search for passages in files.

use serde::{Deserialize, Serialize};

use super::cuts::Cuts;
use super::lost::LostUnits;
use super::overview::PassagesOverview;
use super::units::{PassageUnits, PlacedPiece, TextPart, UnitTexts};
use simgpu_io::{MissingIds, NotRead, Places, REPORT_VERSION, SkippedRecord, write_json};

/// The format of the file of passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassagesFormat {
    /// `passages.jsonl`: one JSON object per piece.
    #[default]
    JsonLines,
    /// `passages.parquet`: one row per piece.
    Parquet,
}

impl PassagesFormat {
    /// The name of the file.
    pub(super) fn file_name(self) -> &'static str {
        match self {
            PassagesFormat::JsonLines => "passages.jsonl",
            PassagesFormat::Parquet => "passages.parquet",
        }
    }
}

/// The counts of a search for passages. `documents = records - skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PassageCounts {
    /// Records read, including bad ones.
    pub records: u64,
    /// Bad records skipped.
    pub skipped: u64,
    /// Documents that repeat an earlier id.
    pub repeated_ids: u64,
    /// Documents of the reference, without bad records; `None` without one. Nothing else counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<u64>,
    /// Bytes of all texts; of lists of tokens, joined by spaces.
    pub bytes: u64,
    /// Units of all texts.
    pub units: u64,
    /// Documents with a passage.
    pub covered_documents: u64,
    /// Bytes from the beginning of each span to its end.
    pub covered_bytes: u64,
    /// Units in spans.
    pub covered_units: u64,
    /// Covered stretches.
    pub spans: u64,
    /// Parts of spans with one source.
    pub pieces: u64,
    /// Those whose source is in the same document.
    pub within_document: u64,
    /// Those whose source is in the reference; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_reference: Option<u64>,
    /// Those whose bytes differ from those of their source.
    pub inexact: u64,
    /// What was cut and removed; `None` if passages are only listed or marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutCounts>,
}

/// The counts of what was cut and removed. `bytes = kept_bytes + cut_bytes + removed_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CutCounts {
    /// Documents written.
    pub kept: u64,
    /// Documents removed.
    pub removed: u64,
    /// Documents written of which something was cut.
    pub cut_documents: u64,
    /// Cuts.
    pub cuts: u64,
    /// Bytes of texts that are written.
    pub kept_bytes: u64,
    /// Bytes of texts that were cut out of documents that are written.
    pub cut_bytes: u64,
    /// Bytes of passages that stay in documents that are written: parts of words or lines, and with [`Snap::None`](super::Snap)
    /// those of characters of which a passage has a part.
    pub uncut_bytes: u64,
    /// Bytes of the texts of documents that were removed.
    pub removed_bytes: u64,
    /// Units that were cut, or are of removed documents.
    pub lost_of_units: u64,
    /// Of these, units that stand in no passage of the least length any more that is written.
    pub lost_units: u64,
}

impl PassageCounts {
    /// The counts of nothing, beside a reference of so many documents.
    pub(super) fn new(reference: Option<u64>) -> Self {
        PassageCounts {
            reference,
            from_reference: reference.map(|_| 0),
            ..PassageCounts::default()
        }
    }

    /// Counts the bytes and units of texts.
    pub(super) fn add_texts(&mut self, texts: &UnitTexts, units: PassageUnits) {
        self.bytes += texts.input_bytes();
        self.units += texts.input_units(units);
    }

    /// Counts the spans of a document.
    pub(super) fn add_spans(&mut self, spans: &[TextPart]) {
        self.covered_documents += u64::from(!spans.is_empty());
        self.spans += spans.len() as u64;
        for span in spans {
            self.covered_bytes += span.bytes.len() as u64;
            self.covered_units += span.len as u64;
        }
    }

    /// Counts a piece.
    pub(super) fn add(&mut self, piece: &PlacedPiece) {
        self.pieces += 1;
        if let (Some(reference), Some(from)) = (self.reference, &mut self.from_reference) {
            *from += u64::from((piece.source_document as u64) < reference);
        }
        self.within_document += u64::from(piece.document == piece.source_document);
        self.inexact += u64::from(!piece.is_exact);
    }

    /// The covered share of the bytes; 0 without any.
    pub fn covered_share(&self) -> f64 {
        match self.bytes {
            0 => 0.0,
            bytes => self.covered_bytes as f64 / bytes as f64,
        }
    }
}

impl CutCounts {
    /// Counts what is cut out of texts, and which are removed.
    pub(super) fn add(&mut self, texts: &UnitTexts, cuts: &Cuts) {
        for document in texts.reference..texts.len() {
            if cuts.is_removed(document) {
                self.removed += 1;
                self.removed_bytes += texts.text(document).len() as u64;
                continue;
            }
            let count = cuts.cut_out(document).len() as u64;
            self.kept += 1;
            self.cuts += count;
            self.cut_documents += u64::from(count > 0);
        }
        self.cut_bytes += cuts.bytes();
        self.uncut_bytes += cuts.uncut;
    }

    /// The counts of all texts, which have so many bytes.
    pub(super) fn finish(self, bytes: u64, lost: LostUnits) -> Self {
        CutCounts {
            kept_bytes: bytes - self.cut_bytes - self.removed_bytes,
            lost_of_units: lost.removed,
            lost_units: lost.lost,
            ..self
        }
    }
}

/// All parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PassageParameters {
    /// The unit of passages: `words`, `code`, `chars`, `bytes`, `tokens`, `lines` or `paragraphs`.
    pub unit: &'static str,
    /// The least length, in units; in characters for lines and paragraphs.
    pub min_length: u64,
    /// Which occurrences are covered: `later` or `all`.
    pub occurrences: &'static str,
    /// How often a passage occurs at least.
    pub min_count: u32,
    /// Whether what occurs before in the same document is a passage: `cut`, or `keep` if it is none.
    pub same_document: &'static str,
    /// Whether all bytes of a passage are those of its source.
    pub bytes_equal: bool,
    /// Whether case does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lowercase: bool,
    /// Whether punctuation in lines and paragraphs does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strip_punctuation: bool,
    /// Whether each run of white space in lines and paragraphs counts as one space.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merge_whitespace: bool,
    /// Whether each digit counts as 0.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mask_digits: bool,
    /// What is done with passages: `report`, `cut`, `mark` or `drop`.
    pub action: &'static str,
    /// The field that marks are written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_field: Option<String>,
    /// The largest covered share of a document that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_covered: Option<f64>,
    /// To what cuts are shrunk: `words`, `lines` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snap: Option<&'static str>,
    /// The fewest units that are left of a document that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_left: Option<u64>,
    /// The field of the text, or the names of several.
    pub content_field: String,
    /// The field of the id.
    pub id_field: String,
    /// The field of the text in a reference; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_content_field: Option<String>,
    /// The field of the id in a reference; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_id_field: Option<String>,
    /// Whether only the reference is the source of passages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_against: bool,
    /// The patterns of files that come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer_source: Vec<String>,
    /// The most records read, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// The report of a search for passages, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PassageReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `passages`.
    pub command: &'static str,
    /// The counts.
    pub counts: PassageCounts,
    /// The parameters.
    pub parameters: PassageParameters,
    /// How long passages are, where they are, which are frequent, and some to look at.
    #[serde(flatten)]
    pub overview: PassagesOverview,
    /// The documents without an id, if some have one.
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

/// What a report says of passages: how many there are, and what to look at.
pub(super) struct PassagesSummary {
    pub(super) counts: PassageCounts,
    pub(super) overview: PassagesOverview,
}

impl PassageReport {
    pub(super) fn new(
        summary: PassagesSummary,
        parameters: PassageParameters,
        places: &Places,
    ) -> Self {
        let PassagesSummary {
            mut counts,
            overview,
        } = summary;
        counts.records = places.records();
        counts.skipped = places.bad_records();
        let documents = counts.records - counts.skipped + counts.reference.unwrap_or(0);
        counts.repeated_ids = places.repeated_ids;
        PassageReport {
            simgpu_report: REPORT_VERSION,
            command: "passages",
            missing_ids: places.missing_ids(documents),
            empty_files: places.empty_files(),
            not_read: places.not_read.clone(),
            skipped: places.skipped_records(),
            reference_skipped: places.skipped_of_reference(),
            counts,
            parameters,
            overview,
        }
    }

    /// Writes the report as JSON, the same bytes as in the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}
