//! Writes links and entities, and fills in the report.

use std::io::Write;

use arrow_array::RecordBatch;
use rayon::prelude::*;
use serde_json::Value;

use crate::fields::{RecordFields, Side, joined};
use crate::links::{Linked, RecordLink};
use crate::parameters::Link;
use crate::report::{
    EntityRecord, EntitySizes, FileReport, HistogramBin, LinkParameters, LinkReport,
};
use crate::rows::{
    EntityToWrite, FieldToWrite, LinkToWrite, PlacedRecord, link_line, write_entities,
};
use crate::score::Score;
use crate::sizes::entity_sizes;
use crate::table::{entities_table, links_table};
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_io::{FieldPath, OutputFolder, Places, REPORT_VERSION};

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
