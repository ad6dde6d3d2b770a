//! The places where the sources of most pieces begin.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::units::PlacedPiece;

/// Frequent passages, and documents with the most covered bytes, at most.
pub(super) const LISTED: usize = 12;

/// Places of sources that are counted at a time, at most.
const COUNTED: usize = 1 << 18;

/// Counts pieces by where their sources begin. If too many are different, rare ones are left out, so that a count may be too
/// small (lossy counting; Manku and Motwani 2002).
#[derive(Default)]
pub(super) struct FrequentSources {
    /// By document and first byte.
    counts: HashMap<(u32, u32), SourceCount>,
    /// Places with so few pieces were left out.
    left_out: u64,
}

/// Pieces whose sources begin at one place.
#[derive(Clone, Copy)]
pub(super) struct SourceCount {
    pub(super) pieces: u64,
    /// Of the shortest piece: where it ends, its place as results state it, and its length in units.
    pub(super) end: u32,
    pub(super) stated: [u32; 2],
    pub(super) length: u32,
}

/// A place, and the pieces whose sources begin there.
pub(super) struct CountedPlace {
    pub(super) row: u32,
    pub(super) start: u32,
    pub(super) count: SourceCount,
}

impl CountedPlace {
    /// The place, in bytes of the text.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.start as usize..self.count.end as usize
    }
}

impl FrequentSources {
    pub(super) fn add(&mut self, row: u32, piece: &PlacedPiece) {
        let own = SourceCount {
            pieces: 0,
            end: low(piece.source_bytes.end),
            stated: [low(piece.stated[1].start), low(piece.stated[1].end)],
            length: low(piece.len),
        };
        let key = (row, low(piece.source_bytes.start));
        let count = self.counts.entry(key).or_insert(own);
        if own.end < count.end {
            *count = SourceCount {
                pieces: count.pieces,
                ..own
            };
        }
        count.pieces += 1;
        // Each round leaves out places with no more pieces than rounds so far, so no count is short by more than that.
        while self.counts.len() > COUNTED {
            self.left_out += 1;
            let left_out = self.left_out;
            self.counts.retain(|_, count| count.pieces > left_out);
        }
    }

    pub(super) fn is_pruned(&self) -> bool {
        self.left_out > 0
    }

    /// Those with the most pieces, two or more. Of places that overlap, the one with the most.
    pub(super) fn most(&self) -> Vec<CountedPlace> {
        let repeated = self.counts.iter().filter(|(_, count)| count.pieces > 1);
        let mut all: Vec<CountedPlace> = repeated
            .map(|((row, start), count)| CountedPlace {
                row: *row,
                start: *start,
                count: *count,
            })
            .collect();
        all.sort_unstable_by_key(|place| (Reverse(place.count.pieces), place.row, place.start));
        let mut most: Vec<CountedPlace> = Vec::new();
        for place in all {
            let bytes = place.bytes();
            let overlaps = |other: &CountedPlace| {
                let others = other.bytes();
                other.row == place.row && others.start < bytes.end && bytes.start < others.end
            };
            if !most.iter().any(overlaps) {
                most.push(place);
            }
            if most.len() == LISTED {
                break;
            }
        }
        most
    }
}

/// The low bits of a place, which tell places in texts of less than 4 GiB apart.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a text has less than 4 GiB"
)]
pub(super) fn low(place: usize) -> u32 {
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: usize, end: usize) -> PlacedPiece {
        PlacedPiece {
            document: 9,
            bytes: 0..end - start,
            source_document: 3,
            source_bytes: start..end,
            stated: [0..end - start, start..end],
            len: end - start,
            is_exact: true,
        }
    }

    #[test]
    fn frequent_places_are_counted_by_hand() {
        let mut frequent = FrequentSources::default();
        for (start, end) in [(5, 20), (5, 15), (5, 40), (9, 30), (9, 30), (50, 60)] {
            frequent.add(3, &piece(start, end));
        }
        let most = frequent.most();
        // The place at 9 lies in that at 5, and the one at 50 has a single piece.
        assert_eq!(most.len(), 1);
        assert_eq!((most[0].bytes(), most[0].count.pieces), (5..15, 3));
        assert!(!frequent.is_pruned());
    }

    #[test]
    fn many_different_places_hide_no_frequent_one() {
        let mut frequent = FrequentSources::default();
        for i in 0..COUNTED + 9 {
            frequent.add(3, &piece(10 * i, 10 * i + 5));
            if i % 1000 == 0 {
                frequent.add(7, &piece(0, 5));
            }
        }
        assert!(frequent.is_pruned() && frequent.counts.len() <= COUNTED);
        let most = frequent.most();
        let all = (COUNTED as u64 + 9).div_ceil(1000);
        assert_eq!(most[0].row, 7);
        assert!(most[0].count.pieces <= all && most[0].count.pieces + frequent.left_out >= all);
    }
}
