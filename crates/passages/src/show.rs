//! Says what a result of a search for passages says of a document: why it was removed, what was cut out of it, and where its
//! passages come from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::report::{PassageCounts, PassagesFormat};
use super::write::{CUTS, REMOVED};
use simgpu::error::{Error, Result};
use simgpu::store::disk::is_file;
use simgpu_io::{DocumentPlace, REPORT, id_text, read_json};

/// The most pieces of a document that are listed.
const LISTED: usize = 100;

/// What a result of a search for passages says of the documents that have an id.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ShownPassages {
    /// Each of them that has passages or was removed, in input order.
    pub documents: Vec<DocumentWithPassages>,
    /// The share of passages above which documents were removed; `None` if none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_covered: Option<f64>,
    /// Whether passages are listed: they are not if they are in a table.
    pub are_listed: bool,
}

/// A document with passages.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct DocumentWithPassages {
    /// Where it is.
    #[serde(flatten)]
    pub document: DocumentPlace,
    /// Why it was removed; `None` if it is kept.
    pub removed: Option<RemovedForPassages>,
    /// What was cut out of it, in bytes of its text.
    pub cuts: Vec<[u64; 2]>,
    /// The number of its pieces.
    pub pieces_count: u64,
    /// The first of them, in order.
    pub pieces: Vec<PieceRow>,
}

/// Why a document was removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemovedForPassages {
    /// `max_covered` or `min_left`.
    pub reason: String,
    /// The bytes of its text.
    pub bytes: u64,
    /// Those that are in passages.
    pub covered_bytes: u64,
}

/// A piece, as `passages.jsonl` has it. Places are bytes, or tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PieceRow {
    /// Where it begins.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Whether its source is in the inputs or in the reference; `None` without a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_in: Option<String>,
    /// The id of the document of its source, as JSON.
    pub source_id: Box<RawValue>,
    /// The file of that.
    pub source_file: String,
    /// The number of its record there, from 0.
    pub source_row: u64,
    /// Where the source begins.
    pub source_start: u64,
    /// Where it ends.
    pub source_end: u64,
    /// The length in units.
    pub length: u64,
    /// Whether all bytes are the same, not only the units.
    pub exact: bool,
}

/// What a line of any file of a result begins with.
#[derive(Deserialize)]
struct LinePlace {
    id: Box<RawValue>,
    file: String,
    row: u64,
}

#[derive(Deserialize)]
struct CutsOfDocument {
    cuts: Vec<[u64; 2]>,
}

#[derive(Deserialize)]
struct ReadReport {
    command: String,
    counts: PassageCounts,
    #[serde(default)]
    parameters: ReadParameters,
}

#[derive(Default, Deserialize)]
struct ReadParameters {
    max_covered: Option<f64>,
}

/// Shows the documents with an id in a folder of a search for passages; `None` if the folder has no such result. A string and
/// the number with its digits are the same id here.
///
/// # Errors
/// [`Error::Input`] if no document with the id was removed or has a passage, and for files that are not as they were written:
/// that are missing, or have more or fewer lines than the report counts.
pub fn show_passages(folder: &Path, id: &str) -> Result<Option<ShownPassages>> {
    let report = read_json::<ReadReport>(&folder.join(REPORT))?;
    let Some(report) = report.filter(|report| report.command == "passages") else {
        return Ok(None);
    };
    let mut documents: BTreeMap<(String, u64), DocumentWithPassages> = BTreeMap::new();
    if let Some(cut) = &report.counts.cut {
        let removed = folder.join(REMOVED);
        for_each_line(&removed, cut.removed, id, |place, removed| {
            document_at(&mut documents, place).removed = Some(removed);
        })?;
        let cuts = folder.join(CUTS);
        for_each_line(
            &cuts,
            cut.cut_documents,
            id,
            |place, cut: CutsOfDocument| {
                document_at(&mut documents, place).cuts = cut.cuts;
            },
        )?;
    }
    let pieces = folder.join(PassagesFormat::JsonLines.file_name());
    let is_listed = !is_file(&folder.join(PassagesFormat::Parquet.file_name()))?;
    if is_listed {
        for_each_line(&pieces, report.counts.pieces, id, |place, piece| {
            let document = document_at(&mut documents, place);
            document.pieces_count += 1;
            if document.pieces.len() < LISTED {
                document.pieces.push(piece);
            }
        })?;
    }
    if documents.is_empty() {
        return Err(Error::Input {
            path: folder.to_owned(),
            problem: format!("no document with the id {id:?} was removed or has a passage"),
            remedy: "name the id of one that removed.jsonl, cuts.jsonl or passages.jsonl has"
                .to_owned(),
        });
    }
    Ok(Some(ShownPassages {
        documents: documents.into_values().collect(),
        max_covered: report.parameters.max_covered,
        are_listed: is_listed,
    }))
}

/// The document of a line, which is added if it is the first one.
fn document_at(
    documents: &mut BTreeMap<(String, u64), DocumentWithPassages>,
    place: LinePlace,
) -> &mut DocumentWithPassages {
    let LinePlace { id, file, row } = place;
    let key = (file.clone(), row);
    documents
        .entry(key)
        .or_insert_with(|| DocumentWithPassages {
            document: DocumentPlace::in_input(id, file, row),
            removed: None,
            cuts: Vec::new(),
            pieces_count: 0,
            pieces: Vec::new(),
        })
}

/// Calls `each` with the lines of documents with an id, of a file with as many lines as the report counts.
fn for_each_line<T: DeserializeOwned>(
    path: &Path,
    counted: u64,
    id: &str,
    mut each: impl FnMut(LinePlace, T),
) -> Result<()> {
    let odd = |problem: String| Error::Input {
        path: path.to_owned(),
        problem,
        remedy: "search for the passages again".to_owned(),
    };
    if !is_file(path)? {
        return Err(odd("it is missing in the result".to_owned()));
    }
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut lines = 0;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(Error::io("read", path))?;
        lines += 1;
        let unreadable = |_| odd(format!("line {lines} is not as simgpu wrote it"));
        let place: LinePlace = serde_json::from_str(&line).map_err(unreadable)?;
        if id_text(&place.id) == id {
            each(place, serde_json::from_str(&line).map_err(unreadable)?);
        }
    }
    if lines == counted {
        Ok(())
    } else {
        Err(odd(format!(
            "it has {lines} lines, and {REPORT} counts {counted}"
        )))
    }
}
