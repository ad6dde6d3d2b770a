//! The lengths that a search for passages works with.

use std::num::NonZeroUsize;

use simgpu::simd::minima::{Grams, MOST_PLACES};

/// How many cells of a level a cell of the level above has, about.
const CELLS: usize = 3;

/// Symbols of a k-gram, unless windows are short or very long.
const GRAM: usize = 32;

/// The length of windows, of k-grams, and of the cells that windows of one anchor are divided into.
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    /// Symbols of a window: the least length of a passage.
    pub(super) window: usize,
    pub(super) grams: Grams,
    /// By level, for how many places of the anchor in the window one key stands: at level 0 for all, at the last for one.
    pub(super) cells: Vec<usize>,
}

impl Lengths {
    /// The lengths for passages of at least `min_length` symbols. A k-gram has 32 symbols from 64 on, and below that half
    /// of the window. Above 4,127, it has as many as leave 4,096 places in a window.
    pub(super) fn new(min_length: NonZeroUsize) -> Self {
        let window = min_length.get();
        let gram = GRAM.min(window / 2).max(1);
        let gram = gram.max((window + 1).saturating_sub(MOST_PLACES));
        let places = window - gram + 1;
        let mut cells = vec![places];
        let mut size = places;
        while size > 1 {
            size = size.div_ceil(CELLS);
            cells.push(size);
        }
        Lengths {
            window,
            grams: Grams { gram, places },
            cells,
        }
    }

    /// The number of windows of so many symbols.
    pub(super) fn windows(&self, symbols: usize) -> usize {
        (symbols + 1).saturating_sub(self.window)
    }

    /// The symbols that all windows of a cell contain, of those with this anchor: the core of the cell. `window` is one of
    /// them.
    #[inline(always)]
    pub(super) fn core(&self, level: usize, anchor: usize, window: usize) -> (usize, usize) {
        self.core_of(self.cells[level], anchor, window)
    }

    /// The core of the cell of so many places that `window` is in.
    #[inline(always)]
    pub(super) fn core_of(&self, size: usize, anchor: usize, window: usize) -> (usize, usize) {
        let least = (anchor - window) / size * size;
        (anchor - least, anchor + self.window + 1 - least - size)
    }

    /// The last window of the cell that `window` is in.
    #[inline(always)]
    pub(super) fn last_of_cell(&self, level: usize, anchor: usize, window: usize) -> usize {
        let size = self.cells[level];
        anchor - (anchor - window) / size * size
    }
}

/// The lengths of k-grams and windows for passages of at least `min_length` symbols.
pub(crate) fn grams(min_length: NonZeroUsize) -> Grams {
    Lengths::new(min_length).grams
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(window: usize) -> Lengths {
        Lengths::new(NonZeroUsize::new(window).unwrap())
    }

    #[test]
    fn grams_follow_from_the_window() {
        for (window, gram, places) in [
            (1, 1, 1),
            (2, 1, 2),
            (5, 2, 4),
            (50, 25, 26),
            (63, 31, 33),
            (64, 32, 33),
            (100, 32, 69),
            (4_127, 32, 4_096),
            (4_128, 33, 4_096),
            (100_000, 95_905, 4_096),
        ] {
            let grams = lengths(window).grams;
            assert_eq!((grams.gram, grams.places), (gram, places), "{window}");
        }
    }

    #[test]
    fn every_window_of_a_cell_contains_its_core() {
        for window in [1, 2, 5, 33, 100, 257] {
            let lengths = lengths(window);
            assert_eq!(lengths.cells.last(), Some(&1));
            for level in 0..lengths.cells.len() {
                let anchor = 10_000;
                for first in anchor + 1 - lengths.grams.places..=anchor {
                    let core = lengths.core(level, anchor, first);
                    let last = lengths.last_of_cell(level, anchor, first);
                    assert!(first <= last && core == lengths.core(level, anchor, last));
                    assert!(
                        last <= core.0 && core.1 <= first + window,
                        "{window} {level}"
                    );
                    assert!(core.1 - core.0 > window - lengths.cells[level]);
                }
            }
        }
    }
}
