//! Which of the windows that occur elsewhere are passages, and which documents are dropped for them.
//!
//! Without conditions, every window with an earlier twin is a passage (`sources.rs`). Here documents are passed in order: a
//! window is a passage if it stands in an earlier document that was not dropped, or earlier in its own, and if it fulfils
//! the conditions. So it is known of each document what of it is a passage before it is decided whether it is dropped, and a
//! dropped document is the source of none.
//!
//! For nearly all windows the first place decides. If it is in a document that was dropped, the first place in one that was
//! not is kept in memory. The rules are the same in memory and on disk: [`FirstPlaces`] says where windows stand.

use std::ops::Range;

use super::first_places::{FirstPlaces, WindowSegment};
use super::items::Match;
use super::pass::too_large;
use super::sources::Occurrences;
use super::twins::TwinTree;
use simgpu::error::Result;

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
    /// The number of first documents that are a reference: they have no passages, and are never dropped.
    pub(super) reference: usize,
    /// Only windows that occur in the reference.
    pub(super) only_reference: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            occurrences: Occurrences::default(),
            min_count: 2,
            other_documents: false,
            stride: 1,
            reference: 0,
            only_reference: false,
        }
    }
}

impl Conditions {
    /// Whether some windows that occur elsewhere are no passages.
    pub(super) fn has_exceptions(&self) -> bool {
        let Conditions {
            occurrences: _,
            min_count,
            other_documents,
            stride,
            reference,
            only_reference,
        } = *self;
        min_count > 2 || other_documents || stride != 1 || reference != 0 || only_reference
    }

    /// Whether more than the first place of a window matters: how often it occurs, or where it stands next.
    pub(super) fn needs_counts(&self) -> bool {
        self.min_count > 2 || self.occurrences == Occurrences::All
    }
}

/// Decides passages, document by document.
pub(super) struct PassageChoice<'a, P> {
    pub(super) places: P,
    /// Symbols of a window.
    window: usize,
    conditions: Conditions,
    /// The first place of each document.
    starts: &'a [usize],
    /// The first place that is not of the reference.
    first_input: Option<usize>,
    /// Bytes of memory for what dropped documents lead to.
    memory: u64,
    /// Of each document up to the one that was begun last: whether it was dropped.
    is_dropped: Vec<bool>,
    /// For windows whose first place is in a dropped document: the first place that is in none.
    moved: TwinTree,
    /// What the document that was begun last added to those, or will add.
    entered: Vec<WindowSegment>,
}

/// Bytes of an entry of a tree, about.
const ENTRY: u64 = 96;

impl<'a, P: FirstPlaces> PassageChoice<'a, P> {
    /// Begins behind the documents of the reference.
    pub(super) fn new(
        places: P,
        window: usize,
        conditions: Conditions,
        starts: &'a [usize],
    ) -> Self {
        PassageChoice {
            places,
            window,
            conditions,
            starts,
            first_input: starts.get(conditions.reference).copied(),
            memory: u64::MAX,
            is_dropped: vec![false; conditions.reference],
            moved: TwinTree::default(),
            entered: Vec::new(),
        }
    }

    /// Fails if what dropped documents lead to takes more than these bytes of memory.
    pub(super) fn with_memory(self, memory: u64) -> Self {
        PassageChoice { memory, ..self }
    }

    /// Begins the next document.
    pub(super) fn begin_document(&mut self) {
        self.is_dropped.push(false);
        self.entered.clear();
    }

    /// The document of a place.
    pub(super) fn document_of(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place) - 1
    }

    /// Whether a place is in the document that was begun last.
    fn is_own(&self, place: usize) -> bool {
        self.document_of(place) + 1 == self.is_dropped.len()
    }

    /// The pieces of a run of the document, which has these windows.
    pub(super) fn pieces(&mut self, windows: Range<usize>) -> Result<Vec<Match>> {
        let chosen = self.choose(windows)?;
        let mut pieces = Vec::new();
        for windows in chosen.ranges {
            self.add_pieces(windows, &mut pieces)?;
        }
        Ok(pieces)
    }

    /// The windows of a run that are passages.
    fn choose(&mut self, windows: Range<usize>) -> Result<ChosenWindows> {
        let mut chosen = ChosenWindows {
            start: windows.start,
            stride: self.conditions.stride,
            ranges: Vec::new(),
        };
        let Conditions {
            other_documents,
            only_reference,
            ..
        } = self.conditions;
        let any_place_counts =
            !other_documents && !only_reference && !self.conditions.needs_counts();
        let mut next = windows.start;
        while next < windows.end {
            // What repeats with a short period stands earlier in its own document, wherever it stands first.
            if any_place_counts && let Some(end) = self.places.period_end(next)? {
                let end = end.min(windows.end);
                chosen.add(next..end);
                next = end;
                continue;
            }
            let segment = self.places.segment(next, windows.end)?;
            next += segment.len;
            self.choose_frequent(segment, &mut chosen)?;
        }
        Ok(chosen)
    }

    /// Chooses among windows those that occur often enough, and in the right places.
    fn choose_frequent(
        &mut self,
        segment: WindowSegment,
        chosen: &mut ChosenWindows,
    ) -> Result<()> {
        let mut rest = segment.places();
        while !rest.is_empty()
            && let Some(places) = self.places.frequent(rest.clone())?
        {
            rest.start = places.end;
            let part = segment.part(places);
            match self.conditions.occurrences {
                Occurrences::All => chosen.add(part.first..part.first + part.len),
                Occurrences::Later if part.is_moved() => self.choose_moved(part, chosen)?,
                Occurrences::Later => {}
            }
        }
        Ok(())
    }

    /// Chooses among windows with an earlier place, of which all are in one document.
    fn choose_moved(&mut self, segment: WindowSegment, chosen: &mut ChosenWindows) -> Result<()> {
        let is_of_reference = |place| self.first_input.is_none_or(|first| place < first);
        if self.conditions.only_reference && !is_of_reference(segment.place) {
            return Ok(());
        }
        if !self.is_dropped[self.document_of(segment.place)] {
            if !self.conditions.other_documents || !self.is_own(segment.place) {
                chosen.add(segment.first..segment.first + segment.len);
            }
            return Ok(());
        }
        let known = self.entered.len();
        let mut rest = segment.places();
        while !rest.is_empty() {
            let next = self.moved.at_or_behind(rest.start);
            let is_moved = next.is_some_and(|next| next.first <= rest.start);
            let end = next.map_or(
                rest.end,
                |next| if is_moved { next.end } else { next.first },
            );
            let part = segment.part(rest.start..end.min(rest.end));
            rest.start = part.places().end;
            if is_moved {
                chosen.add(part.first..part.first + part.len);
            } else {
                // The first of their kind in a document that is not dropped, unless this one is.
                self.entered.push(part);
            }
        }
        // Later windows of the same document may have their source in it.
        if !self.conditions.other_documents {
            for entered in &self.entered[known..] {
                self.moved.insert_new(entered.places(), entered.first);
            }
        }
        if self.moved.len() as u64 * ENTRY > self.memory {
            Err(too_large(self.memory))
        } else {
            Ok(())
        }
    }

    /// Adds the pieces of windows in a row that are passages. A piece goes on as far as the windows behind its source equal
    /// its own, so that it has one source.
    fn add_pieces(&mut self, windows: Range<usize>, pieces: &mut Vec<Match>) -> Result<()> {
        let stride = self.conditions.stride;
        let mut first = windows.start;
        while first < windows.end {
            let place = self.places.segment(first, windows.end)?.place;
            let source = self.source(first, place)?;
            let agreeing = self.places.agreeing(first, source, windows.end)?;
            // The last window of a piece begins at a whole step, too.
            let count = (agreeing - 1) / stride * stride + 1;
            pieces.push(Match {
                from: first,
                to: first + count + self.window - 1,
                source,
            });
            first += count.next_multiple_of(stride);
        }
        Ok(())
    }

    /// The source of a window that is a passage, which begins first at `place`.
    fn source(&mut self, window: usize, place: usize) -> Result<usize> {
        let is_next = match self.conditions.occurrences {
            Occurrences::Later => false,
            Occurrences::All => {
                place == window || self.conditions.other_documents && self.is_own(place)
            }
        };
        if is_next && let Some(next) = self.places.next_place(place)? {
            return Ok(next);
        }
        Ok(self.moved.get(place).unwrap_or(place))
    }

    /// Ends a document, which is the source of later ones unless it is dropped.
    pub(super) fn end_document(&mut self, is_dropped: bool) {
        if let Some(last) = self.is_dropped.last_mut() {
            *last = is_dropped;
        }
        // Without `other_documents`, the windows are in the tree already.
        let is_in_tree = !self.conditions.other_documents;
        for entered in self.entered.drain(..) {
            if is_dropped && is_in_tree {
                self.moved.remove(entered.place);
            } else if !is_dropped && !is_in_tree {
                self.moved.insert_new(entered.places(), entered.first);
            }
        }
    }
}

/// The windows of a run of symbols that are passages.
struct ChosenWindows {
    /// The first window of the run.
    start: usize,
    /// Only windows at a multiple of so many from there are chosen.
    stride: usize,
    /// Each from a chosen window to a chosen one. What is between two of them in steps is part of both.
    ranges: Vec<Range<usize>>,
}

impl ChosenWindows {
    /// Chooses windows behind those that are chosen.
    fn add(&mut self, windows: Range<usize>) {
        let first = self.start + (windows.start - self.start).next_multiple_of(self.stride);
        if first >= windows.end {
            return;
        }
        let last = first + (windows.end - 1 - first) / self.stride * self.stride;
        match self.ranges.last_mut() {
            Some(before) if before.end + self.stride > first => before.end = last + 1,
            _ => self.ranges.push(first..last + 1),
        }
    }
}
