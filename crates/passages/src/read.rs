//! Reads documents, and finds their units.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::pass::too_large;
use super::rewrite::uncut;
use super::run::{InputFiles, PassageAction, PassagesRun};
use super::units::{UnitTexts, check_length};
use simgpu::documents::{DocumentBatch, Documents};
use simgpu::error::{Error, Result, row_number};
use simgpu::pipeline::UnitPlaces;
use simgpu::progress::advance;
use simgpu::search::Notes;
use simgpu_files::{ChunkRecords, Noted, RecordIds};
use simgpu_io::{Chunk, Columns, Event, FieldValues, FilesReading, Id, InputFile, Places, Record};

/// Bytes of a chunk and its texts that are not counted, since a run holds a few such chunks in any case.
const UNCOUNTED: u64 = 16 << 20;

/// The share of the memory that a chunk and its texts may take. While a search on disk reads, its blocks to write take a
/// sixteenth, records in order another, and the map of first places an eighth.
const SHARE: [u64; 2] = [3, 4];

impl PassagesRun<'_> {
    /// Reads all documents into memory.
    pub(super) fn read(&self, inputs: InputFiles<'_>) -> Result<(UnitTexts, Places)> {
        let InputFiles { files, temporary } = inputs;
        let progress = self.options.progress;
        let budget = self.budget();
        progress.begin("read", inputs.stored_bytes());
        let is_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, files, 0, &is_held, Vec::new());
        noted.places.reference_files = self.reference_files();
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let mut texts = UnitTexts::default();
        let held = AtomicU64::new(0);
        let mut largest = 0;
        reading.map(
            |chunk| {
                let bytes = chunk.bytes() as u64;
                let all = held.load(Ordering::Relaxed).saturating_add(2 * bytes);
                match budget.filter(|budget| bytes > UNCOUNTED && all > *budget) {
                    // Without the texts that are held, memory may hold this one.
                    Some(budget) => Err(too_large(budget)),
                    None => self.parse_first(chunk, files),
                }
            },
            |event| {
                match event {
                    Some(Event::Chunk((records, read))) => {
                        largest = largest.max(records.bytes as u64);
                        // Whether to turn to disk must be known before memory is full.
                        let budget = budget.map(|budget| self.beside_writing(budget, largest));
                        self.search_memory(&[&texts, &read], budget)?;
                        noted.note(records, row_number(texts.len())?)?;
                        texts.append(read);
                        held.store(texts.held_bytes(), Ordering::Relaxed);
                    }
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(
                    progress,
                    reading.consumed(),
                    texts.len() as u64,
                    texts.bytes(),
                )
            },
        )?;
        let places = self.complete(noted.places, texts.len(), None)?;
        texts.reference = places.first_input() as usize;
        Ok((texts, places))
    }

    /// The bytes of memory that are left beside the largest chunk when it is written: its records, and what is kept of them.
    fn beside_writing(&self, budget: u64, largest: u64) -> u64 {
        if self.action.writes_records() && largest > UNCOUNTED {
            budget.saturating_sub(2 * largest)
        } else {
            budget
        }
    }

    /// The records of a chunk that is read first, and the texts of the good ones. Refuses texts that cannot be cut.
    pub(super) fn parse_first(
        &self,
        chunk: Chunk,
        files: &[InputFile],
    ) -> Result<(ChunkRecords, UnitTexts)> {
        if self.action == PassageAction::Cut && chunk.file >= self.reference_files() {
            let file = &files[chunk.file];
            let checked = chunk.check_cut(file.format, &self.fields);
            checked.map_err(|problem| uncut(&file.named, problem, "passages.jsonl"))?;
        }
        self.parse(Arc::new(chunk), files, |_| true)
    }

    /// The wanted records of a chunk, and the texts of the good ones.
    pub(super) fn parse(
        &self,
        chunk: Arc<Chunk>,
        files: &[InputFile],
        wanted: impl Fn(u64) -> bool,
    ) -> Result<(ChunkRecords, UnitTexts)> {
        let fields = match &self.against {
            Some(against) if chunk.file < self.reference_files() => &against.fields,
            _ => &self.fields,
        };
        let mut batch = fields.empty_batch();
        let mut records = chunk.parse(fields, wanted, &mut batch);
        let (file, bytes) = (chunk.file, chunk.bytes());
        // A long document is in memory twice at most: in its chunk and as a text, or as a text and its units.
        let longest = self.check_texts(&chunk, &files[file].named, &records, &batch)?;
        drop(chunk);
        let texts = self.texts(batch, &mut records);
        self.check_held(texts.held_bytes(), &files[file].named, &longest)?;
        let records = ChunkRecords {
            file,
            records: RecordIds::new(records),
            values: Ok(FieldValues::default()),
            sources: Ok(FieldValues::default()),
            bytes,
            chunk: None,
        };
        Ok((records, texts))
    }

    /// The texts of a batch. A record whose text is too long becomes a bad one.
    fn texts(&self, batch: DocumentBatch, records: &mut [Record]) -> UnitTexts {
        let is_good = |record: &&mut Record| matches!(record, Record::Document(_));
        let good = records.iter_mut().filter(is_good);
        let refuse = |record: &mut Record, problem| {
            *record = Record::Bad {
                line: None,
                problem,
            };
        };
        let mut texts = UnitTexts::default();
        match batch {
            DocumentBatch::Texts(mut batch) => {
                let mut next = 0;
                for record in good {
                    match check_length(batch.get(next)) {
                        Ok(()) => next += 1,
                        Err(problem) => {
                            batch.remove(next);
                            refuse(record, problem);
                        }
                    }
                }
                return UnitTexts::from_batch(batch, self.units, &mut UnitPlaces::default());
            }
            DocumentBatch::Tokens(batch) => {
                for (i, record) in good.enumerate() {
                    if let Err(problem) = texts.push_tokens(batch.tokens(i)) {
                        refuse(record, problem);
                    }
                }
            }
            DocumentBatch::Weighted(_) => {
                good.for_each(|record| refuse(record, "passages have no weights".to_owned()));
            }
        }
        texts
    }

    /// Refuses a chunk and its texts if memory does not hold them. Returns what messages call the longest document.
    fn check_texts(
        &self,
        chunk: &Chunk,
        file: &Path,
        records: &[Record],
        batch: &DocumentBatch,
    ) -> Result<String> {
        let bytes = chunk.bytes() as u64;
        // The units of a text take a few times its length.
        if bytes < UNCOUNTED / 16 {
            return Ok("a document".to_owned());
        }
        let longest = longest(chunk, records, batch);
        let texts: usize = (0..batch.len()).map(|row| batch.get(row).bytes()).sum();
        self.check_held(bytes + texts as u64, file, &longest)?;
        Ok(longest)
    }

    /// Refuses so many bytes of a chunk and its texts if memory does not hold them.
    fn check_held(&self, bytes: u64, file: &Path, longest: &str) -> Result<()> {
        let Some(memory) = self.budget().filter(|_| bytes > UNCOUNTED) else {
            return Ok(());
        };
        let [share, of] = SHARE;
        let room = memory / of * share;
        if bytes <= room {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        Err(Error::Input {
            path: file.to_owned(),
            problem: format!(
                "{longest} takes {} MiB of memory, and `memory` ({} MiB) leaves {} MiB for one document",
                mib(bytes),
                memory >> 20,
                room >> 20,
            ),
            remedy: format!(
                "raise `memory` to {} MiB or more, or divide the document",
                mib(bytes.div_ceil(share) * of)
            ),
        })
    }
}

/// What messages call the longest document of a chunk.
fn longest(chunk: &Chunk, records: &[Record], batch: &DocumentBatch) -> String {
    let good = records.iter().enumerate().filter_map(|(i, of)| match of {
        Record::Document(id) => Some((i, id)),
        Record::Bad { .. } => None,
    });
    let longest = (0..)
        .zip(good)
        .max_by_key(|(row, _)| batch.get(*row).bytes());
    let Some((_, (record, id))) = longest else {
        return "a record".to_owned();
    };
    match (chunk.line(record), id) {
        (Some(line), _) => format!("the document in line {line}"),
        (None, Id::Json(id)) => format!("the document {id}"),
        (None, _) => "a document".to_owned(),
    }
}
