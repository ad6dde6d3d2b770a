//! Passages of documents in files, of which memory does not hold the texts.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::cuts::{Cuts, Removal, Shrinking};
use super::super::find::Removing;
use super::super::items::Match;
use super::super::lengths::Lengths;
use super::super::lost::removed_symbols;
use super::super::report::{CutCounts, CutsLine, PassageCounts, PassageLine, RemovedLine};
use super::super::run::{PassageAction, PassagesRun};
use super::super::sources::Occurrences;
use super::super::units::{PassageUnit, UnitTexts};
use super::super::write::{CUTS, PASSAGES, REMOVED, lines};
use super::choose::{Chooser, Known, Rules};
use super::cut_file::{CutFile, CutWriter};
use super::lost::LostCounter;
use super::map::WindowMap;
use super::others::Others;
use super::regions::{first_place, places, regions};
use super::search::{Listed, Reading, Search, starts};
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
        let (_, mut texts) = self.run.parse(chunk, is_good);
        let rows = rows.iter().flatten();
        if texts.len() != rows.clone().count() {
            // A record that was good is bad now.
            return Err(changed(&self.files[chunk.file]));
        }
        let first_input = self.places.first_input();
        texts.reference = rows.filter(|row| **row < first_input).count();
        Ok(texts)
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
    /// Finds and writes the passages as [`PassagesRun::run`] does, on disk. `known` is what a reading before found.
    pub(in super::super) fn run_on_disk(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        known: Option<Places>,
        timings: &mut Timings,
    ) -> Result<(PassageCounts, Places)> {
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
        let known = timings.time("compare", 0, || {
            let search = Search {
                lengths: &lengths,
                spill: &spill,
                progress: self.options.progress,
            };
            let map = search.map(listed, &reading)?;
            self.known(map, &spill, of_places)
        });
        let mut known = known?;
        let of_map = DiskUse {
            written_bytes: known.bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_map));
        let chosen = timings.time("choose", 0, || {
            let of_known = (&mut known, of_places);
            let mut choosing = Choosing::new(self, of_known, &spill, (output, &places))?;
            reading.read("choose", &|_| (), &mut |texts, ()| choosing.add(texts))?;
            choosing.finish()
        });
        let (mut counts, pieces, cuts) = chosen?;
        let of_map = DiskUse {
            read_bytes: known.read_bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_map));
        drop(known);
        timings.time("write", 0, || {
            self.write_pieces(output, (pieces, &reading), &places, &mut counts)?;
            match output.filter(|_| self.action.writes_records()) {
                Some(output) => self.write_kept(output, (files, temporary), &places, &cuts),
                None => Ok(()),
            }
        })?;
        timings.add_disk_use(spill.take_use(Listed::PARTS));
        Ok((counts, places))
    }

    /// What is known of windows, by their first places.
    fn known(&self, mut map: WindowMap, spill: &Arc<Spill>, places: usize) -> Result<Known> {
        let starts = starts(spill)?;
        let others = Others {
            least: self.min_count,
            starts: &starts,
            other_documents: self.other_documents && self.occurrences == Occurrences::All,
        };
        let others = self
            .counts_windows()
            .then(|| others.find(&mut map, spill, places));
        Ok(Known {
            others: others.transpose()?,
            map,
            starts,
        })
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
        noted.places.of_reference = self.of_reference();
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let mut listed = Listed::new(spill);
        let (mut documents, mut bytes) = (0, 0);
        reading.map(
            |chunk| {
                let (records, texts) = self.parse_first(&chunk, files)?;
                let of = (texts.len(), texts.bytes());
                Ok((records, of, regions(&texts, lengths)))
            },
            |event| {
                match event {
                    Some(Event::Chunk((records, (count, of_texts), regions))) => {
                        noted.note(records, row_number(documents)?)?;
                        documents += count;
                        bytes += of_texts;
                        listed.add(&regions)?;
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

    /// Writes the pieces.
    fn write_pieces(
        &self,
        output: Option<&OutputFolder>,
        (pieces, reading): (Pieces, &Files<'_>),
        places: &Places,
        counts: &mut PassageCounts,
    ) -> Result<()> {
        let mut lines = lines(output, PASSAGES)?;
        let field = self.fields.content_names();
        pieces.for_each(reading, |piece| {
            counts.add(&piece);
            match &mut lines {
                Some(lines) => lines.write(&PassageLine::of(&piece, places, &field)?),
                None => Ok(()),
            }
        })?;
        lines.map_or(Ok(()), JsonLines::finish)
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
struct Choosing<'a> {
    run: &'a PassagesRun<'a>,
    places: &'a Places,
    chooser: Chooser<'a>,
    pieces: Pieces,
    shrinking: Shrinking,
    cuts: CutWriter,
    lost: Option<LostCounter>,
    cut_lines: Option<JsonLines<File>>,
    removed_lines: Option<JsonLines<File>>,
    counts: PassageCounts,
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

impl<'a> Choosing<'a> {
    fn new(
        run: &'a PassagesRun<'a>,
        (known, of_places): (&'a mut Known, usize),
        spill: &Arc<Spill>,
        (output, places): (Option<&OutputFolder>, &'a Places),
    ) -> Result<Self> {
        let (window, stride) = (run.units.symbols().get(), run.units.stride());
        let is_cut = run.action.removes();
        let output = output.filter(|_| is_cut);
        let rules = Rules {
            window,
            stride,
            occurrences: run.occurrences,
            other_documents: run.other_documents,
            only_reference: run.only_against,
            memory: (spill.memory() as u64 / 4).max(LEAST_FOR_REMOVED),
        };
        let reference = places.first_input();
        let lost = is_cut.then(|| LostCounter::new(spill, of_places, (window, stride)));
        Ok(Choosing {
            run,
            places,
            chooser: Chooser::new(rules, known, reference as usize),
            pieces: Pieces::new(spill, of_places, run.units.unit),
            shrinking: Shrinking::new(run.units, run.snap),
            cuts: CutWriter::new(spill.folder())?,
            lost,
            cut_lines: lines(output, CUTS)?,
            removed_lines: lines(output, REMOVED)?,
            counts: PassageCounts::of_none(run.against.is_some().then_some(reference.into())),
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
        (0..texts.reference).for_each(|_| cuts.push([]));
        for document in texts.reference..texts.len() {
            let runs = documents[document]..documents[document + 1];
            self.chooser.begin_document();
            let found = self.passages(texts, runs)?;
            let spans = self.add_passages(texts, &found)?;
            let pieces: Vec<Match> = found.into_iter().flat_map(|of| of.pieces).collect();
            let is_removed = removing.is_asked() && removing.removes(document, &pieces);
            self.chooser.end_document(is_removed);
            match removing.removed.last().filter(|_| is_removed) {
                Some((_, why, covered)) => {
                    cuts.push_removed(*why);
                    self.add_removed((document, *why, *covered), texts)?;
                }
                None => match run.action {
                    PassageAction::Cut => {
                        cuts.push(self.shrinking.cuts(texts.text(document), &spans));
                        self.add_cuts(document, cuts.of(document))?;
                    }
                    PassageAction::Mark => cuts.push(spans),
                    PassageAction::Report | PassageAction::Drop { .. } => cuts.push([]),
                },
            }
        }
        self.counts.bytes += texts.input_bytes();
        self.counts.units += texts.input_units(run.units);
        self.of_cuts.cut_bytes += cuts.bytes();
        self.of_cuts.kept += (texts.len() - texts.reference - cuts.removed.len()) as u64;
        self.add_lost(texts, &cuts, &documents)?;
        self.cuts.push(&cuts)?;
        self.base += places(texts);
        self.row += texts.len();
        Ok(())
    }

    /// The place of the first symbol of a run.
    fn first_place(&self, texts: &UnitTexts, run: usize) -> usize {
        self.base + first_place(texts, run)
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

    /// Adds and counts the passages of a document, and returns its spans, as results state them.
    fn add_passages(&mut self, texts: &UnitTexts, found: &[OfRun]) -> Result<Vec<Range<usize>>> {
        let stride = self.run.units.stride();
        let mut spans = Vec::new();
        for of in found {
            for symbols in of.spans() {
                self.counts.covered_units += symbols.len().div_ceil(stride) as u64;
                let (_, bytes) = texts.place(of.run, symbols.clone());
                self.counts.covered_bytes += bytes.len() as u64;
                spans.push(match self.run.units.unit {
                    PassageUnit::Tokens => symbols,
                    _ => bytes,
                });
            }
            for piece in &of.pieces {
                let len = piece.to - piece.from;
                let symbols = (of.run, piece.from - of.start..piece.to - of.start);
                let source = piece.source..piece.source + len;
                let texts = (texts, self.row);
                self.pieces
                    .push(symbols, len.div_ceil(stride), texts, source)?;
            }
        }
        self.counts.spans += spans.len() as u64;
        self.counts.covered_documents += u64::from(!spans.is_empty());
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
    fn finish(self) -> Result<(PassageCounts, Pieces, CutFile)> {
        let (mut counts, mut of_cuts) = (self.counts, self.of_cuts);
        self.cut_lines.map_or(Ok(()), JsonLines::finish)?;
        self.removed_lines.map_or(Ok(()), JsonLines::finish)?;
        if let Some(lost) = self.lost {
            let lost = lost.count()?;
            (of_cuts.lost_of_units, of_cuts.lost_units) = (lost.removed, lost.lost);
            of_cuts.kept_bytes = counts.bytes - of_cuts.cut_bytes - of_cuts.removed_bytes;
            counts.cut = Some(of_cuts);
        }
        Ok((counts, self.pieces, self.cuts.finish()?))
    }
}
