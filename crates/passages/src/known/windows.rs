//! Runs of windows, in a word each.

/// Windows in a row with one anchor: 40 bits of the anchor, 12 of its distance from the first window, 12 of the number of
/// further windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnchoredWindows(pub(super) u64);

/// The most symbols of a text.
pub(crate) const MOST_SYMBOLS: usize = 1 << 40;

impl AnchoredWindows {
    #[inline(always)]
    pub(crate) fn new(anchor: usize, first: usize, last: usize) -> Self {
        let (before, further) = (anchor - first, last - first);
        AnchoredWindows((anchor as u64) << 24 | (before as u64) << 12 | further as u64)
    }

    #[inline(always)]
    pub(crate) fn anchor(self) -> usize {
        (self.0 >> 24) as usize
    }

    #[inline(always)]
    pub(crate) fn first(self) -> usize {
        self.anchor() - (self.0 >> 12 & 0xFFF) as usize
    }

    #[inline(always)]
    pub(crate) fn last(self) -> usize {
        self.first() + (self.0 & 0xFFF) as usize
    }
}
