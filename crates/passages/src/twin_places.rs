//! First places in memory, by following twins.

use std::ops::Range;

use super::choice::Conditions;
use super::first_places::{FirstPlaces, WindowSegment};
use super::sources::{Occurrences, agreeing};
use super::twins::{SearchedText, TwinTree};
use simgpu::error::Result;
use simgpu::simd::minima::Symbol;

/// The first places of a text in memory.
pub(super) struct TwinPlaces<'a, S> {
    searched: &'a SearchedText<'a, S>,
    frequent: Frequent,
}

/// Which windows occur often enough, by their first places.
enum Frequent {
    /// All windows.
    All,
    /// Those that are counted often enough.
    Counted(WindowCounts),
    /// Those that the tree leads to a next place.
    WithNextPlace(TwinTree),
}

impl<'a, S: Symbol> TwinPlaces<'a, S> {
    /// `documents` has the first run of each document, and the number of runs.
    pub(super) fn new(
        searched: &'a SearchedText<'a, S>,
        conditions: &Conditions,
        documents: &[usize],
    ) -> Self {
        // Each window with a twin occurs twice, so only higher counts are counted.
        let counts =
            (conditions.min_count > 2).then(|| WindowCounts::new(searched, conditions.min_count));
        let frequent = match (conditions.occurrences, counts) {
            (Occurrences::Later, None) => Frequent::All,
            (Occurrences::Later, Some(counts)) => Frequent::Counted(counts),
            (Occurrences::All, counts) => {
                let is_other = conditions.other_documents;
                let counts = counts.as_ref();
                Frequent::WithNextPlace(next_places(searched, documents, is_other, counts))
            }
        };
        TwinPlaces { searched, frequent }
    }
}

impl<S: Symbol> FirstPlaces for TwinPlaces<'_, S> {
    fn segment(&mut self, window: usize, end: usize) -> Result<WindowSegment> {
        Ok(self.searched.twins.segment(window, end))
    }

    fn period_end(&mut self, window: usize) -> Result<Option<usize>> {
        let twins = self.searched.twins.get(window);
        // A run that overlaps its source is in one run of symbols with it.
        let periodic = twins.filter(|twins| twins.source + (twins.end - twins.first) > twins.first);
        Ok(periodic.map(|twins| twins.end))
    }

    fn frequent(&mut self, places: Range<usize>) -> Result<Option<Range<usize>>> {
        Ok(match &self.frequent {
            Frequent::All => Some(places),
            Frequent::Counted(counts) => counts.frequent(places),
            Frequent::WithNextPlace(tree) => {
                let next = tree.at_or_behind(places.start);
                let next = next.map(|next| {
                    let start = next.first.max(places.start);
                    start..next.end.min(places.end)
                });
                next.filter(|next| next.start < next.end)
            }
        })
    }

    fn next_place(&mut self, place: usize) -> Result<Option<usize>> {
        Ok(match &self.frequent {
            Frequent::WithNextPlace(tree) => tree.get(place),
            Frequent::All | Frequent::Counted(_) => None,
        })
    }

    fn agreeing(&mut self, window: usize, source: usize, end: usize) -> Result<usize> {
        // The symbols are compared, which takes less time than to look up first places.
        let agreeing = agreeing(self.searched, window, source);
        Ok(agreeing.min(end - window))
    }
}

/// How often windows occur, by their first places.
struct WindowCounts {
    counts: Vec<u32>,
    /// The count that is often enough.
    least: u32,
}

impl WindowCounts {
    fn new<S: Symbol>(searched: &SearchedText<'_, S>, least: u32) -> Self {
        let mut counts = vec![0_u32; searched.text.symbols.len()];
        for run in 0..searched.text.ends.len() {
            for segment in searched.twins.segments(searched.windows(run)) {
                for count in &mut counts[segment.places()] {
                    *count = count.saturating_add(1);
                }
            }
        }
        WindowCounts { counts, least }
    }

    /// The first places in a row, out of a range, whose windows occur often enough.
    fn frequent(&self, places: Range<usize>) -> Option<Range<usize>> {
        let counts = &self.counts[places.clone()];
        let is_frequent = |count: &u32| *count >= self.least;
        let first = counts.iter().position(is_frequent)?;
        let len = counts[first..]
            .iter()
            .take_while(|count| is_frequent(count));
        let start = places.start + first;
        Some(start..start + len.count())
    }
}

/// For the first places of windows that occur often enough, and again: the next place, or the next one in another document.
fn next_places<S: Symbol>(
    searched: &SearchedText<'_, S>,
    documents: &[usize],
    in_other_document: bool,
    counts: Option<&WindowCounts>,
) -> TwinTree {
    let mut tree = TwinTree::default();
    for document in 0..documents.len() - 1 {
        let runs = documents[document]..documents[document + 1];
        for run in runs.clone() {
            for segment in searched.twins.segments(searched.windows(run)) {
                let is_own = runs.contains(&searched.text.document_at(segment.place));
                if !segment.is_moved() || in_other_document && is_own {
                    continue;
                }
                // Windows pass by in order, so the place that is entered first is the next one.
                let mut rest = segment.places();
                while let Some(places) = match counts {
                    Some(counts) => counts.frequent(rest.clone()),
                    None => Some(rest.clone()).filter(|rest| !rest.is_empty()),
                } {
                    rest.start = places.end;
                    tree.insert_new(places.clone(), segment.part(places).first);
                }
            }
        }
    }
    tree
}
