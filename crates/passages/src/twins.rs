//! Windows with twins: runs of them that lead to equal windows elsewhere, in a list or in a tree.

use std::collections::BTreeMap;
use std::ops::Range;

use super::first_places::WindowSegment;
use super::text::Text;
use simgpu::simd::minima::Symbol;

/// Windows in a row, and where the first of them has a twin; those of the others follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Twins {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) source: usize,
}

impl Twins {
    /// The twin of one of the windows.
    pub(super) fn twin(&self, window: usize) -> usize {
        self.source + (window - self.first)
    }
}

/// Windows per entry of the table that finds runs.
const STEP_BITS: u32 = 10;

/// Runs of windows with earlier twins, which ascend and share no window.
#[derive(Debug, Default)]
pub(super) struct TwinRuns {
    pub(super) runs: Vec<Twins>,
    /// By window in steps: the first run that ends behind it.
    steps: Vec<usize>,
}

/// How far twins lead back.
pub(super) struct FirstTwins {
    /// The first place of the window.
    pub(super) place: usize,
    /// The number of windows from there on that are known to equal those that follow the window.
    pub(super) len: usize,
    /// Whether the next two windows are known to differ, or no more were asked for.
    pub(super) is_all: bool,
}

impl TwinRuns {
    pub(super) fn push(&mut self, twins: Twins) {
        while self.steps.len() << STEP_BITS < twins.end {
            self.steps.push(self.runs.len());
        }
        self.runs.push(twins);
    }

    /// The run with this window, or else the next one.
    fn at_or_behind(&self, window: usize) -> Option<&Twins> {
        let step = window >> STEP_BITS;
        let first = *self.steps.get(step)?;
        let end = self
            .steps
            .get(step + 1)
            .map_or(self.runs.len(), |end| end + 1);
        let runs = &self.runs[first..end.min(self.runs.len())];
        runs.get(runs.partition_point(|twins| twins.end <= window))
    }

    /// The run with this window.
    pub(super) fn get(&self, window: usize) -> Option<&Twins> {
        self.at_or_behind(window)
            .filter(|twins| twins.first <= window)
    }

    /// The first place of a window: follows twins until a window has none.
    pub(super) fn first_place(&self, window: usize) -> usize {
        self.first_twins(window, usize::MAX).place
    }

    /// The first place of a window, and how many of the next windows, up to `len`, are known to equal those behind it. These
    /// are all if only one of the runs that lead there ends: then the next two windows equal one each, and these differ.
    pub(super) fn first_twins(&self, mut window: usize, mut len: usize) -> FirstTwins {
        let mut is_all = true;
        while let Some(twins) = self.get(window) {
            let left = twins.end - window;
            if left <= len {
                is_all = left < len;
                len = left;
            }
            let shift = twins.first - twins.source;
            // A run that overlaps its source leads back through itself.
            let steps = (window - twins.first) / shift + 1;
            window -= steps * shift;
        }
        FirstTwins {
            place: window,
            len,
            is_all,
        }
    }

    /// The segment that begins with a window and ends at `end` or before.
    pub(super) fn segment(&self, window: usize, end: usize) -> WindowSegment {
        let (mut len, mut place) = (end - window, window);
        let next = loop {
            match self.at_or_behind(place) {
                Some(run) if run.first <= place => {
                    let shift = run.first - run.source;
                    len = len.min(run.end - place);
                    // A run that overlaps its source leads back through itself, a step for all of these.
                    place -= ((place - run.first) / shift + 1) * shift;
                    len = len.min(run.first - place);
                }
                behind => break behind,
            }
        };
        // Where the next run begins, windows have earlier places again.
        let len = next.map_or(len, |next| len.min(next.first - place));
        WindowSegment {
            first: window,
            len,
            place,
        }
    }

    /// All segments of a range of windows.
    pub(super) fn segments(
        &self,
        windows: Range<usize>,
    ) -> impl Iterator<Item = WindowSegment> + '_ {
        let mut next = windows.start;
        std::iter::from_fn(move || {
            let segment = (next < windows.end).then(|| self.segment(next, windows.end))?;
            next += segment.len;
            Some(segment)
        })
    }
}

/// Windows that lead somewhere, which are entered in any order.
#[derive(Debug, Default)]
pub(super) struct TwinTree(BTreeMap<usize, Twins>);

impl TwinTree {
    /// Leads windows in a row to as many from `source` on, but for those that lead somewhere already.
    pub(super) fn insert_new(&mut self, windows: Range<usize>, source: usize) {
        let all = Twins {
            first: windows.start,
            end: windows.end,
            source,
        };
        let mut first = all.first;
        if let Some((_, before)) = self.0.range(..=first).next_back() {
            first = first.max(before.end);
        }
        // Each gap between two runs of before gets a run of its own.
        while first < all.end {
            let next = self.0.range(first..).next().map(|(_, next)| *next);
            let end = next.map_or(all.end, |next| next.first.min(all.end));
            if first < end {
                let source = all.twin(first);
                self.0.insert(first, Twins { first, end, source });
            }
            first = next.map_or(all.end, |next| next.end);
        }
    }

    /// Where a window leads.
    pub(super) fn get(&self, window: usize) -> Option<usize> {
        let (_, twins) = self.0.range(..=window).next_back()?;
        (window < twins.end).then(|| twins.twin(window))
    }

    /// The run with this window, or else the next one.
    pub(super) fn at_or_behind(&self, window: usize) -> Option<&Twins> {
        let (_, before) = self.0.range(..=window).next_back().unzip();
        let at = before.filter(|twins| window < twins.end);
        at.or_else(|| self.0.range(window..).next().map(|(_, next)| next))
    }

    /// Removes the run that begins with this window.
    pub(super) fn remove(&mut self, first: usize) {
        self.0.remove(&first);
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The runs, in order.
    pub(super) fn into_runs(self) -> Vec<Twins> {
        self.0.into_values().collect()
    }
}

/// A text, and the windows of it that have earlier twins.
pub(super) struct SearchedText<'a, S> {
    pub(super) text: &'a Text<'a, S>,
    /// Symbols of a window.
    pub(super) window: usize,
    pub(super) twins: &'a TwinRuns,
}

impl<S: Symbol> SearchedText<'_, S> {
    /// The windows of a run of symbols.
    pub(super) fn windows(&self, run: usize) -> Range<usize> {
        let start = self.text.document_start(run);
        start
            ..(self.text.ends[run] + 1)
                .saturating_sub(self.window)
                .max(start)
    }
}
