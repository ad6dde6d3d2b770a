//! Writes links and entities.

use std::io::Write;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::io::{
    EntityToWrite, FieldToWrite, LinkToWrite, OutputFolder, Placed, Places, link_line,
    write_entities,
};
use crate::jobs::linked::{Linked, RecordLink};
use crate::progress::{Progress, advance};

/// The file of the links.
const LINKS: &str = "links.jsonl";

/// The file of the entities of one collection.
const ENTITIES: &str = "entities.jsonl";

/// Links explained and written at a time.
const BLOCK: usize = 1 << 14;

/// What is written of the links.
pub(super) struct Writing<'a> {
    pub(super) linked: &'a Linked<'a>,
    /// The places of the records of one or two collections.
    pub(super) files: &'a [&'a Places],
    /// The names of the fields.
    pub(super) names: Vec<String>,
}

impl Writing<'_> {
    /// Writes the links, and the entities of one collection.
    pub(super) fn write(&self, output: &OutputFolder, progress: &dyn Progress) -> Result<()> {
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
        if let (Some(entities), [places]) = (self.linked.entities(), self.files) {
            let mut scores = vec![None; entities.len()];
            for link in &links {
                scores[link.b as usize] = Some(link.score);
            }
            let records = (0..).zip(entities).zip(&scores);
            let records = records.map(|((row, first), score)| EntityToWrite {
                row,
                first: *first,
                score: *score,
            });
            let (file, path) = output.create(ENTITIES)?;
            write_entities(records, places, file, &path)?;
        }
        Ok(())
    }

    /// Where both records of a pair are.
    fn placed(&self, rows: [u32; 2]) -> [Placed<'_>; 2] {
        let last = self.files.len() - 1;
        [(0, rows[0]), (last, rows[1])].map(|(file, row)| Placed {
            places: self.files[file],
            row,
        })
    }

    fn link(&self, link: &RecordLink) -> LinkToWrite<'_> {
        let explanation = self.linked.explain(link);
        let fields = self.names.iter().zip(explanation.similarities);
        LinkToWrite {
            records: self.placed([link.a, link.b]),
            score: link.score,
            fields: fields
                .map(|(name, similarity)| FieldToWrite { name, similarity })
                .collect(),
            shared: explanation.shared,
            runner_up: link
                .runner_up
                .map(|other| (self.placed([other.a, other.b]), other.score)),
        }
    }

    /// The accepted and rejected pairs next to the threshold.
    pub(super) fn examples(&self) -> Result<Vec<serde_json::Value>> {
        let of_links = self.linked.examples();
        let lines = of_links.iter().map(|(link, is_accepted)| {
            let line = link_line(&self.link(link))?;
            let mut example: serde_json::Value = serde_json::from_slice(&line)
                .map_err(|error| Error::Defect(format!("a link is no JSON: {error}")))?;
            example["accepted"] = (*is_accepted).into();
            example["values"] = self.linked.values(link).into();
            Ok(example)
        });
        lines.collect()
    }
}
