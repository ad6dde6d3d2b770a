//! What is lost where passages are cut (`passages/lost.rs`), counted on disk.
//!
//! 1. While cuts are decided, in order: the first places of all windows that are kept whole, of those that share a symbol
//!    with a cut, and the symbols that are cut.
//! 2. Sorted by first places, the two lists tell which windows that were cut into stand whole elsewhere.
//! 3. Sorted by their own places, these tell which symbols that were cut stand in none of them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::super::lost::{LostUnits, UnitStarts, divide_windows};
use super::map::{Walker, WindowMap};
use super::records::{Interval, LinkTarget, Links, end_of_words};
use super::shared::PARTS;
use simgpu::error::Result;
use simgpu::store::spill::{Partitions, Spill};

/// The most windows of an interval that is looked up.
const MOST_WINDOWS: usize = 1 << 16;

/// The most windows in a row that repeat with a period, which are one record per place of the period.
const MOST_REPEATS: usize = 1 << 30;

/// Takes what is cut and what is kept.
pub(super) struct LostCounter {
    spill: Arc<Spill>,
    window: usize,
    stride: usize,
    places: usize,
    walker: Walker,
    /// First places of windows that are kept whole.
    kept: Partitions<4>,
    /// First places of windows that share a symbol with a cut, the windows, and how much further they repeat.
    touched: Partitions<5>,
    /// Symbols that are cut, and the distance of the first to the beginning of its run, modulo steps.
    cut: Partitions<4>,
}

impl LostCounter {
    /// Counts in texts of so many places.
    pub(super) fn new(spill: &Arc<Spill>, places: usize, window: usize, stride: usize) -> Self {
        let end = end_of_words(places);
        let partitions = |name| Partitions::new(spill, name, PARTS, end, 3 * PARTS);
        let touched = Partitions::new(spill, "touched", PARTS, end, 3 * PARTS);
        LostCounter {
            spill: Arc::clone(spill),
            window,
            stride,
            places,
            walker: Walker::default(),
            kept: partitions("whole"),
            touched,
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
        for cut in cuts {
            let symbols = Interval {
                start: cut.start,
                len: cut.len(),
                other: (cut.start - windows.start) % self.stride,
            };
            self.cut.push(&symbols.pack())?;
        }
        for divided in divide_windows(windows, self.window, cuts) {
            self.add_windows(map, divided.kept, false)?;
            self.add_windows(map, divided.touched, true)?;
        }
        Ok(())
    }

    /// Adds windows, which are kept whole unless a cut touches them.
    fn add_windows(
        &mut self,
        map: &mut WindowMap,
        windows: Range<usize>,
        is_touched: bool,
    ) -> Result<()> {
        let mut next = windows.start;
        while next < windows.end {
            let back = self.walker.back(map, next)?;
            let end = back.map_or(next, Links::end);
            let end = windows.end.min(end).min(next + MOST_REPEATS);
            match back.map(|back| back.link) {
                Some(LinkTarget::Back(period)) => {
                    self.add_repeats(map, next..end, period, is_touched)?;
                    next = end;
                }
                _ => {
                    let end = windows.end.min(next + MOST_WINDOWS);
                    next = self.add_segment(map, next..end, 0, is_touched)?;
                }
            }
        }
        Ok(())
    }

    /// Adds windows that repeat with a period, each kind of them once.
    fn add_repeats(
        &mut self,
        map: &mut WindowMap,
        windows: Range<usize>,
        period: usize,
        is_touched: bool,
    ) -> Result<()> {
        let (whole, rest) = (windows.len() / period, windows.len() % period);
        // The last period may be in parts, so the windows at its places repeat once more.
        let parts = [
            (0..rest, whole),
            (rest..period.min(windows.len()), whole.saturating_sub(1)),
        ];
        for (part, repeats) in parts {
            let (mut next, end) = (windows.start + part.start, windows.start + part.end);
            while next < end {
                next = self.add_segment(map, next..end, repeats * period, is_touched)?;
            }
        }
        Ok(())
    }

    /// Adds the first windows of a range, of which the first places follow each other, and returns the next one. They
    /// repeat up to `further` windows behind, with a period that is no longer than a window.
    #[allow(clippy::cast_possible_truncation, reason = "at most MOST_REPEATS")]
    fn add_segment(
        &mut self,
        map: &mut WindowMap,
        windows: Range<usize>,
        further: usize,
        is_touched: bool,
    ) -> Result<usize> {
        let segment = self.walker.segment(map, windows.start, windows.end)?;
        let places = |other: usize| Interval {
            start: segment.place,
            len: segment.len,
            other,
        };
        if is_touched {
            let [a, b, c, d] = places(windows.start).pack();
            self.touched.push(&[a, b, c, d, further as u32])?;
        } else {
            // Of a window that is kept, only its first place matters.
            self.kept.push(&places(0).pack())?
        }
        Ok(windows.start + segment.len)
    }

    /// Counts what was cut, and what of it is lost.
    pub(super) fn count(self) -> Result<LostUnits> {
        let end = end_of_words(self.places);
        let mut standing = Partitions::new(&self.spill, "standing", PARTS, end, PARTS);
        let kept = self.kept.finish()?.into_records();
        let mut kept = IntervalUnion::new(kept.map(|kept| Ok(Interval::unpack(kept?))));
        for touched in self.touched.finish()?.into_records() {
            let [a, b, c, d, further] = touched?;
            let touched = Interval::unpack([a, b, c, d]);
            // Both ascend by first places.
            kept.advance(touched.start..touched.end())?;
            for part in kept.parts(touched.start..touched.end()) {
                let start = touched.other + (part.start - touched.start);
                let stands = Interval {
                    start,
                    // Repeats overlap, so that they cover all symbols up to the last one.
                    len: part.len() + further as usize,
                    other: 0,
                };
                standing.push(&stands.pack())?;
            }
        }
        let standing = standing.finish()?.into_records();
        let mut standing = IntervalUnion::new(standing.map(|windows| {
            let windows = Interval::unpack(windows?);
            // From windows to their symbols.
            let len = windows.len + self.window - 1;
            Ok(Interval { len, ..windows })
        }));
        let mut counted = LostUnits::default();
        for cut in self.cut.finish()?.into_records() {
            let cut = Interval::unpack(cut?);
            let symbols = cut.start..cut.end();
            standing.advance(symbols.clone())?;
            let starts = UnitStarts {
                // A symbol that begins a unit, no earlier than its run.
                start: cut.start - cut.other,
                stride: self.stride,
            };
            counted.add_cut(&starts, symbols.clone(), standing.parts(symbols));
        }
        Ok(counted)
    }
}

/// The union of intervals that ascend by their starts, in a range that only moves on.
struct IntervalUnion<I: Iterator> {
    intervals: std::iter::Peekable<I>,
    held: VecDeque<Range<usize>>,
}

impl<I: Iterator<Item = Result<Interval>>> IntervalUnion<I> {
    fn new(intervals: I) -> Self {
        IntervalUnion {
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
