//! Writes what queries find.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use super::counts::IndexCounts;
use super::named_records::NamedRecords;
use simgpu::documents::{Document, DocumentBatch, Documents};
use simgpu::error::{Result, with_flags};
use simgpu_index::{DocumentId, Hit};
use simgpu_io::{JsonLines, raw_json};

/// Where a run writes what it found.
pub enum HitsOutput<'a> {
    /// A new file of JSON Lines.
    File(&'a Path),
    /// A stream, which is flushed after each batch. Temporary files go to the folder `temporary`.
    Stream {
        /// The stream.
        target: &'a mut dyn Write,
        /// The folder.
        temporary: &'a Path,
    },
}

impl std::fmt::Debug for HitsOutput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HitsOutput::File(_) => "File",
            HitsOutput::Stream { .. } => "Stream",
        })
    }
}

/// Which documents a run finds in an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HitsWanted {
    /// The least similarity; `None` is the threshold of the index.
    pub threshold: Option<f64>,
    /// The most hits of each document; `None` is all.
    pub limit: Option<usize>,
}

/// The documents of a chunk, and their ids.
pub(super) struct Batch {
    pub(super) named: NamedRecords,
    pub(super) parsed: DocumentBatch,
}

impl Batch {
    pub(super) fn ids(&self) -> Vec<DocumentId> {
        self.named.ids().cloned().collect()
    }
}

/// The documents that have an id.
impl Documents for Batch {
    fn len(&self) -> usize {
        self.named.rows.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        self.parsed.get(self.named.rows[row])
    }
}

/// A line of what was found.
#[derive(Serialize)]
struct HitsLine<'a> {
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    hits: Vec<HitLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_record: Option<String>,
}

#[derive(Serialize)]
struct HitLine {
    id: Box<RawValue>,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document_share: Option<f64>,
    found_by: &'static str,
}

impl HitLine {
    pub(super) fn new(hit: &Hit) -> Self {
        HitLine {
            id: raw_json(hit.id.as_json().into()),
            similarity: hit.similarity,
            query_share: hit.shares.map(|shares| shares.query),
            document_share: hit.shares.map(|shares| shares.document),
            found_by: hit.found_by.name(),
        }
    }
}

/// Writes a line for each record of a batch.
pub(super) fn write_lines(
    lines: &mut JsonLines<&mut dyn Write>,
    batch: &Batch,
    answers: Vec<(Option<&'static str>, Vec<Hit>)>,
    counts: &mut IndexCounts,
) -> Result<()> {
    let mut answers = answers.into_iter();
    for record in &batch.named.records {
        let line = match record {
            Ok(id) => {
                let (verdict, hits) = answers.next().unwrap_or_default();
                counts.seen += u64::from(!hits.is_empty());
                counts.hits += hits.len() as u64;
                (Some(raw_json(id.as_json().into())), verdict, hits, None)
            }
            Err(bad) => (None, None, Vec::new(), Some(with_flags(&bad.to_string()))),
        };
        let (id, verdict, hits, bad_record) = line;
        lines.write(&HitsLine {
            id: id.as_deref(),
            verdict,
            hits: hits.iter().map(HitLine::new).collect(),
            bad_record,
        })?;
    }
    Ok(())
}
