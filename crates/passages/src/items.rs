//! What a pass decides: windows of one anchor, and how far it got.

use std::ops::Range;

use super::known::{AnchoredWindows, KeySlot};

/// Symbols from `from` to `to` that equal as many from `source` on, which begin earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) source: usize,
}

impl Match {
    /// The same, told of the other place.
    pub(super) fn turned(self) -> Self {
        Match {
            from: self.source,
            to: self.source + self.to - self.from,
            source: self.from,
        }
    }
}

/// The spans of the pieces of a document, which ascend: all symbols in a row that are in one, but none across the end of a
/// run. `ends_run` says whether a run ends before a symbol.
pub(super) fn spans(pieces: &[Match], ends_run: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        match spans.last_mut() {
            Some(last)
                if piece.from < last.end || piece.from == last.end && !ends_run(last.end) =>
            {
                last.end = piece.to;
            }
            _ => spans.push(piece.from..piece.to),
        }
    }
    spans
}

/// Where a match ends: the places of the next symbols, which differ.
#[derive(Clone, Copy)]
pub(super) struct MatchEnd {
    pub(super) here: usize,
    pub(super) there: usize,
}

/// Windows with one anchor, and their key on a level.
#[derive(Clone, Copy)]
pub(super) struct ScanItem {
    pub(super) level: usize,
    pub(super) key: u32,
    pub(super) anchor: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl ScanItem {
    /// Its windows, as they are entered.
    pub(super) fn windows(self) -> AnchoredWindows {
        AnchoredWindows::new(self.anchor, self.first, self.last)
    }

    /// The slot of its key.
    pub(super) fn slot(self, at: usize) -> KeySlot {
        KeySlot { at, key: self.key }
    }
}

/// What is decided: all windows before `next`.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub(super) next: usize,
    /// The end of the match that reaches so far, if one does.
    pub(super) end: Option<MatchEnd>,
}

impl Reach {
    pub(super) fn after(last: usize) -> Self {
        Reach {
            next: last + 1,
            end: None,
        }
    }

    /// Notes a match of which `next` is the first window behind.
    pub(super) fn extend(&mut self, next: usize, end: MatchEnd) {
        if next > self.next || self.end.is_none() {
            *self = Reach {
                next: next.max(self.next),
                end: Some(end),
            };
        }
    }
}

/// The windows of an item that are not known to be repeats: a hull, out of which some may be repeats.
pub(super) struct OpenWindows {
    pub(super) first: usize,
    pub(super) end: usize,
    /// Windows within the hull that are repeats.
    pub(super) inside: Vec<Range<usize>>,
}

impl OpenWindows {
    pub(super) fn close(&mut self, first: usize, end: usize) {
        if first <= self.first {
            self.first = self.first.max(end);
        } else if end >= self.end {
            self.end = self.end.min(first);
        } else {
            self.inside.push(first..end);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first >= self.end
    }

    /// Shrinks the hull as far as what was closed inside of it allows.
    pub(super) fn shrink(&mut self) {
        self.inside
            .sort_unstable_by_key(|closed| (closed.start, closed.end));
        for closed in &self.inside {
            if closed.start <= self.first {
                self.first = self.first.max(closed.end);
            }
        }
        for closed in self.inside.iter().rev() {
            if closed.end >= self.end {
                self.end = self.end.min(closed.start);
            }
        }
    }
}
