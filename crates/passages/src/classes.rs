//! Equal windows: each with the first place where it stands.

use std::ops::Range;

use super::sources::TwinRuns;

/// Windows in a row, and the first places of windows equal to them, in a row too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) first: usize,
    pub(super) len: usize,
    /// The first place of the first window, which may be that window.
    pub(super) place: usize,
}

impl Segment {
    /// The segment at a window, up to `end`.
    pub(super) fn at(twins: &TwinRuns, window: usize, end: usize) -> Self {
        let (mut len, mut place) = (end - window, window);
        let next = loop {
            match twins.at_or_behind(place) {
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
        let len = next.map_or(len, |next| len.min(next.first - place));
        Segment {
            first: window,
            len,
            place,
        }
    }

    /// All segments of a range of windows.
    pub(super) fn all(
        twins: &TwinRuns,
        windows: Range<usize>,
    ) -> impl Iterator<Item = Segment> + '_ {
        let mut next = windows.start;
        std::iter::from_fn(move || {
            let segment = (next < windows.end).then(|| Segment::at(twins, next, windows.end))?;
            next += segment.len;
            Some(segment)
        })
    }

    /// Each window, and its first place.
    pub(super) fn windows(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len).map(move |i| (self.first + i, self.place + i))
    }

    /// Whether the windows stand at other places before.
    pub(super) fn is_moved(&self) -> bool {
        self.place != self.first
    }

    /// The first places.
    pub(super) fn places(self) -> Range<usize> {
        self.place..self.place + self.len
    }
}

/// How often each window occurs, at the place of the first.
pub(super) fn counts(
    twins: &TwinRuns,
    runs: impl Iterator<Item = Range<usize>>,
    symbols: usize,
) -> Vec<u32> {
    let mut counts = vec![0_u32; symbols];
    for windows in runs {
        for segment in Segment::all(twins, windows) {
            for count in &mut counts[segment.places()] {
                *count = count.saturating_add(1);
            }
        }
    }
    counts
}
