//! Where repeats come from: one source for each, which depends on the texts alone.
//!
//! A pass finds *an* earlier twin of each window, and which one depends on threads. Here every window gets its first
//! place, by following twins back until one has none. [`pieces`] states which pieces a text has.

use super::items::Match;
use super::text::Text;
use super::twins::{FirstTwins, SearchedText, TwinRuns, TwinTree, Twins};
use simgpu::simd::minima::Symbol;

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
        // A window in two matches keeps the twin of the first one.
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
    searched: &SearchedText<'_, S>,
    occurrences: Occurrences,
) -> Vec<Match> {
    let all;
    let runs = match occurrences {
        Occurrences::Later => &searched.twins.runs,
        Occurrences::All => {
            all = with_first_places(searched);
            &all
        }
    };
    let piece = |twins: &Twins| Match {
        from: twins.first,
        to: twins.end + searched.window - 1,
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
            let FirstTwins { place, len, is_all } = later.first_twins(twin, found.end - first);
            let known = Twins {
                first,
                end: first + len,
                source: place,
            };
            // Texts are seldom read again: that costs more than all else here.
            let twins = if is_all {
                known
            } else {
                extended(text, window, known)
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
    searched: &SearchedText<'_, S>,
    first: usize,
    source: usize,
) -> usize {
    let unknown = Twins {
        first,
        end: first,
        source,
    };
    extended(searched.text, searched.window, unknown).end - first
}

/// Windows that are known to be equal, none or more, with those that are equal and follow them.
fn extended<S: Symbol>(text: &Text<'_, S>, window: usize, known: Twins) -> Twins {
    let Twins { first, end, source } = known;
    // Symbols that are in known windows need not be compared.
    let done = match end - first {
        0 => 0,
        known => known + window - 1,
    };
    let left = |place: usize| text.document_end(place) - place;
    let limit = left(first).min(left(source));
    let more = text.agree_ahead(first + done, source + done, limit - done);
    Twins {
        end: first + done + more + 1 - window,
        ..known
    }
}

/// The runs of all windows that occur elsewhere.
fn with_first_places<S: Symbol>(searched: &SearchedText<'_, S>) -> Vec<Twins> {
    let later = searched.twins;
    let firsts = second_places(&later.runs);
    let mut runs: Vec<Twins> = Vec::new();
    let (mut later_runs, mut first_runs) = (later.runs.iter().peekable(), firsts.iter().peekable());
    let mut next = 0;
    loop {
        // The next covered window, by either list. Runs of both may begin within a piece that was extended over them.
        while later_runs.next_if(|twins| twins.end <= next).is_some() {}
        while first_runs.next_if(|twins| twins.end <= next).is_some() {}
        let starts = [later_runs.peek(), first_runs.peek()];
        let starts = starts.map(|twins| twins.map(|twins| twins.first.max(next)));
        let Some(first) = starts.into_iter().flatten().min() else {
            return runs;
        };
        // A window in both lists has an earlier place, which comes first.
        let source = match (starts, first_runs.peek()) {
            ([Some(start), _], _) if start == first => later.first_place(first),
            (_, Some(twins)) => twins.twin(first),
            _ => return runs,
        };
        let twin = Twins {
            first,
            end: first,
            source,
        };
        let twins = extended(searched.text, searched.window, twin);
        next = twins.end;
        runs.push(twins);
    }
}

/// For all windows that are sources: the first place behind that has one as its source. The second place of a window
/// leads straight to the first.
fn second_places(runs: &[Twins]) -> Vec<Twins> {
    // The runs ascend, so what is taken first stays.
    let mut taken = TwinTree::default();
    for twins in runs {
        let len = twins.end - twins.first;
        taken.insert_new(twins.source..twins.source + len, twins.first);
    }
    taken.into_runs()
}
