//! signatures -> band keys (MMDS 3.4).
//!
//! A signature is cut into bands of `rows` slots, and two documents are candidates when they agree in
//! all slots of at least one band.

use rayon::prelude::*;

use super::sign::{Signatures, Slots};
use crate::error::{Error, Result};
use crate::scheme::murmur3_32;

/// Bands and rows: the shape of the S-curve `1 - (1 - s^r)^b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    bands: usize,
    rows: usize,
}

/// What a false positive and a false negative weigh when bands and rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorWeights {
    /// Weight of the area under the S-curve below the threshold.
    pub false_positive: f64,
    /// Weight of the area above the S-curve above the threshold.
    pub false_negative: f64,
}

impl ErrorWeights {
    /// Both alike, which is datasketch's default and gives its results.
    pub const EQUAL: ErrorWeights = ErrorWeights {
        false_positive: 0.5,
        false_negative: 0.5,
    };

    /// The command line's: verification removes false positives, and nothing brings back a pair
    /// that was missed.
    pub const VERIFIED: ErrorWeights = ErrorWeights {
        false_positive: 0.05,
        false_negative: 0.95,
    };
}

impl Banding {
    /// `bands` bands of `rows` slots, all of which a signature of `num_perm` slots must have.
    ///
    /// # Errors
    /// [`Error::Parameter`] when either is 0, or when they need more slots than there are.
    pub fn new(bands: usize, rows: usize, num_perm: usize) -> Result<Self> {
        if bands == 0 || rows == 0 || bands.saturating_mul(rows) > num_perm {
            return Err(Error::Parameter {
                name: "bands x rows",
                value: format!("{bands} x {rows}"),
                expected: format!(
                    "at least 1 x 1 and at most the {num_perm} permutations of --num-perm"
                ),
            });
        }
        Ok(Banding { bands, rows })
    }

    /// The banding of at most `num_perm` slots with the least weighted area of error: below the
    /// threshold the area under the S-curve, above it the area over it. The areas are exact.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless the threshold lies in (0, 1].
    pub fn for_threshold(threshold: f64, num_perm: usize, weights: ErrorWeights) -> Result<Self> {
        check_threshold(threshold)?;
        let weighted = |banding: &Banding| {
            let (below, above) = banding.error_areas(threshold);
            weights.false_positive * below + weights.false_negative * above
        };
        let all = (1..=num_perm)
            .flat_map(|bands| (1..=num_perm / bands).map(move |rows| Banding { bands, rows }));
        // The first of equals is kept, as datasketch does: the one with the fewest bands.
        let best = all
            .map(|banding| (weighted(&banding), banding))
            .reduce(|best, next| if next.0 < best.0 { next } else { best });
        match best {
            Some((_, banding)) => Ok(banding),
            None => Banding::new(1, 1, num_perm),
        }
    }

    /// Number of bands.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Slots of a band.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The probability that two sets of that similarity become candidates: `1 - (1 - s^r)^b`.
    pub fn candidate_probability(&self, similarity: f64) -> f64 {
        1.0 - self.miss_probability(similarity)
    }

    fn miss_probability(&self, similarity: f64) -> f64 {
        (1.0 - similarity.powf(self.rows as f64)).powf(self.bands as f64)
    }

    /// The area under the S-curve below `threshold`, and the area over it above: what a pair of a
    /// similarity drawn uniformly costs in false positives and in false negatives.
    pub fn error_areas(&self, threshold: f64) -> (f64, f64) {
        let missed_below = self.missed_area(0.0, threshold);
        let missed_above = self.missed_area(threshold, 1.0);
        (threshold - missed_below, missed_above)
    }

    /// The integral of `(1 - s^r)^b` by Gauss-Legendre panels. The curve bends sharply but is a
    /// polynomial, so that panels of width 1/64 and degree 15 leave nothing that a double can hold.
    fn missed_area(&self, from: f64, to: f64) -> f64 {
        const PANELS: u32 = 64;
        let width = (to - from) / f64::from(PANELS);
        (0..PANELS)
            .map(|panel| {
                let middle = from + width * (f64::from(panel) + 0.5);
                let point = |(node, weight): &(f64, f64)| {
                    let (left, right) = (middle - node * width / 2.0, middle + node * width / 2.0);
                    weight * (self.miss_probability(left) + self.miss_probability(right))
                };
                GAUSS_LEGENDRE_8.iter().map(point).sum::<f64>() * width / 2.0
            })
            .sum()
    }
}

/// Positive nodes and weights of the Gauss-Legendre rule of eight points (Abramowitz and Stegun,
/// table 25.4).
const GAUSS_LEGENDRE_8: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Accepts thresholds in (0, 1].
///
/// # Errors
/// [`Error::Parameter`] for anything else.
pub fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(())
    } else {
        Err(Error::Parameter {
            name: "threshold",
            value: threshold.to_string(),
            expected: "a similarity above 0 and up to 1".to_owned(),
        })
    }
}

/// The keys of one band in a signature, version 1: `hi << 32 | lo`, murmur3-32 of the band's slots as
/// little-endian bytes with seeds `band ^ 0x9E3779B9` and `band`.
///
/// Keys are compared within their band only.
pub fn band_key(band: u32, slots: Slots<'_>) -> u64 {
    const MAX_ON_STACK: usize = 256;
    let mut stack = [0; MAX_ON_STACK];
    let mut heap = Vec::new();
    let len = match slots {
        Slots::U32(slots) => 4 * slots.len(),
        Slots::U64(slots) => 8 * slots.len(),
    };
    let bytes = if len <= MAX_ON_STACK {
        &mut stack[..len]
    } else {
        heap.resize(len, 0);
        &mut heap[..]
    };
    match slots {
        Slots::U32(slots) => {
            for (bytes, slot) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(slots) {
                *bytes = slot.to_le_bytes();
            }
        }
        Slots::U64(slots) => {
            for (bytes, slot) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(slots) {
                *bytes = slot.to_le_bytes();
            }
        }
    }
    let low = murmur3_32(bytes, band);
    let high = murmur3_32(bytes, band ^ 0x9E37_79B9);
    u64::from(high) << 32 | u64::from(low)
}

/// The band keys of all documents that have any: for each band an append-only column of keys, all in
/// the order of the one column of rows. 8 bytes a band and document.
#[derive(Clone, Debug)]
pub struct BandKeys {
    banding: Banding,
    columns: Vec<Vec<u64>>,
    rows: Vec<u32>,
}

impl BandKeys {
    /// No keys yet.
    pub fn new(banding: Banding) -> Self {
        BandKeys {
            banding,
            columns: vec![Vec::new(); banding.bands],
            rows: Vec::new(),
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "there are at most as many bands as permutations"
    )]
    /// Appends the keys of signatures, whose documents have the given ascending rows.
    pub fn push(&mut self, signatures: &Signatures, rows: &[u32]) {
        debug_assert_eq!(signatures.len(), rows.len());
        debug_assert!(rows.is_sorted());
        let width = self.banding.rows;
        let columns = self.columns.par_iter_mut().enumerate();
        columns.for_each(|(band, column)| {
            let slots = band * width..(band + 1) * width;
            column.extend((0..signatures.len()).map(|i| {
                let of_band = match signatures.row(i) {
                    Slots::U32(row) => Slots::U32(&row[slots.clone()]),
                    Slots::U64(row) => Slots::U64(&row[slots.clone()]),
                };
                band_key(band as u32, of_band)
            }));
        });
        self.rows.extend_from_slice(rows);
    }

    /// Bands and rows.
    pub fn banding(&self) -> Banding {
        self.banding
    }

    /// The keys of one band, in the order of [`BandKeys::rows`].
    pub fn column(&self, band: usize) -> &[u64] {
        &self.columns[band]
    }

    /// The rows of the documents that have keys, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_exact() {
        // The integral of (1 - s^2)^2 over [0, 1] is 8/15; of its part below 1/2, 203/480.
        let banding = Banding { bands: 2, rows: 2 };
        assert!((banding.missed_area(0.0, 1.0) - 8.0 / 15.0).abs() < 1e-15);
        assert!((banding.missed_area(0.0, 0.5) - 203.0 / 480.0).abs() < 1e-15);
    }

    #[test]
    fn bandings_out_of_range_are_errors() {
        for (bands, rows) in [(0, 1), (1, 0), (16, 9), (usize::MAX, 2)] {
            assert!(Banding::new(bands, rows, 128).is_err());
        }
        for threshold in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(Banding::for_threshold(threshold, 128, ErrorWeights::EQUAL).is_err());
        }
    }

    #[test]
    fn the_default_of_the_command_line() {
        let banding = Banding::for_threshold(0.8, 128, ErrorWeights::VERIFIED).unwrap();
        assert_eq!((banding.bands(), banding.rows()), (16, 8));
        assert!((banding.candidate_probability(0.8) - 0.947).abs() < 1e-3);
    }
}
