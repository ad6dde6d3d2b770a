//! What is noted of the records of all files, in order.

mod records;

mod entries;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::sources::FieldSources;
use entries::Entry;
use simgpu::error::{BadRecord, Error, Result};
use simgpu::search::Notes;
use simgpu::store::spill::Spill;
use simgpu_io::{
    Chunk, DocumentIds, FieldValues, Fingerprint, InputFile, OnBadRecord, Places, Position, Record,
    Skipped, SourceFile, ValueForms, changed,
};

pub use entries::Log;
pub use records::{ChunkRecords, RecordIds, RecordsRead};

/// What is noted of all files in order.
#[doc(hidden)]
#[derive(Debug)]
pub struct Noted<'a> {
    on_bad_record: OnBadRecord,
    files: &'a [InputFile],
    /// The most bytes of chunks to hold.
    held_bytes: u64,
    /// Whether all chunks so far are held for the second pass.
    is_holding: &'a AtomicBool,
    /// Bytes of all chunks so far.
    bytes: u64,
    #[doc(hidden)]
    pub places: Places,
    /// The values of the field of [`Run::keep_by`](super::Run::keep_by), as long as the run is in memory.
    pub(crate) values: FieldValues,
    /// The sources of documents, by the field of [`Run::source_field`](super::Run::source_field).
    pub(crate) sources: Option<FieldSources>,
    /// What they are.
    pub(crate) forms: ValueForms,
    /// What an earlier read found of each file; empty without one.
    before: Vec<Option<Fingerprint>>,
    /// The place after the last chunk.
    position: Position,
    /// The same on disk, for checkpoints; `None` as long as the run is in memory.
    #[doc(hidden)]
    pub log: Option<Log>,
}

impl<'a> Noted<'a> {
    /// Notes nothing yet. `is_holding` is cleared when chunks take more than `held_bytes`. `before` is what an earlier read
    /// found of each file.
    #[doc(hidden)]
    pub fn new(
        on_bad_record: OnBadRecord,
        files: &'a [InputFile],
        held_bytes: u64,
        is_holding: &'a AtomicBool,
        before: Vec<Option<Fingerprint>>,
    ) -> Self {
        let sources = files.iter().map(|file| SourceFile {
            relative: file.relative.clone(),
            first_row: 0,
            records: 0,
            fingerprint: None,
        });
        Noted {
            on_bad_record,
            files,
            held_bytes,
            is_holding,
            bytes: 0,
            places: Places {
                files: sources.collect(),
                ids: Some(DocumentIds::default()),
                held: (held_bytes > 0).then(Vec::new),
                ..Places::default()
            },
            values: FieldValues::default(),
            sources: None,
            forms: ValueForms::default(),
            before,
            position: Position::default(),
            log: None,
        }
    }

    /// Notes that these documents were read.
    #[doc(hidden)]
    pub fn all(self, places: Places) -> Self {
        Noted {
            position: places.start_of_file(places.files.len()),
            places,
            ..self
        }
    }

    /// Goes on from a checkpoint. Call [`Notes::spill`] first.
    #[doc(hidden)]
    pub fn restore(&mut self, read: &RecordsRead) -> Result<()> {
        let (files, places, forms) = (self.files, &mut self.places, &mut self.forms);
        self.position = read.position;
        match (&mut places.ids, read.are_integers) {
            (Some(ids), Some(all_integers)) => ids.restore(all_integers),
            _ => places.ids = None,
        }
        places.without_id.clone_from(&read.without_id);
        if let Some(file) = places.files.get_mut(read.position.file) {
            (file.first_row, file.records) = read.current;
        }
        let Some(log) = &self.log else {
            return Ok(());
        };
        log.entries.for_each(|entry| match entry {
            Entry::Bad {
                file,
                row,
                line,
                problem,
            } => places.skipped.push(Skipped {
                file,
                record: BadRecord {
                    file: files[file].named.clone(),
                    row,
                    line,
                    problem,
                },
            }),
            Entry::End {
                file,
                first_row,
                records,
                fingerprint,
            } => {
                let entry = &mut places.files[file];
                (entry.first_row, entry.records) = (first_row, records);
                entry.fingerprint = Some(fingerprint);
                if records == 0 {
                    places.empty_files.push(file);
                }
            }
        })?;
        log.values.for_each(|value: String| forms.add(&value))?;
        if let Some(sources) = &mut self.sources {
            let mut values = log.sources.iter::<String>();
            values.try_for_each(|value| sources.push(&value?))?;
        }
        match (self.on_bad_record, self.places.skipped.first()) {
            (OnBadRecord::Fail, Some(first)) => Err(Error::BadRecord(first.record.clone())),
            _ => Ok(()),
        }
    }

    /// Writes all notes, for a checkpoint.
    #[doc(hidden)]
    pub fn save(&mut self) -> Result<RecordsRead> {
        self.log.as_mut().map_or(Ok(()), Log::flush)?;
        let current = self.places.files.get(self.position.file);
        let ids = self.places.ids.as_mut();
        Ok(RecordsRead {
            position: self.position,
            current: current.map_or((0, 0), |file| (file.first_row, file.records)),
            without_id: self.places.without_id.clone(),
            are_integers: ids.map(DocumentIds::flush).transpose()?,
        })
    }

    /// Holds a chunk for the second pass. Drops all held chunks if the total exceeds the limit.
    fn hold(&mut self, records: &ChunkRecords) {
        self.bytes += records.bytes as u64;
        match (&mut self.places.held, &records.chunk) {
            (Some(held), Some(chunk)) if self.bytes <= self.held_bytes && chunk.is_whole() => {
                held.push(Arc::clone(chunk));
            }
            _ => {
                if let Some(held) = self.hold_none() {
                    // To free all of them took this thread 40 ms, for which signed pieces waited.
                    rayon::spawn(|| drop(held));
                }
            }
        }
    }

    /// Holds no chunk, now and later. Returns those that were held.
    fn hold_none(&mut self) -> Option<Vec<Arc<Chunk>>> {
        self.is_holding.store(false, Ordering::Relaxed);
        self.places.held.take()
    }

    /// Notes that all documents of indexes are read.
    pub(crate) fn end_indexes(&mut self) {
        self.position = self.places.start_of_file(self.places.indexes.len());
    }

    /// Notes the end of a file. Refuses one that has changed since an earlier read.
    #[doc(hidden)]
    pub fn end_file(&mut self, file: usize, fingerprint: Fingerprint) -> Result<()> {
        let before = self.before.get(file).and_then(Option::as_ref);
        if before.is_some_and(|before| !fingerprint.is_of_same_file(before)) {
            return Err(changed(&self.files[file]));
        }
        let entry = &mut self.places.files[file];
        entry.fingerprint = Some(fingerprint);
        let records = if file < self.places.reference_files {
            0
        } else {
            entry.records
        };
        self.position = Position {
            file: file + 1,
            chunk: 0,
            records: self.position.records + records,
        };
        if let Some(log) = &mut self.log {
            log.push(&Entry::End {
                file,
                first_row: entry.first_row,
                records: entry.records,
                fingerprint,
            })?;
        }
        if entry.records == 0 {
            self.places.empty_files.push(file);
        }
        Ok(())
    }
}

impl Notes<ChunkRecords> for Noted<'_> {
    fn note(&mut self, records: ChunkRecords, first_row: u32) -> Result<()> {
        // There is nothing to read again of an index.
        if records.file >= self.places.indexes.len() {
            self.hold(&records);
        }
        let ChunkRecords {
            file,
            records,
            values,
            sources,
            ..
        } = records;
        self.position.chunk += 1;
        let mut next_row = first_row;
        let places = &mut self.places;
        let entry = &mut places.files[file];
        if entry.records == 0 {
            entry.first_row = first_row;
        }
        let named = &self.files[file].named;
        let records = match records {
            RecordIds::Records(records) => records,
            RecordIds::Ids(ids) => {
                places.note_ids(file, &ids)?;
                Vec::new()
            }
        };
        for record in records {
            let is_good = matches!(record, Record::Document(_));
            let bad = places.note(file, named, record, next_row, self.on_bad_record)?;
            if let (Some(log), Some(skipped)) = (&mut self.log, bad) {
                log.push(&Entry::from_skipped(skipped))?;
            }
            next_row += u32::from(is_good);
        }
        let named = &self.files[file].named;
        let values = values.map_err(|unordered| unordered.error(named, "keep_by"))?;
        let sources = sources.map_err(|unordered| unordered.error(named, "source_field"))?;
        if let Some(all) = &mut self.sources {
            for source in sources.iter() {
                all.push(source)?;
                self.log
                    .as_mut()
                    .map_or(Ok(()), |log| log.sources.push(&source))?;
            }
        }
        self.forms = self.forms.and(values.forms());
        match &mut self.log {
            Some(log) => log.push_values(&values)?,
            None => self.values.append(&values),
        }
        Ok(())
    }

    fn held_bytes(&self) -> u64 {
        let sources = self.sources.as_ref().map_or(0, FieldSources::held_bytes);
        self.places.held_bytes() + self.values.bytes() + sources
    }

    fn spill(&mut self, spill: &Arc<Spill>) -> Result<()> {
        // At once: memory is short.
        drop(self.hold_none());
        let mut log = Log::new(spill);
        for (file, entry) in self.places.files.iter().enumerate() {
            if let Some(fingerprint) = entry.fingerprint {
                log.push(&Entry::End {
                    file,
                    first_row: entry.first_row,
                    records: entry.records,
                    fingerprint,
                })?;
            }
        }
        let mut skipped = self.places.skipped.iter();
        skipped.try_for_each(|skipped| log.push(&Entry::from_skipped(skipped)))?;
        log.push_values(&std::mem::take(&mut self.values))?;
        let mut sources = self.sources.iter().flat_map(FieldSources::iter);
        sources.try_for_each(|source| log.sources.push(&source))?;
        self.log = Some(log);
        match &mut self.places.ids {
            Some(ids) => ids.spill(spill),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
