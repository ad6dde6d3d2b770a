//! Passages of documents in files, of which memory does not hold the texts.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::cuts::{Cuts, Removal, Shrinking};
use super::super::excerpts::Excerpts;
use super::super::find::Removing;
use super::super::gather::Gathering;
use super::super::items::Match;
use super::super::lengths::Lengths;
use super::super::lost::removed_symbols;
use super::super::pieces_output::PiecesOutput;
use super::super::report::{CutCounts, CutsLine, RemovedLine};
use super::super::run::{PassageAction, PassagesRun, Told};
use super::super::sources::Occurrences;
use super::super::units::{PassageUnit, UnitTexts};
use super::super::write::{CUTS, REMOVED, lines};
use super::choose::{Chooser, Rules};
use super::cut_file::{CutFile, CutWriter};
use super::lost::LostCounter;
use super::map::WindowMap;
use super::regions::{places, regions};
use super::search::{Listed, Reading, Search};
use super::sources::Pieces;
use crate::error::{Result, row_number};
use crate::files::{FileEvent, Noted, Placed, Rereading};
use crate::io::{
    Columns, Event, FilesReading, InputFile, JsonLines, OutputFolder, Places, Position, changed,
};
use crate::progress::{DiskUse, Timings, advance};
use crate::search::Notes;
use crate::store::spill::{Budget, Spill};

/// The least bytes of memory for what removed documents lead to.
const LEAST_FOR_REMOVED: u64 = 16 << 20;

/// The inputs, which are read once before.
struct Files<'a> {
    run: &'a PassagesRun<'a>,
    files: &'a [InputFile],
    temporary: &'a Path,
    places: &'a Places,
}

impl Files<'_> {
    fn texts(&self, Placed { chunk, rows }: &Placed) -> Result<UnitTexts> {
        let is_good = |record: u64| {
            let record = usize::try_from(record).ok();
            record.is_some_and(|record| rows.get(record).is_some_and(Option::is_some))
        };
        let (_, texts) = self.run.parse(chunk, is_good);
        match texts.len() == rows.iter().flatten().count() {
            true => Ok(texts),
            // A record that was good is bad now.
            false => Err(changed(&self.files[chunk.file])),
        }
    }
}

impl Reading for Files<'_> {
    fn read<T: Send>(
        &self,
        stage: &'static str,
        map: &(impl Fn(&UnitTexts) -> T + Sync),
        each: &mut dyn FnMut(&UnitTexts, T) -> Result<()>,
    ) -> Result<()> {
        let again = Rereading {
            files: self.files,
            places: self.places,
            reading: self.run.reading(Columns::Needed, self.temporary),
            bytes: self.files.iter().map(InputFile::stored_bytes).sum(),
            progress: self.run.options.progress,
        };
        let map = |placed: Placed| {
            let texts = self.texts(&placed)?;
            let mapped = map(&texts);
            Ok((texts, mapped))
        };
        again.read(stage, &Position::default(), map, |part| match part {
            FileEvent::Chunk((texts, mapped)) => each(&texts, mapped),
            FileEvent::Table(_) | FileEvent::End => Ok(()),
        })
    }
}

impl PassagesRun<'_> {
    /// Whether the search can be on disk.
    pub(in super::super) fn fits_disk(&self) -> bool {
        let is_action = match self.action {
            PassageAction::Report | PassageAction::Cut | PassageAction::Drop { .. } => true,
            PassageAction::Mark => false,
        };
        is_action
            && self.units.unit != PassageUnit::Tokens
            && self.against.is_none()
            && self.occurrences == Occurrences::Later
            && self.min_count <= 2
    }

    /// Finds and writes the passages as [`PassagesRun::run`] does, on disk. `known` is what a reading before found.
    pub(in super::super) fn run_on_disk(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        known: Option<Places>,
        timings: &mut Timings,
    ) -> Result<(Told, Excerpts, Places)> {
        let memory = self.budget().unwrap_or_default() / 2;
        let spill = Spill::new(&Budget {
            // More than can be addressed is never asked for; less only makes more parts.
            memory: usize::try_from(memory).unwrap_or_default(),
            folder: temporary.to_owned(),
            run: None,
            unfinished: None,
        })?;
        let lengths = Lengths::new(self.units.symbols());
        let read = timings.time("read", 0, || {
            self.list_regions((files, temporary), (&lengths, &spill), known)
        });
        let (listed, places) = read?;
        timings.add_disk_use(spill.take_use(Listed::PARTS));
        let reading = Files {
            run: self,
            files,
            temporary,
            places: &places,
        };
        let of_places = listed.places;
        let map = timings.time("compare", 0, || {
            let search = Search {
                lengths: &lengths,
                spill: &spill,
                progress: self.options.progress,
            };
            search.map(listed, &reading)
        });
        let mut map = map?;
        let of_map = DiskUse {
            written_bytes: map.bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_map));
        let chosen = timings.time("choose", 0, || {
            let of_map = (&mut map, of_places);
            let mut choosing = Choosing::new(self, of_map, &spill, (output, &places))?;
            reading.read("choose", &|_| (), &mut |texts, ()| choosing.add(texts))?;
            choosing.finish()
        });
        let (gathered, pieces, cuts) = chosen?;
        let of_map = DiskUse {
            read_bytes: map.read_bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_map));
        drop(map);
        let written = timings.time("write", 0, || {
            self.write_found(
                output,
                (files, temporary),
                (pieces, gathered, cuts),
                &reading,
            )
        });
        let (told, excerpts) = written?;
        timings.add_disk_use(spill.take_use(Listed::PARTS));
        Ok((told, excerpts, places))
    }

    /// Writes what was found.
    fn write_found(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        (pieces, gathered, cuts): (Pieces, Gathering<'_>, CutFile),
        reading: &Files<'_>,
    ) -> Result<(Told, Excerpts)> {
        let mut written = PiecesOutput::new(self, output, gathered)?;
        pieces.for_each(reading, |piece| written.add(&piece))?;
        let (counts, overview, parts) = written.finish()?.end()?;
        let mut excerpts = self.excerpts(output, parts);
        self.read_excerpts(&mut excerpts, (files, temporary), reading.places, &cuts)?;
        if let Some(output) = output.filter(|_| self.action.writes_records()) {
            self.write_kept(output, (files, temporary), reading.places, &cuts)?;
        }
        Ok(((counts, overview), excerpts))
    }

    /// Reads all documents, and lists their regions.
    fn list_regions(
        &self,
        (files, temporary): (&[InputFile], &Path),
        (lengths, spill): (&Lengths, &Arc<Spill>),
        known: Option<Places>,
    ) -> Result<(Listed, Places)> {
        let progress = self.options.progress;
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let are_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, files, (0, &are_held), Vec::new());
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let mut listed = Listed::new(spill);
        let (mut documents, mut bytes) = (0, 0);
        reading.map(
            |chunk| {
                let (records, texts) = self.parse(&chunk, |_| true);
                let of = (texts.len(), texts.bytes(), places(&texts));
                Ok((records, of, regions(&texts, lengths)))
            },
            |event| {
                match event {
                    Some(Event::Chunk((records, (count, of_texts, places), regions))) => {
                        noted.note(records, row_number(documents)?)?;
                        documents += count;
                        bytes += of_texts;
                        listed.add(places, &regions)?;
                    }
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(progress, reading.consumed(), documents as u64, bytes)
            },
        )?;
        let places = match known {
            Some(places) => places,
            None => self.complete(noted.places, documents)?,
        };
        Ok((listed, places))
    }
}

fn sum(a: DiskUse, b: DiskUse) -> DiskUse {
    DiskUse {
        parts: a.parts + b.parts,
        read_bytes: a.read_bytes + b.read_bytes,
        written_bytes: a.written_bytes + b.written_bytes,
    }
}

/// Chooses passages, and decides what is cut, in order.
struct Choosing<'a, 'p> {
    run: &'a PassagesRun<'a>,
    places: &'p Places,
    chooser: Chooser<'a>,
    pieces: Pieces,
    shrinking: Shrinking,
    cuts: CutWriter,
    lost: Option<LostCounter>,
    cut_lines: Option<JsonLines<File>>,
    removed_lines: Option<JsonLines<File>>,
    overview: Gathering<'p>,
    of_cuts: CutCounts,
    /// The first place of the next document, and its row.
    base: usize,
    row: usize,
}

/// The passages of a run of symbols.
struct OfRun {
    run: usize,
    /// The first symbol of the run, by its number among these texts.
    start: usize,
    /// The pieces, by the numbers of their symbols among these texts. The sources are places.
    pieces: Vec<Match>,
}

impl OfRun {
    /// The spans: symbols from the beginning of the run.
    fn spans(&self) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for piece in &self.pieces {
            let (from, to) = (piece.from - self.start, piece.to - self.start);
            match spans.last_mut() {
                Some(last) if from <= last.end => last.end = to,
                _ => spans.push(from..to),
            }
        }
        spans
    }
}

impl<'a, 'p> Choosing<'a, 'p> {
    fn new(
        run: &'a PassagesRun<'a>,
        (map, of_places): (&'a mut WindowMap, usize),
        spill: &Arc<Spill>,
        (output, places): (Option<&OutputFolder>, &'p Places),
    ) -> Result<Self> {
        let (window, stride) = (run.units.symbols().get(), run.units.stride());
        let is_cut = run.action.removes();
        let output = output.filter(|_| is_cut);
        let rules = Rules {
            window,
            stride,
            other_documents: run.other_documents,
            memory: (spill.memory() as u64 / 4).max(LEAST_FOR_REMOVED),
        };
        let lost = is_cut.then(|| LostCounter::new(spill, of_places, (window, stride)));
        Ok(Choosing {
            run,
            places,
            chooser: Chooser::new(rules, map),
            pieces: Pieces::new(spill, of_places),
            shrinking: Shrinking::new(run.units, run.snap),
            cuts: CutWriter::new(spill.folder())?,
            lost,
            cut_lines: output.map(|output| lines(output, CUTS)).transpose()?,
            removed_lines: output.map(|output| lines(output, REMOVED)).transpose()?,
            overview: Gathering::new(run.units, places),
            of_cuts: CutCounts::default(),
            base: 0,
            row: 0,
        })
    }

    /// Adds the next documents.
    fn add(&mut self, texts: &UnitTexts) -> Result<()> {
        let documents = texts.documents();
        let (run, mut cuts) = (self.run, Cuts::default());
        let mut removing = Removing::new(run, texts);
        for document in 0..texts.len() {
            let runs = documents[document]..documents[document + 1];
            let first = self.first_place(texts, runs.start);
            self.chooser.begin_document(first);
            let found = self.passages(texts, runs)?;
            let spans = self.add_passages(texts, document, &found)?;
            let len = texts.text(document).len();
            self.overview
                .add_document(self.row + document, len, spans.iter().cloned())?;
            let pieces: Vec<Match> = found.into_iter().flat_map(|of| of.pieces).collect();
            let is_removed = removing.is_asked() && removing.removes(document, &pieces);
            self.chooser.end_document(is_removed);
            match removing.removed.last().filter(|_| is_removed) {
                Some((_, why, covered)) => {
                    cuts.push_removed(*why);
                    self.add_removed((document, *why, *covered), texts)?;
                }
                None if run.action == PassageAction::Cut => {
                    cuts.push(self.shrinking.cuts(texts.text(document), &spans));
                    self.add_cuts(document, cuts.of(document))?;
                }
                None => cuts.push([]),
            }
        }
        self.overview.counts.bytes += texts.bytes();
        self.overview.counts.units += texts.input_units(run.units);
        self.of_cuts.cut_bytes += cuts.bytes();
        self.of_cuts.kept += (texts.len() - cuts.removed.len()) as u64;
        self.add_lost(texts, &cuts, &documents)?;
        self.cuts.push(&cuts)?;
        self.base += places(texts);
        self.row += texts.len();
        Ok(())
    }

    /// The place of the first symbol of a run.
    fn first_place(&self, texts: &UnitTexts, run: usize) -> usize {
        self.base + texts.run_symbols(run).start + run
    }

    /// The passages of the runs of a document that have some.
    fn passages(&mut self, texts: &UnitTexts, runs: Range<usize>) -> Result<Vec<OfRun>> {
        let mut found = Vec::new();
        for run in runs {
            let symbols = texts.run_symbols(run);
            let first = self.first_place(texts, run);
            let windows = self.windows(first, symbols.len());
            let mut pieces = self.chooser.pieces(windows)?;
            for piece in &mut pieces {
                piece.from = piece.from - first + symbols.start;
                piece.to = piece.to - first + symbols.start;
            }
            if !pieces.is_empty() {
                found.push(OfRun {
                    run,
                    start: symbols.start,
                    pieces,
                });
            }
        }
        Ok(found)
    }

    /// The windows of so many symbols from a place on.
    fn windows(&self, first: usize, symbols: usize) -> Range<usize> {
        first..first + (symbols + 1).saturating_sub(self.run.units.symbols().get())
    }

    /// Adds and counts the passages of a document, and returns the bytes of its spans.
    fn add_passages(
        &mut self,
        texts: &UnitTexts,
        document: usize,
        found: &[OfRun],
    ) -> Result<Vec<Range<usize>>> {
        let stride = self.run.units.stride();
        let mut spans = Vec::new();
        for of in found {
            for symbols in of.spans() {
                self.overview.counts.covered_units += symbols.len().div_ceil(stride) as u64;
                let (_, bytes) = texts.place(of.run, symbols);
                self.overview.counts.covered_bytes += bytes.len() as u64;
                spans.push(bytes);
            }
            for piece in &of.pieces {
                let len = piece.to - piece.from;
                let (_, bytes) = texts.place(of.run, piece.from - of.start..piece.to - of.start);
                let units = len.div_ceil(stride);
                let source = piece.source..piece.source + len;
                self.pieces
                    .push((document, &bytes, units), (texts, self.row), source)?;
            }
        }
        self.overview.counts.spans += spans.len() as u64;
        self.overview.counts.covered_documents += u64::from(!spans.is_empty());
        Ok(spans)
    }

    fn add_removed(
        &mut self,
        (document, why, covered): (usize, Removal, usize),
        texts: &UnitTexts,
    ) -> Result<()> {
        let bytes = texts.text(document).len();
        self.of_cuts.removed += 1;
        self.of_cuts.removed_bytes += bytes as u64;
        match &mut self.removed_lines {
            Some(lines) => {
                let removed = (self.row + document, why, covered);
                lines.write(&RemovedLine::of(removed, bytes, self.places)?)
            }
            None => Ok(()),
        }
    }

    fn add_cuts(&mut self, document: usize, cuts: &[[u32; 2]]) -> Result<()> {
        if cuts.is_empty() {
            return Ok(());
        }
        self.of_cuts.cuts += cuts.len() as u64;
        self.of_cuts.cut_documents += 1;
        match &mut self.cut_lines {
            Some(lines) => lines.write(&CutsLine::of(self.row + document, cuts, self.places)?),
            None => Ok(()),
        }
    }

    /// Notes what is cut and what stays, by symbols.
    fn add_lost(&mut self, texts: &UnitTexts, cuts: &Cuts, documents: &[usize]) -> Result<()> {
        let Some(mut lost) = self.lost.take() else {
            return Ok(());
        };
        let is_removed = removed_symbols(texts, cuts, documents);
        for run in 0..documents[texts.len()] {
            let symbols = texts.run_symbols(run);
            let first = self.first_place(texts, run);
            let mut next = 0;
            let mut removed: Vec<Range<usize>> = Vec::new();
            for same in is_removed[symbols.clone()].chunk_by(|a, b| a == b) {
                if same[0] {
                    removed.push(first + next..first + next + same.len());
                }
                next += same.len();
            }
            let windows = self.windows(first, symbols.len());
            lost.add(self.chooser.map, windows, &removed)?;
        }
        self.lost = Some(lost);
        Ok(())
    }

    /// What was counted, the pieces, and what is cut.
    fn finish(self) -> Result<(Gathering<'p>, Pieces, CutFile)> {
        let (mut overview, mut of_cuts) = (self.overview, self.of_cuts);
        self.cut_lines.map_or(Ok(()), JsonLines::finish)?;
        self.removed_lines.map_or(Ok(()), JsonLines::finish)?;
        if let Some(lost) = self.lost {
            let lost = lost.count()?;
            (of_cuts.lost_of_units, of_cuts.lost_units) = (lost.removed, lost.lost);
            of_cuts.kept_bytes = overview.counts.bytes - of_cuts.cut_bytes - of_cuts.removed_bytes;
            overview.counts.cut = Some(of_cuts);
        }
        Ok((overview, self.pieces, self.cuts.finish()?))
    }
}
