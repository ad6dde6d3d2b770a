//! Reads the records to link.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::fields::{RecordFields, Side, joined};
use simgpu::documents::TokenBatch;
use simgpu::error::{Error, Result, row_number};
use simgpu::progress::{Progress, advance};
use simgpu::search::Notes;
use simgpu_files::{ChunkRecords, Noted, RecordIds, warn_of_repeated_ids};
use simgpu_io::{
    Chunk, Event, FieldPath, FieldValues, FilesReading, InputFile, Inputs, LongestRecord,
    OnBadRecord, Places, Reading, Record, Wanted, fit_delimiters, listed_fields,
};

/// What to do if every record is bad.
const CHOOSE: &str =
    "correct the records, or choose their `format` and their fields with `fields` and `id_field`";

/// The records of a collection, and where they are.
pub(crate) struct RecordsFile {
    /// Which of the two collections it is.
    side: Side,
    pub(crate) records: TokenBatch,
    pub(crate) places: Places,
}

/// How records are read.
pub(crate) struct RecordsReading<'a> {
    pub(crate) fields: &'a RecordFields,
    pub(crate) on_bad_record: OnBadRecord,
    pub(crate) unique_ids: bool,
    pub(crate) batch_bytes: usize,
    pub(crate) longest: LongestRecord,
    pub(crate) temporary: PathBuf,
    pub(crate) progress: &'a dyn Progress,
}

impl RecordsReading<'_> {
    /// Reads the records of a collection.
    pub(crate) fn read(&self, inputs: &Inputs, side: Side) -> Result<RecordsFile> {
        let progress = self.progress;
        let mut files = inputs.with_copy_of_stream(&self.temporary, progress)?;
        let fields = self.fields.values(side);
        let other_delimiters = fit_delimiters(&mut files, Wanted::Values(&fields), progress)?;
        let stored = files.iter().map(InputFile::stored_bytes).sum();
        progress.begin("read", stored);
        let is_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, &files, 0, &is_held, Vec::new());
        let reading = FilesReading::new(
            &files,
            Reading {
                batch_bytes: self.batch_bytes,
                temporary: Some(&self.temporary),
                longest: self.longest,
                ..Reading::new(Wanted::Values(&fields))
            },
        )?;
        let mut records = TokenBatch::default();
        let mut bytes = 0;
        let parse = |chunk: Chunk| {
            let (parsed, batch) = self.fields.parse(&chunk, side, &fields);
            Ok((ids_of_chunk(&chunk, parsed), batch))
        };
        reading.map(parse, |event| {
            match event {
                Some(Event::Chunk((chunk_records, batch))) => {
                    let row = row_number(records.len())?;
                    bytes += chunk_records.bytes as u64;
                    noted.note(chunk_records, row)?;
                    records.append(&batch);
                }
                Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                Some(Event::Table(_)) | None => {}
            }
            advance(progress, reading.consumed(), records.len() as u64, bytes)
        })?;
        let file = RecordsFile::complete(side, records, noted.places, self.unique_ids);
        let mut file = file.map_err(|error| match error {
            Error::NoGoodRecord(first) => Error::no_good_record(&first, CHOOSE),
            error => error,
        })?;
        let names: Vec<&str> = inputs.names().take(2).collect();
        let name = match names[..] {
            [name] => name,
            _ => "the inputs",
        };
        let names = |missing: &FieldPath| listed_fields(&files, missing, &self.temporary);
        file.warn(name, self.fields, &names, progress);
        inputs.not_read().warn(progress);
        file.places.not_read = inputs.not_read().clone();
        file.places.other_delimiters = other_delimiters;
        Ok(file)
    }
}

/// The ids of the records of a chunk, which has no sources and no values to prefer records by.
fn ids_of_chunk(chunk: &Chunk, parsed: Vec<Record>) -> ChunkRecords {
    ChunkRecords {
        file: chunk.file,
        records: RecordIds::new(parsed),
        sources: Ok(FieldValues::default()),
        values: Ok(FieldValues::default()),
        bytes: chunk.bytes(),
        chunk: None,
    }
}

impl RecordsFile {
    /// The records of a collection that was read to its end.
    pub(crate) fn complete(
        side: Side,
        records: TokenBatch,
        mut places: Places,
        unique_ids: bool,
    ) -> Result<Self> {
        if let (0, Some(first)) = (records.len(), places.skipped.first()) {
            return Err(Error::NoGoodRecord(first.record.clone()));
        }
        places.fill_first_rows(row_number(records.len())?);
        let repeated = places.find_repeated_ids()?;
        places.count_repeated_ids(repeated, unique_ids)?;
        Ok(RecordsFile {
            side,
            records,
            places,
        })
    }

    /// Warns of repeated ids, and of fields that no record has. `name` is that of the collection, and `names` says which
    /// fields there are instead.
    pub(crate) fn warn(
        &self,
        name: &str,
        fields: &RecordFields,
        names: &dyn Fn(&FieldPath) -> Option<String>,
        progress: &dyn Progress,
    ) {
        warn_of_repeated_ids(progress, self.places.repeated_ids);
        for warning in self.places.warnings(fields.id_path(self.side)) {
            progress.warn(&warning);
        }
        if self.records.is_empty() {
            progress.warn(&format!("no records in {name}"));
            return;
        }
        for (i, field) in fields.paths(self.side).enumerate() {
            let has_value = |row| {
                self.records
                    .tokens(row)
                    .nth(i)
                    .is_some_and(|v| !v.is_empty())
            };
            if !(0..self.records.len()).any(has_value) {
                let names = field.iter().find_map(names);
                let names = names.map_or(String::new(), |names| format!("; {names}"));
                let field = joined(field, FieldPath::to_string);
                progress.warn(&format!(
                    "no record of {name} has a value in field \"{field}\"{names}; check `fields`"
                ));
            }
        }
    }
}
