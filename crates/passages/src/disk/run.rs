//! Passages of documents in files, of which memory does not hold the texts.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::super::cuts::{Cuts, Removal, Shrinking, uncut};
use super::super::excerpts::Excerpts;
use super::super::find::Removing;
use super::super::gather::{GatheredDocuments, Gathering};
use super::super::items::Match;
use super::super::lengths::Lengths;
use super::super::lost::removed_symbols;
use super::super::pieces_output::PiecesOutput;
use super::super::report::{CutCounts, CutsLine, PassageCounts, RemovedLine};
use super::super::run::{IDS, PassageAction, PassagesRun, Told};
use super::super::sources::Occurrences;
use super::super::units::{PassageUnit, UnitTexts};
use super::super::write::{CUTS, REMOVED, lines};
use super::choose::{Chooser, Known, Rules};
use super::cut_file::{CutFile, CutStreams, OfDocument, Removed};
use super::lost::LostCounter;
use super::map::WindowMap;
use super::others::Others;
use super::regions::{first_place, places, regions};
use super::search::{Listed, Reading, Search};
use super::sources::Pieces;
use simgpu::error::{Result, row_number};
use simgpu::progress::{DiskUse, Progress, Timings, advance, counted};
use simgpu::search::Notes;
use simgpu::store::spill::Spill;
use simgpu_files::{FileEvent, Log, Noted, Placed, RecordsRead, Rereading};
use simgpu_io::{
    Columns, Event, FilesReading, InputFile, JsonLines, OutputFolder, Places, Position, changed,
};

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
    fn texts(&self, Placed { chunk, rows }: Placed) -> Result<UnitTexts> {
        let is_good = |record: u64| {
            let record = usize::try_from(record).ok();
            record.is_some_and(|record| rows.get(record).is_some_and(Option::is_some))
        };
        let file = chunk.file;
        let (_, mut texts) = self.run.parse(chunk, self.files, is_good)?;
        let rows = rows.iter().flatten();
        if texts.len() != rows.clone().count() {
            // A record that was good is bad now.
            return Err(changed(&self.files[file]));
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
            let texts = self.texts(placed)?;
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
    /// Finds and writes the passages as [`PassagesRun::run`] does, on disk. `known` is what a reading before found. Makes
    /// checkpoints, and begins at the last one.
    pub(in super::super) fn run_on_disk(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        (spill, known): (&Arc<Spill>, Option<Places>),
        timings: &mut Timings,
    ) -> Result<(Told, Excerpts, Places)> {
        let lengths = Lengths::new(self.units.symbols());
        let read = timings.time("read", 0, || {
            self.list((files, temporary), (&lengths, spill), known)
        });
        let Read {
            listed,
            documents,
            places,
            starts,
            _log,
        } = read?;
        timings.add_disk_use(spill.take_use(Listed::PARTS));
        let reading = Files {
            run: self,
            files,
            temporary,
            places: &places,
        };
        let of_places = listed.places;
        let chosen = match spill.state::<Chosen>(CHOOSE) {
            Some(chosen) => {
                let (unit, count) = (self.units.unit, chosen.pieces);
                let pieces = Pieces::new(spill, of_places, unit, count);
                (chosen, pieces, CutStreams::new(spill, 2))
            }
            None => {
                let known = timings.time("compare", 0, || {
                    let search = Search {
                        lengths: &lengths,
                        spill,
                        progress: self.options.progress,
                    };
                    self.known(search.map(listed, &reading)?, starts, (spill, of_places))
                });
                self.choose((known?, of_places), (spill, &reading), timings)?
            }
        };
        let (chosen, pieces, cuts) = chosen;
        let written = timings.time("write", 0, || {
            let mut gathered = Gathering::new(self.units, &places);
            gathered.restore(chosen.gathered);
            let of_cuts = (cuts, documents);
            self.write_found(output, (pieces, gathered, of_cuts), &reading)
        });
        let (told, excerpts) = written?;
        timings.add_disk_use(spill.take_use(Listed::PARTS));
        Ok((told, excerpts, places))
    }

    /// Writes what was found.
    fn write_found(
        &self,
        output: Option<&OutputFolder>,
        (pieces, gathered, cuts): (Pieces, Gathering<'_>, (CutStreams, usize)),
        reading: &Files<'_>,
    ) -> Result<(Told, Excerpts)> {
        let mut written = PiecesOutput::new(self, output, gathered)?;
        pieces.for_each(reading, |piece| written.add(piece))?;
        let (counts, overview, parts) = written.finish()?.end()?;
        let (from, places) = ((reading.files, reading.temporary), reading.places);
        // After the last checkpoint, since this takes the streams of cuts.
        let cuts = self.write_cuts(output, cuts, places)?;
        let mut excerpts = self.excerpts(output, parts);
        self.read_excerpts(&mut excerpts, from, places, &cuts)?;
        if let Some(output) = output.filter(|_| self.action.writes_records()) {
            self.write_kept(output, from, places, &cuts)?;
        }
        Ok(((counts, overview), excerpts))
    }

    /// What is known of windows, by their first places.
    fn known(
        &self,
        mut map: WindowMap,
        starts: Vec<usize>,
        (spill, places): (&Arc<Spill>, usize),
    ) -> Result<Known> {
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

    /// Chooses the passages, and decides what is cut.
    fn choose(
        &self,
        (mut known, of_places): (Known, usize),
        (spill, reading): (&Arc<Spill>, &Files<'_>),
        timings: &mut Timings,
    ) -> Result<(Chosen, Pieces, CutStreams)> {
        let of_known = DiskUse {
            written_bytes: known.bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_known));
        let chosen = timings.time("choose", 0, || {
            let of_known = (&mut known, of_places);
            let mut choosing = Choosing::new(self, of_known, (spill, reading.places));
            reading.read("choose", &|_| (), &mut |texts, ()| choosing.add(texts))?;
            choosing.finish()
        });
        let of_known = DiskUse {
            read_bytes: known.read_bytes(),
            ..DiskUse::default()
        };
        timings.add_disk_use(sum(spill.take_use(Listed::PARTS), of_known));
        chosen
    }

    /// Reads all documents, and lists their regions. `known` is what a reading before found of them.
    fn list(
        &self,
        (files, temporary): (&[InputFile], &Path),
        (lengths, spill): (&Lengths, &Arc<Spill>),
        known: Option<Places>,
    ) -> Result<Read> {
        let are_held = AtomicBool::new(false);
        let noted = Noted::new(self.on_bad_record, files, 0, &are_held, Vec::new());
        let mut listing = Listing {
            noted,
            listed: Listed::new(spill, 0),
            documents: 0,
            bytes: 0,
        };
        listing.noted.places.of_reference = self.of_reference();
        let complete = match known {
            Some(places) => {
                self.relist((files, temporary), (lengths, &places), &mut listing)?;
                listing.noted = listing.noted.all(places);
                true
            }
            None => false,
        };
        if spill.is_resumable() {
            listing.noted.spill(spill)?;
        }
        if !complete {
            self.list_new((files, temporary), (lengths, spill), &mut listing)?;
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
            places = self.complete(places, documents, Some(spill))?
        }
        if let Some(ids) = &mut places.ids {
            ids.hold(row_number(documents)?)?;
        }
        let starts = listed.end()?;
        Ok(Read {
            listed,
            documents,
            places,
            starts,
            _log: log,
        })
    }

    /// Lists the regions of documents that were read before.
    fn relist(
        &self,
        (files, temporary): (&[InputFile], &Path),
        (lengths, places): (&Lengths, &Places),
        listing: &mut Listing<'_>,
    ) -> Result<()> {
        let reading = Files {
            run: self,
            files,
            temporary,
            places,
        };
        let list = |texts: &UnitTexts| regions(texts, lengths);
        reading.read("read", &list, &mut |texts, regions| {
            listing.documents += texts.len();
            listing.listed.add(&regions)
        })
    }

    /// Reads all documents, or those behind the last checkpoint, and lists their regions.
    fn list_new(
        &self,
        (files, temporary): (&[InputFile], &Path),
        (lengths, spill): (&Lengths, &Arc<Spill>),
        listing: &mut Listing<'_>,
    ) -> Result<()> {
        let progress = self.options.progress;
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let start = listing.restore(spill, progress)?;
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let reading = reading.starting_at(&start);
        reading.map(
            |chunk| {
                if start.is_after(&chunk) {
                    return Ok(None);
                }
                let (records, texts) = self.parse_first(chunk, files)?;
                let of = (texts.len(), texts.bytes());
                Ok(Some((records, of, regions(&texts, lengths))))
            },
            |event| {
                match event {
                    Some(Event::Chunk(Some((records, (documents, bytes), regions)))) => {
                        listing
                            .noted
                            .note(records, row_number(listing.documents)?)?;
                        listing.documents += documents;
                        listing.bytes += bytes;
                        listing.listed.add(&regions)?;
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

    /// Writes what is cut out of documents, and which are removed. Returns the cuts by rows.
    fn write_cuts(
        &self,
        output: Option<&OutputFolder>,
        (cuts, documents): (CutStreams, usize),
        places: &Places,
    ) -> Result<CutFile> {
        let output = output.filter(|_| self.action.removes());
        let create = |name| output.map(|output| lines(output, name)).transpose();
        let (mut of_cuts, mut of_removed) = (create(CUTS)?, create(REMOVED)?);
        let is_cut = self.action == PassageAction::Cut;
        let file = cuts.finish(documents, |of| match of {
            OfDocument::Cut(row, cuts) => match of_cuts.as_mut().filter(|_| is_cut) {
                Some(lines) => lines.write(&CutsLine::of(row, cuts, places)?),
                None => Ok(()),
            },
            OfDocument::Removed(Removed {
                row,
                why,
                covered,
                bytes,
            }) => match &mut of_removed {
                Some(lines) => lines.write(&RemovedLine::of((row, why, covered), bytes, places)?),
                None => Ok(()),
            },
        })?;
        of_cuts.map_or(Ok(()), JsonLines::finish)?;
        of_removed.map_or(Ok(()), JsonLines::finish)?;
        Ok(file)
    }
}

/// The name of the first reading, for checkpoints.
const READ: &str = "read";

/// The name of the choice of passages, for checkpoints.
const CHOOSE: &str = "choose";

/// What a first reading found.
struct Read {
    listed: Listed,
    /// The number of documents.
    documents: usize,
    places: Places,
    starts: Vec<usize>,
    /// The notes, whose files stay for a run that goes on.
    _log: Option<Log>,
}

/// What is read so far.
struct Listing<'a> {
    noted: Noted<'a>,
    listed: Listed,
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

/// What is chosen, for a checkpoint.
#[derive(Serialize, Deserialize)]
struct Chosen {
    gathered: GatheredDocuments,
    pieces: usize,
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
    chooser: Chooser<'a>,
    pieces: Pieces,
    shrinking: Shrinking,
    cuts: CutStreams,
    lost: Option<LostCounter>,
    spill: Arc<Spill>,
    gathered: Gathering<'p>,
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
        (known, of_places): (&'a mut Known, usize),
        (spill, places): (&Arc<Spill>, &'p Places),
    ) -> Self {
        let (window, stride) = (run.units.symbols().get(), run.units.stride());
        let is_cut = run.action.removes();
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
        let mut gathered = Gathering::new(run.units, places);
        gathered.counts = PassageCounts::of_none(run.against.is_some().then_some(reference.into()));
        Choosing {
            run,
            chooser: Chooser::new(rules, known, reference as usize),
            pieces: Pieces::new(spill, of_places, run.units.unit, 0),
            shrinking: Shrinking::new(run.units, run.snap),
            cuts: CutStreams::new(spill, 64),
            lost,
            spill: Arc::clone(spill),
            gathered,
            of_cuts: CutCounts::default(),
            base: 0,
            row: 0,
        }
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
            let spans = self.add_passages((texts, document), &found)?;
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
                        let of_document = self.shrinking.cuts(texts.text(document), &spans);
                        cuts.uncut += uncut(&spans, &of_document);
                        cuts.push(of_document);
                        self.add_cuts(document, cuts.of(document))?;
                    }
                    PassageAction::Mark => {
                        cuts.push(spans);
                        self.cuts.push(self.row + document, cuts.of(document))?;
                    }
                    PassageAction::Report | PassageAction::Drop { .. } => cuts.push([]),
                },
            }
        }
        self.gathered.counts.bytes += texts.input_bytes();
        self.gathered.counts.units += texts.input_units(run.units);
        self.of_cuts.cut_bytes += cuts.bytes();
        self.of_cuts.uncut_bytes += cuts.uncut;
        self.of_cuts.kept += (texts.len() - texts.reference - cuts.removed.len()) as u64;
        self.add_lost(texts, &cuts, &documents)?;
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
    fn add_passages(
        &mut self,
        (texts, document): (&UnitTexts, usize),
        found: &[OfRun],
    ) -> Result<Vec<Range<usize>>> {
        let stride = self.run.units.stride();
        let (mut spans, mut covered) = (Vec::new(), 0);
        for of in found {
            for symbols in of.spans() {
                self.gathered.counts.covered_units += symbols.len().div_ceil(stride) as u64;
                let (_, bytes) = texts.place(of.run, symbols.clone());
                covered += bytes.len();
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
        self.gathered.counts.covered_bytes += covered as u64;
        self.gathered.counts.spans += spans.len() as u64;
        self.gathered.counts.covered_documents += u64::from(!spans.is_empty());
        let (row, bytes) = (self.row + document, texts.text(document).len());
        self.gathered.add_document(row, bytes, covered)?;
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
        self.cuts.push_removed(Removed {
            row: self.row + document,
            why,
            covered,
            bytes,
        })
    }

    fn add_cuts(&mut self, document: usize, cuts: &[[u32; 2]]) -> Result<()> {
        if cuts.is_empty() {
            return Ok(());
        }
        self.of_cuts.cuts += cuts.len() as u64;
        self.of_cuts.cut_documents += 1;
        self.cuts.push(self.row + document, cuts)
    }

    /// Notes what is cut and what stays, by symbols.
    fn add_lost(&mut self, texts: &UnitTexts, cuts: &Cuts, documents: &[usize]) -> Result<()> {
        let Some(mut lost) = self.lost.take() else {
            return Ok(());
        };
        for document in 0..texts.len() {
            for run in documents[document]..documents[document + 1] {
                let symbols = texts.run_symbols(run);
                let first = self.first_place(texts, run);
                let placed = |symbol: usize| symbol - symbols.start + first;
                let removed = removed_symbols(texts, cuts, document, run).into_iter();
                let removed = removed.map(|cut| placed(cut.start)..placed(cut.end));
                let removed: Vec<Range<usize>> = removed.collect();
                let windows = self.windows(first, symbols.len());
                lost.add(self.chooser.map, windows, &removed)?;
            }
        }
        self.lost = Some(lost);
        Ok(())
    }

    /// What was counted, the pieces, and what is cut. Makes a checkpoint.
    fn finish(mut self) -> Result<(Chosen, Pieces, CutStreams)> {
        let (counts, mut of_cuts) = (&mut self.gathered.counts, self.of_cuts);
        let (mut pieces, mut cuts) = (self.pieces, self.cuts);
        if let Some(lost) = self.lost {
            let lost = lost.count()?;
            (of_cuts.lost_of_units, of_cuts.lost_units) = (lost.removed, lost.lost);
            of_cuts.kept_bytes = counts.bytes - of_cuts.cut_bytes - of_cuts.removed_bytes;
            counts.cut = Some(of_cuts);
        }
        pieces.flush()?;
        cuts.flush()?;
        let chosen = Chosen {
            gathered: self.gathered.documents(),
            pieces: pieces.count,
        };
        self.spill.checkpoint(CHOOSE, &chosen)?;
        Ok((chosen, pieces, cuts))
    }
}
