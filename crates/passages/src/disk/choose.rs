//! Which windows are passages, document by document, and the pieces of these.
//!
//! The rules are those of a search in memory (`choice.rs`): a window is a passage if it stands in a document before that
//! was not removed, or before in its own. For nearly all windows, the first place tells. Where it is in a document that was
//! removed, the first place in one that was not is held in memory. Where windows must occur several times, or the first
//! occurrence is one, too, a second file tells of each first place whether it counts, and where its window stands next.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::classes::Segment;
use super::super::items::Match;
use super::super::pass::too_large;
use super::super::sources::{Occurrences, Twins, first_of, insert_new};
use super::map::{Walker, WindowMap};
use super::records::{Link, Links};
use simgpu::error::Result;

/// What passages are chosen by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Symbols of a window.
    pub(super) window: usize,
    /// Windows begin at a multiple of so many symbols from the beginning of their run.
    pub(super) stride: usize,
    pub(super) occurrences: Occurrences,
    /// Only windows that stand in another document.
    pub(super) other_documents: bool,
    /// Only windows that stand in the reference.
    pub(super) only_reference: bool,
    /// Bytes of memory for what removed documents lead to.
    pub(super) memory: u64,
}

/// What is known of windows.
pub(super) struct Known {
    /// By window, the first place.
    pub(super) map: WindowMap,
    /// By first place, the next place. Windows that it lacks are no passages. `None` if all count, and none is asked for.
    pub(super) others: Option<WindowMap>,
    /// The first place of each document.
    pub(super) starts: Vec<usize>,
}

impl Known {
    /// Bytes of the files.
    pub(super) fn bytes(&self) -> u64 {
        self.map.bytes() + self.others.as_ref().map_or(0, WindowMap::bytes)
    }

    /// Bytes read from the files.
    pub(super) fn read_bytes(&self) -> u64 {
        self.map.read_bytes() + self.others.as_ref().map_or(0, WindowMap::read_bytes)
    }
}

/// Chooses passages.
pub(super) struct Chooser<'a> {
    rules: Rules,
    pub(super) map: &'a mut WindowMap,
    others: Option<&'a mut WindowMap>,
    own: Walker,
    source: Walker,
    other: Walker,
    starts: &'a [usize],
    /// The first place that is not of the reference.
    first_input: Option<usize>,
    is_removed: Vec<bool>,
    /// For windows whose first place is in a removed document: the first that is in none.
    moved: BTreeMap<usize, Twins>,
    /// Of the document: what it added to those, or will add.
    entered: Vec<Segment>,
}

/// Bytes of an entry of a tree, about.
const ENTRY: u64 = 96;

impl<'a> Chooser<'a> {
    /// The first documents, so many, are a reference: they have no passages, and none of them is removed.
    pub(super) fn new(rules: Rules, known: &'a mut Known, reference: usize) -> Self {
        Chooser {
            rules,
            map: &mut known.map,
            others: known.others.as_mut(),
            own: Walker::default(),
            source: Walker::default(),
            other: Walker::default(),
            starts: &known.starts,
            first_input: known.starts.get(reference).copied(),
            is_removed: vec![false; reference],
            moved: BTreeMap::new(),
            entered: Vec::new(),
        }
    }

    /// Begins the next document.
    pub(super) fn begin_document(&mut self) {
        self.is_removed.push(false);
        self.entered.clear();
    }

    /// The document of a place.
    pub(super) fn document_of(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place) - 1
    }

    /// Whether a place is in the document that was begun last.
    fn is_own(&self, place: usize) -> bool {
        self.document_of(place) + 1 == self.is_removed.len()
    }

    /// The pieces of a run of the document, which has these windows.
    pub(super) fn pieces(&mut self, windows: Range<usize>) -> Result<Vec<Match>> {
        let chosen = self.choose(windows)?;
        let mut pieces = Vec::new();
        for windows in chosen {
            self.add_pieces(windows, &mut pieces)?;
        }
        Ok(pieces)
    }

    fn choose(&mut self, windows: Range<usize>) -> Result<Vec<Range<usize>>> {
        let mut chosen = Vec::new();
        let mut next = windows.start;
        let Rules {
            other_documents,
            only_reference,
            ..
        } = self.rules;
        // Whether any place before makes a window a passage.
        let is_any = !other_documents && !only_reference && self.others.is_none();
        while next < windows.end {
            if is_any && let Some(back) = self.own.back(self.map, next)? {
                let end = windows.end.min(back.first + back.len);
                self.add(next..end, windows.start, &mut chosen);
                next = end;
                continue;
            }
            let segment = self.own.segment(self.map, next, windows.end)?;
            next += segment.len;
            self.choose_counted(segment, windows.start, &mut chosen)?;
        }
        Ok(chosen)
    }

    /// Adds the passages of windows, which are among those that occur often enough.
    fn choose_counted(
        &mut self,
        segment: Segment,
        start: usize,
        chosen: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let mut done = 0;
        while done < segment.len {
            let (from, len) = match &mut self.others {
                None => (0, segment.len),
                Some(others) => {
                    let at = segment.place + done;
                    match self.other.at_or_behind(others, at)? {
                        Some(next) if next.first < segment.place + segment.len => {
                            let from = next.first.max(at);
                            let end = (next.first + next.len).min(segment.place + segment.len);
                            (from - segment.place, end - from)
                        }
                        _ => break,
                    }
                }
            };
            let counted = Segment {
                first: segment.first + from,
                len,
                place: segment.place + from,
            };
            done = from + len;
            match self.rules.occurrences {
                Occurrences::All => self.add(counted.first..counted.first + len, start, chosen),
                Occurrences::Later if counted.is_moved() => {
                    self.choose_of(counted, start, chosen)?;
                }
                Occurrences::Later => {}
            }
        }
        Ok(())
    }

    /// Adds those windows of a range to the chosen ones that are a multiple of steps from `start`.
    fn add(&self, windows: Range<usize>, start: usize, chosen: &mut Vec<Range<usize>>) {
        let stride = self.rules.stride;
        let first = start + (windows.start - start).next_multiple_of(stride);
        if first >= windows.end {
            return;
        }
        let last = first + (windows.end - 1 - first) / stride * stride;
        match chosen.last_mut() {
            // What lies between two windows in steps is in both of them.
            Some(before) if before.end + stride > first => before.end = last + 1,
            _ => chosen.push(first..last + 1),
        }
    }

    /// Adds the passages of windows with an earlier place.
    fn choose_of(
        &mut self,
        segment: Segment,
        start: usize,
        chosen: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let is_of_reference = |place| self.first_input.is_none_or(|first| place < first);
        if self.rules.only_reference && !is_of_reference(segment.place) {
            return Ok(());
        }
        let of = self.document_of(segment.place);
        let is_own = self.is_own(segment.place);
        let all = segment.first..segment.first + segment.len;
        if !self.is_removed[of] {
            if !is_own || !self.rules.other_documents {
                self.add(all, start, chosen);
            }
            return Ok(());
        }
        let known = self.entered.len();
        for (window, place) in segment.windows() {
            if first_of(&self.moved, place).is_some() {
                self.add(window..window + 1, start, chosen);
                continue;
            }
            match self.entered[known..].last_mut() {
                Some(last) if last.first + last.len == window => last.len += 1,
                _ => self.entered.push(Segment {
                    first: window,
                    len: 1,
                    place,
                }),
            }
        }
        if !self.rules.other_documents {
            for entered in &self.entered[known..] {
                insert_new(&mut self.moved, entered.places(), entered.first);
            }
        }
        if self.moved.len() as u64 * ENTRY > self.rules.memory {
            Err(too_large(self.rules.memory))
        } else {
            Ok(())
        }
    }

    /// Adds the pieces of windows in a row that are passages.
    fn add_pieces(&mut self, windows: Range<usize>, pieces: &mut Vec<Match>) -> Result<()> {
        let stride = self.rules.stride;
        let mut first = windows.start;
        while first < windows.end {
            let place = self.own.segment(self.map, first, windows.end)?.place;
            let source = self.source_of(first, place)?;
            let end = first + self.agreeing(first, source, windows.end)?;
            let count = (end - first - 1) / stride * stride + 1;
            pieces.push(Match {
                from: first,
                to: first + count + self.rules.window - 1,
                source,
            });
            first += count.next_multiple_of(stride);
        }
        Ok(())
    }

    /// The source of a window that is a passage.
    fn source_of(&mut self, window: usize, place: usize) -> Result<usize> {
        let has_next = match self.rules.occurrences {
            Occurrences::Later => false,
            Occurrences::All => place == window || self.rules.other_documents && self.is_own(place),
        };
        let next = match (&mut self.others, has_next) {
            (Some(others), true) => self.other.at_or_behind(others, place)?,
            _ => None,
        };
        Ok(match next {
            Some(Links {
                first,
                link: Link::Place(next),
                ..
            }) => next + (place - first),
            _ => first_of(&self.moved, place).unwrap_or(place),
        })
    }

    /// The number of windows from `first` on, before `end`, that equal as many from `source` on: all have the same first
    /// places.
    fn agreeing(&mut self, first: usize, source: usize, end: usize) -> Result<usize> {
        let mut count = 0;
        while first + count < end {
            let (here, there) = (first + count, source + count);
            if let Some(back) = self.own.back(self.map, here)?
                && let Link::Back(by) = back.link
                && there < here
                && (here - there).is_multiple_of(by)
                && there + by >= back.first
            {
                count = end.min(back.first + back.len) - first;
                continue;
            }
            let of_here = self.own.segment(self.map, here, end)?;
            let of_there = self.source.segment(self.map, there, there + (end - here))?;
            if of_here.place != of_there.place {
                break;
            }
            count += of_here.len.min(of_there.len);
        }
        Ok(count)
    }

    /// Ends a document, which is the source of later ones unless it is removed.
    pub(super) fn end_document(&mut self, is_removed: bool) {
        if let Some(last) = self.is_removed.last_mut() {
            *last = is_removed;
        }
        for entered in self.entered.drain(..) {
            match (is_removed, self.rules.other_documents) {
                (true, false) => {
                    self.moved.remove(&entered.place);
                }
                (false, true) => insert_new(&mut self.moved, entered.places(), entered.first),
                (true, true) | (false, false) => {}
            }
        }
    }
}
