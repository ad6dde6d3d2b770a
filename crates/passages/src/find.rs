//! Finds the passages of documents from files, and decides what is cut out of them.

use std::ops::Range;

use rayon::prelude::*;

use super::cuts::{Cuts, Removal, Shrinking, uncut};
use super::items::Match;
use super::lost::{Found, Lost};
use super::pass::too_large;
use super::run::{PassageAction, PassagesRun};
use super::search::{PassageSearch, Passages, Symbols};
use super::units::UnitTexts;
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::progress::Timings;
use simgpu::simd::minima::Symbol;

/// Decides which documents are removed.
pub(super) struct Removing<'a> {
    run: &'a PassagesRun<'a>,
    texts: &'a UnitTexts,
    /// Those that are, why, and their covered bytes.
    pub(super) removed: Vec<(usize, Removal, usize)>,
}

impl<'a> Removing<'a> {
    pub(super) fn new(run: &'a PassagesRun<'a>, texts: &'a UnitTexts) -> Self {
        Removing {
            run,
            texts,
            removed: Vec::new(),
        }
    }

    pub(super) fn is_asked(&self) -> bool {
        let (action, min_left) = (self.run.action, self.run.min_left);
        matches!(action, PassageAction::Drop { .. }) || min_left.is_some()
    }

    /// Whether a document with these passages is removed.
    pub(super) fn removes(&mut self, document: usize, pieces: &[Match]) -> bool {
        if pieces.is_empty() {
            return false;
        }
        let stride = self.run.units.stride();
        let (mut bytes, mut symbols) = (0, 0);
        let mut spans: Vec<Range<usize>> = Vec::new();
        for piece in pieces {
            match spans.last_mut() {
                Some(last)
                    if piece.from < last.end
                        || piece.from == last.end && !self.texts.ends_run(last.end) =>
                {
                    last.end = piece.to;
                }
                _ => spans.push(piece.from..piece.to),
            }
        }
        for span in spans {
            let end = self.texts.bytes_of_symbol(document, span.end - 1).end;
            bytes += end - self.texts.bytes_of_symbol(document, span.start).start;
            symbols += span.len().div_ceil(stride);
        }
        let len = self.texts.text(document).len();
        let units = self.texts.units_of(document, self.run.units);
        let (action, min_left) = (self.run.action, self.run.min_left);
        let why = match action {
            PassageAction::Drop { max_covered } if bytes as f64 > max_covered * len as f64 => {
                Some(Removal::MaxCovered)
            }
            _ if min_left.is_some_and(|least| ((units - symbols) as u64) < least.get()) => {
                Some(Removal::MinLeft)
            }
            _ => None,
        };
        self.removed.extend(why.map(|why| (document, why, bytes)));
        why.is_some()
    }
}

impl PassagesRun<'_> {
    /// Finds the passages, and what is cut.
    pub(super) fn find(&self, texts: &UnitTexts, timings: &mut Timings) -> Result<Found> {
        let (symbols, ends) = texts.symbols();
        match symbols {
            Symbols::Bytes(symbols) => self.find_in(symbols, ends, texts, timings),
            Symbols::U32(symbols) => self.find_in(symbols, ends, texts, timings),
            Symbols::U64(symbols) => self.find_in(symbols, ends, texts, timings),
        }
    }

    fn find_in<S: Symbol>(
        &self,
        symbols: &[S],
        ends: &[usize],
        texts: &UnitTexts,
        timings: &mut Timings,
    ) -> Result<Found> {
        let mut search = self.search();
        if let Some(memory) = self.search_memory(&[texts], self.budget())? {
            search = search.memory(memory);
        }
        search.set_stride(self.units.stride());
        search.set_reference(texts.reference, self.only_against);
        let text = search.text(symbols, ends)?;
        let progress = self.options.progress;
        let twins = timings.time("compare", 0, || search.twins(&text, progress))?;
        timings.time("choose", 0, || {
            let mut removing = Removing::new(self, texts);
            let documents = if search.has_conditions() || removing.is_asked() {
                texts.documents()
            } else {
                Vec::new()
            };
            let mut drops = |document: usize, pieces: &[Match]| removing.removes(document, pieces);
            let passages = search.passages(&text, &twins, &documents, &mut drops);
            let (cuts, covered) = self.cuts(texts, &passages, removing.removed);
            let lost = match self.action {
                PassageAction::Report | PassageAction::Mark => Lost::default(),
                _ => Lost::count(&text, &twins, self.units, (texts, &cuts)),
            };
            Ok(Found {
                passages,
                cuts,
                covered,
                lost,
            })
        })
    }

    /// What is cut out of each document or marked, and the covered bytes of those that are removed.
    fn cuts(
        &self,
        texts: &UnitTexts,
        passages: &Passages,
        removed: Vec<(usize, Removal, usize)>,
    ) -> (Cuts, Vec<usize>) {
        let spans: Vec<(usize, Range<usize>)> = texts.stated_spans(passages, self.units).collect();
        let of_documents: Vec<_> = spans.chunk_by(|a, b| a.0 == b.0).collect();
        let covered = removed.iter().map(|(.., bytes)| *bytes).collect();
        let shrink = |shrinking: &mut Shrinking, spans: &&[(usize, Range<usize>)]| {
            let of_document: Vec<Range<usize>> = spans.iter().map(|of| of.1.clone()).collect();
            match self.action {
                PassageAction::Cut => {
                    let cuts = shrinking.cuts(texts.text(spans[0].0), &of_document);
                    let uncut = uncut(&of_document, &cuts);
                    (cuts, uncut)
                }
                PassageAction::Mark => (of_document, 0),
                PassageAction::Report | PassageAction::Drop { .. } => (Vec::new(), 0),
            }
        };
        let new = || Shrinking::new(self.units, self.snap);
        let shrunk = of_documents.par_iter().map_init(new, shrink);
        let shrunk: Vec<(Vec<Range<usize>>, u64)> = in_parallel(|| shrunk.collect());
        let mut shrunk = of_documents.iter().map(|of| of[0].0).zip(shrunk).peekable();
        let mut removed = removed.into_iter().peekable();
        let mut cuts = Cuts::default();
        for document in 0..texts.len() {
            let of_document = shrunk.next_if(|(of, _)| *of == document);
            match removed.next_if(|(of, ..)| *of == document) {
                Some((_, why, _)) => cuts.push_removed(why),
                None => {
                    let (of_document, uncut) = of_document.map_or_else(Default::default, |of| of.1);
                    cuts.push(of_document);
                    cuts.uncut += uncut;
                }
            }
        }
        (cuts, covered)
    }

    /// Bytes of memory that are left for a search of these texts; `None` if nothing limits it.
    ///
    /// # Errors
    /// [`Conflict::PassageMemory`](simgpu::error::Conflict::PassageMemory) if it would need more.
    pub(super) fn search_memory(
        &self,
        texts: &[&UnitTexts],
        budget: Option<u64>,
    ) -> Result<Option<u64>> {
        let Some(budget) = budget else {
            return Ok(None);
        };
        let symbols_of = |texts: &&UnitTexts| match texts.symbols() {
            (Symbols::Bytes(symbols), _) => symbols.len(),
            (Symbols::U32(symbols), _) => symbols.len(),
            (Symbols::U64(symbols), _) => symbols.len(),
        };
        let symbols: usize = texts.iter().map(symbols_of).sum();
        let held: u64 = texts.iter().map(|texts| texts.held_bytes()).sum();
        // By symbol: where a window stands, what is removed, and how often a window occurs.
        let tables = 3 * symbols as u64
            + if self.counts_windows() {
                4 * symbols as u64
            } else {
                0
            };
        let left = budget.checked_sub(held + tables);
        let left = left
            .filter(|left| PassageSearch::typical_bytes(self.units.symbols(), symbols) <= *left);
        left.map(Some).ok_or_else(|| too_large(budget))
    }
}
