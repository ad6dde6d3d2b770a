//! The report of a search for passages in files.

use serde::{Deserialize, Serialize};

use super::cuts::{Cuts, Removal};
use super::lost::Lost;
use super::overview::PassagesOverview;
use super::units::{PassageUnits, PlacedPiece, UnitTexts};
use simgpu::error::Result;
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
    pub(super) fn of_none(reference: Option<u64>) -> Self {
        PassageCounts {
            reference,
            from_reference: reference.map(|_| 0),
            ..PassageCounts::default()
        }
    }

    /// Counts the texts and spans.
    pub(super) fn of(
        texts: &UnitTexts,
        units: PassageUnits,
        has_reference: bool,
        spans: impl Iterator<Item = (usize, std::ops::Range<usize>, usize)>,
    ) -> Self {
        let mut counts = PassageCounts {
            bytes: texts.input_bytes(),
            units: texts.input_units(units),
            ..PassageCounts::of_none(has_reference.then_some(texts.reference as u64))
        };
        let mut last = None;
        for (document, bytes, units) in spans {
            counts.covered_documents += u64::from(last != Some(document));
            last = Some(document);
            counts.covered_bytes += bytes.len() as u64;
            counts.covered_units += units as u64;
            counts.spans += 1;
        }
        counts
    }

    pub(super) fn add(&mut self, piece: &PlacedPiece) {
        self.pieces += 1;
        if let (Some(reference), Some(from)) = (self.reference, &mut self.from_reference) {
            *from += u64::from((piece.source_document as u64) < reference);
        }
        self.within_document += u64::from(piece.document == piece.source_document);
        self.inexact += u64::from(!piece.is_exact);
    }

    /// Counts what was cut and removed.
    pub(super) fn add_cuts(&mut self, texts: &UnitTexts, cuts: &Cuts, lost: Lost) {
        let removed = cuts.removed.iter();
        let removed_bytes = removed
            .map(|(document, _)| texts.text(*document).len() as u64)
            .sum();
        let mut counts = CutCounts {
            kept: (texts.len() - texts.reference - cuts.removed.len()) as u64,
            removed: cuts.removed.len() as u64,
            cut_bytes: cuts.bytes(),
            uncut_bytes: cuts.uncut,
            kept_bytes: texts.input_bytes() - cuts.bytes() - removed_bytes,
            removed_bytes,
            lost_of_units: lost.removed,
            lost_units: lost.lost,
            ..CutCounts::default()
        };
        for document in 0..texts.len() {
            let of_document = cuts.of(document).len() as u64;
            counts.cuts += of_document;
            counts.cut_documents += u64::from(of_document > 0);
        }
        self.cut = Some(counts);
    }

    /// The covered share of the bytes; 0 without any.
    pub fn covered_share(&self) -> f64 {
        match self.bytes {
            0 => 0.0,
            bytes => self.covered_bytes as f64 / bytes as f64,
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

impl PassageReport {
    pub(super) fn new(
        (mut counts, overview): (PassageCounts, PassagesOverview),
        parameters: PassageParameters,
        places: &Places,
    ) -> Self {
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

/// A line of `passages.jsonl`.
#[derive(Serialize)]
pub(super) struct PassageLine<'a> {
    pub(super) id: Box<serde_json::value::RawValue>,
    pub(super) file: &'a str,
    pub(super) row: u64,
    pub(super) field: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) source_id: Box<serde_json::value::RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_in: Option<&'static str>,
    pub(super) source_file: &'a str,
    pub(super) source_row: u64,
    pub(super) source_start: usize,
    pub(super) source_end: usize,
    pub(super) length: usize,
    pub(super) exact: bool,
}

impl<'a> PassageLine<'a> {
    pub(super) fn of(piece: &PlacedPiece, places: &'a Places, field: &'a str) -> Result<Self> {
        let [row, source] = [piece.document, piece.source_document].map(simgpu::error::row_number);
        let (row, source) = (row?, source?);
        let (file, of_file) = places.place(row);
        let (source_file, source_row) = places.place(source);
        Ok(PassageLine {
            id: places.raw_id(row)?,
            file,
            row: of_file,
            field,
            start: piece.stated[0].start,
            end: piece.stated[0].end,
            source_id: places.raw_id(source)?,
            source_in: places.kept_in(source),
            source_file,
            source_row,
            source_start: piece.stated[1].start,
            source_end: piece.stated[1].end,
            length: piece.len,
            exact: piece.is_exact,
        })
    }
}

/// A line of `cuts.jsonl`.
#[derive(Serialize)]
pub(super) struct CutsLine<'a> {
    id: Box<serde_json::value::RawValue>,
    file: &'a str,
    row: u64,
    /// Bytes of the text.
    cuts: &'a [[u32; 2]],
}

impl<'a> CutsLine<'a> {
    pub(super) fn of(document: usize, cuts: &'a [[u32; 2]], places: &'a Places) -> Result<Self> {
        let row = simgpu::error::row_number(document)?;
        let (file, of_file) = places.place(row);
        Ok(CutsLine {
            id: places.raw_id(row)?,
            file,
            row: of_file,
            cuts,
        })
    }
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
pub(super) struct RemovedLine<'a> {
    id: Box<serde_json::value::RawValue>,
    file: &'a str,
    row: u64,
    reason: &'static str,
    bytes: usize,
    covered_bytes: usize,
}

impl<'a> RemovedLine<'a> {
    pub(super) fn of(
        (document, why, covered_bytes): (usize, Removal, usize),
        bytes: usize,
        places: &'a Places,
    ) -> Result<Self> {
        let row = simgpu::error::row_number(document)?;
        let (file, of_file) = places.place(row);
        Ok(RemovedLine {
            id: places.raw_id(row)?,
            file,
            row: of_file,
            reason: why.name(),
            bytes,
            covered_bytes,
        })
    }
}
