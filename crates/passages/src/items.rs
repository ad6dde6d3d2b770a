//! What a pass decides: windows of one anchor, and how far it got.

use super::known::Windows;

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

/// Windows with one anchor, and their key on a level.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) level: usize,
    pub(super) key: u32,
    pub(super) anchor: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Item {
    pub(super) fn windows(self) -> Windows {
        Windows::new(self.anchor, self.first, self.last)
    }
}

/// What is decided: all windows before `next`. If a match reaches it, it ends there and here.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub(super) next: usize,
    pub(super) end: Option<(usize, usize)>,
}

impl Reach {
    pub(super) fn behind(last: usize) -> Self {
        Reach {
            next: last + 1,
            end: None,
        }
    }

    /// Notes a match that ends with this window, here and there.
    pub(super) fn extend(&mut self, next: usize, end: (usize, usize)) {
        if next > self.next || self.end.is_none() {
            *self = Reach {
                next: next.max(self.next),
                end: Some(end),
            };
        }
    }
}

/// The windows of an item that are not known to be repeats: a hull, out of which some may be repeats.
pub(super) struct Open {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) inside: Vec<(usize, usize)>,
}

impl Open {
    pub(super) fn close(&mut self, first: usize, end: usize) {
        if first <= self.first {
            self.first = self.first.max(end);
        } else if end >= self.end {
            self.end = self.end.min(first);
        } else {
            self.inside.push((first, end));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first >= self.end
    }

    /// Shrinks the hull as far as what was closed inside of it allows.
    pub(super) fn shrink(&mut self) {
        self.inside.sort_unstable();
        for (first, end) in &self.inside {
            if *first <= self.first {
                self.first = self.first.max(*end);
            }
        }
        for (first, end) in self.inside.iter().rev() {
            if *end >= self.end {
                self.end = self.end.min(*first);
            }
        }
    }
}
