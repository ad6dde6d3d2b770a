//! A run on disk, over documents of which memory does not hold the texts.

use std::sync::Arc;

use super::super::excerpts::Excerpts;
use super::super::gather::{Gathered, Gathering};
use super::super::lengths::Lengths;
use super::super::lines::{CutsLine, RemovedDocumentLine};
use super::super::pieces_output::PiecesOutput;
use super::super::report::PassagesSummary;
use super::super::run::{InputFiles, PassageAction, PassagesRun};
use super::super::sources::Occurrences;
use super::super::write::{CUTS, REMOVED, WrittenPassages, lines};
use super::choosing::{CHOOSE, Choosing, ChosenFiles, ChosenPassages};
use super::cut_file::{ChangedDocument, CutFile, CutStreams};
use super::first_places::WindowMaps;
use super::first_reading::{FirstReading, ListedInputs};
use super::map::WindowMap;
use super::others::NextPlaces;
use super::reread::RereadInputs;
use super::search::DiskSearch;
use super::shared::PARTS;
use super::sources::PieceFiles;
use super::text_reader::TextReader;
use simgpu::error::Result;
use simgpu::progress::{DiskUse, Timings};
use simgpu::store::spill::Spill;
use simgpu_io::{JsonLines, OutputFolder, Places};

/// A run on disk.
pub(crate) struct DiskRun<'a> {
    run: &'a PassagesRun<'a>,
    output: Option<&'a OutputFolder>,
    inputs: InputFiles<'a>,
    spill: &'a Arc<Spill>,
}

impl<'a> DiskRun<'a> {
    pub(crate) fn new(
        run: &'a PassagesRun<'a>,
        output: Option<&'a OutputFolder>,
        inputs: InputFiles<'a>,
        spill: &'a Arc<Spill>,
    ) -> Self {
        DiskRun {
            run,
            output,
            inputs,
            spill,
        }
    }

    /// Finds and writes the passages as [`PassagesRun::run`] does. `known` is what a reading before found. Makes checkpoints,
    /// and begins at the last one.
    pub(crate) fn run(
        &self,
        known: Option<Places>,
        timings: &mut Timings,
    ) -> Result<WrittenPassages> {
        let (run, spill) = (self.run, self.spill);
        let lengths = Lengths::new(run.units.symbols());
        let first = FirstReading {
            run,
            inputs: self.inputs,
            spill,
            lengths: &lengths,
        };
        let ListedInputs {
            listed,
            documents,
            places,
            starts,
            _log,
        } = timings.time("read", 0, || first.list(known))?;
        timings.add_disk_use(spill.take_use(PARTS));
        let reading = RereadInputs {
            run,
            inputs: self.inputs,
            places: &places,
        };
        let place_count = listed.places;
        let found = match spill.state::<ChosenPassages>(CHOOSE) {
            Some(chosen) => ChosenFiles {
                pieces: PieceFiles::new(spill, place_count, run.units, chosen.pieces),
                cuts: CutStreams::new(spill, 2),
                chosen,
            },
            None => {
                let maps = timings.time("compare", 0, || {
                    let search = DiskSearch {
                        lengths: &lengths,
                        spill,
                        progress: run.options.progress,
                    };
                    self.maps(search.map(listed, &reading)?, starts, place_count)
                });
                self.choose(maps?, &reading, timings)?
            }
        };
        let written = timings.time("write", 0, || self.write(found, documents, &reading));
        let (summary, excerpts) = written?;
        timings.add_disk_use(spill.take_use(PARTS));
        Ok(WrittenPassages {
            summary,
            excerpts,
            places,
            spill: Some(Arc::clone(spill)),
        })
    }

    /// The first places of all windows, and what else is needed of them.
    fn maps(&self, mut firsts: WindowMap, starts: Vec<usize>, places: usize) -> Result<WindowMaps> {
        let conditions = self.run.conditions(0);
        let others = NextPlaces {
            least: conditions.min_count,
            starts: &starts,
            other_documents: conditions.other_documents
                && conditions.occurrences == Occurrences::All,
        };
        let others = conditions
            .needs_counts()
            .then(|| others.find(&mut firsts, self.spill, places));
        Ok(WindowMaps {
            others: others.transpose()?,
            firsts,
            starts,
            places,
        })
    }

    /// Chooses the passages, and decides what is cut.
    fn choose(
        &self,
        mut maps: WindowMaps,
        reading: &RereadInputs<'_>,
        timings: &mut Timings,
    ) -> Result<ChosenFiles> {
        let map_use = DiskUse {
            written_bytes: maps.bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(self.spill.take_use(PARTS), map_use));
        let chosen = timings.time("choose", 0, || {
            let mut choosing = Choosing::new(self.run, &mut maps, self.spill, reading.places);
            reading.read("choose", &|_| (), &mut |texts, ()| choosing.add(texts))?;
            choosing.finish()
        });
        let map_use = DiskUse {
            read_bytes: maps.read_bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(self.spill.take_use(PARTS), map_use));
        chosen
    }

    /// Writes what was found in so many documents.
    fn write(
        &self,
        found: ChosenFiles,
        documents: usize,
        reading: &RereadInputs<'_>,
    ) -> Result<(PassagesSummary, Excerpts)> {
        let (run, output, places) = (self.run, self.output, reading.places);
        let mut gathered = Gathering::new(run.units, places);
        gathered.restore(found.chosen.gathered);
        let mut written = PiecesOutput::new(run, output, gathered)?;
        found.pieces.for_each(reading, |piece| written.add(piece))?;
        let Gathered { summary, parts } = written.finish()?.end()?;
        // After the last checkpoint, since this takes the streams of cuts.
        let cuts = self.write_cuts(found.cuts, documents, places)?;
        let mut excerpts = run.excerpts(output, parts);
        run.read_excerpts(&mut excerpts, self.inputs, places, &cuts)?;
        if let Some(output) = output.filter(|_| run.action.writes_records()) {
            run.write_kept(output, self.inputs, places, &cuts)?;
        }
        Ok((summary, excerpts))
    }

    /// Writes what is cut out of so many documents, and which are removed. Returns the cuts by rows.
    fn write_cuts(&self, cuts: CutStreams, documents: usize, places: &Places) -> Result<CutFile> {
        let output = self.output.filter(|_| self.run.action.removes());
        let create = |name| output.map(|output| lines(output, name)).transpose();
        let (mut cut_lines, mut removed_lines) = (create(CUTS)?, create(REMOVED)?);
        let is_cut = self.run.action == PassageAction::Cut;
        let file = cuts.finish(documents, |document| match document {
            ChangedDocument::Cut(row, cuts) => match cut_lines.as_mut().filter(|_| is_cut) {
                Some(lines) => lines.write(&CutsLine::new(row, cuts, places)?),
                None => Ok(()),
            },
            ChangedDocument::Removed(removed) => match &mut removed_lines {
                Some(lines) => lines.write(&RemovedDocumentLine::new(&removed, places)?),
                None => Ok(()),
            },
        })?;
        cut_lines.map_or(Ok(()), JsonLines::finish)?;
        removed_lines.map_or(Ok(()), JsonLines::finish)?;
        Ok(file)
    }
}

fn sum(a: DiskUse, b: DiskUse) -> DiskUse {
    DiskUse {
        parts: a.parts + b.parts,
        read_bytes: a.read_bytes + b.read_bytes,
        written_bytes: a.written_bytes + b.written_bytes,
    }
}
