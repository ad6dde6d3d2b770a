//! Reads the items, then all documents past them.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ContainRun;
use crate::action::{ContainAction, Fate};
use crate::changed::Changed;
use crate::findings::Findings;
use crate::found::Found;
use crate::frequent::read_ignored;
use crate::items::ITEMS;
use crate::phrases::{Phrases, Spread};
use crate::read::ItemsReading;
use crate::report::{HitEvidence, ReadDocument, Removable, Sample, Tally, skipped_items};
use crate::scan::{Contain, Scratch};
use crate::shown::Examples;
use simgpu::documents::DocumentBatch;
use simgpu::error::{BadRecord, Error, Result, row_number};
use simgpu::progress::advance;
use simgpu::search::Notes;
use simgpu::store::spill::{JsonLines, Spill};
use simgpu_files::{ChunkRecords, Noted, RecordIds, UncheckedPlaces};
use simgpu_io::{
    Chunk, Columns, Event, FieldValues, FilesReading, InputFile, LongestRecord, Reading,
    SkippedRecord, Wanted, warning_of_encoding,
};
use simgpu_passages::uncut;

impl ContainRun<'_> {
    /// The items, the number of their records, and the bad ones.
    pub(super) fn read_items(
        &self,
        temporary: &Path,
    ) -> Result<(Contain, usize, Vec<SkippedRecord>)> {
        self.inputs.check_apart_from(self.items)?;
        let progress = self.options.progress;
        self.items.not_read().warn(progress);
        let files = &self.items.files;
        let reading = ItemsReading {
            temporary,
            on_bad_record: self.on_bad_record,
            longest: LongestRecord::within(self.memory),
            progress,
        };
        let (records, bad) = self.item_fields.read(files, &reading)?;
        if records.is_empty() {
            return Err(self.no_items(&bad));
        }
        if let Some(warning) = warning_of_encoding(bad.iter().map(|(_, bad)| bad)) {
            progress.warn(&warning);
        }
        let count = records.len();
        let mut contain =
            Contain::new(records, self.rule).map_err(|error| items_error(files, error))?;
        if let Some(path) = &self.ignore {
            let phrases = read_ignored(path)?;
            contain = contain.with_ignored(phrases.iter().map(String::as_str))?;
        }
        if let Some(path) = &self.phrases {
            contain = contain.with_phrases(&Phrases::read(path)?)?;
        }
        Ok((contain, count, skipped_items(files, bad)))
    }

    /// The error of items of which no record can be used.
    fn no_items(&self, bad: &[(usize, BadRecord)]) -> Error {
        if let Some((_, first)) = bad.first() {
            let choose = "correct the records, or choose their fields with `item_fields`";
            return Error::no_good_record(first, choose);
        }
        let path = self.items.files.first().map(|file| file.named.clone());
        Error::Input {
            path: path.unwrap_or_default(),
            problem: match self.items.files.len() {
                ..=1 => "it holds no record, and items are read from it".to_owned(),
                files => format!("the {files} files of items hold no record"),
            },
            remedy: "give a file that holds items".to_owned(),
        }
    }

    pub(crate) fn reading<'r>(&'r self, columns: Columns, temporary: &'r Path) -> Reading<'r> {
        Reading {
            columns,
            batch_bytes: self.batch_bytes,
            temporary: Some(temporary),
            limit: self.limit.map(NonZeroU64::get),
            longest: LongestRecord::within(self.memory),
            ..Reading::new(Wanted::Document(&self.fields))
        }
    }

    /// Reads all documents past the table of the items. Ids and hits wait on disk.
    pub(super) fn read<'t>(
        &self,
        files: &[InputFile],
        temporary: &Path,
        tally: Tally<'t>,
        spill: &Arc<Spill>,
    ) -> Result<Found<'t>> {
        let progress = self.options.progress;
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let is_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, files, 0, &is_held, Vec::new());
        noted.spill(spill)?;
        let contain = tally.contain();
        let mut found = ReadSoFar::new(tally, spill);
        let mut documents = 0usize;
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        reading.map(
            |chunk| self.scan(&chunk, files, contain),
            |event| {
                match event {
                    Some(Event::Chunk((records, scanned))) => {
                        let first = row_number(documents)?;
                        let source = &files[records.file].relative;
                        noted.note(records, first)?;
                        for (row, document) in (first..).zip(&scanned) {
                            found.add(row, source, document)?;
                        }
                        documents += scanned.len();
                        row_number(documents)?;
                    }
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(progress, reading.consumed(), documents as u64, found.bytes)
            },
        )?;
        found.hits.flush()?;
        let unchecked = UncheckedPlaces {
            places: noted.places,
            documents,
            id_field: &self.fields.id,
            unique_ids: self.unique_ids,
        };
        let places =
            unchecked.complete(|places| places.find_repeated_ids(), [self.inputs], progress)?;
        Ok(Found {
            places,
            tally: found.tally,
            spread: found.spread,
            examples: found.examples,
            hits: found.hits,
            changed: found.changed,
        })
    }

    /// The records of a chunk, and what the good ones hold. Refuses texts that cannot be cut.
    fn scan(
        &self,
        chunk: &Chunk,
        files: &[InputFile],
        contain: &Contain,
    ) -> Result<(ChunkRecords, Vec<Scanned>)> {
        if matches!(self.action, ContainAction::Cut(_)) {
            let file = &files[chunk.file];
            let checked = chunk.check_cut(file.format, &self.fields);
            let list = self.hits_format.file_name();
            checked.map_err(|problem| uncut(&file.named, problem, list))?;
        }
        let mut batch = self.fields.empty_batch();
        let records = chunk.parse(&self.fields, |_| true, &mut batch);
        let mut scratch = Scratch::default();
        let mut scanned = Vec::new();
        if let DocumentBatch::Texts(texts) = &batch {
            for row in 0..texts.len() {
                let text = texts.get(row);
                let findings = contain.read(text, &mut scratch);
                scanned.push(self.scanned(text, findings, contain));
            }
        }
        let records = ChunkRecords {
            file: chunk.file,
            records: RecordIds::new(records),
            values: Ok(FieldValues::default()),
            sources: Ok(FieldValues::default()),
            bytes: chunk.bytes(),
            chunk: None,
        };
        Ok((records, scanned))
    }

    /// What is kept of a document until all are read.
    fn scanned(&self, text: &str, findings: Findings, contain: &Contain) -> Scanned {
        let hits = &findings.hits;
        let sample = self.samples.then_some(text);
        let evidence = hits
            .iter()
            .map(|hit| HitEvidence::new(hit, contain, sample));
        let shown = sample.map(|text| hits.iter().map(|hit| Examples::sample(text, hit)));
        Scanned {
            bytes: text.len(),
            evidence: evidence.collect(),
            shown: shown.map(Iterator::collect).unwrap_or_default(),
            fate: self.action.fate(text, hits, self.rule.of),
            removable: Removable::new(text, hits, self.rule.of),
            findings,
        }
    }
}

/// What is wrong with the items as an error of their first file.
fn items_error(files: &[InputFile], error: Error) -> Error {
    match (error, files.first()) {
        (
            Error::Parameter {
                name: ITEMS,
                value,
                expected,
            },
            Some(file),
        ) => Error::Input {
            path: file.named.clone(),
            problem: format!("the items are {value}"),
            remedy: format!("give {expected}"),
        },
        (error, _) => error,
    }
}

/// What a document holds.
struct Scanned {
    bytes: usize,
    findings: Findings,
    evidence: Vec<HitEvidence>,
    /// What a page shows of each hit; empty if it shows no texts.
    shown: Vec<Sample>,
    fate: Fate,
    /// What actions would remove of it.
    removable: Removable,
}

/// What is found in the documents that were read so far.
struct ReadSoFar<'t> {
    tally: Tally<'t>,
    spread: Spread,
    examples: Examples,
    /// The hits of documents that have some, with their rows.
    hits: JsonLines,
    changed: Changed,
    /// The bytes of all texts.
    bytes: u64,
}

impl<'t> ReadSoFar<'t> {
    fn new(tally: Tally<'t>, spill: &Arc<Spill>) -> Self {
        ReadSoFar {
            tally,
            spread: Spread::default(),
            examples: Examples::default(),
            hits: JsonLines::new(spill, "hits"),
            changed: Changed::default(),
            bytes: 0,
        }
    }

    /// Adds the next document, from the file `source`.
    fn add(&mut self, row: u32, source: &str, document: &Scanned) -> Result<()> {
        let hits = &document.findings.hits;
        self.bytes += document.bytes as u64;
        self.tally.add(&ReadDocument {
            row,
            file: source,
            bytes: document.bytes,
            removable: document.removable,
            hits,
        });
        self.spread.add(source, &document.findings);
        self.changed.add(row, document.bytes, &document.fate);
        for (hit, sample) in hits.iter().zip(&document.shown) {
            self.examples.offer(row, hit, sample);
        }
        if !hits.is_empty() {
            self.hits.push(&(row, &document.evidence))?;
        }
        Ok(())
    }
}
