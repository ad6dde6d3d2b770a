//! The first pass over files.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::FileSource;
use super::checkpoint::{READ, ReadState, record};
use super::chunks::Chunks;
use crate::log::Noted;
use crate::sources::FieldSources;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::progress::{StageTime, advance};
use simgpu::search::{Classify, Corpus, FirstPass, LinesOfIds, NextPreference, SetsByRow, Source};
use simgpu::store::ExactSets;
use simgpu::store::spill::{Budget, sets_in_memory};
use simgpu_base::bits::Bits;
use simgpu_io::{Columns, Event, FilesReading};

impl<'a> FileSource<'a> {
    /// Reads, signs and numbers all chunks, or those after where a run was stopped. Makes checkpoints.
    fn read_chunks(
        &self,
        chunks: &Chunks<'_>,
        pass: &mut FirstPass<'_>,
        noted: &mut Noted<'_>,
    ) -> Result<()> {
        let progress = pass.progress();
        let mut is_on_disk = pass.unfinished().is_some();
        let start = self.restored(pass, noted)?;
        let start = self.read_indexes(pass, noted, start)?;
        let files = FilesReading::new(&self.files, self.reading(Columns::Needed))?;
        let files = files.starting_at(&start);
        let signing = pass.signing();
        // Whether all notes end with the same chunk.
        let is_between_chunks = Cell::new(true);
        let read = files.map(
            |chunk| {
                if start.is_after(&chunk) {
                    Ok(None)
                } else {
                    signing.sign(chunks, Arc::new(chunk)).map(Some)
                }
            },
            |event| {
                is_between_chunks.set(false);
                match event {
                    Some(Event::Chunk(Some(signed))) => pass.number(signed, noted)?,
                    Some(Event::End { file, fingerprint }) => {
                        noted.end_file(file, fingerprint)?;
                        if file + 1 == self.reference_files {
                            pass.end_reference();
                        }
                    }
                    Some(Event::Table(_) | Event::Chunk(None)) | None => {}
                }
                is_between_chunks.set(true);
                if let (false, Some(spill)) = (is_on_disk, pass.on_disk()) {
                    is_on_disk = true;
                    // Everything so far is written now.
                    ReadState::checkpoint(pass, noted)?;
                    let share = self.share_read(files.consumed(), pass.rows());
                    spill.announce(share, progress)?;
                }
                if pass.on_disk().is_some_and(|spill| spill.is_due()) {
                    record(pass, noted)?;
                }
                advance(progress, files.consumed(), pass.rows(), pass.bytes())
            },
        );
        if matches!(read, Err(Error::Stopped)) && is_between_chunks.get() {
            record(pass, noted)?;
        }
        read
    }
}

impl Source for FileSource<'_> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        let progress = pass.progress();
        progress.begin("read", self.stored_bytes());
        let before = std::mem::take(&mut self.places).files.into_iter();
        let before: Vec<_> = before.map(|file| file.fingerprint).collect();
        let is_first = before.is_empty();
        let is_holding = AtomicBool::new(self.held_bytes > 0);
        let chunks = Chunks {
            run: self.run,
            is_holding: &is_holding,
            held_bytes: self.held_bytes,
            reference_files: self.reference_files,
        };
        let mut noted = Noted::new(
            self.run.on_bad_record,
            &self.files,
            self.held_bytes,
            &is_holding,
            before,
        );
        noted.places.reference_files = self.reference_files;
        noted.places.indexes = self.places_in_indexes()?;
        noted.sources = self.run.source_field.as_ref().map(FieldSources::new);
        self.read_chunks(&chunks, &mut pass, &mut noted)?;
        if let Some(spill) = pass.on_disk() {
            spill.note(READ, &ReadState::checkpoint(&mut pass, &mut noted)?)?;
        }
        let spill = pass.on_disk();
        let Noted {
            places,
            values,
            sources,
            forms,
            log,
            ..
        } = noted;
        self.sources = sources;
        self.log = log;
        let corpus = pass.finish(times)?;
        self.places = places;
        self.end_places(corpus.rows, spill.as_deref(), is_first)?;
        self.end_preference(corpus.rows, &values, forms, is_first)?;
        self.spill = spill;
        Ok(corpus)
    }

    fn held_bytes(&self) -> u64 {
        let classes = self.classes.as_ref().map_or(0, Vec::len);
        let sources = self.sources.as_ref().map_or(0, FieldSources::held_bytes);
        self.places.held_bytes() + 8 * classes as u64 + sources
    }

    fn classes(&self) -> Option<&[u64]> {
        self.classes.as_deref()
    }

    fn classes_on_disk(&self) -> Option<(Box<dyn Classify>, NextPreference<'_>)> {
        let preference = self.preference.as_ref()?;
        let log = self.log.as_ref()?;
        Some((Box::new(preference.rule()), preference.in_order(log)))
    }

    fn signs_again(&self) -> bool {
        self.signed_again.is_some()
    }

    fn exact_sets(&self) -> ExactSets {
        ExactSets::spilling(sets_in_memory(self.budget.as_ref()), &self.temporary)
    }

    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        self.read_sets(engine, wanted, sets)
    }

    fn budget(&self) -> Option<Budget> {
        self.budget.clone()
    }

    fn ids(&self) -> Result<Option<LinesOfIds<'_>>> {
        let lines = self.places.id_lines()?;
        Ok(lines.map(|lines| Box::new(lines) as LinesOfIds<'_>))
    }
}
