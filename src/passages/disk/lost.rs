//! What is lost where passages are cut (`passages/lost.rs`), counted on disk.
//!
//! 1. While cuts are decided, in order: the first places of all windows that are kept whole, of those that share a symbol
//!    with a cut, and the symbols that are cut.
//! 2. Sorted by first places, the two lists tell which windows that were cut into stand whole elsewhere.
//! 3. Sorted by their own places, these tell which symbols that were cut stand in none of them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::super::lost::Lost;
use super::map::{Walker, WindowMap};
use super::records::{Interval, end_of_words};
use crate::error::Result;
use crate::store::spill::{Partitions, Spill};

/// Files that records are distributed to.
const PARTS: usize = 32;

/// The most windows of an interval that is looked up.
const MOST_WINDOWS: usize = 1 << 16;

/// Takes what is cut and what is kept.
pub(super) struct LostCounter {
    spill: Arc<Spill>,
    window: usize,
    stride: usize,
    places: usize,
    walker: Walker,
    /// First places of windows that are kept whole.
    kept: Partitions<4>,
    /// First places of windows that share a symbol with a cut, and the windows.
    touched: Partitions<4>,
    /// Symbols that are cut, and the distance of the first to the beginning of its run, modulo steps.
    cut: Partitions<4>,
}

impl LostCounter {
    /// Counts in texts of so many places.
    pub(super) fn new(spill: &Arc<Spill>, places: usize, (window, stride): (usize, usize)) -> Self {
        let end = end_of_words(places);
        let partitions = |name| Partitions::new(spill, name, PARTS, end, 3 * PARTS);
        LostCounter {
            spill: Arc::clone(spill),
            window,
            stride,
            places,
            walker: Walker::default(),
            kept: partitions("whole"),
            touched: partitions("touched"),
            cut: partitions("removed"),
        }
    }

    /// Adds a run of symbols, by its windows, and which of its symbols are cut, in order.
    pub(super) fn add(
        &mut self,
        map: &mut WindowMap,
        windows: Range<usize>,
        cuts: &[Range<usize>],
    ) -> Result<()> {
        let mut next = windows.start;
        for cut in cuts {
            let symbols = Interval {
                start: cut.start,
                len: cut.len(),
                other: (cut.start - windows.start) % self.stride,
            };
            self.cut.push(&symbols.pack())?;
            let first = (cut.start + 1).saturating_sub(self.window);
            let first = first.max(next).min(windows.end);
            let end = cut.end.min(windows.end).max(first);
            self.add_windows(map, next..first, false)?;
            self.add_windows(map, first..end, true)?;
            next = end;
        }
        self.add_windows(map, next..windows.end, false)
    }

    fn add_windows(
        &mut self,
        map: &mut WindowMap,
        windows: Range<usize>,
        are_touched: bool,
    ) -> Result<()> {
        let mut next = windows.start;
        while next < windows.end {
            let end = windows.end.min(next + MOST_WINDOWS);
            let segment = self.walker.segment(map, next, end)?;
            let of = |other: usize| Interval {
                start: segment.place,
                len: segment.len,
                other,
            };
            match are_touched {
                true => self.touched.push(&of(next).pack())?,
                false => self.kept.push(&of(0).pack())?,
            }
            next += segment.len;
        }
        Ok(())
    }

    /// Counts what was cut, and what of it is lost.
    pub(super) fn count(self) -> Result<Lost> {
        let end = end_of_words(self.places);
        let mut standing = Partitions::new(&self.spill, "standing", PARTS, end, PARTS);
        let kept = self.kept.finish()?.into_records();
        let mut kept = Union::new(kept.map(|kept| Ok(Interval::of(kept?))));
        for touched in self.touched.finish()?.into_records() {
            let touched = Interval::of(touched?);
            kept.advance(touched.start..touched.end())?;
            for part in kept.parts(touched.start..touched.end()) {
                let start = touched.other + (part.start - touched.start);
                let stands = Interval {
                    start,
                    len: part.len(),
                    other: 0,
                };
                standing.push(&stands.pack())?;
            }
        }
        let standing = standing.finish()?.into_records();
        let mut standing = Union::new(standing.map(|windows| {
            let windows = Interval::of(windows?);
            let len = windows.len + self.window - 1;
            Ok(Interval { len, ..windows })
        }));
        let mut counted = Lost::default();
        for cut in self.cut.finish()?.into_records() {
            let cut = Interval::of(cut?);
            standing.advance(cut.start..cut.end())?;
            // The units that begin before a symbol.
            let before = |symbol: usize| {
                let begun = symbol - cut.start + cut.other;
                begun.div_ceil(self.stride) - cut.other.div_ceil(self.stride)
            };
            let all = before(cut.end());
            let stand: usize = standing
                .parts(cut.start..cut.end())
                .map(|part| before(part.end) - before(part.start))
                .sum();
            counted.removed += all as u64;
            counted.lost += (all - stand) as u64;
        }
        Ok(counted)
    }
}

/// The union of intervals that ascend by their starts, in a range that only moves on.
struct Union<I: Iterator> {
    intervals: std::iter::Peekable<I>,
    held: VecDeque<Range<usize>>,
}

impl<I: Iterator<Item = Result<Interval>>> Union<I> {
    fn new(intervals: I) -> Self {
        Union {
            intervals: intervals.peekable(),
            held: VecDeque::new(),
        }
    }

    /// Holds all that share something with a range, which starts no earlier than the last one.
    fn advance(&mut self, range: Range<usize>) -> Result<()> {
        while self
            .held
            .front()
            .is_some_and(|held| held.end <= range.start)
        {
            self.held.pop_front();
        }
        let is_before =
            |next: &Result<Interval>| next.as_ref().map_or(true, |next| next.start < range.end);
        while let Some(next) = self.intervals.next_if(is_before).transpose()? {
            if next.end() <= range.start {
                continue;
            }
            match self.held.back_mut() {
                Some(last) if next.start <= last.end => last.end = last.end.max(next.end()),
                _ => self.held.push_back(next.start..next.end()),
            }
        }
        Ok(())
    }

    /// The parts of a range that are in the union.
    fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let part = move |held: &Range<usize>| held.start.max(range.start)..held.end.min(range.end);
        let parts = self.held.iter().map(part);
        parts.filter(|part| part.start < part.end)
    }
}
