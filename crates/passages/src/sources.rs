//! Where repeats come from: one source for each, which depends on the texts alone.
//!
//! A pass finds *an* earlier twin of each window, and which one depends on threads. Here every window gets its first
//! place, by following twins back until one has none. [`pieces`] states which pieces a text has.

use std::collections::BTreeMap;
use std::ops::Range;

use super::items::Match;
use super::text::Text;
use simgpu::simd::minima::Symbol;

/// Windows in a row, and where the first of them has a twin; those of the others follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Twins {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) source: usize,
}

/// Windows per entry of the table that finds runs.
const STEP_BITS: u32 = 10;

/// Runs of windows with twins, which ascend and share no window.
#[derive(Debug, Default)]
pub(super) struct TwinRuns {
    pub(super) runs: Vec<Twins>,
    /// By window in steps: the first run that ends behind it.
    steps: Vec<usize>,
}

impl TwinRuns {
    fn push(&mut self, twins: Twins) {
        while self.steps.len() << STEP_BITS < twins.end {
            self.steps.push(self.runs.len());
        }
        self.runs.push(twins);
    }

    /// The run with this window, or else the next one.
    pub(super) fn at_or_behind(&self, window: usize) -> Option<&Twins> {
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
    fn get(&self, window: usize) -> Option<&Twins> {
        self.at_or_behind(window)
            .filter(|twins| twins.first <= window)
    }

    /// The first place of a window: follows twins until a window has none.
    fn first_place(&self, window: usize) -> usize {
        self.first_places(window, usize::MAX).0
    }

    /// The first place of a window, how many windows behind it equal those behind that place as far as is known, up to
    /// `len`, and whether that is all. It is all if the windows up to `len` are, and if only one of the runs that lead there
    /// ends: then the next two windows equal one each, and these differ.
    fn first_places(&self, mut window: usize, mut len: usize) -> (usize, usize, bool) {
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
        (window, len, is_all)
    }
}

/// Which windows are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occurrences {
    /// Those that occur earlier, too.
    #[default]
    Later,
    /// Those that occur elsewhere, earlier or later.
    All,
}

/// Disjoint runs of windows from matches that ascend, each with one of its twins.
fn twins_of(matches: impl Iterator<Item = Match>, window: usize) -> impl Iterator<Item = Twins> {
    let mut covered = 0;
    matches.filter_map(move |matched| {
        let first = matched.from.max(covered);
        let end = matched.to + 1 - window;
        (first < end).then(|| {
            covered = end;
            Twins {
                first,
                end,
                source: matched.source + (first - matched.from),
            }
        })
    })
}

/// The pieces of a text, from the runs of windows with an earlier twin.
///
/// A piece begins at the first window that is covered and in no piece before. Its source is the first place of that window,
/// or, if it has none before it, the second. It goes on as far as both texts agree within their documents. So a piece has
/// one source and at least the symbols of a window, and two pieces may share all but one symbol of one.
pub(super) fn pieces<S: Symbol>(
    text: &Text<'_, S>,
    window: usize,
    later: &TwinRuns,
    occurrences: Occurrences,
) -> Vec<Match> {
    let all;
    let runs = match occurrences {
        Occurrences::Later => &later.runs,
        Occurrences::All => {
            all = with_first_places(text, window, later);
            &all
        }
    };
    let piece = |twins: &Twins| Match {
        from: twins.first,
        to: twins.end + window - 1,
        source: twins.source,
    };
    runs.iter().map(piece).collect()
}

/// The runs of windows with an earlier twin, each with one source, from matches that cover each such window, and ascend. A
/// match ends where its texts differ, or the document of one ends.
pub(super) fn later_runs<S: Symbol>(
    text: &Text<'_, S>,
    window: usize,
    matches: impl Iterator<Item = Match>,
) -> TwinRuns {
    let mut later = TwinRuns::default();
    let mut next = 0;
    for found in twins_of(matches, window) {
        let mut first = found.first.max(next);
        while first < found.end {
            let twin = found.source + (first - found.first);
            // Texts are seldom read again: that costs more than all else here.
            let (source, known, is_all) = later.first_places(twin, found.end - first);
            let twins = if is_all {
                Twins {
                    first,
                    end: first + known,
                    source,
                }
            } else {
                extended(text, window, (first, source), known)
            };
            later.push(twins);
            first = twins.end;
        }
        next = first;
    }
    later
}

/// The number of equal windows that follow each other from two places on.
pub(super) fn agreeing<S: Symbol>(
    text: &Text<'_, S>,
    window: usize,
    first: usize,
    source: usize,
) -> usize {
    extended(text, window, (first, source), 0).end - first
}

/// Equal windows from two places on, as many as follow each other. Of them, `known` are known.
fn extended<S: Symbol>(
    text: &Text<'_, S>,
    window: usize,
    (first, source): (usize, usize),
    known: usize,
) -> Twins {
    let done = match known {
        0 => 0,
        known => known + window - 1,
    };
    let left = |place: usize| text.document_end(place) - place;
    let limit = left(first).min(left(source));
    let more = text.agree_ahead(first + done, source + done, limit - done);
    Twins {
        first,
        end: first + done + more + 1 - window,
        source,
    }
}

/// The runs of all windows that occur elsewhere.
fn with_first_places<S: Symbol>(text: &Text<'_, S>, window: usize, later: &TwinRuns) -> Vec<Twins> {
    let firsts = second_places(&later.runs);
    let mut runs: Vec<Twins> = Vec::new();
    let (mut of_later, mut of_firsts) = (later.runs.iter().peekable(), firsts.iter().peekable());
    let mut next = 0;
    loop {
        // The next covered window, by either list.
        while of_later.next_if(|twins| twins.end <= next).is_some() {}
        while of_firsts.next_if(|twins| twins.end <= next).is_some() {}
        let starts = [of_later.peek(), of_firsts.peek()];
        let starts = starts.map(|twins| twins.map(|twins| twins.first.max(next)));
        let Some(first) = starts.into_iter().flatten().min() else {
            return runs;
        };
        let source = match (starts, of_firsts.peek()) {
            ([Some(start), _], _) if start == first => later.first_place(first),
            (_, Some(twins)) => twins.source + (first - twins.first),
            _ => return runs,
        };
        let twins = extended(text, window, (first, source), 0);
        next = twins.end;
        runs.push(twins);
    }
}

/// For all windows that are sources: the first place behind that has one as its source. The second place of a window
/// leads straight to the first.
fn second_places(runs: &[Twins]) -> Vec<Twins> {
    // The runs ascend, so what is taken first stays.
    let mut taken = BTreeMap::new();
    for twins in runs {
        let len = twins.end - twins.first;
        insert_new(&mut taken, twins.source..twins.source + len, twins.first);
    }
    taken.into_values().collect()
}

/// Leads windows in a row to as many from `source` on, but for those that lead somewhere already.
pub(super) fn insert_new(taken: &mut BTreeMap<usize, Twins>, windows: Range<usize>, source: usize) {
    let end = windows.end;
    let mut first = windows.start;
    if let Some((_, before)) = taken.range(..=first).next_back() {
        first = first.max(before.end);
    }
    while first < end {
        let next = taken.range(first..).next().map(|(_, next)| *next);
        let gap_end = next.map_or(end, |next| next.first.min(end));
        if first < gap_end {
            let source = source + (first - windows.start);
            taken.insert(
                first,
                Twins {
                    first,
                    end: gap_end,
                    source,
                },
            );
        }
        first = next.map_or(end, |next| next.end);
    }
}

/// Where a window leads.
pub(super) fn first_of(taken: &BTreeMap<usize, Twins>, window: usize) -> Option<usize> {
    let (_, twins) = taken.range(..=window).next_back()?;
    (window < twins.end).then(|| twins.source + (window - twins.first))
}
