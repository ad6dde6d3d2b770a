//! Whether a field that one file lacks is a field of another.

use std::path::Path;

use super::event::Event;
use super::files::FilesReading;
use super::options::Reading;
use crate::chunk::{Chunk, Contents};
use crate::fields::{FieldPath, Fields, ValueField, Wanted};
use crate::input::InputFile;
use crate::longest::LongestRecord;
use crate::refusal::Refusal;
use crate::{columns, jsonl};

impl<'a> FilesReading<'a> {
    /// Refuses a file that lacks fields of the texts which no other file has.
    pub(super) fn check_missing<'f>(
        &self,
        file: usize,
        fields: &Fields,
        missing: impl Iterator<Item = (&'f FieldPath, Refusal)>,
    ) -> std::result::Result<(), Refusal> {
        let is_reference = self.reading.is_reference(file);
        let known = &self.known_fields[usize::from(is_reference)];
        let mut unknown: Option<(Vec<&FieldPath>, Refusal)> = None;
        for (path, refusal) in missing {
            let has = |(other, input): (usize, &InputFile)| {
                self.reading.is_reference(other) == is_reference
                    && has_field(input, path, self.reading.temporary, u64::MAX)
            };
            let mut content = fields.content.iter().zip(known);
            let known = content.find(|(known, _)| *known == path);
            let is_known = known.is_some_and(|(_, known)| {
                *known.get_or_init(|| self.files.iter().enumerate().any(has))
            });
            if is_known {
                continue;
            }
            match &mut unknown {
                Some((paths, _)) => paths.push(path),
                None => unknown = Some((vec![path], refusal)),
            }
        }
        let files = 0..self.files.len();
        let same_side = files.filter(|other| self.reading.is_reference(*other) == is_reference);
        match unknown {
            None => Ok(()),
            // Another input may have them under other names.
            Some((paths, refusal))
                if paths.len() < fields.content.len() || same_side.count() > 1 =>
            {
                let input = if is_reference {
                    "file of `against`"
                } else {
                    "input"
                };
                Err(refusal.in_none(input, &paths))
            }
            Some((_, refusal)) => Err(refusal),
        }
    }
}

impl FilesReading<'_> {
    /// The problem of a table that lacks a column, with the name of another input that has it, among the first ones.
    pub(super) fn with_owner(&self, file: usize, problem: &str) -> Option<String> {
        const LOOKED_AT: usize = 16;
        const RECORDS: u64 = 100;
        let (what, rest) = problem.split_once(" column \"")?;
        let (name, rest) = rest.split_once("\"; its column")?;
        if !matches!(what, "there is no" | "there is no id") {
            return None;
        }
        let path = FieldPath::new(name);
        let is_reference = self.reading.is_reference(file);
        let others = self.files.iter().enumerate();
        let mut others = others
            .filter(|(other, _)| {
                *other != file && self.reading.is_reference(*other) == is_reference
            })
            .take(LOOKED_AT);
        let (_, owner) =
            others.find(|(_, other)| has_field(other, &path, self.reading.temporary, RECORDS))?;
        let owner = owner.named.display();
        Some(format!(
            "{what} column \"{name}\", which {owner} has; its column{rest}"
        ))
    }
}

/// Whether a file has a column at a path, or one of its first records a field there. One that cannot be read has none.
fn has_field(
    file: &InputFile,
    path: &FieldPath,
    temporary: Option<&Path>,
    first_records: u64,
) -> bool {
    let field = [ValueField {
        path: path.clone(),
        parameter: "",
        hint: "",
        is_required: false,
    }];
    let files = std::slice::from_ref(file);
    let reading = FilesReading::new(
        files,
        Reading {
            batch_bytes: 0,
            temporary,
            // Nothing is decompressed ahead: threads may wait for the answer.
            limit: Some(first_records),
            longest: LongestRecord::fixed(),
            ..Reading::new(Wanted::Values(&field))
        },
    );
    let Ok(reading) = reading else { return false };
    for event in reading.file(0) {
        let Ok(event) = event else { return false };
        if let Event::Chunk(chunk) = event
            && is_in(&chunk, path)
        {
            return true;
        }
    }
    false
}

/// Whether a chunk has a column at a path, or a record with a field there.
fn is_in(chunk: &Chunk, path: &FieldPath) -> bool {
    let has = |record: &[u8]| jsonl::raw_of_field(record, path).is_ok_and(|value| value.is_some());
    match &chunk.contents {
        Contents::Lines {
            bytes,
            first_number,
        } => jsonl::lines(bytes, *first_number).any(|line| has(line.record)),
        Contents::Records(records) => match &records.header {
            Some(header) => header.has(path),
            None => records
                .spans
                .iter()
                .any(|span| has(&records.bytes[span.clone()])),
        },
        Contents::Rows { rows, .. } => columns::column(rows, path).is_some(),
        Contents::Text(_) => false,
    }
}
