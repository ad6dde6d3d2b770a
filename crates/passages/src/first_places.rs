//! The first place of each window: where the first window that is equal to it begins, in the order of the documents.
//!
//! A search in memory finds first places by twins (`twin_places.rs`), a search on disk by sorting (`disk/first_places.rs`).
//! Which windows are passages, and where their sources are, follows from first places alone. So that is decided once, for
//! both searches, in `choice.rs`.

use std::ops::Range;

use simgpu::error::Result;

/// Windows in a row whose first places are in a row, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowSegment {
    pub(super) first: usize,
    pub(super) len: usize,
    /// The first place of the first window, which may be that window.
    pub(super) place: usize,
}

impl WindowSegment {
    /// Whether equal windows begin earlier.
    pub(super) fn is_moved(&self) -> bool {
        self.place != self.first
    }

    /// The first places.
    pub(super) fn places(self) -> Range<usize> {
        self.place..self.place + self.len
    }

    /// The windows with some of the first places.
    pub(super) fn part(self, places: Range<usize>) -> Self {
        WindowSegment {
            first: self.first + (places.start - self.place),
            len: places.len(),
            place: places.start,
        }
    }
}

/// The first places of the windows of some texts. All methods fail only if a file cannot be read.
pub(super) trait FirstPlaces {
    /// The segment that begins with a window and ends at `end` or before. It has one window at least.
    fn segment(&mut self, window: usize, end: usize) -> Result<WindowSegment>;

    /// The end of the windows from this one on that repeat windows of their own run, one period before; `None` if none is
    /// known to. It spares a look-up for each period, so an implementation may miss some.
    fn period_end(&mut self, window: usize) -> Result<Option<usize>>;

    /// The first places in a row, out of a range, whose windows occur often enough; `None` if none do.
    fn frequent(&mut self, places: Range<usize>) -> Result<Option<Range<usize>>>;

    /// The next place of the windows that begin first at `place`, in another document if the same one does not count.
    /// Only asked if all occurrences are covered.
    fn next_place(&mut self, place: usize) -> Result<Option<usize>>;

    /// The number of windows from `window` on, before `end`, that equal as many from `source` on.
    fn agreeing(&mut self, window: usize, source: usize, end: usize) -> Result<usize>;
}
