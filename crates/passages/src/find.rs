//! Finds the passages of documents from files in memory, and decides what is cut out of them.

use std::ops::Range;

use rayon::prelude::*;

use super::cuts::{Cuts, Shrinking, uncut};
use super::items::Match;
use super::lost::LostUnits;
use super::pass::too_large;
use super::removal::{RemovalRule, RemovedDocument};
use super::run::{PassageAction, PassagesRun};
use super::search::{PassageSearch, Passages, Symbols};
use super::twins::SearchedText;
use super::units::{TextPart, UnitTexts};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::progress::Timings;
use simgpu::simd::minima::Symbol;

/// The passages of documents, and what is cut.
pub(super) struct FoundPassages {
    pub(super) passages: Passages,
    pub(super) cuts: Cuts,
    /// The documents that are removed, in order.
    pub(super) removed: Vec<RemovedDocument>,
    pub(super) lost: LostUnits,
}

/// What is cut out of a document, or marked.
#[derive(Default)]
pub(super) struct DocumentCuts {
    /// Places as results state them: bytes, or for marks in lists of tokens, tokens.
    pub(super) cuts: Vec<Range<usize>>,
    /// Bytes of passages that stay.
    pub(super) uncut: u64,
}

impl PassagesRun<'_> {
    /// Finds the passages, and what is cut.
    pub(super) fn find(&self, texts: &UnitTexts, timings: &mut Timings) -> Result<FoundPassages> {
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
    ) -> Result<FoundPassages> {
        let mut search = self.search(texts.reference);
        if let Some(memory) = self.search_memory(&[texts], self.budget())? {
            search = search.memory(memory);
        }
        let text = search.text(symbols, ends)?;
        let progress = self.options.progress;
        let twins = timings.time("compare", 0, || search.twins(&text, progress))?;
        let searched = SearchedText {
            text: &text,
            window: self.units.symbols().get(),
            twins: &twins,
        };
        timings.time("choose", 0, || {
            let rule = RemovalRule::new(self, texts, 0);
            let documents = if search.has_exceptions() || self.may_remove_documents() {
                texts.documents()
            } else {
                Vec::new()
            };
            let mut removed = Vec::new();
            let mut drops = |document: usize, pieces: &[Match]| {
                let dropped = rule.removed(document, pieces);
                removed.extend(dropped);
                dropped.is_some()
            };
            let passages = search.passages(&searched, &documents, &mut drops)?;
            let cuts = self.cuts(texts, &passages, &removed);
            let lost = if self.action.removes() {
                LostUnits::count(&searched, self.units, texts, &cuts)
            } else {
                LostUnits::default()
            };
            Ok(FoundPassages {
                passages,
                cuts,
                removed,
                lost,
            })
        })
    }

    /// What is cut out of each document or marked.
    fn cuts(&self, texts: &UnitTexts, passages: &Passages, removed: &[RemovedDocument]) -> Cuts {
        let spans: Vec<TextPart> = texts.spans(passages, self.units).collect();
        let documents: Vec<_> = spans.chunk_by(|a, b| a.document == b.document).collect();
        let new = || Shrinking::new(self.units, self.snap);
        let cut = |shrinking: &mut Shrinking, spans: &&[TextPart]| {
            self.cut_document(texts.text(spans[0].document), spans, shrinking)
        };
        let cut = documents.par_iter().map_init(new, cut);
        let cut: Vec<DocumentCuts> = in_parallel(|| cut.collect());
        let documents = documents.iter().map(|spans| spans[0].document);
        // Documents without spans have no cuts, and those that are removed are not cut.
        let mut cut = documents.zip(cut).peekable();
        let mut removed = removed.iter().peekable();
        let mut cuts = Cuts::default();
        for document in 0..texts.len() {
            let own = cut.next_if(|(with_spans, _)| *with_spans == document);
            if removed.next_if(|removed| removed.row == document).is_some() {
                cuts.push_dropped();
            } else {
                let own = own.map_or_else(DocumentCuts::default, |(_, own)| own);
                cuts.push(own.cuts);
                cuts.uncut += own.uncut;
            }
        }
        cuts
    }

    /// What is cut out of a document with these spans if it stays, or marked.
    pub(super) fn cut_document(
        &self,
        text: &str,
        spans: &[TextPart],
        shrinking: &mut Shrinking,
    ) -> DocumentCuts {
        let spans = spans.iter().map(|span| span.stated.clone());
        match self.action {
            PassageAction::Cut => {
                let spans: Vec<Range<usize>> = spans.collect();
                let cuts = shrinking.cuts(text, &spans);
                let uncut = uncut(&spans, &cuts);
                DocumentCuts { cuts, uncut }
            }
            PassageAction::Mark => DocumentCuts {
                cuts: spans.collect(),
                uncut: 0,
            },
            PassageAction::Report | PassageAction::Drop { .. } => DocumentCuts::default(),
        }
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
        // By symbol: twins, whether a window is kept (`lost.rs`), and how often a window occurs.
        let counts = self.conditions(0).needs_counts();
        let tables = if counts { 7 } else { 3 } * symbols as u64;
        let left = budget.checked_sub(held + tables);
        let left = left
            .filter(|left| PassageSearch::typical_bytes(self.units.symbols(), symbols) <= *left);
        left.map(Some).ok_or_else(|| too_large(budget))
    }
}
