//! The first reading of a run on disk, which lists the regions of all documents.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::super::lengths::Lengths;
use super::super::run::{IDS, InputFiles, PassagesRun};
use super::super::units::UnitTexts;
use super::listed::ListedRegions;
use super::regions::{Regions, regions};
use super::reread::RereadInputs;
use super::text_reader::TextReader;
use simgpu::error::{Result, row_number};
use simgpu::progress::{Progress, advance, counted};
use simgpu::search::Notes;
use simgpu::store::spill::Spill;
use simgpu_files::{ChunkRecords, Log, Noted, RecordsRead};
use simgpu_io::{Columns, Event, FilesReading, Places, Position};

/// The name of the first reading, for checkpoints.
const READ: &str = "read";

/// A first reading.
pub(super) struct FirstReading<'a> {
    pub(super) run: &'a PassagesRun<'a>,
    pub(super) inputs: InputFiles<'a>,
    pub(super) spill: &'a Arc<Spill>,
    pub(super) lengths: &'a Lengths,
}

/// What a first reading found.
pub(super) struct ListedInputs {
    pub(super) listed: ListedRegions,
    /// The number of documents.
    pub(super) documents: usize,
    pub(super) places: Places,
    /// The first place of each document.
    pub(super) starts: Vec<usize>,
    /// The notes, whose files stay for a run that goes on.
    pub(super) _log: Option<Log>,
}

/// What is read so far.
struct Listing<'a> {
    noted: Noted<'a>,
    listed: ListedRegions,
    documents: usize,
    bytes: u64,
}

/// The same at a checkpoint.
#[derive(Serialize, Deserialize)]
struct ListingState {
    records: RecordsRead,
    places: usize,
    documents: usize,
    bytes: u64,
}

impl FirstReading<'_> {
    /// Reads all documents, and lists their regions. `known` is what a reading before found of them.
    pub(super) fn list(&self, known: Option<Places>) -> Result<ListedInputs> {
        let (run, spill) = (self.run, self.spill);
        let is_held = AtomicBool::new(false);
        let noted = Noted::new(
            run.on_bad_record,
            self.inputs.files,
            0,
            &is_held,
            Vec::new(),
        );
        let mut listing = Listing {
            noted,
            listed: ListedRegions::new(spill, 0),
            documents: 0,
            bytes: 0,
        };
        listing.noted.places.reference_files = run.reference_files();
        let complete = match known {
            Some(places) => {
                self.relist(&places, &mut listing)?;
                listing.noted = listing.noted.all(places);
                true
            }
            None => false,
        };
        // A run that is stopped needs the notes of the records that it read.
        if spill.is_resumable() {
            listing.noted.spill(spill)?;
        }
        if !complete {
            self.list_new(&mut listing)?;
        }
        if spill.is_resumable() {
            spill.note(READ, &listing.state()?)?;
        }
        let Listing {
            noted: Noted {
                mut places, log, ..
            },
            mut listed,
            documents,
            ..
        } = listing;
        if let Some(ids) = &mut places.ids {
            ids.end()?;
        }
        if complete {
            spill.note(IDS, &places.find_repeated_ids()?)?
        } else {
            places = run.complete(places, documents, Some(spill))?
        }
        if let Some(ids) = &mut places.ids {
            ids.hold(row_number(documents)?)?;
        }
        let starts = listed.end()?;
        Ok(ListedInputs {
            listed,
            documents,
            places,
            starts,
            _log: log,
        })
    }

    /// Lists the regions of documents that were read before.
    fn relist(&self, places: &Places, listing: &mut Listing<'_>) -> Result<()> {
        let reading = RereadInputs {
            run: self.run,
            inputs: self.inputs,
            places,
        };
        let list = |texts: &UnitTexts| regions(texts, self.lengths);
        reading.read("read", &list, &mut |texts, regions| {
            listing.documents += texts.len();
            listing.listed.add(&regions)
        })
    }

    /// Reads all documents, or those behind the last checkpoint, and lists their regions.
    fn list_new(&self, listing: &mut Listing<'_>) -> Result<()> {
        let FirstReading {
            run,
            inputs,
            spill,
            lengths,
        } = *self;
        let progress = run.options.progress;
        progress.begin("read", inputs.stored_bytes());
        let start = listing.restore(spill, progress)?;
        let reading =
            FilesReading::new(inputs.files, run.reading(Columns::Needed, inputs.temporary))?;
        let reading = reading.starting_at(&start);
        reading.map(
            |chunk| {
                // The last checkpoint has it.
                if start.is_after(&chunk) {
                    return Ok(None);
                }
                let (records, texts) = run.parse_first(chunk, inputs.files)?;
                Ok(Some(ReadChunk {
                    records,
                    documents: texts.len(),
                    bytes: texts.bytes(),
                    regions: regions(&texts, lengths),
                }))
            },
            |event| {
                match event {
                    Some(Event::Chunk(Some(chunk))) => {
                        let row = row_number(listing.documents)?;
                        listing.noted.note(chunk.records, row)?;
                        listing.documents += chunk.documents;
                        listing.bytes += chunk.bytes;
                        listing.listed.add(&chunk.regions)?;
                    }
                    Some(Event::End { file, fingerprint }) => {
                        listing.noted.end_file(file, fingerprint)?;
                    }
                    Some(Event::Table(_) | Event::Chunk(None)) | None => {}
                }
                if spill.is_due() {
                    spill.checkpoint(READ, &listing.state()?)?;
                }
                let documents = listing.documents as u64;
                advance(progress, reading.consumed(), documents, listing.bytes)
            },
        )
    }
}

/// What is read of a chunk.
struct ReadChunk {
    records: ChunkRecords,
    documents: usize,
    bytes: u64,
    regions: Regions,
}

impl Listing<'_> {
    /// Writes everything read so far, and says where that is.
    fn state(&mut self) -> Result<ListingState> {
        self.listed.flush()?;
        Ok(ListingState {
            records: self.noted.save()?,
            places: self.listed.places,
            documents: self.documents,
            bytes: self.bytes,
        })
    }

    /// Goes on where the run was stopped: at this position, which is the beginning if it was not.
    fn restore(&mut self, spill: &Spill, progress: &dyn Progress) -> Result<Position> {
        let Some(state) = spill.state::<ListingState>(READ) else {
            return Ok(Position::default());
        };
        self.noted.restore(&state.records)?;
        self.listed.places = state.places;
        (self.documents, self.bytes) = (state.documents, state.bytes);
        progress.tell(&format!(
            "going on where the run was stopped: {} are read",
            counted(state.documents as u64, "document")
        ));
        Ok(state.records.position)
    }
}
