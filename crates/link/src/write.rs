//! Writes links, entities and the report.

use std::io::Write;

use arrow_array::RecordBatch;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::contest::Contest;
use crate::evidence::EvidenceReport;
use crate::fields::{RecordFields, Side, joined};
use crate::links::{LinkCounts, Linked, Nearby, RecordLink, ScoreBin};
use crate::parameters::Link;
use crate::points::FieldPoints;
use crate::rows::{
    EntityToWrite, FieldToWrite, LinkToWrite, PlacedRecord, link_line, write_entities,
};
use crate::score::Score;
use crate::sizes::entity_sizes;
use crate::table::{entities_table, links_table};
use crate::threshold::Estimate;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_io::{
    FieldPath, NotRead, OtherDelimiter, OutputFolder, Places, REPORT_VERSION, SkippedRecord,
};

/// The file of the links.
const LINKS: &str = "links.jsonl";

/// The file of the entities of one collection.
const ENTITIES: &str = "entities.jsonl";

/// Records of an entity in the report, at most.
const SHOWN: usize = 6;

/// Links explained and written at a time.
const BLOCK: usize = 1 << 14;

/// What is written of the links.
pub(crate) struct Writing<'a> {
    pub(crate) linked: &'a Linked<'a>,
    /// The places of the records of one or two collections.
    pub(crate) files: &'a [&'a Places],
    /// The names of the fields.
    pub(crate) names: Vec<String>,
}

impl Writing<'_> {
    /// Writes the links, and the entities of one collection.
    pub(crate) fn write(&self, output: &OutputFolder, progress: &dyn Progress) -> Result<()> {
        let links: Vec<RecordLink> = self.linked.links().collect();
        progress.begin("write", links.len() as u64);
        let (mut file, path) = output.create(LINKS)?;
        let mut done = 0;
        for block in links.chunks(BLOCK) {
            let lines: Vec<Vec<u8>> = block
                .par_iter()
                .map(|link| link_line(&self.link(link)))
                .collect::<Result<_>>()?;
            file.write_all(&lines.concat())
                .map_err(Error::io("write", &path))?;
            done += block.len() as u64;
            advance(progress, done, done, 0)?;
        }
        if let (Some(records), [places]) = (self.entities(), self.files) {
            let (file, path) = output.create(ENTITIES)?;
            write_entities(records.into_iter(), places, file, &path)?;
        }
        Ok(())
    }

    /// The links as a table.
    pub(crate) fn links_table(&self, progress: &dyn Progress) -> Result<RecordBatch> {
        let links: Vec<RecordLink> = self.linked.links().collect();
        progress.begin("write", links.len() as u64);
        let mut explained = Vec::with_capacity(links.len());
        for block in links.chunks(BLOCK) {
            let links_of_block: Vec<LinkToWrite<'_>> =
                block.par_iter().map(|link| self.link(link)).collect();
            explained.extend(links_of_block);
            advance(progress, explained.len() as u64, explained.len() as u64, 0)?;
        }
        links_table(&explained, &self.names, self.sides(), self.linked.score())
    }

    /// The entities of one collection as a table.
    pub(crate) fn entities_table(&self) -> Result<Option<RecordBatch>> {
        match (self.entities(), self.files) {
            (Some(records), [places]) => entities_table(&records, places).map(Some),
            _ => Ok(None),
        }
    }

    /// The entity of every record of one collection.
    fn entities(&self) -> Option<Vec<EntityToWrite>> {
        let entities = self.linked.entities()?;
        let records = (0..).zip(entities);
        let records = records.map(|(row, first)| EntityToWrite { row, first: *first });
        Some(records.collect())
    }

    /// The collections of both records of a link.
    fn sides(&self) -> [&Places; 2] {
        [self.files[0], self.files[self.files.len() - 1]]
    }

    /// Where both records of a pair are.
    fn placed(&self, rows: [u32; 2]) -> [PlacedRecord<'_>; 2] {
        let [a, b] = self.sides();
        [(a, rows[0]), (b, rows[1])].map(|(places, row)| PlacedRecord { places, row })
    }

    fn link(&self, link: &RecordLink) -> LinkToWrite<'_> {
        let explanation = self.linked.explain(link);
        let fields = self.names.iter().zip(explanation.similarities);
        let mut points = explanation.points.into_iter();
        let mut levels = explanation.levels.into_iter();
        LinkToWrite {
            is_by_evidence: self.linked.score() == Score::Evidence,
            records: self.placed([link.a, link.b]),
            score: link.score,
            similarity: link.similarity,
            whole_points: explanation.whole_points,
            fields: fields
                .map(|(name, similarity)| FieldToWrite {
                    name,
                    similarity,
                    points: points.next(),
                    level: levels.next(),
                })
                .collect(),
            shared: explanation.shared,
            runner_up: link
                .runner_up
                .map(|other| (self.placed([other.a, other.b]), other.score)),
        }
    }

    /// The accepted and rejected pairs next to the threshold.
    fn examples(&self) -> Result<Vec<Value>> {
        let linked_pairs = self.linked.examples();
        let lines = linked_pairs.iter().map(|(link, is_accepted)| {
            let line = link_line(&self.link(link))?;
            let mut example: Value = serde_json::from_slice(&line)
                .map_err(|error| Error::Defect(format!("a link is no JSON: {error}")))?;
            example["accepted"] = (*is_accepted).into();
            example["values"] = self.linked.values(link).into();
            Ok(example)
        });
        lines.collect()
    }

    /// How many entities there are of each size, with an example of each.
    fn entity_sizes(&self) -> Result<Vec<EntitySizes>> {
        let [places] = self.files else {
            return Ok(Vec::new());
        };
        let sizes = entity_sizes(self.linked, SHOWN).into_iter();
        let written = sizes.map(|class| {
            let records = class.example.iter().map(|row| {
                Ok(EntityRecord {
                    id: places.id(*row)?.into_owned(),
                    values: self.linked.fields_of(*row as usize),
                })
            });
            Ok(EntitySizes {
                least: class.sizes[0],
                most: class.sizes[1],
                entities: class.entities,
                records: class.records,
                example_records: class.example_records,
                example: records.collect::<Result<_>>()?,
            })
        });
        written.collect()
    }

    /// The report.
    pub(crate) fn report(&self, task: &Link, fields: &RecordFields) -> Result<LinkReport> {
        let linked = self.linked;
        Ok(LinkReport {
            simgpu_report: REPORT_VERSION,
            command: "link",
            counts: linked.counts.clone(),
            parameters: LinkParameters {
                fields: self.names.clone(),
                fields_b: (self.files.len() == 2
                    && fields.compared.iter().any(|field| field.a != field.b))
                .then(|| {
                    let names = fields.paths(Side::B);
                    names
                        .map(|paths| joined(paths, FieldPath::to_string))
                        .collect()
                }),
                id_field: fields.id.a.to_string(),
                id_field_b: (fields.id.a != fields.id.b).then(|| fields.id.b.to_string()),
                matching: (self.files.len() == 2).then(|| task.matching.name()),
                score: task.score.name(),
                threshold: task.threshold,
                share: task.share,
                equivalents: task.equivalents.len() as u64,
            },
            score: linked.score().name(),
            score_because: linked.because().map(str::to_owned),
            floor: linked.floor(),
            estimate: linked.estimate().clone(),
            warnings: linked.warnings(),
            points: linked.points(),
            contest: linked.contest().copied(),
            evidence: linked.evidence().cloned(),
            bin_width: linked.bin_width(),
            histogram: linked
                .histogram()
                .map(|(score, pairs)| HistogramBin::new(score, pairs))
                .collect(),
            nearby: linked.nearby().to_vec(),
            entity_sizes: self.entity_sizes()?,
            examples: self.examples()?,
            files: file_reports(self.files),
        })
    }
}

/// The report of a search for links, as in `report.json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// The version of this layout.
    pub simgpu_report: u32,
    /// `link`.
    pub command: &'static str,
    /// The numbers of records, candidates and links.
    pub counts: LinkCounts,
    /// All parameters that affect the result.
    pub parameters: LinkParameters,
    /// How pairs were scored: `evidence`, `text`, `points` or `textbook`.
    pub score: &'static str,
    /// Why `auto` chose it, unless that is `evidence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_because: Option<String>,
    /// The least cosine of a candidate pair; absent with `evidence`, whose candidates share values or words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The threshold, and what is expected of the links.
    pub estimate: Estimate,
    /// What the search left out, and so may have missed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the levels of each field say, where the score is points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<FieldPoints>>,
    /// Whether two files share records at all, where nothing else told how many links are right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
    /// What the fields of one file say, where evidence was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceReport>,
    /// The difference between the least scores of two neighbouring bins of the histogram.
    pub bin_width: f64,
    /// The numbers of accepted pairs and of runners-up by score, as if there were no threshold.
    pub histogram: Vec<HistogramBin>,
    /// What a threshold a tenth lower would change, and one a tenth higher; with `evidence`, odds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearby: Vec<Nearby>,
    /// How many entities there are of each size, in one file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entity_sizes: Vec<EntitySizes>,
    /// Pairs next to the threshold, each as in `links.jsonl`, with the values of both records and whether it was accepted.
    pub examples: Vec<Value>,
    /// The files of the records: first those of the first collection.
    pub files: Vec<FileReport>,
}

/// The parameters that affect links.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkParameters {
    /// The fields that are compared.
    pub fields: Vec<String>,
    /// Their names in the second collection; `None` if they are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields_b: Option<Vec<String>>,
    /// The field of the id.
    pub id_field: String,
    /// Its name in the second collection; `None` if it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_field_b: Option<String>,
    /// How many partners a record may have; `None` with one collection.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<&'static str>,
    /// What the score of a pair shall be: `auto`, `evidence`, `text`, `points` or `textbook`.
    pub score: &'static str,
    /// The threshold that was given.
    pub threshold: Option<f64>,
    /// The share of records with a partner that was given.
    pub share: Option<f64>,
    /// The number of names that are replaced by an equal one.
    pub equivalents: u64,
}

/// A bin of the histogram.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HistogramBin {
    /// The least score of the bin.
    pub score: f64,
    /// The numbers.
    #[serde(flatten)]
    pub pairs: ScoreBin,
}

impl HistogramBin {
    pub(crate) fn new(score: f64, pairs: ScoreBin) -> Self {
        HistogramBin { score, pairs }
    }
}

/// The entities of some sizes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntitySizes {
    /// The least number of records.
    pub least: u64,
    /// The greatest one.
    pub most: u64,
    /// The number of such entities.
    pub entities: u64,
    /// Their records.
    pub records: u64,
    /// The records of the entity in `example`.
    pub example_records: u64,
    /// The first records of one of them: the one with most records that differ, and of these the first.
    pub example: Vec<EntityRecord>,
}

/// A record of an entity.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EntityRecord {
    /// Its id.
    pub id: String,
    /// The values of the compared fields.
    pub values: Vec<String>,
}

/// The records of a collection.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FileReport {
    /// The names of its files.
    pub names: Vec<String>,
    /// The records read, bad ones included.
    pub records: u64,
    /// Records that repeat an earlier id.
    pub repeated_ids: u64,
    /// The files without records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The files that were read with another delimiter than the stated one, whose columns their headers lack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_delimiters: Vec<OtherDelimiter>,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}

/// What is said of each collection.
fn file_reports(files: &[&Places]) -> Vec<FileReport> {
    let report = |places: &&Places| FileReport {
        names: places
            .files
            .iter()
            .map(|file| file.relative.clone())
            .collect(),
        records: places.records(),
        repeated_ids: places.repeated_ids,
        empty_files: places.empty_files(),
        not_read: places.not_read.clone(),
        other_delimiters: places.other_delimiters.clone(),
        skipped: places.skipped_records(),
    };
    files.iter().map(report).collect()
}

impl LinkReport {
    /// Whether nothing shows that any two records that differ are one thing: by evidence in one file, by a contest in two.
    pub fn has_nothing_to_link(&self) -> bool {
        let verdict = self.evidence.as_ref().map(|evidence| evidence.verdict);
        let is_chance = self.contest.is_some_and(|contest| contest.is_chance);
        is_chance || self.score == "evidence" && verdict == Some("nothing to link")
    }

    /// The names of the fields that evidence used in a way, such as `strong` or `copy`.
    pub fn fields_used(&self, used: &str) -> Vec<&str> {
        let fields = self.evidence.iter().flat_map(|evidence| &evidence.fields);
        let names = fields
            .filter(|field| field.used == used)
            .filter_map(|field| self.parameters.fields.get(field.field));
        names.map(String::as_str).collect()
    }

    /// Writes the report as indented JSON with a final newline: the bytes of `report.json`.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        simgpu_io::write_json(target, self)
    }
}
