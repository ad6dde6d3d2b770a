//! Chooses the passages of texts in order, and decides what is cut out of them.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::choice::PassageChoice;
use super::super::cuts::{Cuts, Shrinking};
use super::super::gather::{GatheredDocuments, Gathering};
use super::super::items::{Match, spans};
use super::super::lost::removed_symbols;
use super::super::removal::RemovalRule;
use super::super::report::{CutCounts, PassageCounts};
use super::super::run::PassagesRun;
use super::super::units::{TextPart, UnitTexts};
use super::cut_file::CutStreams;
use super::first_places::{MappedPlaces, WindowMaps};
use super::lost::LostCounter;
use super::regions::{first_place, places};
use super::sources::PieceFiles;
use simgpu::error::Result;
use simgpu::store::spill::Spill;
use simgpu_io::Places;

/// The name of the choice of passages, for checkpoints.
pub(super) const CHOOSE: &str = "choose";

/// The least bytes of memory for what removed documents lead to.
const LEAST_FOR_REMOVED: u64 = 16 << 20;

/// What is chosen, for a checkpoint.
#[derive(Serialize, Deserialize)]
pub(super) struct ChosenPassages {
    pub(super) gathered: GatheredDocuments,
    /// The number of pieces.
    pub(super) pieces: usize,
}

/// What is chosen, with its files.
pub(super) struct ChosenFiles {
    pub(super) chosen: ChosenPassages,
    pub(super) pieces: PieceFiles,
    pub(super) cuts: CutStreams,
}

/// Chooses passages, and decides what is cut, in order.
pub(super) struct Choosing<'a, 'p> {
    run: &'a PassagesRun<'a>,
    choice: PassageChoice<'a, MappedPlaces<'a>>,
    pieces: PieceFiles,
    shrinking: Shrinking,
    cuts: CutStreams,
    lost: Option<LostCounter>,
    spill: Arc<Spill>,
    gathered: Gathering<'p>,
    cut_counts: CutCounts,
    /// The first place of the next document, and its row.
    base: usize,
    row: usize,
}

/// The passages of a run of symbols.
struct RunPassages {
    run: usize,
    /// The first symbol of the run, by its number among these texts.
    start: usize,
    /// The pieces, by the numbers of their symbols among these texts. The sources are places.
    pieces: Vec<Match>,
}

impl RunPassages {
    /// A part of the run, by the numbers of its symbols among these texts.
    fn part(&self, symbols: Range<usize>, texts: &UnitTexts, run: &PassagesRun<'_>) -> TextPart {
        let symbols = symbols.start - self.start..symbols.end - self.start;
        texts.part(self.run, symbols, run.units)
    }
}

impl<'a, 'p> Choosing<'a, 'p> {
    /// Begins with the first of all texts. `places` are their documents.
    pub(super) fn new(
        run: &'a PassagesRun<'a>,
        maps: &'a mut WindowMaps,
        spill: &Arc<Spill>,
        places: &'p Places,
    ) -> Self {
        let WindowMaps {
            firsts,
            others,
            starts,
            places: end,
        } = maps;
        let (window, stride) = (run.units.symbols().get(), run.units.stride());
        let reference = places.first_input();
        let mapped = MappedPlaces::new(firsts, others.as_mut());
        let conditions = run.conditions(reference as usize);
        let memory = (spill.memory() as u64 / 4).max(LEAST_FOR_REMOVED);
        let mut gathered = Gathering::new(run.units, places);
        gathered.counts = PassageCounts::new(run.against.is_some().then_some(reference.into()));
        let removes = run.action.removes();
        Choosing {
            run,
            choice: PassageChoice::new(mapped, window, conditions, starts).with_memory(memory),
            pieces: PieceFiles::new(spill, *end, run.units, 0),
            shrinking: Shrinking::new(run.units, run.snap),
            cuts: CutStreams::new(spill, 64),
            lost: removes.then(|| LostCounter::new(spill, *end, window, stride)),
            spill: Arc::clone(spill),
            gathered,
            cut_counts: CutCounts::default(),
            base: 0,
            row: 0,
        }
    }

    /// Adds the next documents.
    pub(super) fn add(&mut self, texts: &UnitTexts) -> Result<()> {
        let documents = texts.documents();
        let (run, mut cuts) = (self.run, Cuts::default());
        let rule = RemovalRule::new(run, texts, self.row);
        // The reference has no passages, and stays as it is.
        (0..texts.reference).for_each(|_| cuts.push([]));
        for document in texts.reference..texts.len() {
            let runs = documents[document]..documents[document + 1];
            self.choice.begin_document();
            let found = self.passages(texts, runs)?;
            let spans = self.add_passages(texts, document, &found)?;
            let pieces: Vec<Match> = found.into_iter().flat_map(|found| found.pieces).collect();
            let removed = rule.removed(document, &pieces);
            self.choice.end_document(removed.is_some());
            if let Some(removed) = removed {
                cuts.push_dropped();
                self.cuts.push_removed(&removed)?;
            } else {
                let text = texts.text(document);
                let cut = run.cut_document(text, &spans, &mut self.shrinking);
                cuts.push(cut.cuts);
                cuts.uncut += cut.uncut;
                self.cuts
                    .push(self.row + document, cuts.cut_out(document))?;
            }
        }
        self.gathered.counts.add_texts(texts, run.units);
        self.cut_counts.add(texts, &cuts);
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
    fn passages(&mut self, texts: &UnitTexts, runs: Range<usize>) -> Result<Vec<RunPassages>> {
        let mut found = Vec::new();
        for run in runs {
            let symbols = texts.run_symbols(run);
            let first = self.first_place(texts, run);
            let windows = self.windows(first, symbols.len());
            let mut pieces = self.choice.pieces(windows)?;
            for piece in &mut pieces {
                piece.from = piece.from - first + symbols.start;
                piece.to = piece.to - first + symbols.start;
            }
            if !pieces.is_empty() {
                found.push(RunPassages {
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

    /// Adds and counts the passages of a document, and returns its spans.
    fn add_passages(
        &mut self,
        texts: &UnitTexts,
        document: usize,
        found: &[RunPassages],
    ) -> Result<Vec<TextPart>> {
        let mut all_spans = Vec::new();
        for passages in found {
            // All are in one run, so that none ends between them.
            let spans = spans(&passages.pieces, |_| false).into_iter();
            all_spans.extend(spans.map(|span| passages.part(span, texts, self.run)));
            for piece in &passages.pieces {
                let part = passages.part(piece.from..piece.to, texts, self.run);
                let source = piece.source..piece.source + (piece.to - piece.from);
                self.pieces.push(texts, self.row, &part, source)?;
            }
        }
        let (row, bytes) = (self.row + document, texts.text(document).len());
        self.gathered.add_document(row, bytes, &all_spans)?;
        Ok(all_spans)
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
                lost.add(self.choice.places.firsts, windows, &removed)?;
            }
        }
        self.lost = Some(lost);
        Ok(())
    }

    /// What was counted, the pieces, and what is cut. Makes a checkpoint.
    pub(super) fn finish(mut self) -> Result<ChosenFiles> {
        let counts = &mut self.gathered.counts;
        let (mut pieces, mut cuts) = (self.pieces, self.cuts);
        if let Some(lost) = self.lost {
            counts.cut = Some(self.cut_counts.finish(counts.bytes, lost.count()?));
        }
        // The checkpoint counts the pieces, so their files must have them.
        pieces.flush()?;
        cuts.flush()?;
        let chosen = ChosenPassages {
            gathered: self.gathered.documents(),
            pieces: pieces.count,
        };
        self.spill.checkpoint(CHOOSE, &chosen)?;
        Ok(ChosenFiles {
            chosen,
            pieces,
            cuts,
        })
    }
}
