//! The lines of the files that list what was found: `passages.jsonl`, `cuts.jsonl` and `removed.jsonl`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::removal::RemovedDocument;
use super::units::PlacedPiece;
use simgpu::error::{Result, row_number};
use simgpu_io::Places;

/// A line of `passages.jsonl`.
#[derive(Serialize)]
pub(super) struct PassageLine<'a> {
    pub(super) id: Box<RawValue>,
    pub(super) file: &'a str,
    pub(super) row: u64,
    pub(super) field: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) source_id: Box<RawValue>,
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
    pub(super) fn new(piece: &PlacedPiece, places: &'a Places, field: &'a str) -> Result<Self> {
        let [row, source] = [piece.document, piece.source_document].map(row_number);
        let (row, source) = (row?, source?);
        let (file, file_row) = places.place(row);
        let (source_file, source_row) = places.place(source);
        Ok(PassageLine {
            id: places.raw_id(row)?,
            file,
            row: file_row,
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
    id: Box<RawValue>,
    file: &'a str,
    row: u64,
    /// Bytes of the text.
    cuts: &'a [[u32; 2]],
}

impl<'a> CutsLine<'a> {
    pub(super) fn new(document: usize, cuts: &'a [[u32; 2]], places: &'a Places) -> Result<Self> {
        let row = row_number(document)?;
        let (file, file_row) = places.place(row);
        Ok(CutsLine {
            id: places.raw_id(row)?,
            file,
            row: file_row,
            cuts,
        })
    }
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
pub(super) struct RemovedDocumentLine<'a> {
    id: Box<RawValue>,
    file: &'a str,
    row: u64,
    reason: &'static str,
    bytes: usize,
    covered_bytes: usize,
}

impl<'a> RemovedDocumentLine<'a> {
    pub(super) fn new(removed: &RemovedDocument, places: &'a Places) -> Result<Self> {
        let row = row_number(removed.row)?;
        let (file, file_row) = places.place(row);
        Ok(RemovedDocumentLine {
            id: places.raw_id(row)?,
            file,
            row: file_row,
            reason: removed.why.name(),
            bytes: removed.bytes,
            covered_bytes: removed.covered_bytes,
        })
    }
}
