//! Which of the windows that occur elsewhere are passages, and what documents are dropped for them.
//!
//! Without conditions, every window with an earlier twin is one. Here documents are passed in order: a window is a passage
//! if it stands in a document before that was not dropped, or before in its own document, and if it fulfils the
//! conditions. So it is known of each document what of it is a passage before it is decided whether it is dropped, and a
//! dropped document is the source of none.

use std::collections::BTreeMap;
use std::ops::Range;

use super::classes::{Segment, counts};
use super::items::Match;
use super::sources::{Occurrences, TwinRuns, Twins, agreeing, first_of, insert_new};
use super::text::Text;
use simgpu::simd::minima::Symbol;

/// Conditions of passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conditions {
    pub(super) occurrences: Occurrences,
    /// Only windows that occur so often, all occurrences counted.
    pub(super) min_count: u32,
    /// Only windows that occur in another document.
    pub(super) other_documents: bool,
    /// Only windows that begin at such a multiple of symbols from the beginning of their run.
    pub(super) stride: usize,
    /// The number of first documents that are a reference: they have no passages.
    pub(super) reference: usize,
    /// Only windows that occur in the reference.
    pub(super) only_reference: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            occurrences: Occurrences::default(),
            min_count: 0,
            other_documents: false,
            stride: 1,
            reference: 0,
            only_reference: false,
        }
    }
}

/// Decides passages, document by document.
pub(crate) struct Choice<'a, S> {
    text: &'a Text<'a, S>,
    window: usize,
    twins: &'a TwinRuns,
    conditions: Conditions,
    /// The first run of symbols of each document, and the number of runs.
    documents: &'a [usize],
    /// By first place: how often the window occurs; empty if that does not matter.
    counts: Vec<u32>,
    /// By first place: whether the window stands in a document so far that is a source.
    stands: Vec<bool>,
    /// For windows whose first place is in no source: the first that is.
    moved: BTreeMap<usize, Twins>,
}

impl<'a, S: Symbol> Choice<'a, S> {
    pub(super) fn new(
        text: &'a Text<'a, S>,
        window: usize,
        twins: &'a TwinRuns,
        conditions: Conditions,
        documents: &'a [usize],
    ) -> Self {
        let all = (0..text.ends.len()).map(|run| windows_of(text, window, run));
        let counts = match (conditions.occurrences, conditions.min_count) {
            (Occurrences::Later, ..=2) => Vec::new(),
            _ => counts(twins, all, text.symbols.len()),
        };
        Choice {
            text,
            window,
            twins,
            conditions,
            documents,
            counts,
            stands: vec![false; text.symbols.len()],
            moved: BTreeMap::new(),
        }
    }

    /// The passages of all documents. `drops` is told the passages of each document and returns whether it is dropped.
    pub(super) fn pieces(mut self, drops: &mut dyn FnMut(usize, &[Match]) -> bool) -> Vec<Match> {
        if self.conditions.occurrences == Occurrences::All {
            self.find_others();
        }
        let mut all = Vec::new();
        for document in 0..self.documents.len() - 1 {
            let start = all.len();
            let runs = self.documents[document]..self.documents[document + 1];
            let mut entered = Vec::new();
            let is_reference = document < self.conditions.reference;
            for run in runs.clone() {
                let known = entered.len();
                let chosen = self.choose(run, &mut entered);
                for segment in entered[known..].iter().filter(|segment| segment.is_moved()) {
                    insert_new(&mut self.moved, segment.places(), segment.first);
                }
                if !is_reference {
                    self.add_pieces(chosen, &mut all);
                }
            }
            let is_dropped = !is_reference && drops(document, &all[start..]);
            self.end_document(runs, &entered, is_dropped, is_reference);
        }
        all
    }

    /// Notes, for all windows, the first place in another document, or the second place.
    fn find_others(&mut self) {
        for document in 0..self.documents.len() - 1 {
            let runs = self.documents[document]..self.documents[document + 1];
            for run in runs.clone() {
                let windows = windows_of(self.text, self.window, run);
                for segment in Segment::all(self.twins, windows) {
                    let is_other = !self.conditions.other_documents
                        || !runs.contains(&self.text.document_at(segment.place));
                    if segment.place < segment.first && is_other {
                        insert_new(&mut self.moved, segment.places(), segment.first);
                    }
                }
            }
        }
    }

    /// The windows of a run that are passages. Notes which windows stand here that stood nowhere before.
    fn choose(&mut self, run: usize, entered: &mut Vec<Segment>) -> Vec<Range<usize>> {
        let mut chosen: Vec<Range<usize>> = Vec::new();
        let windows = windows_of(self.text, self.window, run);
        let (start, stride) = (windows.start, self.conditions.stride);
        let enters = self.enters_at_once();
        for segment in Segment::all(self.twins, windows) {
            let is_entered = entered.len();
            for (window, place) in segment.windows() {
                if (window - start).is_multiple_of(stride) && self.is_passage(window, place) {
                    match chosen.last_mut() {
                        // What lies between two windows in steps is in both of them.
                        Some(last) if last.end + stride > window => last.end = window + 1,
                        _ => chosen.push(window..window + 1),
                    }
                }
                if enters && !self.stands[place] {
                    self.stands[place] = true;
                    match entered[is_entered..].last_mut() {
                        Some(last) if last.first + last.len == window => last.len += 1,
                        _ => entered.push(Segment {
                            first: window,
                            len: 1,
                            place,
                        }),
                    }
                }
            }
        }
        chosen
    }

    /// Whether windows of a document are sources of later ones of the same.
    fn enters_at_once(&self) -> bool {
        !self.conditions.other_documents
            && !self.conditions.only_reference
            && self.conditions.occurrences == Occurrences::Later
    }

    fn is_passage(&self, window: usize, place: usize) -> bool {
        if self
            .counts
            .get(place)
            .is_some_and(|count| *count < self.conditions.min_count)
        {
            return false;
        }
        match self.conditions.occurrences {
            Occurrences::Later => self.stands[place],
            Occurrences::All => self.other_place(window, place).is_some(),
        }
    }

    /// Where else a window stands.
    fn other_place(&self, window: usize, place: usize) -> Option<usize> {
        let moved = || first_of(&self.moved, place);
        match self.conditions.occurrences {
            Occurrences::Later => Some(moved().unwrap_or(place)),
            Occurrences::All if place == window => moved(),
            Occurrences::All if !self.conditions.other_documents => Some(place),
            Occurrences::All => {
                let of = |window: usize| {
                    let run = self.text.document_at(window);
                    self.documents.partition_point(|first| *first <= run)
                };
                if of(place) == of(window) {
                    moved()
                } else {
                    Some(place)
                }
            }
        }
    }

    /// Adds the pieces of chosen windows.
    fn add_pieces(&self, chosen: Vec<Range<usize>>, all: &mut Vec<Match>) {
        let stride = self.conditions.stride;
        for windows in chosen {
            let mut first = windows.start;
            while first < windows.end {
                let place = Segment::at(self.twins, first, windows.end).place;
                let Some(source) = self.other_place(first, place) else {
                    break;
                };
                let agreeing = agreeing(self.text, self.window, first, source);
                let end = windows.end.min(first + agreeing);
                let count = (end - first - 1) / stride * stride + 1;
                all.push(Match {
                    from: first,
                    to: first + count + self.window - 1,
                    source,
                });
                first += count.next_multiple_of(stride);
            }
        }
    }

    /// Ends a document: it becomes a source, unless it is dropped.
    fn end_document(
        &mut self,
        runs: Range<usize>,
        entered: &[Segment],
        is_dropped: bool,
        is_reference: bool,
    ) {
        if self.conditions.occurrences == Occurrences::All {
            return;
        }
        if is_dropped {
            for segment in entered {
                self.stands[segment.places()].fill(false);
                if segment.is_moved() {
                    self.moved.remove(&segment.place);
                }
            }
            return;
        }
        if self.enters_at_once() || self.conditions.only_reference && !is_reference {
            return;
        }
        for run in runs {
            for segment in Segment::all(self.twins, windows_of(self.text, self.window, run)) {
                for (window, place) in segment.windows() {
                    if !std::mem::replace(&mut self.stands[place], true) && place != window {
                        insert_new(&mut self.moved, place..place + 1, window);
                    }
                }
            }
        }
    }
}

/// The windows of a run of symbols.
pub(super) fn windows_of<S: Symbol>(text: &Text<'_, S>, window: usize, run: usize) -> Range<usize> {
    let (start, end) = (text.document_start(run), text.ends[run]);
    start..(end + 1).saturating_sub(window).max(start)
}
