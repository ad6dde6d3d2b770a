//! Writes links, and the entity of every record.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use simgpu::error::Result;
use simgpu_io::JsonLines;
use simgpu_io::{Places, raw_json};

/// A record, by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedRecord<'a> {
    pub(crate) places: &'a Places,
    pub(crate) row: u32,
}

impl<'a> PlacedRecord<'a> {
    fn id(self) -> Result<Box<RawValue>> {
        Ok(raw_json(self.places.id(self.row)?))
    }

    fn place(self) -> (&'a str, u64) {
        self.places.place(self.row)
    }
}

/// A link to write.
pub(crate) struct LinkToWrite<'a> {
    pub(crate) records: [PlacedRecord<'a>; 2],
    pub(crate) score: f64,
    /// Whether levels explain the score, and other explanations than the same thing take points away.
    pub(crate) is_by_evidence: bool,
    /// The similarity of the whole records, and its points; or those of other explanations.
    pub(crate) similarity: f64,
    pub(crate) whole_points: Option<f64>,
    pub(crate) fields: Vec<FieldToWrite<'a>>,
    pub(crate) shared: Vec<(String, u32)>,
    /// The records of the runner-up, and its score.
    pub(crate) runner_up: Option<([PlacedRecord<'a>; 2], f64)>,
}

/// What a field says of a link.
#[derive(Clone)]
pub(crate) struct FieldToWrite<'a> {
    pub(crate) name: &'a str,
    pub(crate) similarity: Option<f64>,
    /// `None` for the score of texts.
    pub(crate) points: Option<f64>,
    /// The level of its likeness, for the score of evidence.
    pub(crate) level: Option<String>,
}

/// A line of `links.jsonl`.
#[derive(Serialize)]
struct LinkLine<'a> {
    id_a: &'a RawValue,
    id_b: &'a RawValue,
    score: f64,
    similarity: f64,
    similarities: BTreeMap<&'a str, Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<BTreeMap<&'a str, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<BTreeMap<&'a str, &'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole_points: Option<f64>,
    /// The points that chance and related things take away.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_points: Option<f64>,
    shared: Vec<SharedSymbol<'a>>,
    runner_up: Option<RunnerUpLine>,
    file_a: &'a str,
    row_a: u64,
    file_b: &'a str,
    row_b: u64,
}

#[derive(Serialize)]
struct SharedSymbol<'a> {
    symbol: &'a str,
    records: u32,
}

#[derive(Serialize)]
struct RunnerUpLine {
    id_a: Box<RawValue>,
    id_b: Box<RawValue>,
    score: f64,
    /// The score of the link less this one.
    distance: f64,
}

/// Rounds a score for people and files: six digits after the point. A number below 1 stays below it, since only equal values
/// have a similarity of 1.
pub(crate) fn rounded(score: f64) -> f64 {
    const BELOW_ONE: f64 = 0.999_999;
    match (score * 1e6).round() / 1e6 {
        1.0 if score < 1.0 => BELOW_ONE,
        rounded => rounded,
    }
}

/// A link as a line of JSON.
pub(crate) fn link_line(link: &LinkToWrite<'_>) -> Result<Vec<u8>> {
    let [a, b] = link.records;
    let (id_a, id_b) = (a.id()?, b.id()?);
    let ((file_a, row_a), (file_b, row_b)) = (a.place(), b.place());
    let runner_up = link.runner_up.map(|([a, b], score)| {
        Ok::<_, simgpu::Error>(RunnerUpLine {
            id_a: a.id()?,
            id_b: b.id()?,
            score: rounded(score),
            distance: rounded(link.score - score),
        })
    });
    let fields = link.fields.iter();
    let points = fields
        .clone()
        .map(|field| Some((field.name, rounded(field.points?))));
    let line = LinkLine {
        id_a: &id_a,
        id_b: &id_b,
        score: rounded(link.score),
        similarity: rounded(link.similarity),
        points: points.collect(),
        levels: fields
            .clone()
            .map(|field| Some((field.name, field.level.as_deref()?)))
            .collect(),
        whole_points: link
            .whole_points
            .filter(|_| !link.is_by_evidence)
            .map(rounded),
        other_points: link
            .whole_points
            .filter(|_| link.is_by_evidence)
            .map(rounded),
        similarities: fields
            .map(|field| (field.name, field.similarity.map(rounded)))
            .collect(),
        shared: link
            .shared
            .iter()
            .map(|(symbol, records)| SharedSymbol {
                symbol,
                records: *records,
            })
            .collect(),
        runner_up: runner_up.transpose()?,
        file_a,
        row_a,
        file_b,
        row_b,
    };
    let mut bytes = serde_json::to_vec(&line)
        .map_err(|error| simgpu::Error::Defect(format!("a link is no JSON: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The record of one file, and its entity.
pub(crate) struct EntityToWrite {
    pub(crate) row: u32,
    /// The first record of its entity.
    pub(crate) first: u32,
}

/// A line of `entities.jsonl`.
#[derive(Serialize)]
struct EntityLine<'a> {
    id: &'a RawValue,
    file: &'a str,
    row: u64,
    entity: u32,
    entity_id: &'a RawValue,
}

/// Writes one line per record, in order: `id`, `file`, `row`, `entity` (the number of its first record among all
/// records) and `entity_id`.
pub(crate) fn write_entities(
    records: impl Iterator<Item = EntityToWrite>,
    places: &Places,
    target: impl Write,
    path: &Path,
) -> Result<()> {
    let mut lines = JsonLines::new(target, path.to_owned());
    for record in records {
        let id = |row| -> Result<Box<RawValue>> {
            let id: Cow<'_, str> = places.id(row)?;
            Ok(raw_json(id))
        };
        let (file, row) = places.place(record.row);
        lines.write(&EntityLine {
            id: &id(record.row)?,
            file,
            row,
            entity: record.first,
            entity_id: &id(record.first)?,
        })?;
    }
    lines.finish()
}
